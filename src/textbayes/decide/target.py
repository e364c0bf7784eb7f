"""Thresholds that hold a target: a share of yes decisions that are right, or a share of the positives that is found.

``pcut`` gives a label to as large a share of the texts as have it, drawn to a cut that all labels share.
"""

from __future__ import annotations

import warnings
from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit, logit

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields, Null
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice, is_number
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
