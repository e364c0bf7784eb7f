"""One threshold for all, or one per label, given by the user."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import ThresholdRule, check_given, per_label, rules


@rules.register("fixed")
class FixedThreshold(ThresholdRule):
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

    def __init__(self, threshold: ArrayLike = 0.5) -> None:
        self.threshold = threshold

    @property
    def learns(self) -> bool:
        return False

    def check_params(self, n_labels: int) -> None:
        per_label(self.threshold, n_labels, "threshold")

    def _restore(self, fitted: dict[str, Any], n_labels: int | None) -> None:
        super()._restore(fitted, n_labels)
        check_given(self, per_label(self.threshold, self.n_labels_, "threshold"))

    def _fit(self, proba: FloatArray, Y: BoolArray | None) -> None:
        self.thresholds_ = per_label(self.threshold, proba.shape[1], "threshold")

    def decide(self, proba: ArrayLike) -> BoolArray:
        """True where p > threshold; works without ``fit``."""
        proba = self._check_decide(proba)
        return proba > per_label(self.threshold, proba.shape[1], "threshold")
