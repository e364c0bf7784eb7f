"""Thresholds that serve micro F1 and macro F1 together, label by label from the commonest to the rarest."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from textbayes.core.codec import Fields, Null
from textbayes.core.folds import label_order
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice
from textbayes.decide._base import NEVER, OF_LABELS, Cuts, Scale, ThresholdRule, f_measure_of_cuts, make_cuts, rules


@rules.register("micro_macro")
class MicroMacroF1(ThresholdRule):
    """Per label the threshold that maximises micro F1 + macro F1 of the labels decided so far and this one.

    Thresholds are chosen from the commonest label to the rarest. For the m-th one, with the counts TP, FP, FN of those
    before it, the cut maximises

        2(TP + tp) / (2(TP + tp) + FP + fp + FN + fn)  +  F1(tp, fp, fn) / m.

    The first term makes false alarms of a rare label cost what they cost the pooled decisions, which guards rare labels
    without a parameter to tune (compare ``fbr`` of ``max_f1``). Equal cuts: the strictest. A label without positives is
    never assigned. ``fit_folds`` averages over folds, as the paper does.

    Parameters
    ----------
    scale : "probability" or "logit", the scale on which the threshold lies half-way between its neighbours

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
    f_ : F1 on the fit data at the cut chosen, per label

    References
    ----------
    Lin & Lin (2023), On the thresholding strategy for infrequent labels in multi-label classification, CIKM, § 4.3
    (the method behind the linear "thresholding" of LibMultiLabel).

    Examples
    --------
    >>> proba = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.1], [0.2, 0.3]]
    >>> MicroMacroF1().fit(proba, [[1, 0], [1, 0], [0, 0], [0, 1]]).thresholds_
    array([0.55, 0.25])
    """

    name = "micro_macro"
    learnt: ClassVar[Fields] = {"f_": OF_LABELS | Null()}

    def __init__(self, scale: Scale = "probability") -> None:
        self.scale = scale

    def check_params(self, n_labels: int) -> None:
        check_choice("scale", self.scale, ("probability", "logit"))

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        Y = self._need_labels(Y)
        cuts = make_cuts(proba, Y)
        f = f_measure_of_cuts(cuts)
        positives = cuts.positives[:, 0]
        k = np.zeros(len(positives), dtype=np.int64)
        hits = errors = 0.0
        for rank, label in enumerate(label_order(Y)[::-1], start=1):
            row = slice(label, label + 1)
            one = Cuts(cuts.scores[row], cuts.tp[row], cuts.possible[row])
            tp = one.tp
            wrong = one.accepted + one.positives - 2 * tp
            below = 2 * (hits + tp) + errors + wrong
            micro = np.divide(2 * (hits + tp), below, out=np.ones_like(below), where=below > 0)
            k[row] = one.best(micro + f[row] / rank)
            hits += float(tp[0, k[label]])
            errors += float(wrong[0, k[label]])
        self.f_ = cuts.at(f, k)
        self.thresholds_ = np.where(positives > 0, cuts.thresholds(k, self.scale), NEVER)
