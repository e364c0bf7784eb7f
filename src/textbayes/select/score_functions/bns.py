"""Bi-normal separation."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.select.score_functions import scores
from textbayes.select.tables import Table, score_tables

CLIP = 0.0005
"""Rates are kept this far from 0 and 1, where Φ⁻¹ is infinite (Forman 2003)."""


@scores.register("bns")
def bns(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Bi-normal separation |Φ⁻¹(tpr) − Φ⁻¹(fpr)| with tpr = a/(a+c) and fpr = b/(b+d); no p-value.

    Both rates are clipped to [0.0005, 0.9995]. Strong on rare categories; it has no null distribution of its own
    because it ignores the number of documents.

    Reference: Forman (2003), "An extensive empirical study of feature selection metrics for text classification",
    JMLR 3.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> bns(X, np.array([1, 1, 0, 0])).scores.round(3)
    array([[6.581, 3.291]])
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    a, b, c, d = table
    inside = special.ndtri(np.clip(a / (a + c), CLIP, 1.0 - CLIP))
    outside = special.ndtri(np.clip(b / (b + d), CLIP, 1.0 - CLIP))
    return ScoreResult(np.abs(inside - outside), None)
