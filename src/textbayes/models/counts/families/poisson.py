"""The Poisson model: a word of rate μ per thousand words occurs x times in ω thousand words, x ~ Poisson(ωμ)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.types import FloatArray
from textbayes.models.counts.base import (
    CountSums,
    Rates,
    SummedModel,
    per_class_and_word,
    pooled_rates,
    positive,
    rate_scores,
)
from textbayes.models.counts.families import count_models


@count_models.register("poisson")
@dataclass(frozen=True, eq=False)
class Poisson(SummedModel[Rates]):
    """μ_wc = (N_wc + α)/(T_c + α/m_w): N_wc occurrences in T_c thousand words, drawn to a mean m by α occurrences.

    It is the posterior mean under a gamma prior of shape α and mean m. Without a prior (α → 0) it is the maximum
    likelihood estimate Σx/Σω of section 2.1, which gives zero to words that a class never had.

    Parameters
    ----------
    pseudo_counts : float or array (V,) or (C, V)
        α, how many occurrences the prior mean is worth.
    rate_means : None, or array (V,) or (C, V)
        m, occurrences per thousand words; None is each word's rate over all classes, and a word that no class had
        is then equally rare in all.
    """

    pseudo_counts: Any = 1.0
    rate_means: Any = None

    name = "poisson"
    estimate_class = Rates

    def __post_init__(self) -> None:
        positive(self.pseudo_counts, "pseudo_counts")
        if self.rate_means is not None:
            positive(self.rate_means, "rate_means")

    def estimate(self, stats: CountSums) -> Rates:
        return Rates(gamma_mean_rates(stats, self.pseudo_counts, self.rate_means))

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Rates) -> FloatArray:
        return rate_scores(X, omega, estimate.rates)


def gamma_mean_rates(stats: CountSums, pseudo_counts: Any, rate_means: Any) -> FloatArray:
    """Posterior means of the rates under a gamma prior, (C, V)."""
    shape = stats.counts.shape
    alpha = per_class_and_word(pseudo_counts, "pseudo_counts", *shape)
    pooled = pooled_rates(stats.counts, stats.exposure)
    means = pooled if rate_means is None else per_class_and_word(rate_means, "rate_means", *shape)
    rates = np.asarray((stats.counts + alpha) / (stats.exposure[:, None] + alpha / means))
    if rate_means is None:  # else the lengths of the classes alone would tell them apart, by thousands of such words
        unseen = stats.counts.sum(axis=0) == 0.0
        rates[:, unseen] = pooled[unseen]
    return rates
