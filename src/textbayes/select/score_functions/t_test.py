"""Two-sample t statistics of a word's values inside and outside the category: Welch's and the pooled one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.tails import t_p_value
from textbayes.select.moments import about_mean, word_values
from textbayes.select.score_functions import scores


@scores.register("t_test")
def t_test(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Welch's |t| = |x̄_in − x̄_out| / √(s²_in/n_in + s²_out/n_out), two-sided p-value with Satterthwaite's df.

    A word whose values do not vary inside and do not vary outside, but differ, has |t| = inf and p-value 0. Fewer
    than two documents on a side leave a variance unknown: score 0, p-value 1. Values of either sign are taken.

    In a category of a handful of documents a frequent word that happens to be in none of them has s²_in = 0 and so a
    large |t|: the textbook result, but misleading; use ``t_test_pooled`` (or ``likelihood_ratio``) there.

    References: Welch (1947), Biometrika 34; the gibbs paper keeps 800 words by a two-sample t-test of TF-IDF in R,
    whose ``t.test`` is Welch's by default.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = t_test(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[2., 1.]]), array([[0.295, 0.5  ]]))
    """
    groups = _groups(X, Y)
    n_in, n_out = groups.n_in, groups.n_out
    with np.errstate(divide="ignore", invalid="ignore"):  # sides of fewer than two documents, overwritten below
        error_in = groups.spread_in / (n_in * (n_in - 1.0))
        error_out = groups.spread_out / (n_out * (n_out - 1.0))
        error = error_in + error_out
        df = np.square(error) / (np.square(error_in) / (n_in - 1.0) + np.square(error_out) / (n_out - 1.0))
    known = (n_in >= 2.0) & (n_out >= 2.0)
    return _result(groups.difference, error, df, known)


@scores.register("t_test_pooled")
def t_test_pooled(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Student's |t| = |x̄_in − x̄_out| / √(s² (1/n_in + 1/n_out)), s² pooled, two-sided p-value with N − 2 df.

    Assumes one variance inside and outside; defined from one document on a side and three in all (otherwise score 0,
    p-value 1). No variation within either side but different means: |t| = inf, p-value 0. Values of either sign are
    taken.

    Reference: Student (1908), Biometrika 6; see ``pearson`` for the correlation it is equivalent to.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Values, not only whether a word is there.
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = t_test_pooled(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[2., 1.]]), array([[0.184, 0.423]]))
    """
    groups = _groups(X, Y)
    n_in, n_out = groups.n_in, groups.n_out
    df = n_in + n_out - 2.0
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side, overwritten below
        error = (groups.spread_in + groups.spread_out) * ((1.0 / n_in + 1.0 / n_out) / df)
    known = (n_in >= 1.0) & (n_out >= 1.0) & (df >= 1.0)
    return _result(groups.difference, error, np.broadcast_to(df, error.shape), known)


class _Groups(NamedTuple):
    n_in: FloatArray
    n_out: FloatArray
    difference: FloatArray
    spread_in: FloatArray
    spread_out: FloatArray


def _groups(X: Matrix, Y: AnyArray) -> _Groups:
    values = word_values(X, Y)
    n_in, n_out, n_docs = values.n_in, values.n_out, values.n_docs
    sum_in, square_in = values.sum_in(), values.sum_square_in()
    sum_out, square_out = values.total - sum_in, values.total_square - square_in
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty side
        difference = np.abs(sum_in / n_in - sum_out / n_out)
        spread_in = about_mean(sum_in, square_in, n_in, n_docs, square_in)
        # What is left after a subtraction carries the rounding error of the whole.
        spread_out = about_mean(sum_out, square_out, n_out, n_docs, values.total_square)
    return _Groups(n_in, n_out, difference, spread_in, spread_out)


def _result(difference: FloatArray, error: FloatArray, df: FloatArray, known: AnyArray) -> ScoreResult:
    with np.errstate(divide="ignore", invalid="ignore"):  # zero variance: inf, or 0/0 where the means agree
        t = difference / np.sqrt(error)
    nothing = ~known | (difference == 0.0)
    t[nothing] = 0.0
    p = t_p_value(t, np.where(error > 0.0, df, 1.0))
    p[nothing] = 1.0
    return ScoreResult(t, p)
