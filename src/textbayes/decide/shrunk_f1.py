"""Thresholds for F1 that borrow strength from labels of similar size, so that rare labels get sensible ones."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import is_number
from textbayes.decide._base import NEVER, ThresholdRule, rules

_GRID = np.linspace(-12.0, 6.0, 721)  # log-odds at which a threshold may lie


@rules.register("shrunk_f1")
class ShrunkF1(ThresholdRule):
    """Per label the threshold that maximises F1 over its own documents and ``strength`` pseudo-positives.

    The F1 curve of a label with three positives says little of where its threshold should be. Labels of similar size
    behave alike, so their pooled curves serve as prior (empirical Bayes): with tp_j(t), fp_j(t) the counts of label j
    above t, n_j its positives and g_tp(t), g_fp(t) the counts per positive among labels near its size,

        F1_j(t) = 2 (tp_j + m g_tp) / (tp_j + fp_j + m (g_tp + g_fp) + n_j + m),   m = strength.

    Neighbours weigh exp(−½ (Δ log2 n / width)²), each label's positives counting once. Common labels keep their own
    threshold, rare ones take that of their kind; a label without positives counts among the rarest. The middle of the
    best stretch of thresholds is taken. Where no label has a positive, none is ever assigned.

    Parameters
    ----------
    strength : float
        Pseudo-positives m; 0 is ``max_f1`` on a grid of thresholds.
    width : float
        Reach of the neighbourhood in doublings of size.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)

    Examples
    --------
    >>> proba = [[0.9, 0.2], [0.8, 0.6], [0.3, 0.1], [0.2, 0.3]]
    >>> rule = ShrunkF1().fit(proba, [[1, 0], [1, 1], [0, 0], [0, 0]])
    >>> rule.decide([[0.7, 0.2], [0.1, 0.7]]).tolist()
    [[True, False], [False, True]]
    """

    name = "shrunk_f1"

    def __init__(self, strength: float = 20.0, width: float = 1.0) -> None:
        self.strength = strength
        self.width = width

    def check_params(self, n_labels: int) -> None:
        given = is_number(self.strength) and is_number(self.width)
        if not (given and 0.0 <= self.strength < np.inf and 0.0 < self.width < np.inf):
            raise InputError(f"strength={self.strength!r} must be ≥ 0 and width={self.width!r} > 0, and both finite")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        Y = self._need_labels(Y)
        tp, fp = _counts_above(proba, Y)
        n_positive = Y.sum(axis=0).astype(np.float64)
        if not n_positive.any():
            self.thresholds_ = np.full(len(n_positive), NEVER)
            return
        size = np.log2(np.maximum(n_positive, 1.0))
        nearness = np.exp(-0.5 * ((size[:, None] - size) / self.width) ** 2) / np.maximum(n_positive, 1.0)
        nearness[:, n_positive == 0] = 0.0
        prior_tp, prior_fp = (nearness @ counts / (nearness @ n_positive)[:, None] for counts in (tp, fp))
        m = self.strength
        hits = tp + m * prior_tp
        f = 2.0 * hits / (hits + fp + m * prior_fp + n_positive[:, None] + m)
        best = f >= f.max(axis=1, keepdims=True) - 1e-12
        self.thresholds_ = expit([_middle_of_longest_run(row) for row in best])


def _middle_of_longest_run(best: BoolArray) -> float:
    """The middle of the longest stretch of thresholds that are equally good; of equal ones the strictest."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], best, [False]]).astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    longest = len(starts) - 1 - int(np.argmax((stops - starts)[::-1]))
    return float(_GRID[starts[longest] : stops[longest]].mean())


def _counts_above(proba: FloatArray, Y: BoolArray) -> tuple[FloatArray, FloatArray]:
    """True and false positives of each label at each threshold of the grid."""
    log_odds = logit(np.clip(proba, 1e-15, 1.0 - 1e-15))
    out = np.empty((2, proba.shape[1], len(_GRID)))
    for j in range(proba.shape[1]):
        for row, members in enumerate((Y[:, j], ~Y[:, j])):
            ranked = np.sort(log_odds[members, j])
            out[row, j] = len(ranked) - np.searchsorted(ranked, _GRID, side="right")
    return out[0], out[1]
