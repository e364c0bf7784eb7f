"""Exactly one label per document, the most probable; or none when it is not probable enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide._base import Rule, check_fraction, rules


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
