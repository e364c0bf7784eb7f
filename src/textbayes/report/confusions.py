"""Confusion table of labels that exclude each other, and the most frequent mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from textbayes.core.types import BoolArray
from textbayes.evaluate import confusion
from textbayes.report.records import Confusion, Mistake

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
