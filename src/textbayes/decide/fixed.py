"""Decisions by parameters alone: thresholds given by the user, or from what right and wrong answers are worth.

``top_label`` gives exactly one label per document, the most probable; or none when it is not probable enough.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.codec import Fields
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import ALWAYS, NEVER, PER_LABEL, Rule, ThresholdRule, check_fraction, per_label, rules


class _GivenThreshold(ThresholdRule):
    """A rule that learns nothing: subclasses write ``_thresholds``."""

    @property
    def learns(self) -> bool:
        return False

    def check_params(self, n_labels: int) -> None:
        self._thresholds(n_labels)

    def decide(self, proba: ArrayLike) -> BoolArray:
        """True where p > threshold; works without ``fit``."""
        proba = self._check_decide(proba)
        return proba > self._thresholds(proba.shape[1])

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        self.thresholds_ = self._thresholds(proba.shape[1])

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "n_labels_") and not np.array_equal(self.thresholds_, self._thresholds(self.n_labels_)):
            raise InputError(f"rule {self.name!r} has thresholds that its parameters do not give")

    def _thresholds(self, n_labels: int) -> FloatArray:
        raise NotImplementedError


@rules.register("fixed")
class FixedThreshold(_GivenThreshold):
    """Say yes when p > threshold.

    With true probabilities 0.5 makes the fewest errors to be expected (the Bayes decision).

    Parameters
    ----------
    threshold : float or array of shape (n_labels,)

    Examples
    --------
    >>> FixedThreshold([0.5, 0.2]).decide([[0.4, 0.4]])
    array([[False,  True]])
    """

    name = "fixed"
    fields: ClassVar[Fields] = {"threshold": PER_LABEL}

    def __init__(self, threshold: ArrayLike = 0.5) -> None:
        self.threshold = threshold

    def _thresholds(self, n_labels: int) -> FloatArray:
        return per_label(self.threshold, n_labels, "threshold")


@rules.register("utility")
class LinearUtility(_GivenThreshold):
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
    fields: ClassVar[Fields] = dict.fromkeys(("tp", "fp", "fn", "tn"), PER_LABEL)

    def __init__(self, tp: ArrayLike = 2.0, fp: ArrayLike = -1.0, fn: ArrayLike = 0.0, tn: ArrayLike = 0.0) -> None:
        self.tp = tp
        self.fp = fp
        self.fn = fn
        self.tn = tn

    @property
    def needs_probabilities(self) -> bool:
        return True

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


@rules.register("top_label")
class TopLabel(Rule):
    """Give each document its most probable label (of equal ones the first), for multi-class problems.

    Parameters
    ----------
    min_probability : None, or the probability below which a document is left without a label

    Examples
    --------
    >>> TopLabel(min_probability=0.5).decide([[0.2, 0.7, 0.1], [0.4, 0.3, 0.3]])
    array([[False,  True, False],
           [False, False, False]])
    """

    name = "top_label"

    def __init__(self, min_probability: float | None = None) -> None:
        self.min_probability = min_probability

    @property
    def learns(self) -> bool:
        return False

    def reason(self, label: int, mirrored: bool = False) -> str:
        """The likeliest of how many, and the least probability if there is one."""
        least = "" if self.min_probability is None else f" if its probability is at least {self.min_probability:g}"
        return f"the most probable of {self.n_labels_} labels is chosen{least}"

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        """Nothing to learn."""

    def decide(self, proba: ArrayLike) -> BoolArray:
        """One True per row, or none where the top probability is below ``min_probability``."""
        proba = self._check_decide(proba)
        self.check_params(proba.shape[1])
        top = proba.argmax(axis=1)
        decisions = top[:, None] == np.arange(proba.shape[1])
        if self.min_probability is not None:
            decisions &= proba >= self.min_probability
        return decisions

    def check_params(self, n_labels: int) -> None:
        if self.min_probability is not None:
            check_fraction(self.min_probability, "min_probability")
        if n_labels < 2:
            raise InputError("top_label chooses among labels but proba has one column; use rule 'fixed' for yes or no")
