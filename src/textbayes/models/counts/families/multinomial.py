"""The multinomial model: each word of a document is drawn by itself, p(x | θ) ∝ Π_w θ_w^{x_w}.

Complement naive Bayes scores a class by how badly the documents of all other classes explain the words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from textbayes.core.array_fields import Array
from textbayes.core.errors import NotSupportedError
from textbayes.core.state import with_fields
from textbayes.core.types import FloatArray, Matrix
from textbayes.models.counts.base import (
    CountSums,
    WeighedModel,
    log_shares,
    per_class_and_word,
    per_class_field,
    row_sums,
    word_weights,
)
from textbayes.models.counts.families import count_models


@with_fields({"log_shares": per_class_field(), "weights": Array(np.float64, (..., "n_features"))})
class Shares(NamedTuple):
    """ln θ (C, V), each class adding up to one, and the weight of each word's evidence (V,)."""

    log_shares: FloatArray
    weights: FloatArray


@count_models.register("multinomial")
@dataclass(frozen=True, eq=False)
class Multinomial(WeighedModel[Shares]):
    """Multinomial model, θ_wc = (N_wc + α)/Σ_v (N_vc + α), the most used model of text and the paper's baseline.

    Parameters
    ----------
    pseudo_counts : float or array (V,) or (C, V)
        α, occurrences added to each word and class: where knowledge of words enters.
    length_correction : bool
        Documents count equally whatever their length: N_wc = mean length × Σ_d x_d/ω_d in place of Σ_d x_d.
    weighting : {"counts", "tfidf"}
        ``"tfidf"`` multiplies counts by ln((N + 1)/(n_w + 1)), in learning and in scoring.

    References
    ----------
    McCallum & Nigam (1998), A comparison of event models for naive Bayes text classification; the equal documents and
    the scaling as in section 5 of the contagion paper.
    """

    pseudo_counts: Any = 1.0
    length_correction: bool = False
    weighting: str = "counts"

    name = "multinomial"
    estimate_class = Shares

    def statistics(self, X: sparse.csr_matrix, Y: Matrix, omega: FloatArray) -> CountSums:
        if self.length_correction:
            per_thousand = X.data / np.repeat(omega, np.diff(X.indptr))
            X = sparse.csr_matrix((per_thousand, X.indices, X.indptr), shape=X.shape)
        return super().statistics(X, Y, omega)

    def estimate(self, stats: CountSums) -> Shares:
        weights, counts = word_weights(self.weighting, stats), stats.counts
        if self.length_correction:
            counts = counts * (stats.exposure / np.maximum(stats.documents, 1.0))[:, None]
        added = per_class_and_word(self.pseudo_counts, "pseudo_counts", *counts.shape)
        return Shares(log_shares(counts * weights, added), weights)

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: Shares) -> FloatArray:
        return np.asarray(X @ (estimate.log_shares * estimate.weights).T)

    def constant(self, X: sparse.csr_matrix, omega: FloatArray) -> FloatArray:
        """ln(n!) − Σ_w ln(x_w!), n being the words counted: the multinomial is given how many there are."""
        total = row_sums(X, X.data)
        return np.asarray(special.gammaln(total + 1.0)) - row_sums(X, special.gammaln(X.data + 1.0))


@with_fields({"weights": per_class_field()})
class ComplementWeights(NamedTuple):
    """−ln of the share of each word in the other classes, times the word's weight, (C, V)."""

    weights: FloatArray


def complement_scores(counts: FloatArray, pseudo_counts: float | FloatArray) -> FloatArray:
    """−ln of the share of each word in the documents of all other classes, (C, V).

    Parameters
    ----------
    counts : array (C, V)
        How often, or with what weight in sum, each class has each word.
    pseudo_counts : float or array (C, V)
    """
    return -log_shares(np.maximum(counts.sum(axis=0) - counts, 0.0), pseudo_counts)


@count_models.register("complement")
@dataclass(frozen=True, eq=False)
class Complement(WeighedModel[ComplementWeights]):
    """Score −Σ_w x_w ln[(N_w,not c + α)/Σ_v (N_v,not c + α)]: steadier than the multinomial where classes are unequal.

    It ranks classes; it is no distribution of counts, so its probabilities are a matter of convention.

    Parameters
    ----------
    pseudo_counts : float or array (V,) or (C, V)
    weighting : {"counts", "tfidf"}
        As for the multinomial.

    References
    ----------
    Rennie, Shih, Teevan & Karger (2003), Tackling the poor assumptions of naive Bayes text classifiers, ICML.
    """

    pseudo_counts: Any = 1.0
    weighting: str = "counts"

    name = "complement"
    estimate_class = ComplementWeights

    def estimate(self, stats: CountSums) -> ComplementWeights:
        idf = word_weights(self.weighting, stats)
        counts = stats.counts * idf
        added = per_class_and_word(self.pseudo_counts, "pseudo_counts", *counts.shape)
        return ComplementWeights(complement_scores(counts, added) * idf)

    def class_scores(self, X: sparse.csr_matrix, omega: FloatArray, estimate: ComplementWeights) -> FloatArray:
        return np.asarray(X @ estimate.weights.T)

    def constant(self, X: sparse.csr_matrix, omega: FloatArray) -> FloatArray:
        raise NotSupportedError(
            "the complement model has no likelihood of documents; use class_scores, or the multinomial model"
        )
