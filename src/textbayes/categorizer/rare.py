"""Threshold of labels that no held-out text tests: learnt on larger labels that are cut down to one text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from textbayes.categorizer.held_out import HeldOut
from textbayes.core.folds import label_order
from textbayes.core.types import BoolArray, FloatArray, IntArray

_FROM, _TO = 4, 40  # texts of the labels that are cut down
_MOST, _LEAST = 40, 5  # such labels: more add little, fewer say nothing
_LEAST_JUDGED = 2  # held-out texts of such a label: one may be that which is learnt
_GRID = np.linspace(-9.0, 3.0, 49)

ScoreThinned = Callable[[int, BoolArray, BoolArray], FloatArray]
"""Log-odds of a label for the second documents after learning it from the first, its own among them marked as such."""


def labels_to_thin(indicator: BoolArray, held: HeldOut, random_state: int) -> IntArray:
    """The labels to cut down, none where no label needs it or too few could tell.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_labels)
    held : HeldOut
        The documents of these that were held out.
    random_state : int
    """
    size, n_judged = indicator.sum(axis=0), held.indicator.sum(axis=0)
    usable = label_order(indicator)
    usable = usable[((size >= _FROM) & (size <= _TO) & (n_judged >= _LEAST_JUDGED))[usable]]
    if not held.untested().any() or len(usable) < _LEAST:
        return usable[:0]
    rng = np.random.default_rng(random_state)
    return np.asarray(rng.choice(usable, min(len(usable), _MOST), replace=False))


def rare_threshold(
    indicator: BoolArray,
    labels: IntArray,
    held_out: BoolArray,
    answered: BoolArray,
    score: ScoreThinned,
    random_state: int,
) -> float:
    """Probability above which such labels should be assigned: the best mean F1 of labels cut down to one text each.

    A label with one text among n has about one in the next n: that many false positives count against it.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_labels)
    labels : array
        The labels to cut down.
    held_out : boolean array (n_docs,)
        Documents to judge by that do not have the label; those that have it, but the one, are judged too.
    answered : boolean array (n_docs,)
        Documents that can be judged.
    score : function of label, documents to learn from, documents to score
    random_state : int
    """
    rng = np.random.default_rng(random_state)
    total = np.zeros(len(_GRID))
    for k in labels:
        own = indicator[:, k]
        learnt = ~held_out & ~own
        learnt[rng.choice(np.flatnonzero(own))] = True
        judged = (held_out | own) & answered & ~learnt
        log_odds, right = score(int(k), learnt, judged), own[judged]
        recall = (log_odds[right, None] > _GRID).mean(axis=0)
        false = (log_odds[~right, None] > _GRID).sum(axis=0) * (len(own) / max((~right).sum(), 1))
        total += 2.0 * recall / (recall + false + 1.0)
    return float(special.expit(_GRID[int(total.argmax())]))
