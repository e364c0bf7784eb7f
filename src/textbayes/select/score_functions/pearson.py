"""Absolute Pearson correlation of a word's value and membership of the category."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.lexical.tails import t_p_value
from textbayes.select.moments import word_values
from textbayes.select.score_functions import scores


@scores.register("pearson")
def pearson(X: Matrix, Y: AnyArray) -> ScoreResult:
    """|r| = |Σ_in (x − x̄)| / √(n_in n_out/N · Σ (x − x̄)²), on the values of X; p-value by t = r√((N−2)/(1−r²)).

    The numerator is the covariance with a 0/1 label. t with N − 2 degrees of freedom is the pooled two-sample t, so
    ``t_test_pooled`` ranks words within a category alike and has the same p-values. Constant words and categories
    with every or no document score 0 with p-value 1. Values of either sign are taken.

    Reference: the sparse paper, eq. (15), which keeps 300 to 1,000 words per category.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = pearson(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[0.816, 0.577]]), array([[0.184, 0.423]]))
    """
    values = word_values(X, Y)
    n_in, n_out, n_docs = values.n_in, values.n_out, values.n_docs
    r = values.sum_in()
    r -= n_in * (values.total / n_docs)
    np.abs(r, out=r)
    norm = np.sqrt(n_in * n_out / n_docs) * np.sqrt(values.spread)
    np.divide(r, norm, out=r, where=norm > 0.0)
    r[norm == 0.0] = 0.0
    np.minimum(r, 1.0, out=r)
    if n_docs <= 2:  # a line goes through any two points: their correlation says nothing
        return ScoreResult(r, np.ones_like(r))
    with np.errstate(divide="ignore"):  # |r| = 1: t is infinite and p = 0
        t = r * np.sqrt((n_docs - 2) / ((1.0 - r) * (1.0 + r)))
    return ScoreResult(r, t_p_value(t, n_docs - 2.0))
