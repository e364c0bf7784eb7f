"""The multivariate Bernoulli model: whether each word occurs, however often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import interpolate, sparse

from textbayes.core.array_fields import Array
from textbayes.core.state import with_fields
from textbayes.core.types import FloatArray, Matrix
from textbayes.models.counts.base import (
    BaseCountModel,
    DocumentStore,
    add_sums,
    check_weighting,
    join_stores,
    no_documents,
    no_sums,
    per_class_and_word,
    per_class_field,
    positive,
    row_sums,
    store_of,
    sums_of,
    word_weights,
)
from textbayes.models.counts.families import count_models

_NODES = 600


@with_fields({"values": per_class_field(0.0), "weights": Array(np.float64, (..., "n_features"))})
class Presence(NamedTuple):
    """P(word occurs) (C, V), or rates per thousand words where lengths count; and the weight of each word (V,)."""

    values: FloatArray
    weights: FloatArray


@count_models.register("bernoulli")
@dataclass(frozen=True, eq=False)
class Bernoulli(BaseCountModel[Any, Presence]):
    """Bernoulli model: a word occurs in a document of class c with probability θ_wc = (n_wc + α)/(n_c + 2α).

    Parameters
    ----------
    pseudo_counts : float or array (V,) or (C, V)
        α, documents added with the word, and as many without it.
    length_correction : bool
        Longer documents have more words: a word of rate μ occurs in a document of length ω with probability
        1 − exp(−ωμ), and μ is such that as many documents are expected to have the word as do. Keeps the documents.
    weighting : {"counts", "tfidf"}
        ``"tfidf"`` multiplies the evidence of a word, there or not, by ln((N + 1)/(n_w + 1)).

    References
    ----------
    McCallum & Nigam (1998), A comparison of event models for naive Bayes text classification.
    """

    pseudo_counts: Any = 1.0
    length_correction: bool = False
    weighting: str = "counts"

    name = "bernoulli"
    estimate_class = Presence

    def __post_init__(self) -> None:
        check_weighting(self.weighting)
        positive(self.pseudo_counts, "pseudo_counts")

    def empty(self, n_classes: int, n_features: int) -> Any:
        if self.length_correction:
            return no_documents(n_classes, n_features)
        return no_sums(n_classes, n_features, presence=True)

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> Any:
        if self.length_correction:
            return store_of(_present(X), Y, omega)
        return sums_of(_present(X), Y, omega, presence=True)

    def combine(self, first: Any, second: Any) -> Any:
        return (join_stores if self.length_correction else add_sums)(first, second)

    def estimate(self, stats: Any) -> Presence:
        sums = stats
        if isinstance(stats, DocumentStore):
            indicator = sparse.csr_matrix(
                (stats.weight, (np.arange(len(stats.code)), stats.code)), shape=(len(stats.code), stats.n_classes)
            )
            sums = sums_of(stats.X, indicator, stats.omega, presence=True)
        alpha = per_class_and_word(self.pseudo_counts, "pseudo_counts", *sums.counts.shape)
        shares = (sums.counts + alpha) / (sums.documents[:, None] + 2.0 * alpha)
        weights = word_weights(self.weighting, sums)
        if not isinstance(stats, DocumentStore):
            return Presence(shares, weights)
        rates = np.empty_like(shares)
        for c in range(stats.n_classes):
            own = stats.code == c
            rates[c] = _rate_of_share(shares[c], stats.omega[own], stats.weight[own])
        return Presence(rates, weights)

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Presence) -> FloatArray:
        X = _present(X)
        values, weights = estimate
        if not self.length_correction:
            odds = (np.log(values) - np.log1p(-values)) * weights
            return np.asarray(X @ odds.T) + (np.log1p(-values) * weights).sum(axis=1)
        scores = -omega[:, None] * (values * weights).sum(axis=1)
        per_value = np.repeat(omega, np.diff(X.indptr))
        for c in range(len(values)):
            scores[:, c] += row_sums(X, weights[X.indices] * np.log(np.expm1(per_value * values[c][X.indices])))
        return scores

    def constant(self, X: sparse.csr_matrix, omega: FloatArray) -> FloatArray:
        return np.zeros(X.shape[0])


def _present(X: sparse.csr_matrix) -> sparse.csr_matrix:
    return sparse.csr_matrix((np.ones(len(X.data)), X.indices, X.indptr), shape=X.shape)


def _rate_of_share(shares: FloatArray, omega: FloatArray, weight: FloatArray) -> FloatArray:
    """μ with Σ_d w_d (1 − exp(−ω_d μ))/Σ_d w_d = share, for each share; O(documents) and a look-up per word."""
    if not len(omega):  # no document of this class yet: as if of a thousand words each
        omega, weight = np.ones(1), np.ones(1)
    weight = weight / weight.sum()
    low = np.log(0.5 * shares.min() / omega.max())
    high = np.log(-2.0 * np.log1p(-min(float(shares.max()), 1.0 - 1e-12)) / omega.min())
    u = np.linspace(low, high, _NODES)
    exposure = np.exp(u)[:, None] * omega
    share, slope = -np.expm1(-exposure) @ weight, (exposure * np.exp(-exposure)) @ weight
    keep = slope > 1e-14
    inverse = interpolate.CubicHermiteSpline(np.log(share[keep]), u[keep], share[keep] / slope[keep])
    return np.exp(inverse(np.log(shares)))
