"""The fewest yes decisions that find a given share of the positives."""

from __future__ import annotations

import warnings

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import ALWAYS, NEVER, ThresholdRule, check_fraction, rules
from textbayes.decide._cuts import lower_share, make_cuts


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
    learnt = ("thresholds_", "reached_")

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
