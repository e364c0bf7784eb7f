"""The Dirichlet–negative-binomial hierarchy: rates and dispersions of a word, each a sum and a split over classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array
from textbayes.core.codec import TINY, Fields, Null
from textbayes.core.errors import InputError
from textbayes.core.state import Part, with_fields
from textbayes.core.types import FloatArray, Matrix
from textbayes.core.validation import is_number
from textbayes.models.counts.base import (
    BaseCountModel,
    CountSums,
    Dispersed,
    DocumentStore,
    join_stores,
    no_documents,
    per_class_field,
    pooled_rates,
    store_of,
)
from textbayes.models.counts.families import count_models
from textbayes.models.counts.hierarchy import (
    Fit,
    HierarchyConstants,
    KernelDocuments,
    Sampling,
    check_beta,
    chosen_beta,
    dispersed_scores,
    fit_contagion,
    integrated_dispersed_scores,
    kernel_documents,
    level_unseen,
    moment_deltas,
    sample_dispersed_posterior,
    shares_of,
    spread_constant,
    start_log_rates,
    store_sums,
)

BY_LENGTH = "length"


@with_fields(
    {
        "rates": per_class_field(TINY),
        "deltas": per_class_field(0.0),
        "beta": Array(np.float64, (None,)),
        "rate_draws": per_class_field() | Null(),
        "delta_draws": per_class_field() | Null(),
        "r_hat": per_class_field() | Null(),
        "effective": per_class_field() | Null(),
    }
)
class DispersedPosterior(NamedTuple):
    """Rates and dispersions (C, V); the β used; draws (S, C, V) and diagnostics (2, C, V) where there are any."""

    rates: FloatArray
    deltas: FloatArray
    beta: FloatArray
    rate_draws: FloatArray | None = None
    delta_draws: FloatArray | None = None
    r_hat: FloatArray | None = None
    effective: FloatArray | None = None


@count_models.register("dirichlet_negative_binomial")
@dataclass(frozen=True, eq=False)
class DirichletNegativeBinomial(BaseCountModel[DocumentStore, DispersedPosterior]):
    """Rates as in ``dirichlet_poisson``; the sum ξ of ζ = ln(1 + aδ) over classes is a gamma, its split Dirichlet(β₃).

    A word that was used once is likelier to come again: its second occurrence adds ln[(μ₁ + δ)/(μ₂ + δ)] to the
    log-odds where the first adds ln[μ₁/μ₂].

    Parameters
    ----------
    beta : (β₁, β₂), (β₁, β₂, β₃, β₄, β₅), "auto" or "evidence"
        β₁, β₂ as in ``dirichlet_poisson``. Large β₃ gives a word nearly the same δ in all classes; its differences are
        poorly determined by the documents of one class and are weak evidence. ξ is a gamma of shape β₅ and mean β₄.
    basis, rate_means, sampling
        As in ``dirichlet_poisson``; the dispersions' mode is taken in ln ζ or in (ξ, η).
    dispersion_scale : float or "length"
        a of ζ = ln(1 + aδ), in thousands of words: 1 is the paper's ln(1 + δ); ``"length"`` is the mean length of the
        documents, where 1 + aδ is how many times the variance of a mean document exceeds the Poisson's, so that the
        prior says the same of tweets and of books.

    Notes
    -----
    No sums suffice for δ, so the counts of the documents are stored. A fit costs some ten readings of them. In lengths
    divided by a the model is that of a = 1: rates and dispersions are a times as large, and β₂σ is what it was.

    References
    ----------
    Section 3 of the contagion paper; see ``kernels.counts.contagion_posterior`` for the density.
    """

    beta: Any = (2.0, 1.0)
    basis: str = "log"
    rate_means: Any = None
    sampling: Sampling | None = None
    dispersion_scale: float | str = 1.0

    name = "dirichlet_negative_binomial"
    fields: ClassVar[Fields] = {"sampling": Part(Sampling) | Null()}
    estimate_class = DispersedPosterior

    def __post_init__(self) -> None:
        check_beta(self.beta, 5, self.basis)
        scale = self.dispersion_scale
        if scale != BY_LENGTH and not (is_number(scale) and 0.0 < float(scale) < np.inf):
            raise InputError(
                f"dispersion_scale={scale!r} is not usable; pass a positive number of thousand words, or {BY_LENGTH!r}"
            )

    def empty(self, n_classes: int, n_features: int) -> DocumentStore:
        return no_documents(n_classes, n_features)

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> DocumentStore:
        return store_of(X, Y, omega)

    def combine(self, first: DocumentStore, second: DocumentStore) -> DocumentStore:
        return join_stores(first, second)

    def estimate(self, stats: DocumentStore) -> DispersedPosterior:
        scale = self._scale(stats)
        stats = stats._replace(omega=stats.omega / scale)
        sums = store_sums(stats)
        pooled_rates(sums.counts, sums.exposure)  # refuses no documents at all
        documents = kernel_documents(stats)

        def scaled(hyperparameters: HierarchyConstants) -> HierarchyConstants:
            return hyperparameters._replace(beta_2=hyperparameters.beta_2 / scale)

        hyperparameters = chosen_beta(
            self.beta,
            self.basis,
            scale * sums.exposure,
            True,
            lambda one: self._evidence(documents, sums, scaled(one)),
        )
        fit = self._fit(documents, sums, scaled(hyperparameters), self.basis == "log")
        beta = np.array(hyperparameters)
        shares, alike = shares_of(self.rate_means, *sums.counts.shape), np.ones((1, len(sums.counts)))
        if self.sampling is None:
            rates, deltas = level_unseen(fit.rates, sums.counts, shares), level_unseen(fit.deltas, sums.counts, alike)
            return DispersedPosterior(rates / scale, deltas / scale, beta)
        found = sample_dispersed_posterior(documents, shares, scaled(hyperparameters), fit, self.sampling)
        assert found.deltas is not None  # the sampler of dispersions draws them
        rates = level_unseen(found.rates, sums.counts, shares)
        deltas = level_unseen(found.deltas, sums.counts, alike)
        return DispersedPosterior(
            rates.mean(axis=0) / scale,
            np.expm1(np.log1p(deltas).mean(axis=0)) / scale,  # the mean of ζ: that of δ may not exist
            beta,
            rates / scale,
            deltas / scale,
            found.r_hat,
            found.effective,
        )

    def _scale(self, stats: DocumentStore) -> float:
        """The a of ζ = ln(1 + aδ)."""
        if self.dispersion_scale != BY_LENGTH:
            return float(self.dispersion_scale)
        mass = float(stats.weight.sum())
        return float((stats.weight * stats.omega).sum() / mass) if mass > 0.0 else 1.0

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: DispersedPosterior) -> FloatArray:
        if self.sampling is not None and self.sampling.integrate and estimate.rate_draws is not None:
            return integrated_dispersed_scores(X, omega, estimate.rate_draws, estimate.delta_draws)
        return dispersed_scores(X, omega, Dispersed(estimate.rates, estimate.deltas))

    def _fit(
        self, documents: KernelDocuments, sums: CountSums, hyperparameters: HierarchyConstants, log_basis: bool
    ) -> Fit:
        n_classes, n_features = sums.counts.shape
        shares = shares_of(self.rate_means, n_classes, n_features)
        log_rates = start_log_rates(sums.counts, sums.exposure, shares, hyperparameters)
        start = Dispersed(np.exp(log_rates.T), moment_deltas(sums, True))
        no_pseudo = np.zeros((1, 2, n_classes))
        return fit_contagion(documents, start, no_pseudo, shares, np.array(hyperparameters), log_basis)

    def _evidence(self, documents: KernelDocuments, sums: CountSums, hyperparameters: HierarchyConstants) -> float:
        fit = self._fit(documents, sums, hyperparameters, True)
        return float(fit.evidence.sum()) + len(fit.evidence) * spread_constant(hyperparameters, len(fit.rates))
