"""Types that several packages share: penalties, scores, documents as models see them, contributions of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.tables import make_frame
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix


class LocalPenalty(NamedTuple):
    """Penalty of a prior as kernels see it, Σ_j l1_j |w_j − center_j| + ½ l2_j (w_j − center_j)², arrays (p,)."""

    center: FloatArray
    l1: FloatArray
    l2: FloatArray


class ScoreResult(NamedTuple):
    """Word scores, one row per label; ``p_values`` is None where the score has no null distribution."""

    scores: FloatArray
    p_values: FloatArray | None

    def to_frame(self, words: Sequence[str] | None = None, labels: Sequence[str] | None = None) -> Any:
        """A pandas ``DataFrame`` with a row for each label and word, the highest scores of each label first.

        ``words`` and ``labels`` name the columns and rows of the scores; numbers if not given.
        """
        n_labels, n_words = self.scores.shape
        names = list(range(n_labels)) if labels is None else list(labels)
        terms = list(range(n_words)) if words is None else list(words)
        if (len(names), len(terms)) != (n_labels, n_words):
            raise InputError(
                f"{len(terms)} words and {len(names)} labels are named; the scores are of {n_words} and {n_labels}"
            )
        rows = [
            (names[k], terms[j], float(self.scores[k, j]), *([] if self.p_values is None else [self.p_values[k, j]]))
            for k in range(n_labels)
            for j in np.argsort(-self.scores[k], kind="stable")
        ]
        return make_frame(rows, ["label", "word", "score", *([] if self.p_values is None else ["p_value"])])


@runtime_checkable
class ScoreFunction(Protocol):
    """Scores every word for every label at once: X (n_docs, n_features), Y indicator (n_docs, n_labels)."""

    def __call__(self, X: Matrix, Y: AnyArray) -> ScoreResult: ...


@dataclass(frozen=True, eq=False)
class Features:
    """Documents as models see them: counts of words, their weights, and lengths, row by row.

    Parameters
    ----------
    counts : CSR matrix (n_docs, n_features) or None
        How often each word occurs; None where no model asks.
    weights : CSR matrix (n_docs, n_features)
        What linear models read: TF-IDF or the like.
    lengths : array (n_docs,)
        Thousands of words, those outside of the vocabulary too.
    """

    counts: Any
    weights: Any
    lengths: FloatArray

    @property
    def n_docs(self) -> int:
        return int(self.weights.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.weights.shape[1])

    def rows(self, which: Any) -> Features:
        """Some of the documents, by number or by a mask."""
        return Features(_part(self.counts, which), _part(self.weights, which), self.lengths[which])

    def columns(self, which: IntArray) -> Features:
        """The same documents with some of the features."""
        every = slice(None)
        return Features(_part(self.counts, (every, which)), _part(self.weights, (every, which)), self.lengths)


def _part(matrix: Any, which: Any) -> Any:
    return None if matrix is None else matrix[which]


class Contributions(NamedTuple):
    """Contributions of words to one document's scores: ``scores`` = ``base`` + the sum of ``parts`` over its words.

    With label stacking, what the other labels add is a part of its own: ``label_effects``.

    Attributes
    ----------
    base : array (n_columns,)
    columns : array (n_words,)
        The features that have a part.
    parts : array (n_columns, n_words)
    label_effects : array (n_columns,) or None
    """

    base: FloatArray
    columns: IntArray
    parts: FloatArray
    label_effects: FloatArray | None = None


class WordWeights(NamedTuple):
    """Weights of single words in a model, arrays (n_columns, n_features).

    ``errors`` are standard errors, NaN where none is known; None where the model has none at all. ``shifts`` are
    what to add to the weights for the middle of their intervals, None for nothing.
    ``description`` says what the weights are.
    """

    weights: FloatArray
    errors: FloatArray | None
    description: str
    shifts: FloatArray | None = None
