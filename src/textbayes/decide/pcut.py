"""Thresholds that give a label to as large a share of the texts as have it, drawn to a cut that all labels share."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import is_number
from textbayes.decide._base import NEVER, ThresholdRule, rules

_MOST, _TEXTS_PER_POSITIVE = 35.0, 200.0  # a strength that is not given: one pseudo-positive for 200 texts, 35 at most
_NEAR = 0.2  # of the way from the first text left out to the last one taken: what is missed costs F1 more
_EDGE = 1e-15


@rules.register("pcut")
class ProportionalCut(ThresholdRule):
    """Per label the threshold that as many documents exceed as have the label, drawn to one that all labels share.

    Where precision equals recall is near where F1 is highest, and the place of the n-th highest score is known far
    better than that of the highest F1, whose curve is flat and jagged. A label with n_j positives takes, in log-odds,

        t_j = (n_j c_j + m c) / (n_j + m),   m = strength,

    with c_j its own cut and c the one that all labels together have. A label without positives takes c; where no label
    has a positive, none is ever assigned.

    Parameters
    ----------
    strength : float, optional
        Pseudo-positives m; one for 200 documents, 35 at most, where it is not given: with few documents
        the common cut is no better known than those of the labels.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)

    References
    ----------
    Yang (2001), A study of thresholding strategies for text categorization, SIGIR (PCut).

    Examples
    --------
    >>> proba = [[0.9, 0.2], [0.8, 0.6], [0.3, 0.1], [0.2, 0.3]]
    >>> rule = ProportionalCut().fit(proba, [[1, 0], [1, 1], [0, 0], [0, 0]])
    >>> rule.decide([[0.7, 0.2], [0.1, 0.7]]).tolist()
    [[True, False], [False, True]]
    """

    name = "pcut"
    counts_positives = True

    def __init__(self, strength: float | None = None) -> None:
        self.strength = strength

    def check_params(self, n_labels: int) -> None:
        if self.strength is not None and not (is_number(self.strength) and 0.0 <= self.strength < np.inf):
            raise InputError(f"strength={self.strength!r} must be a number from 0 on, or None")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        Y = self._need_labels(Y)
        n_docs, n_labels = proba.shape
        n_positive = Y.sum(axis=0)
        if not n_positive.any():
            self.thresholds_ = np.full(n_labels, NEVER)
            return
        common = _cut(_highest(proba, int(n_positive.sum()) + 1), int(n_positive.sum()))
        own = [_cut(proba[:, j], int(n)) if n else common for j, n in enumerate(n_positive)]
        m = min(n_docs / _TEXTS_PER_POSITIVE, _MOST) if self.strength is None else float(self.strength)
        weight = np.where(n_positive > 0, n_positive / (n_positive + m), 0.0) if m > 0.0 else np.ones(n_labels)
        self.thresholds_ = expit(weight * np.array(own) + (1.0 - weight) * common)


def _highest(proba: FloatArray, n: int) -> FloatArray:
    """Probabilities among which are the ``n`` highest of all; not many more where all are a large matrix."""
    for least in (0.5, 0.1, 0.01, 0.001):
        if np.count_nonzero(proba > least) >= n:
            return proba[proba > least]
    return proba.ravel()


def _cut(proba: FloatArray, n: int) -> float:
    """Log-odds that the ``n`` highest of some probabilities exceed, ties aside; where that is all, below the lowest."""
    scores = logit(np.clip(proba, _EDGE, 1.0 - _EDGE))
    if n >= len(scores):
        return float(scores.min()) - 1.0
    first_left_out, last_taken = np.sort(np.partition(scores, len(scores) - n - 1)[len(scores) - n - 1 :])[:2]
    return float(first_left_out + _NEAR * (last_taken - first_left_out))
