"""The most yes decisions of which a given share is right; the fewest that find a given share of the positives."""

from __future__ import annotations

import warnings
from typing import ClassVar, Literal

import numpy as np

from textbayes.core.codec import Array, Fields, Null
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice
from textbayes.decide._base import ALWAYS, NEVER, ThresholdRule, check_fraction, lower_share, make_cuts, rules


@rules.register("target_precision")
class TargetPrecision(ThresholdRule):
    """Per label the threshold of highest recall whose precision TP/(TP+FP) on the fit data reaches ``precision``.

    Of cuts with the same recall the strictest is taken. With ``confidence`` the lower Wilson bound of the precision
    must reach the target instead of the plain share, so that 3 right of 3 is not taken for certainty.

    Where no cut reaches the target (a warning names how many labels, ``reached_`` which): ``unreached="never"`` assigns
    the label to no document, ``unreached="best"`` takes the cut that comes nearest.

    Attributes
    ----------
    thresholds_, reached_ : arrays of shape (n_labels,)

    Examples
    --------
    >>> rule = TargetPrecision(0.75).fit([0.9, 0.8, 0.7, 0.6, 0.5, 0.4], [1, 1, 0, 1, 0, 0])
    >>> rule.thresholds_.round(2), rule.reached_
    (array([0.55]), array([ True]))
    """

    name = "target_precision"
    learnt: ClassVar[Fields] = {"reached_": Array(np.bool_, ("n_labels_",)) | Null()}

    def __init__(
        self, precision: float = 0.9, confidence: float | None = None, unreached: Literal["never", "best"] = "never"
    ) -> None:
        self.precision = precision
        self.confidence = confidence
        self.unreached = unreached

    def check_params(self, n_labels: int) -> None:
        check_fraction(self.precision, "precision")
        check_choice("unreached", self.unreached, ("never", "best"))
        if self.confidence is not None:
            check_fraction(self.confidence, "confidence")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        cuts = make_cuts(proba, self._need_labels(Y))
        precision = lower_share(cuts.tp, cuts.accepted, self.confidence)
        precision[:, 0] = -1.0  # no yes at all has no precision
        enough = (precision >= self.precision) & cuts.possible & (cuts.tp > 0)
        self.reached_ = enough.any(axis=1)
        k = np.where(self.reached_, cuts.best(np.where(enough, cuts.tp, -1.0)), cuts.best(precision))
        thresholds = cuts.thresholds(k)
        without = cuts.tp[:, -1] == 0
        dropped = ~self.reached_ if self.unreached == "never" else without
        self.thresholds_ = np.where(dropped, NEVER, thresholds)
        if not self.reached_.all():
            warnings.warn(
                f"precision {self.precision:g} is not reached on the fit data for {int((~self.reached_).sum())} of "
                f"{len(k)} labels: {int(dropped.sum())} are never assigned, the others at their highest precision",
                UserWarning,
                stacklevel=4,
            )


@rules.register("target_recall")
class TargetRecall(ThresholdRule):
    """Per label the strictest threshold whose recall TP/(TP+FN) on the fit data reaches ``recall``.

    With ``confidence`` the lower Wilson bound of the recall must reach the target instead of the plain share. Few
    positives can then never reach it: such a label is assigned to every document, the only way to miss none. A label
    without any positive has no recall and is never assigned. A warning counts both, ``reached_`` names them.

    Attributes
    ----------
    thresholds_, reached_ : arrays of shape (n_labels,)

    Examples
    --------
    >>> TargetRecall(0.6).fit([0.9, 0.8, 0.7, 0.6], [1, 0, 1, 1]).thresholds_
    array([0.65])
    """

    name = "target_recall"
    learnt: ClassVar[Fields] = {"reached_": Array(np.bool_, ("n_labels_",)) | Null()}

    def __init__(self, recall: float = 0.95, confidence: float | None = None) -> None:
        self.recall = recall
        self.confidence = confidence

    def check_params(self, n_labels: int) -> None:
        check_fraction(self.recall, "recall")
        if self.confidence is not None:
            check_fraction(self.confidence, "confidence")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        cuts = make_cuts(proba, self._need_labels(Y))
        recall = lower_share(cuts.tp, cuts.positives, self.confidence)
        enough = (recall >= self.recall) & cuts.possible
        self.reached_ = enough.any(axis=1)
        without = cuts.tp[:, -1] == 0
        tuned = cuts.thresholds(cuts.best(enough.astype(np.float64)))
        self.thresholds_ = np.where(without, NEVER, np.where(self.reached_, tuned, ALWAYS))
        if not self.reached_.all():
            warnings.warn(
                f"recall {self.recall:g} is not reached on the fit data for {int((~self.reached_).sum())} of "
                f"{len(without)} labels: {int(without.sum())} without positives are never assigned, the others always",
                UserWarning,
                stacklevel=4,
            )
