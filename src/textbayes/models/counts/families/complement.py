"""Complement naive Bayes: a class is scored by how badly the documents of all other classes explain the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import NotSupportedError
from textbayes.core.state import with_fields
from textbayes.core.types import FloatArray
from textbayes.models.counts.base import (
    CountSums,
    WeighedModel,
    log_shares,
    per_class_and_word,
    per_class_field,
    word_weights,
)
from textbayes.models.counts.families import count_models


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
