"""Log odds ratio of word presence, inside against outside the category."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.select.score_functions import scores
from textbayes.select.tables import Table, score_tables


@scores.register("odds_ratio")
def odds_ratio(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Log odds ratio ln[(a+½)(d+½) / ((b+½)(c+½))]: signed; positive for words more frequent inside the category.

    The ½ in every cell (Haldane–Anscombe) keeps the ratio finite when a cell is empty and removes most of its bias.
    The p-value is Wald's, one-sided like the ranking: P(Z ≥ score/s) with s² = Σ_cells 1/(O+½), small for words that
    occur more often inside the category, near 1 for words that occur less often. With a binary vector of labels only
    words for the positive class come first; score both classes as an indicator matrix to get both.

    References: Haldane (1956), Anscombe (1956), on the estimation of log odds; Mladenić & Grobelnik (1999), "Feature
    selection for unbalanced class distribution and naive Bayes", ICML, for the one-sided use in text.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = odds_ratio(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[ 3.219, -1.609]]), array([[0.071, 0.798]]))
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    a, b, c, d = (cell + 0.5 for cell in table)
    score = np.log(a * d / (b * c))
    error = np.sqrt(1.0 / a + 1.0 / b + 1.0 / c + 1.0 / d)
    return ScoreResult(score, special.ndtr(-score / error))
