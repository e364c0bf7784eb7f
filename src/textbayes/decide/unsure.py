"""A band of probabilities in which a decision had better be left to a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.codec import Fields, Text
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.state import Part
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.decide._base import (
    ALWAYS,
    NEVER,
    OF_LABELS,
    PER_LABEL,
    Cuts,
    Rule,
    check_fraction,
    make_cuts,
    make_rule,
    per_label,
    rules,
)

_ROUNDING = 1e-9  # rounding of share · count must not cost an exact tie, such as 55 right of 100 at 0.55
_Choose = Callable[[Cuts, IntArray, float], tuple[IntArray, IntArray]]


@rules.register("unsure")
class UnsureBand(Rule):
    """Yes and no by another rule, and ``unsure`` where the probability lies in (low, high] around its threshold.

    The band of each label is

    - ``low`` and ``high`` as given (numbers, or one per label), widened to hold the threshold; or
    - with ``precision``: the narrowest on each side so that on the fit data at least this share of the yes decisions
      above it are right, and of the no decisions below it; or
    - with ``error_rate``: the band with the fewest documents so that of all decisions outside it at most this share is
      wrong.

    A side that cannot reach its target is left undecided altogether: its band goes to the end of the scale.

    Attributes
    ----------
    low_, high_, thresholds_ : arrays of shape (n_labels,)
    rule_ : the fitted inner rule

    Examples
    --------
    >>> band = UnsureBand(low=0.3, high=0.6).fit([[0.1], [0.5], [0.9]])
    >>> band.decide([[0.1], [0.55], [0.9]]).ravel(), band.unsure([[0.1], [0.55], [0.9]]).ravel()
    (array([False,  True,  True]), array([False,  True, False]))
    """

    name = "unsure"
    fields: ClassVar[Fields] = {"rule": Text() | Part(rules, fitted=False), "low": PER_LABEL, "high": PER_LABEL}
    learnt: ClassVar[Fields] = {
        **dict.fromkeys(("thresholds_", "low_", "high_"), OF_LABELS),
        "rule_": Part(rules),
    }
    has_thresholds = True

    def __init__(
        self,
        rule: str | Rule = "fixed",
        low: ArrayLike = 0.25,
        high: ArrayLike = 0.75,
        precision: float | None = None,
        error_rate: float | None = None,
    ) -> None:
        self.rule = rule
        self.low = low
        self.high = high
        self.precision = precision
        self.error_rate = error_rate

    @property
    def learns(self) -> bool:
        return self.precision is not None or self.error_rate is not None or make_rule(self.rule).learns

    @property
    def needs_probabilities(self) -> bool:
        return make_rule(self.rule).needs_probabilities

    def check_params(self, n_labels: int) -> None:
        if self.precision is not None and self.error_rate is not None:
            raise InputError("both precision and error_rate were given; choose one of them")
        for name in ("precision", "error_rate"):
            if getattr(self, name) is not None:
                check_fraction(getattr(self, name), name)
        low, high = per_label(self.low, n_labels, "low"), per_label(self.high, n_labels, "high")
        if self.precision is None and self.error_rate is None and (low > high).any():
            raise InputError(f"low={self.low!r} is above high={self.high!r}; the band goes from low to high")
        inner = make_rule(self.rule)
        inner.check_params(n_labels)
        if not inner.has_thresholds:
            raise NotSupportedError(
                f"rule {inner.name!r} has no threshold to put a band around; use one that has, such as 'max_f1'"
            )

    def check_state(self) -> None:
        super().check_state()
        if hasattr(self, "n_labels_"):
            self.rule_.check_labels(self.n_labels_)
            same = np.array_equal(getattr(self.rule_, "thresholds_", np.empty(0)), self.thresholds_)
            if not same or not ((self.low_ <= self.thresholds_) & (self.thresholds_ <= self.high_)).all():
                raise InputError("the band of rule 'unsure' does not hold its thresholds")

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        self.rule_: Rule = make_rule(self.rule).fit(proba, Y)
        self.thresholds_: FloatArray = self.rule_.thresholds_
        if self.precision is not None:
            self._fit_band(make_cuts(proba, self._need_labels(Y)), _by_precision, self.precision)
        elif self.error_rate is not None:
            self._fit_band(make_cuts(proba, self._need_labels(Y)), _by_error_rate, self.error_rate)
        else:
            n_labels = proba.shape[1]
            low, high = per_label(self.low, n_labels, "low"), per_label(self.high, n_labels, "high")
            self.low_, self.high_ = np.minimum(low, self.thresholds_), np.maximum(high, self.thresholds_)

    def _fit_band(self, cuts: Cuts, choose: _Choose, target: float) -> None:
        middle = (cuts.scores > self.thresholds_[:, None]).sum(axis=1)
        k_high, k_low = choose(cuts, middle, target)
        self.high_ = np.where(k_high == middle, self.thresholds_, cuts.thresholds(k_high))
        self.low_ = np.where(k_low == middle, self.thresholds_, cuts.thresholds(k_low))
        self.high_[k_high == 0] = NEVER
        self.low_[k_low == cuts.n_docs] = ALWAYS

    def decide(self, proba: ArrayLike) -> BoolArray:
        """Yes and no of the inner rule, inside the band as well."""
        proba = self._check_decide(proba)
        return self.rule_.decide(proba)

    def reason(self, label: int, mirrored: bool = False) -> str:
        """The threshold and the band around it."""
        low, high = float(self.low_[label]), float(self.high_[label])
        low, high = (1.0 - high, 1.0 - low) if mirrored else (low, high)
        return f"{super().reason(label, mirrored)}, unsure from {max(low, 0.0):.3g} to {min(high, 1.0):.3g}"

    def _check_decide(self, proba: ArrayLike) -> FloatArray:
        if not hasattr(self, "rule_"):
            raise InputError("rule 'unsure' has not been fitted; call fit(proba, Y) first")
        return super()._check_decide(proba)

    def unsure(self, proba: ArrayLike) -> BoolArray:
        """True where low < p ≤ high: the decision had better be looked at."""
        proba = self._check_decide(proba)
        return (proba > self.low_) & (proba <= self.high_)


def _by_precision(cuts: Cuts, middle: IntArray, target: float) -> tuple[IntArray, IntArray]:
    """The largest k ≤ middle whose yes are right often enough, the smallest k ≥ middle whose no are."""
    k = cuts.accepted
    yes_right = (cuts.tp >= target * k - _ROUNDING) & cuts.possible & (k <= middle[:, None])
    no_right = (cuts.n_docs - k - cuts.positives + cuts.tp >= target * (cuts.n_docs - k) - _ROUNDING) & cuts.possible
    no_right &= k >= middle[:, None]
    return cuts.n_docs - yes_right[:, ::-1].argmax(axis=1), no_right.argmax(axis=1)


def _by_error_rate(cuts: Cuts, middle: IntArray, rate: float) -> tuple[IntArray, IntArray]:
    """Cuts k_high ≤ middle ≤ k_low with the smallest k_low − k_high such that FP + FN ≤ rate · decisions outside.

    The condition splits into above(k_high) + below(k_low) ≤ 0. The running minimum of ``below`` from the middle down
    falls with k_low, so the smallest k_low for each k_high is found by bisection: O(n log n) a label.
    """
    k = cuts.accepted[0]
    k_high, k_low = middle.copy(), middle.copy()
    for label, centre in enumerate(middle):
        tp, possible = cuts.tp[label], cuts.possible[label]
        above = np.where(possible, k - tp - rate * k, np.inf)[: centre + 1]
        below = np.where(possible, tp[-1] - tp - rate * (cuts.n_docs - k), np.inf)[centre:]
        running = np.minimum.accumulate(below)
        step = np.searchsorted(-running, above - _ROUNDING, side="left")
        width = np.where(step < len(running), centre + step - np.arange(centre + 1), np.inf)
        k_high[label] = width.argmin()
        k_low[label] = centre + step[k_high[label]]
    return k_high, k_low
