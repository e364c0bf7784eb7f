"""Contingency tables of decisions and truth, of which all decision measures are functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_indicator, check_same_length


class ContingencyTable(NamedTuple):
    """Counts of true and false positives and negatives, one per label along the last axis.

    Leading axes are free (resamples, systems): measures work on the last axis only. Tables of the same labels add up:
    ``table_of_monday + table_of_tuesday`` is the table of both days.
    """

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray

    def __add__(self, other: object) -> ContingencyTable:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        if self.tp.shape != other.tp.shape:
            raise InputError(
                f"tables of {self.tp.shape} and {other.tp.shape} labels cannot be added; use the same labels"
            )
        return ContingencyTable(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def pooled(self) -> ContingencyTable:
        """The table of all labels together (micro-averaging): one label along the last axis."""
        return ContingencyTable(*(count.sum(axis=-1, keepdims=True) for count in self))

    @property
    def support(self) -> FloatArray:
        """Documents that carry the label."""
        return self.tp + self.fn

    @property
    def predicted(self) -> FloatArray:
        """Documents that were given the label."""
        return self.tp + self.fp

    @property
    def total(self) -> FloatArray:
        """All documents."""
        return self.tp + self.fp + self.fn + self.tn


def check_pair(
    Y_true: Matrix | ArrayLike, Y_pred: Matrix | ArrayLike, names: tuple[str, str] = ("Y_true", "Y_pred")
) -> tuple[BoolArray, BoolArray]:
    """Check two indicators, which must be of the same shape, (n_docs, n_labels)."""
    true, pred = check_indicator(Y_true, names[0]), check_indicator(Y_pred, names[1])
    check_same_length(true, names[0], pred, names[1])
    if true.shape != pred.shape:
        raise InputError(
            f"{names[0]} has {true.shape[1]} labels but {names[1]} has {pred.shape[1]}; pass the same columns in both"
        )
    return true, pred


def contingency(Y_true: Matrix | ArrayLike, Y_pred: Matrix | ArrayLike) -> ContingencyTable:
    """Contingency table of true and predicted indicators (n_docs, n_labels); a vector is one label.

    Parameters
    ----------
    Y_true, Y_pred : boolean arrays (n_docs, n_labels) or (n_docs,)

    Examples
    --------
    >>> contingency([[1, 0], [1, 1], [0, 0]], [[1, 1], [0, 1], [0, 0]]).tp
    array([1., 1.])
    """
    true, pred = check_pair(Y_true, Y_pred)
    tp = np.count_nonzero(true & pred, axis=0).astype(np.float64)
    n_true = np.count_nonzero(true, axis=0)
    n_pred = np.count_nonzero(pred, axis=0)
    return ContingencyTable(tp, n_pred - tp, n_true - tp, len(true) - n_true - n_pred + tp)
