"""Yule's Q of word presence and category."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.select.score_functions import scores
from textbayes.select.tables import Table, score_tables


@scores.register("yule_q")
def yule_q(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Yule's \\|Q\\| = \\|ad − bc\\| / (ad + bc): from 0, no association, to 1, where some cell of the table is empty.

    With the odds ratio ω = ad/(bc) it is |ω − 1|/(ω + 1). It does not know how much text stands behind a table: a word
    that is in one document scores 1, whatever the category. Of equal scores the first words are taken, so choose words
    by it among those in several documents only.

    References: Yule (1900), "On the association of attributes in statistics", Phil. Trans. A 194; footnote 2 of the
    sparse paper, which found it far behind Pearson's correlation.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0, 1], [3, 1, 1], [0, 1, 1], [0, 1, 0]])
    >>> yule_q(X, np.array([1, 1, 1, 0])).scores.round(3)
    array([[1., 1., 1.]])
    >>> yule_q([[1], [1], [0], [1], [0], [0]], np.array([1, 1, 1, 0, 0, 0])).scores  # (2·2 − 1·1)/(2·2 + 1·1)
    array([[0.6]])
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    a, b, c, d = table
    return ScoreResult(np.abs(a * d - b * c) / (a * d + b * c), None)
