"""Judge a choice on folds that had no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.links.base import BaseLink


class CrossFitted(NamedTuple):
    """Losses and decisions of held-out documents at what the other folds chose.

    Attributes
    ----------
    loss, yes : arrays (n_docs, n_labels)
        −log p(y) and whether yes is likelier than no.
    fold : array (n_docs,)
    selection : array (n_folds, n_labels)
        Mean loss of what was chosen for a fold, on the others: what a choice among several is made by.
    factor, member : arrays (n_labels,)
        The scale that all folds together choose, and the place of the alternative it belongs to.
    total : array (n_labels,)
        Its mean loss over all folds.
    """

    loss: FloatArray
    yes: BoolArray
    fold: IntArray
    selection: FloatArray
    factor: FloatArray
    member: IntArray
    total: FloatArray


def cross_fitted(eta: FloatArray, y: FloatArray, link: BaseLink, fold: IntArray, factors: FloatArray) -> CrossFitted:
    """Choose for each fold and label the point of the path that is best on the other folds, and use it on this one.

    ``eta`` (n_points, n_docs, n_labels) are held-out predictors along a path. With a single fold there is no other, and
    the choice is made on it.

    Parameters
    ----------
    eta : array (n_points, n_docs, n_labels)
    y : array (n_docs, n_labels)
        Outcomes, −1 or +1.
    link : BaseLink
    fold : array (n_docs,)
        The fold that tests each document.
    factors : array (n_points, n_labels)
    """
    n_points, n_docs, n_labels = eta.shape
    folds, labels = np.unique(fold), np.arange(n_labels)
    sums = np.zeros((len(folds), n_points, n_labels))
    losses = np.empty_like(eta)
    for point in range(n_points):
        losses[point] = -link.log_prob(eta[point], y)
        for k, f in enumerate(folds):
            sums[k, point] = losses[point, fold == f].sum(axis=0)
    counts = np.array([(fold == f).sum() for f in folds], dtype=np.float64)
    others = sums.sum(axis=0) - sums if len(folds) > 1 else sums
    n_others = counts.sum() - counts if len(folds) > 1 else counts
    chosen = others.argmin(axis=1)  # (n_folds, n_labels)
    loss, picked = np.empty((n_docs, n_labels)), np.empty((n_docs, n_labels))
    for k, f in enumerate(folds):
        rows = np.flatnonzero(fold == f)[:, None]
        loss[rows, labels] = losses[chosen[k], rows, labels]
        picked[rows, labels] = eta[chosen[k], rows, labels]
    total = sums.sum(axis=0) / counts.sum()
    best = total.argmin(axis=0)
    selection = np.take_along_axis(others, chosen[:, None, :], axis=1)[:, 0] / n_others[:, None]
    return CrossFitted(
        loss, link.log_odds(picked) > 0.0, fold, selection, factors[best, labels], np.zeros(n_labels, np.int64),
        total[best, labels],
    )  # fmt: skip


def best_of(alternatives: Sequence[CrossFitted]) -> CrossFitted:
    """Of several alternatives the one that the other folds choose, for each fold and label."""
    fold = alternatives[0].fold
    which = np.array([one.selection for one in alternatives]).argmin(axis=0)  # (n_folds, n_labels)
    overall = np.array([one.total for one in alternatives])
    best, labels = overall.argmin(axis=0), np.arange(overall.shape[1])
    loss, yes = np.empty_like(alternatives[0].loss), np.empty_like(alternatives[0].yes)
    for k, f in enumerate(np.unique(fold)):
        for label in labels:
            rows, source = fold == f, alternatives[which[k, label]]
            loss[rows, label], yes[rows, label] = source.loss[rows, label], source.yes[rows, label]
    selection = np.array([one.selection for one in alternatives]).min(axis=0)
    factor = np.array([one.factor for one in alternatives])[best, labels]
    return CrossFitted(loss, yes, fold, selection, factor, best, overall[best, labels])
