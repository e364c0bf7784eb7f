"""Small weights left out: dense regressions have a weight for every word and label, most of which say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import FloatArray

_CHANGE = 0.02  # root mean square of what scores may change by, as a share of their standard deviation
_LOOKED_AT = 1_000  # documents
_GRID = (0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)  # log-odds that a word adds to a text that has it


def prune(X: Any, coef: FloatArray, intercept: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights without the small ones, and intercepts that have taken over what those add on average.

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
    some = X[:: max(X.shape[0] // _LOOKED_AT, 1)]
    before = np.asarray(some @ coef.T)
    allowed = _CHANGE * float(before.std())
    for least in _GRID:
        small = np.abs(coef) * typical < least
        left = np.where(small, coef, 0.0)
        moved = left @ mean
        change = np.asarray(some @ left.T) - moved
        if np.sqrt(np.mean(change**2)) <= allowed:
            kept = np.zeros(coef.shape[::-1]).T  # laid out word by word
            np.copyto(kept, coef, where=~small)
            return kept, intercept + moved
    return coef, intercept
