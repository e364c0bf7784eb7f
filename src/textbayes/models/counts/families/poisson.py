"""The Poisson model: a word of rate μ per thousand words occurs x times in ω thousand words, x ~ Poisson(ωμ).

The negative binomial model is a Poisson whose rate varies from document to document, as bursts of words do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.types import FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.models.counts.base import (
    BaseCountModel,
    CountSums,
    Dispersed,
    Rates,
    SummedModel,
    add_sums,
    join_stores,
    no_documents,
    no_sums,
    per_class_and_word,
    pooled_rates,
    positive,
    rate_scores,
    store_of,
    sums_of,
)
from textbayes.models.counts.families import count_models
from textbayes.models.counts.hierarchy import (
    dispersed_scores,
    fit_contagion,
    kernel_documents,
    moment_deltas,
    store_sums,
)


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


_EQUAL = 1e4


@count_models.register("negative_binomial")
@dataclass(frozen=True, eq=False)
class NegativeBinomial(BaseCountModel[Any, Dispersed]):
    """Negative binomial model, mean ωμ and variance ωμ(1 + ωδ): the larger δ, the less later occurrences weigh.

    Parameters
    ----------
    method : {"moments", "likelihood"}
        ``"moments"`` are the estimates of Mosteller & Wallace, from sums; ``"likelihood"`` maximises the likelihood
        (with the rates' prior) by Newton's method and keeps the documents.
    shared : bool
        One δ per word for all classes; else each class has its own, which few documents tell badly.
    pseudo_counts, rate_means
        The gamma prior of the rates, as for ``poisson``.

    References
    ----------
    Mosteller & Wallace (1964), Inference and Disputed Authorship: The Federalist; sections 2.2 of the contagion paper.
    """

    method: str = "moments"
    shared: bool = True
    pseudo_counts: Any = 1.0
    rate_means: Any = None

    name = "negative_binomial"
    estimate_class = Dispersed

    def __post_init__(self) -> None:
        check_choice("method", self.method, ("moments", "likelihood"))
        positive(self.pseudo_counts, "pseudo_counts")
        if self.rate_means is not None:
            positive(self.rate_means, "rate_means")

    @property
    def _by_sums(self) -> bool:
        return self.method == "moments"

    def empty(self, n_classes: int, n_features: int) -> Any:
        return no_sums(n_classes, n_features, second=True) if self._by_sums else no_documents(n_classes, n_features)

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> Any:
        return sums_of(X, Y, omega, second=True) if self._by_sums else store_of(X, Y, omega)

    def combine(self, first: Any, second: Any) -> Any:
        return add_sums(first, second) if self._by_sums else join_stores(first, second)

    def estimate(self, stats: Any) -> Dispersed:
        sums = stats if self._by_sums else store_sums(stats)
        start = Dispersed(gamma_mean_rates(sums, self.pseudo_counts, self.rate_means), moment_deltas(sums, self.shared))
        if self._by_sums:
            return start
        shape = sums.counts.shape
        alpha = per_class_and_word(self.pseudo_counts, "pseudo_counts", *shape)
        pooled = pooled_rates(sums.counts, sums.exposure)
        means = pooled if self.rate_means is None else per_class_and_word(self.rate_means, "rate_means", *shape)
        pseudo = np.ascontiguousarray(np.stack([alpha, alpha / means]).transpose(2, 0, 1))
        # No prior but, where δ is shared, a Dirichlet of the split so narrow that all classes have the same.
        prior = np.array([-1.0, 0.0, _EQUAL if self.shared else -1.0, 1.0, 0.0])
        fit = fit_contagion(kernel_documents(stats), start, pseudo, np.ones((1, shape[0])), prior, True)
        unseen = sums.counts.sum(axis=0) == 0.0 if self.rate_means is None else np.zeros(shape[1], dtype=bool)
        fit.rates[:, unseen], fit.deltas[:, unseen] = start.rates[:, unseen], start.deltas[:, unseen]
        if self.shared:
            return Dispersed(fit.rates, fit.deltas)
        # A class that never had a word says nothing of its dispersion: what the start says stays.
        return Dispersed(fit.rates, np.where(sums.counts > 0.0, fit.deltas, start.deltas))

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Dispersed) -> FloatArray:
        return dispersed_scores(X, omega, estimate)
