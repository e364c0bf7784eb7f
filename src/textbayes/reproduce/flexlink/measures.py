"""What the tables of section 5 measure, and how sure a difference between two methods is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate import ContingencyTable, contingency, f_measure, paired_bootstrap, precision, recall
from textbayes.reproduce.flexlink.reuters import SplitOutcome
from textbayes.reproduce.intervals import Interval, mean_interval

Measure = Callable[[ContingencyTable], FloatArray]


def printed_macro_f1(table: ContingencyTable) -> FloatArray:
    """The harmonic mean of macro recall and macro precision: what the paper's Table 6 prints as macro F1.

    All of its 15 macro F1 are that to the last digit, given the recalls of Table 7 and the precisions of Table 8. The
    usual macro F1 is the mean of the categories' F1.
    """
    both = recall(table, "macro"), precision(table, "macro")
    total = both[0] + both[1]
    return np.divide(2.0 * both[0] * both[1], total, out=np.zeros_like(total), where=total > 0.0)


MEASURES: dict[str, tuple[Measure, Measure]] = {
    "F1": (lambda table: f_measure(table, "micro"), printed_macro_f1),
    "recall": (lambda table: recall(table, "micro"), lambda table: recall(table, "macro")),
    "precision": (lambda table: precision(table, "micro"), lambda table: precision(table, "macro")),
}
"""Micro and macro measure of Tables 6, 7 and 8."""


OVERLAP = 1.0 / 3.0
"""Of the paper's splits: a quarter is tested, three quarters are fitted."""


def usual_macro_f1(table: ContingencyTable) -> FloatArray:
    """The mean of the categories' F1."""
    return f_measure(table, "macro")


def of_splits(outcomes: Sequence[SplitOutcome], method: str, measure: Measure) -> list[float]:
    """A measure of a method in every split."""
    return [float(measure(contingency(outcome.truth, outcome.decided[method]))) for outcome in outcomes]


def over_splits(outcomes: Sequence[SplitOutcome], first: str, second: str, measure: Measure) -> Interval:
    """The difference between two methods, paired by split: its mean and interval over the splits."""
    gains = np.subtract(of_splits(outcomes, first, measure), of_splits(outcomes, second, measure))
    return mean_interval(gains.tolist(), OVERLAP)


def over_documents(
    outcomes: Sequence[SplitOutcome], n_docs: int, first: str, second: str, measure: Measure, n_resamples: int = 2000
) -> Interval:
    """The same difference, with an interval over the documents: paired bootstrap, the models as they are.

    A document is in the test sets of several splits; it is drawn for all of them together. The measure is averaged
    over the splits.
    """
    n_splits, n_labels = len(outcomes), outcomes[0].truth.shape[1]

    def spread(parts: Sequence[BoolArray]) -> BoolArray:
        """Splits side by side, (n_docs, n_splits · n_labels): a document outside a test set is a true negative."""
        wide = np.zeros((n_docs, n_splits, n_labels), dtype=np.bool_)
        for i, (outcome, part) in enumerate(zip(outcomes, parts, strict=True)):
            wide[outcome.test, i] = part
        return wide.reshape(n_docs, -1)

    def mean(table: ContingencyTable) -> FloatArray:
        apart = ContingencyTable(*(part.reshape(*part.shape[:-1], n_splits, n_labels) for part in table))
        return measure(apart).mean(axis=-1)

    truth = spread([outcome.truth for outcome in outcomes])
    one, other = (spread([outcome.decided[method] for outcome in outcomes]) for method in (first, second))
    result = paired_bootstrap(truth, one, other, mean, n_resamples=n_resamples)
    return Interval(result.first - result.second, result.low, result.high)
