"""The table of labels: measures with intervals, and where each row stands when the table is sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from textbayes.categorizer import TextCategorizer
from textbayes.decide import ALWAYS, NEVER
from textbayes.report.records import Curve, Interval, LabelRow
from textbayes.report.shares import f1_interval, share_interval

Key = Callable[[LabelRow], float]


def label_rows(
    measures: Mapping[str, Any], curves: Sequence[Curve | None], thresholds: Mapping[str, float]
) -> list[LabelRow]:
    """Rows of the table of labels, in the order of the model.

    Parameters
    ----------
    measures : results of an evaluation
    curves : sequence of Curve or None
        Precision and recall of each label.
    thresholds : label → threshold
    """
    rows = []
    for (label, row), curve in zip(measures["labels"].items(), curves, strict=True):
        tp, fp, fn = row["tp"], row["fp"], row["fn"]
        rows.append(
            LabelRow(
                label=label,
                n_texts=tp + fn,
                n_given=tp + fp,
                n_right=tp,
                precision=share_interval(tp, tp + fp),
                recall=share_interval(tp, tp + fn),
                f1=f1_interval(tp, fp, fn),
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
