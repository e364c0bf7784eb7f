"""Small weights left out: dense regressions have a weight for every word and label, most of which say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import BoolArray, FloatArray

_CHANGE = 0.02  # root mean square of what scores may change by, as a share of their standard deviation
_LOOKED_AT = 1_000  # documents
_BLOCK = 8_192  # words at a time: there are as many weights of each as labels
_GRID = (0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)  # log-odds that a word adds to a text that has it


def prune(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Leave out small weights, in place; returns intercepts that have taken over what those add on average.

    As many are left out as change scores of training documents by no more than a fiftieth of how much these differ.

    Parameters
    ----------
    X : CSR matrix (n_docs, n_features)
        The training documents.
    coef, intercept : arrays (n_labels, n_features), (n_labels,)
    """
    columns = X.tocsc()
    sums = np.asarray(columns.sum(axis=0)).ravel()
    n_docs = np.diff(columns.indptr)
    # A word that no training text has was told of: later texts may have it, as much as texts have of other words.
    unseen = sums.sum() / max(int(n_docs.sum()), 1)
    mean, typical = sums / X.shape[0], np.where(n_docs > 0, sums / np.maximum(n_docs, 1), unseen)
    some = columns[:: max(X.shape[0] // _LOOKED_AT, 1)]
    allowed = _CHANGE * float(np.asarray(some @ coef.T).std())
    blocks = [slice(start, start + _BLOCK) for start in range(0, coef.shape[1], _BLOCK)]

    def small(block: slice, least: float) -> BoolArray:
        return np.asarray(np.abs(coef[:, block]) * typical[block] < least)

    for least in _GRID:
        moved, change = np.zeros(len(coef)), np.zeros((some.shape[0], len(coef)))
        for block in blocks:
            left = np.where(small(block, least), coef[:, block], 0.0)
            moved += left @ mean[block]
            change += some[:, block] @ left.T
        if np.sqrt(np.mean((change - moved) ** 2)) <= allowed:
            for block in blocks:
                coef[:, block][small(block, least)] = 0.0
            return np.asarray(intercept + moved)
    return intercept
