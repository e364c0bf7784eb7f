"""Every way to cut a ranking: the counts behind all rules that tune a threshold on labelled probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from textbayes.core.statistics import wilson_bound
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide._base import ALWAYS, Scale


class Cuts(NamedTuple):
    """Per label (row) the outcome of saying yes to its k best documents, k = 0 … n_docs (column).

    ``scores`` (n_labels, n_docs) run from high to low; ``tp`` (n_labels, n_docs + 1) counts the positives among the k
    best; ``possible`` is False inside a run of equal scores, where no threshold can cut.
    """

    scores: FloatArray
    tp: FloatArray
    possible: BoolArray

    @property
    def n_docs(self) -> int:
        return self.scores.shape[1]

    @property
    def accepted(self) -> FloatArray:
        """k, broadcast against ``tp``."""
        return np.arange(self.n_docs + 1, dtype=np.float64)[None, :]

    @property
    def positives(self) -> FloatArray:
        """Number of positives per label, as a column."""
        return self.tp[:, -1:]

    def best(self, objective: FloatArray) -> IntArray:
        """The k of the highest objective per label; of equal ones the smallest k, the strictest threshold."""
        return np.where(self.possible, objective, -np.inf).argmax(axis=1)

    def at(self, values: AnyArray, k: IntArray) -> AnyArray:
        """values[label, k[label]] for each label."""
        return values[np.arange(len(k)), k]

    def thresholds(self, k: IntArray, scale: Scale = "probability") -> FloatArray:
        """Thresholds that accept exactly the k best: half-way to the next score, or to the end of the scale."""
        padded = np.pad(self.scores, ((0, 0), (1, 1)), constant_values=((0, 0), (1.0, 0.0)))
        last_in, first_out = self.at(padded, k), self.at(padded, k + 1)
        if scale == "logit":
            ends = np.clip([last_in, first_out], 1e-15, 1 - 1e-15)
            middle = expit(logit(ends).mean(axis=0))
        else:
            middle = (last_in + first_out) / 2
        # Between neighbouring floats the middle rounds to one of them: keep first_out ≤ threshold < last_in.
        inside = (middle >= first_out) & (middle < last_in)
        threshold = np.where(inside, middle, first_out)
        return np.where((k > 0) & (threshold >= last_in), ALWAYS, threshold)


def make_cuts(proba: FloatArray, Y: BoolArray) -> Cuts:
    """All cuts of all labels at once: O(n_labels · n_docs log n_docs)."""
    by_label = np.ascontiguousarray(proba.T)
    order = np.argsort(-by_label, axis=1)
    scores = np.take_along_axis(by_label, order, axis=1)
    n_labels, n_docs = scores.shape
    tp = np.zeros((n_labels, n_docs + 1))
    np.cumsum(np.take_along_axis(Y.T, order, axis=1), axis=1, out=tp[:, 1:])
    possible = np.ones((n_labels, n_docs + 1), dtype=np.bool_)
    possible[:, 1:-1] = scores[:, 1:] < scores[:, :-1]
    return Cuts(scores, tp, possible)


def f_measure_of_cuts(cuts: Cuts, beta: float = 1.0, smoothing: float = 0.0) -> FloatArray:
    """F_β = (1+β²) TP / ((1+β²) TP + β² FN + FP) of every cut, ``smoothing`` added above and below; 0/0 is 1."""
    hits = (1 + beta**2) * cuts.tp
    errors = beta**2 * (cuts.positives - cuts.tp) + (cuts.accepted - cuts.tp)
    below = hits + errors + smoothing
    return np.divide(hits + smoothing, below, out=np.ones_like(below), where=below > 0)


def lower_share(successes: FloatArray, trials: FloatArray, confidence: float | None) -> FloatArray:
    """successes / trials, or its one-sided Wilson (1927) lower bound at that confidence; NaN for 0 trials."""
    return wilson_bound(successes, trials, 0.0 if confidence is None else -float(ndtri(confidence)))
