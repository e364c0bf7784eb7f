"""Measures of decisions: pure functions of a contingency table, per label, micro- or macro-averaged; confusions.

``average=None`` gives one value per label, ``"micro"`` the measure of the pooled table, ``"macro"`` the mean of labels.

When a label makes the denominator 0, ``zero_division`` says what the measure is:

- ``0``: as scikit-learn does by default, and LibMultiLabel in its macro-F1. A label that was rightly never given,
  because no document carries it, then counts as a failure.
- ``1``: the label was handled without an error.
- ``"skip"``: NaN for the label, and left out of the macro average. The papers average over labels that have documents
  and so never meet 0/0 in recall or F1: Yang & Liu (1999), Joachims (1998) and Chai, Ng & Chieu (2002) over the 90
  Reuters categories with a training and a test document, Lewis et al. (2004) over the RCV1 topics that have examples.

F is computed from the counts, (1+β²) TP / ((1+β²) TP + β² FN + FP), so that it is 0/0 only for a label with neither
positives nor predictions; precision is 0/0 without predictions, recall without positives.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray, FloatArray, Matrix
from textbayes.core.validation import check_choice, check_finite, check_indicator, check_same_length


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


Average = Literal["micro", "macro"] | None
ZeroDivision = Literal[0, 1, "skip"]


def precision(table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0) -> FloatArray:
    """Precision TP / (TP + FP): the share of given labels that are right.

    Parameters
    ----------
    table : ContingencyTable
    average : {None, "micro", "macro"}
        Each label by itself, of the summed table, or the mean over labels.
    zero_division : {0, 1, "skip"}
        The value of 0/0; "skip" is NaN, which macro averages leave out.

    Examples
    --------
    >>> from textbayes.evaluate import contingency
    >>> table = contingency([[1, 0], [1, 0], [0, 0]], [[1, 0], [0, 0], [1, 0]])
    >>> precision(table), precision(table, zero_division="skip"), float(precision(table, "micro"))
    (array([0.5, 0. ]), array([0.5, nan]), 0.5)
    """
    table = _averaged(table, average)
    return _mean(_ratio(table.tp, table.predicted, zero_division), average)


def recall(table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0) -> FloatArray:
    """Recall TP / (TP + FN): the share of the documents with the label that were given it; also called sensitivity.

    Parameters
    ----------
    table, average, zero_division
        As for :func:`precision`.
    """
    table = _averaged(table, average)
    return _mean(_ratio(table.tp, table.support, zero_division), average)


sensitivity = recall


def specificity(table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0) -> FloatArray:
    """Specificity TN / (TN + FP): the share of the documents without the label that were not given it.

    Parameters
    ----------
    table, average, zero_division
        As for :func:`precision`.
    """
    table = _averaged(table, average)
    return _mean(_ratio(table.tn, table.tn + table.fp, zero_division), average)


def f_measure(
    table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0, beta: float = 1.0
) -> FloatArray:
    """F-measure F_β = (1+β²) TP / ((1+β²) TP + β² FN + FP), van Rijsbergen (1979).

    Parameters
    ----------
    table, average, zero_division
        As for :func:`precision`.
    beta : float
        Above 1 recall weighs more, below 1 precision.
    """
    if not beta > 0:
        raise InputError(f"beta={beta!r} must be above 0; 1 weighs precision and recall alike")
    table = _averaged(table, average)
    hits = (1 + beta**2) * table.tp
    return _mean(_ratio(hits, hits + beta**2 * table.fn + table.fp, zero_division), average)


def error_rate(table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0) -> FloatArray:
    """Error rate (FP + FN) / all: the share of wrong decisions.

    Parameters
    ----------
    table, average, zero_division
        As for :func:`precision`.
    """
    table = _averaged(table, average)
    return _mean(_ratio(table.fp + table.fn, table.total, zero_division), average)


def accuracy(table: ContingencyTable, average: Average = None, zero_division: ZeroDivision = 0) -> FloatArray:
    """Accuracy (TP + TN) / all: the share of right decisions (of decisions, not of documents).

    Parameters
    ----------
    table, average, zero_division
        As for :func:`precision`.
    """
    table = _averaged(table, average)
    return _mean(_ratio(table.tp + table.tn, table.total, zero_division), average)


def break_even(
    Y_true: Matrix | ArrayLike, scores: ArrayLike, average: Average = None, zero_division: ZeroDivision = 0
) -> FloatArray:
    """Precision/recall break-even point: the value both share when as many documents are accepted as are positive.

    Accepting the n⁺ best gives precision TP/n⁺ and recall TP/n⁺. Where scores tie at that place, the positives among
    them count by the share that is accepted. ``"micro"`` ranks all decisions of all labels together.

    Reference: Lewis (1991), Evaluating text categorization; Joachims (1998), ECML.

    Parameters
    ----------
    Y_true : boolean array (n_docs, n_labels)
    scores : array (n_docs, n_labels)
        Anything that ranks documents.
    average, zero_division
        As for :func:`precision`.

    Examples
    --------
    >>> break_even([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    array([0.5])
    """
    Y, ranking = check_indicator(Y_true, "Y_true"), np.asarray(scores, dtype=np.float64)
    ranking = ranking[:, None] if ranking.ndim == 1 else ranking
    check_same_length(Y, "Y_true", ranking, "scores")
    check_finite(ranking, "scores")
    check_choice("average", average, (None, "micro", "macro"))
    if Y.shape != ranking.shape:
        raise InputError(f"Y_true has {Y.shape[1]} labels but scores has {ranking.shape[1]}; pass the same columns")
    if average == "micro":
        Y, ranking = Y.reshape(-1, 1), ranking.reshape(-1, 1)
    n_positive = Y.sum(axis=0)
    last = np.clip(len(ranking) - n_positive, 0, len(ranking) - 1)
    border = np.take_along_axis(np.sort(ranking, axis=0), last[None, :], axis=0)
    above, tied = ranking > border, ranking == border
    part = (n_positive - above.sum(axis=0)) / np.maximum(tied.sum(axis=0), 1)
    tp = (Y & above).sum(axis=0) + part * (Y & tied).sum(axis=0)
    value = _ratio(tp, n_positive.astype(np.float64), zero_division)
    return value[0] if average == "micro" else _mean(value, average)


def _averaged(table: ContingencyTable, average: Average) -> ContingencyTable:
    check_choice("average", average, (None, "micro", "macro"))
    return table.pooled() if average == "micro" else table


def _ratio(above: FloatArray, below: FloatArray, zero_division: ZeroDivision) -> FloatArray:
    check_choice("zero_division", zero_division, (0, 1, "skip"))
    default = np.nan if zero_division == "skip" else float(zero_division)
    return np.divide(above, below, out=np.full(np.shape(below), default), where=np.asarray(below) > 0)


def _mean(values: FloatArray, average: Average) -> FloatArray:
    if average is None:
        return values
    if average == "micro":
        return values[..., 0]
    with warnings.catch_warnings():  # every label skipped: NaN is the answer
        warnings.filterwarnings("ignore", message="Mean of empty slice")
        return np.nanmean(values, axis=-1)


NOTHING = "(none)"  # no label where one was due, or none due where one was given
SEVERAL = "(several)"


class Confused(NamedTuple):
    """Number ``n`` of documents of label ``true`` that were given label ``given``."""

    true: str
    given: str
    n: int


def confusion(
    true: Iterable[Sequence[str]], given: Iterable[Sequence[str]], multilabel: bool = False
) -> list[Confused]:
    """Pairs of true and given labels that occur, by the labels of each document.

    Where classes exclude each other this is the confusion table, right pairs included, in the order of the labels; a
    document that was given none or several is under "(none)" or "(several)".

    For multi-label documents these are the mistakes, the most frequent first: each label that was missed with each that
    was wrongly given to the same document, or with "(none)" where nothing was, and the other way round.

    Parameters
    ----------
    true, given : iterables of sequences of str
        The labels of each document, and those it was given.
    multilabel : bool
        Documents may have several labels.

    Examples
    --------
    >>> for pair in confusion([["corn"], ["corn"], ["rain"]], [["corn"], ["rain"], ["rain"]]):
    ...     print(*pair)
    corn corn 1
    corn rain 1
    rain rain 1
    """
    pairs = zip(true, given, strict=True)
    if not multilabel:
        found = Counter((_one(due), _one(got)) for due, got in pairs)
        return [Confused(*pair, n) for pair, n in sorted(found.items())]
    found = Counter()
    for due, got in pairs:
        missed, extra = sorted(set(due) - set(got)), sorted(set(got) - set(due))
        if missed or extra:
            found.update(product(missed or [NOTHING], extra or [NOTHING]))
    return [Confused(*pair, n) for pair, n in sorted(found.items(), key=lambda item: (-item[1], item[0]))]


def mistake_sureness(truth: BoolArray, decisions: BoolArray, proba: FloatArray, exclusive: bool = False) -> FloatArray:
    """How sure a model was of what is not so: of yes to a label it gave, of no to one it missed; −1 where it is right.

    Of ``exclusive`` classes the one given is the mistake: the true one was missed for its sake, and has −1 as well.

    Parameters
    ----------
    truth, decisions : boolean arrays (n_docs, n_labels)
    proba : array (n_docs, n_labels)
    """
    sureness = np.where(truth == decisions, -1.0, np.where(decisions, proba, 1.0 - proba))
    if not exclusive:
        return sureness
    given = decisions & ~truth
    return np.where(given | ~given.any(axis=1, keepdims=True), sureness, -1.0)


def _one(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else SEVERAL if labels else NOTHING
