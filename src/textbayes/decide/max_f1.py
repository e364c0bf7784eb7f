"""Thresholds tuned on the data given for F1 or for the fewest errors.

``max_f1`` takes the highest F measure of each label (plain, smoothed or guarded), ``shrunk_f1`` borrows strength from
labels of similar size, so that rare labels get sensible thresholds, and ``micro_macro_f1`` serves micro F1 and macro F1
together, label by label from the commonest to the rarest.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import expit, logit

from textbayes.core.codec import Fields, Null
from textbayes.core.errors import InputError
from textbayes.core.folds import label_order
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice, is_number
from textbayes.decide._base import (
    NEVER,
    OF_LABELS,
    Cuts,
    Scale,
    ThresholdRule,
    check_fraction,
    f_measure_of_cuts,
    make_cuts,
    rules,
)


@rules.register("max_f1")
class MaxF1(ThresholdRule):
    """Per label the threshold that maximises F_β = (1+β²) TP / ((1+β²) TP + β² FN + FP) on the data given to ``fit``.

    Pass training probabilities (MaxF1 of Chai, Ng & Chieu 2002) or out-of-fold ones (SCut of Yang 2001), which do not
    flatter the classifier. Of equal cuts the strictest is taken. A label without positives is not assigned.

    The tuned threshold of a rare label overfits: one positive at rank 900 buys an F1 of 0.002 with 899 false alarms on
    the next data. Two guards:

    - ``fbr``: where the best F_β is below it, the threshold becomes the highest probability seen (``fallback="top"``,
      SCutFBR.1) or the label is never assigned (``fallback="never"``, SCutFBR.0); so for a label without positives;
    - ``smoothing`` s maximises (… TP + s) / (… + s), as if s/2 more documents were right at any threshold.

    Parameters
    ----------
    beta : weight of recall against precision
    fbr : None, or the F_β below which the tuned threshold is not believed
    fallback : "top" or "never": what fbr does then
    target : "label" tunes each label alone (macro), "micro" one common threshold for the pooled decisions
    smoothing : added to numerator and denominator while choosing; ``f_`` is reported without it
    scale : "probability" or "logit", the scale on which the threshold lies half-way between its neighbours

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
    f_ : F_β on the fit data at the cut chosen (before ``fbr``), per label; for "micro" the pooled value, repeated

    References
    ----------
    Yang (2001), A study on thresholding strategies for text categorization, SIGIR.
    Lewis, Yang, Rose & Li (2004), RCV1, JMLR 5:361–397 (SCutFBR.0 and .1).
    Lin & Lin (2023), On the thresholding strategy for infrequent labels, CIKM (smoothing).

    Examples
    --------
    >>> rule = MaxF1().fit([0.1, 0.2, 0.6, 0.3], [0, 1, 1, 0])
    >>> rule.thresholds_, rule.f_
    (array([0.15]), array([0.8]))
    """

    name = "max_f1"
    learnt: ClassVar[Fields] = {"f_": OF_LABELS | Null()}

    def __init__(
        self,
        beta: float = 1.0,
        fbr: float | None = None,
        fallback: Literal["top", "never"] = "top",
        target: Literal["label", "micro"] = "label",
        smoothing: float = 0.0,
        scale: Scale = "probability",
    ) -> None:
        self.beta = beta
        self.fbr = fbr
        self.fallback = fallback
        self.target = target
        self.smoothing = smoothing
        self.scale = scale

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        Y = self._need_labels(Y)
        n_labels = proba.shape[1]
        if self.target == "micro":
            proba, Y = proba.reshape(-1, 1), Y.reshape(-1, 1)
        cuts = make_cuts(proba, Y)
        k = cuts.best(f_measure_of_cuts(cuts, self.beta, self.smoothing))
        f = cuts.at(f_measure_of_cuts(cuts, self.beta), k)
        thresholds = cuts.thresholds(k, self.scale)
        without = cuts.positives[:, 0] == 0
        thresholds[without] = NEVER
        if self.fbr is not None:
            top = cuts.scores[:, 0] if self.fallback == "top" else NEVER
            thresholds = np.where((f < self.fbr) | without, top, thresholds)
        self.f_ = np.broadcast_to(f, (n_labels,)).copy()
        self.thresholds_ = np.broadcast_to(thresholds, (n_labels,)).copy()

    def check_params(self, n_labels: int) -> None:
        check_choice("fallback", self.fallback, ("top", "never"))
        check_choice("target", self.target, ("label", "micro"))
        check_choice("scale", self.scale, ("probability", "logit"))
        if not (is_number(self.beta) and self.beta > 0):
            raise InputError(f"beta={self.beta!r} must be above 0; 1 weighs precision and recall alike")
        if not (is_number(self.smoothing) and self.smoothing >= 0):
            raise InputError(f"smoothing={self.smoothing!r} must be 0 or more; 0 switches it off")
        if self.fbr is not None:
            check_fraction(self.fbr, "fbr")


@rules.register("fewest_errors")
class FewestErrors(ThresholdRule):
    """Per label the threshold that minimises FP + FN on the probabilities and labels given to ``fit``.

    Of several cuts with equally few errors the strictest is taken (fewest yes); within the cut, the threshold lies
    half-way between the neighbouring probabilities. A label without positives is thus (almost) never given.

    Attributes
    ----------
    thresholds_ : array of shape (n_labels,)
    errors_ : array of shape (n_labels,), the errors left on the fit data

    References
    ----------
    Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), Sparse Bayesian classifiers for text categorization: thresholds
    "tuned to the fewest errors on the training set".

    Examples
    --------
    >>> rule = FewestErrors().fit([0.1, 0.2, 0.6, 0.3], [0, 0, 1, 1])
    >>> rule.thresholds_, rule.errors_
    (array([0.25]), array([0.]))
    """

    name = "fewest_errors"
    learnt: ClassVar[Fields] = {"errors_": OF_LABELS | Null()}

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        cuts = make_cuts(proba, self._need_labels(Y))
        errors = cuts.accepted + cuts.positives - 2 * cuts.tp
        k = cuts.best(-errors)
        self.errors_ = cuts.at(errors, k)
        self.thresholds_ = cuts.thresholds(k)


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
