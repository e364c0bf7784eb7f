"""Thresholds tuned on the data given: the highest F measure (plain, smoothed or guarded), or the fewest errors."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from textbayes.core.codec import Fields, Null
from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import check_choice, is_number
from textbayes.decide._base import (
    NEVER,
    OF_LABELS,
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
