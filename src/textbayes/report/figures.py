"""Measures with intervals: the table of labels, the confusion matrix, reliability and other thresholds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.statistics import wilson_interval as wilson
from textbayes.core.types import BoolArray, FloatArray
from textbayes.decide import ALWAYS, NEVER
from textbayes.evaluate import confusion, reliability_curve
from textbayes.evaluate.intervals import CROSS_VALIDATED
from textbayes.report.records import Confusion, Coverage, Curve, Interval, LabelRow, Mistake, ReliabilityBin

_COVERAGE_STEPS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
_MOST_POINTS = 120  # of a curve; more are not seen


def reliability(truth: BoolArray, proba: FloatArray) -> list[ReliabilityBin]:
    """Reliability curve of all yes-or-no decisions in ten bins: mean probability and observed share."""
    curve = reliability_curve(truth, proba)
    rows = zip(curve.mean_proba.tolist(), curve.share_positive.tolist(), curve.n.tolist(), strict=True)
    return [ReliabilityBin(mean, wilson_interval(round(share * n), n), n) for mean, share, n in rows]


def coverage(sure: FloatArray, right: BoolArray) -> list[Coverage]:
    """Accuracy and share of the texts that are at least so sure, at several probabilities."""
    steps = []
    for at_least in _COVERAGE_STEPS:
        selected = sure >= at_least
        if selected.any():
            steps.append(Coverage(at_least, float(selected.mean()), float(right[selected].mean())))
    return steps


def precision_recall(truth: BoolArray, proba: FloatArray, decisions: BoolArray, label: str = "") -> Curve | None:
    """Precision–recall curve over all thresholds, and the point of the decisions; None without a positive.

    Parameters
    ----------
    truth, decisions : boolean arrays
    proba : array of the same shape
        All decisions are taken together.
    label : str
        The name of the curve.
    """
    from sklearn.metrics import average_precision_score, precision_recall_curve

    y, p, given = truth.ravel(), proba.ravel(), decisions.ravel()
    if not y.any():
        return None
    precision, recall, _ = precision_recall_curve(y, p)
    few = np.unique(np.linspace(0, len(recall) - 1, _MOST_POINTS).round().astype(int))
    tp = int((y & given).sum())
    here = (tp / int(y.sum()), tp / int(given.sum())) if given.any() else None
    average = float(average_precision_score(y, p))
    return Curve(label, recall[few].tolist(), precision[few].tolist(), average, here)


NONE_OR_SEVERAL = "none or several"
UNKNOWN = "a label that the model does not know"
_MOST_MISTAKES = 20


def confusion_table(truth: BoolArray, decisions: BoolArray, names: Sequence[str]) -> Confusion:
    """Confusion table of texts by true label and by label given.

    Parameters
    ----------
    truth, decisions : boolean arrays (n_texts, n_classes)
    names : sequence of str
        The classes.
    """
    true, given = _the_one(truth), _the_one(decisions)
    rows = [*names, UNKNOWN] if (true == len(names)).any() else list(names)
    columns = [*names, NONE_OR_SEVERAL] if (given == len(names)).any() else list(names)
    found = Counter(zip(true.tolist(), given.tolist(), strict=True))
    return Confusion(rows, columns, [(row, column, n) for (row, column), n in sorted(found.items())])


def frequent_mistakes(table: Confusion) -> list[Mistake]:
    """The most frequent confusions of one label with another."""
    totals: Counter[int] = Counter()
    for row, _, n in table.cells:
        totals[row] += n
    wrong = sorted((cell for cell in table.cells if cell[0] != cell[1]), key=lambda cell: -cell[2])
    return [
        Mistake(table.rows[row], table.columns[column], n, n / totals[row]) for row, column, n in wrong[:_MOST_MISTAKES]
    ]


def missed_and_given(truth: BoolArray, decisions: BoolArray, names: Sequence[str]) -> list[Mistake]:
    """Mistakes in texts with several labels: labels missed, with those wrongly given to the same text; most first."""
    true_labels, given_labels = (
        [[names[j] for j in np.flatnonzero(row).tolist()] for row in rows] for rows in (truth, decisions)
    )
    support = dict(zip(names, truth.sum(axis=0).tolist(), strict=True))
    return [
        Mistake(true, given, n, n / support[true] if true in support else None)
        for true, given, n in confusion(true_labels, given_labels, multilabel=True)[:_MOST_MISTAKES]
    ]


def _the_one(indicator: BoolArray) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The class of each text; the number of classes where it has none or several."""
    return np.where(indicator.sum(axis=1) == 1, indicator.argmax(axis=1), indicator.shape[1])


def wilson_interval(n_right: float, n: float, factor: float = 1.0) -> Interval:
    """A share with its 95% interval, as ``textbayes.core.statistics.wilson_interval`` has it.

    Parameters
    ----------
    n_right, n : float
    factor : float
        Of its variance, ``evaluate.intervals.CROSS_VALIDATED`` where models of other texts gave the answers.

    >>> interval = wilson_interval(9, 10)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.596, 0.982)
    """
    return Interval(n_right / n, *wilson(n_right / factor, n / factor))


def share_interval(n_right: int, n: int, factor: float = 1.0) -> Interval | None:
    """Share with its interval as in :func:`wilson_interval`, or None where there is nothing to count."""
    return wilson_interval(n_right, n, factor) if n else None


def f1_interval(tp: int, fp: int, fn: int, factor: float = 1.0) -> Interval | None:
    """F1 with its 95% interval, by that of TP / (TP + FP + FN), of which F1 is a rising function.

    With J = TP / (TP + FP + FN), a share of texts, F1 = 2J / (1 + J): the ends of Wilson's interval of J become those
    of F1. Reference: the indirect Wilson interval of Lam, Gopal & Qian (2023), arXiv:2309.14621.
    """
    if not tp + fp + fn:
        return None
    return Interval(*(2.0 * j / (1.0 + j) for j in wilson_interval(tp, tp + fp + fn, factor)))


Key = Callable[[LabelRow], float]


def label_rows(
    measures: Mapping[str, Any],
    curves: Sequence[Curve | None],
    thresholds: Mapping[str, float],
    cross_validated: bool = False,
) -> list[LabelRow]:
    """Rows of the table of labels, in the order of the model.

    Parameters
    ----------
    measures : results of an evaluation
    curves : sequence of Curve or None
        Precision and recall of each label.
    thresholds : label → threshold
    cross_validated : bool
        Whether models of other texts than each gave the answers.
    """
    rows, factor = [], CROSS_VALIDATED if cross_validated else 1.0
    for (label, row), curve in zip(measures["labels"].items(), curves, strict=True):
        tp, fp, fn = row["tp"], row["fp"], row["fn"]
        rows.append(
            LabelRow(
                label=label,
                n_texts=tp + fn,
                n_given=tp + fp,
                n_right=tp,
                precision=share_interval(tp, tp + fp, factor),
                recall=share_interval(tp, tp + fn, factor),
                f1=f1_interval(tp, fp, fn, factor),
                average_precision=None if curve is None else curve.average_precision,
                threshold=thresholds.get(label),
            )
        )
    return _placed(rows)


def class_thresholds(model: TextCategorizer) -> dict[str, float]:
    """The probability that a label must exceed, by label; of two classes either. Empty where a rule has none."""
    thresholds = getattr(model.rule_, "thresholds_", None)
    if thresholds is None:
        return {}
    space = model.label_space_
    found = {name: float(value) for name, value in zip(space.column_names, thresholds, strict=True)}
    if space.kind == "binary":
        (second,) = found.values()  # the first class is given where the second is not
        first = ALWAYS if second >= NEVER else NEVER if second < 0.0 else 1.0 - second
        found = {str(space.classes[0]): first, **found}
    return found


def _placed(rows: list[LabelRow]) -> list[LabelRow]:
    """Rows with their places: most texts first, for measures the worst first, so that what needs work is on top."""
    keys: dict[str, Key] = {
        "texts": lambda row: -row.n_texts,
        "precision": lambda row: _share(row.precision),
        "recall": lambda row: _share(row.recall),
        "f1": lambda row: _share(row.f1),
        "ap": lambda row: _last(row.average_precision),
    }
    orders = {name: sorted(range(len(rows)), key=lambda i, key=key: key(rows[i])) for name, key in keys.items()}  # type: ignore[misc]
    places = {name: {i: place for place, i in enumerate(order)} for name, order in orders.items()}
    return [replace(row, places={name: found[i] for name, found in places.items()}) for i, row in enumerate(rows)]


def _share(interval: Interval | None) -> float:
    return _last(None if interval is None else interval.share)


def _last(value: float | None) -> float:
    """Sort key that puts values not known after all that are."""
    return 2.0 if value is None else value
