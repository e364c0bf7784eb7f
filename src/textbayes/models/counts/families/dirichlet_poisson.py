"""The Dirichlet–Poisson hierarchy: Poisson rates of which a word's sum is free and the split over classes is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array
from textbayes.core.codec import TINY, Fields, Null
from textbayes.core.lazy import LazyModule
from textbayes.core.state import Part, with_fields
from textbayes.core.types import FloatArray
from textbayes.models.counts.base import CountSums, SummedModel, per_class_field, pooled_rates, rate_scores
from textbayes.models.counts.families import count_models
from textbayes.models.counts.hierarchy import (
    HierarchyConstants,
    Sampling,
    check_beta,
    chosen_beta,
    integrated_rate_scores,
    level_unseen,
    sample_rate_posterior,
    shares_of,
    start_log_rates,
)

rates_kernels = LazyModule("textbayes.kernels.counts.rates")

_TOL, _MAX_ITER = 1e-6, 100


@with_fields(
    {
        "rates": per_class_field(TINY),
        "beta": Array(np.float64, (None,)),
        "draws": per_class_field() | Null(),
        "r_hat": per_class_field() | Null(),
        "effective": per_class_field() | Null(),
    }
)
class RatePosterior(NamedTuple):
    """Rates (C, V) at the mode or the mean; the β used; draws (S, C, V) and diagnostics (C, V) where there are any."""

    rates: FloatArray
    beta: FloatArray
    draws: FloatArray | None = None
    r_hat: FloatArray | None = None
    effective: FloatArray | None = None


@count_models.register("dirichlet_poisson")
@dataclass(frozen=True, eq=False)
class DirichletPoisson(SummedModel[RatePosterior]):
    """σ = Σ_c μ_c has a flat prior and τ = μ/σ a symmetric Dirichlet(β₁ + β₂σ), for each word by itself.

    β₁ counts occurrences: words rarer than that hardly tell classes apart. β₂ counts thousands of words: frequent words
    are drawn to equal rates as if so much text had been read of which every class had the same. A β₂ of the order of
    the training text (in thousands of words per class) makes the evidence of all words smaller and the probabilities
    honest.

    Parameters
    ----------
    beta : (β₁, β₂), "auto" or "evidence"
        ``"auto"`` is 10 occurrences and 0.3 of the text that a class has on average; ``"evidence"`` takes the pair of a
        grid with the highest marginal likelihood (Laplace's approximation).
    basis : {"log", "ratio"}
        Where the mode is taken. The Dirichlet's density of τ has the powers β₁ + β₂σ − 1 and its mode is that of
        ``"ratio"``. As a density of the log-rates (the Jacobian is σ Πτ) the powers are β₁ + β₂σ, those that the paper
        prints; its mode ``"log"`` is that of a gamma at its mean, exists for every β₁ > 0 and gives no word rate zero.
    rate_means : None, or array (C, V)
        Prior rates; only how they split over the classes counts. The Dirichlet is then (β₁ + β₂σ)·C·share.
    sampling : None or Sampling
        Draw from the posterior by Metropolis within Gibbs; rates are then the posterior means.

    References
    ----------
    Section 3 of the contagion paper; the printed full conditionals omit the data, see ``kernels.counts.rates`` for f.
    """

    beta: Any = (2.0, 1.0)
    basis: str = "log"
    rate_means: Any = None
    sampling: Sampling | None = None

    name = "dirichlet_poisson"
    fields: ClassVar[Fields] = {"sampling": Part(Sampling) | Null()}
    estimate_class = RatePosterior

    def __post_init__(self) -> None:
        check_beta(self.beta, 2, self.basis)

    def estimate(self, stats: CountSums) -> RatePosterior:
        pooled_rates(stats.counts, stats.exposure)  # refuses no documents at all
        hyperparameters = chosen_beta(
            self.beta, self.basis, stats.exposure, False, lambda one: float(self._modes(stats, one, True)[2].sum())
        )
        modes, _, _ = self._modes(stats, hyperparameters, self.basis == "log")
        beta = np.array(hyperparameters[:2])
        shares = shares_of(self.rate_means, *stats.counts.shape)
        if self.sampling is None:
            return RatePosterior(level_unseen(np.exp(modes.T), stats.counts, shares), beta)
        found = sample_rate_posterior(stats, shares, hyperparameters, modes, self.sampling)
        rates = level_unseen(found.rates, stats.counts, shares)
        return RatePosterior(rates.mean(axis=0), beta, rates, found.r_hat, found.effective)

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: RatePosterior) -> FloatArray:
        if self.sampling is not None and self.sampling.integrate and estimate.draws is not None:
            return integrated_rate_scores(X, omega, estimate.draws)
        return rate_scores(X, omega, estimate.rates)

    def _modes(
        self, stats: CountSums, hyperparameters: HierarchyConstants, log_basis: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        shares = shares_of(self.rate_means, *stats.counts.shape)
        start = start_log_rates(stats.counts, stats.exposure, shares, hyperparameters)
        counts = np.ascontiguousarray(stats.counts.T)
        prior = (shares, hyperparameters.beta_1, hyperparameters.beta_2, float(log_basis))
        modes, left, evidence = rates_kernels.rate_modes(counts, stats.exposure, *prior, start, _TOL, _MAX_ITER)
        return modes, left, evidence
