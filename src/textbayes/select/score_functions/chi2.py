"""Pearson's χ² of word presence and category."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.lexical.tails import chi2_p_value
from textbayes.select.score_functions import scores
from textbayes.select.tables import Table, score_tables


@scores.register("chi2")
def chi2(X: Matrix, Y: AnyArray) -> ScoreResult:
    """χ² = N (ad − bc)² / ((a+b)(c+d)(a+c)(b+d)), without continuity correction; p-value by χ²₁.

    Notation of :class:`~textbayes.select.tables.Table`. scikit-learn's ``chi2`` differs: it adds up the *values* of X
    per class and leaves out the documents without the word. On 0/1 data and two classes it equals this statistic
    times (N − df)/N, where df is the word's document frequency: nearly the same for rare words, too small for
    frequent ones.

    Reference: Yang & Pedersen (1997), "A comparative study on feature selection in text categorization", ICML, §2.4.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = chi2(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[4.   , 1.333]]), array([[0.046, 0.248]]))
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    a, b, c, d = table
    with_word, without, inside, outside = a + b, c + d, a + c, b + d
    score = (inside + outside) * np.square(a * d - b * c) / (with_word * without * (inside * outside))
    return ScoreResult(score, chi2_p_value(score))
