"""What an automatic training made of a prior file: how far each label follows it, and what that changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.categorizer.knowledge import UNTESTED, Advice, Knowledge, what_held_out_says
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray


def prior_advice(
    known: Knowledge, counts: Any, losses: FloatArray, without: FloatArray, learnable: BoolArray, space: LabelSpace
) -> list[Advice]:
    """Use that was made of the file for each label that it speaks of.

    Parameters
    ----------
    known : Knowledge
        The file, and the weight that it has in the pool.
    counts : CSR matrix (n_docs, n_features)
        Counts of the words that it speaks of, among others.
    losses, without : arrays (n_docs, n_columns)
        Log-loss of every held-out decision in the pool, and in one without the file.
    learnable : boolean array (n_docs, n_columns)
        False where a held-out decision means nothing.
    space : LabelSpace
    """
    told = []
    for row in known.advice(counts, space):
        label = space.column_names.index(row.label)
        used = learnable[:, label]
        tested = used.sum() > 1 and without[used, label].mean() > 0.0
        change = error = np.nan
        if tested:
            gap, base = losses[used, label] - without[used, label], float(without[used, label].mean())
            change, error = float(gap.mean()) / base, float(gap.std(ddof=1) / np.sqrt(used.sum())) / base
        why = what_held_out_says(row.weight, change, error) if tested else "no held-out text tests it"
        why = UNTESTED if row.why == UNTESTED else why
        told.append(row._replace(why=why, tried=row.weight, change=change, error=error))
    return told


def decision_losses(proba: FloatArray, indicator: BoolArray) -> FloatArray:
    """Log-loss of every yes or no, (n_docs, n_columns).

    Parameters
    ----------
    proba : array (n_docs, n_columns)
    indicator : boolean array (n_docs, n_columns)
    """
    return -np.log(np.clip(np.where(indicator, proba, 1.0 - proba), 1e-15, 1.0))
