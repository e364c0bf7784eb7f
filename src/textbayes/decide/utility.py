"""Decisions of highest expected utility, when right and wrong yes and no are worth fixed amounts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import ALWAYS, NEVER, ThresholdRule, check_given, per_label, rules


@rules.register("utility")
class LinearUtility(ThresholdRule):
    """Say yes when its expected utility exceeds that of no, believing the probabilities.

    With utilities u of the four outcomes, yes is better when p·u_tp + (1−p)·u_fp > p·u_fn + (1−p)·u_tn, that is

        p > c / (g + c),    g = u_tp − u_fn (gain of a right yes),    c = u_tn − u_fp (cost of a wrong yes).

    Each utility is a number or one per label. Defaults: 2 TP − FP, the T9U/T11U of the TREC filtering tracks
    (threshold 1/3). c < 0 means always, otherwise g ≤ 0 never; when both are negative a yes is worth less the likelier
    it is, which is refused.

    Parameters
    ----------
    tp, fp, fn, tn : float or array (n_labels,)
        Utilities of the four outcomes.

    Examples
    --------
    >>> LinearUtility(tp=1, fp=-4).fit([[0.5]]).thresholds_
    array([0.8])
    """

    name = "utility"

    def __init__(self, tp: ArrayLike = 2.0, fp: ArrayLike = -1.0, fn: ArrayLike = 0.0, tn: ArrayLike = 0.0) -> None:
        self.tp = tp
        self.fp = fp
        self.fn = fn
        self.tn = tn

    @property
    def needs_probabilities(self) -> bool:
        return True

    @property
    def learns(self) -> bool:
        return False

    def check_params(self, n_labels: int) -> None:
        self._thresholds(n_labels)

    def _restore(self, fitted: dict[str, Any], n_labels: int | None) -> None:
        super()._restore(fitted, n_labels)
        check_given(self, self._thresholds(self.n_labels_))

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        self.thresholds_ = self._thresholds(proba.shape[1])

    def decide(self, proba: ArrayLike) -> BoolArray:
        """True where yes has the higher expected utility; works without ``fit``."""
        proba = self._check_decide(proba)
        return proba > self._thresholds(proba.shape[1])

    def _thresholds(self, n_labels: int) -> FloatArray:
        tp, fp, fn, tn = (per_label(getattr(self, name), n_labels, name) for name in ("tp", "fp", "fn", "tn"))
        gain, cost = tp - fn, tn - fp
        if ((gain < 0) & (cost < 0)).any():
            raise InputError(
                "a right yes is worth less than a miss and a false alarm more than a right no (tp < fn and fp > tn): "
                "yes would go to the least probable documents; check the signs of the utilities"
            )
        ordinary = (gain > 0) & (cost >= 0)
        threshold = np.divide(cost, gain + cost, out=np.full(n_labels, NEVER), where=ordinary)
        return np.where(cost < 0, ALWAYS, threshold)
