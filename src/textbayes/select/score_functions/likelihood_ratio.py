"""Dunning's likelihood ratio of word presence and category."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.tails import chi2_p_value
from textbayes.select.score_functions import scores
from textbayes.select.tables import Table, score_tables


@scores.register("likelihood_ratio")
def likelihood_ratio(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Likelihood ratio −2 ln λ = 2 Σ_cells O ln(O/E), E the count expected under independence; p-value by χ²₁.

    λ compares one probability of the word for all documents with one inside and one outside the category (Dunning's
    binomial test on documents). The online paper keeps words above 12.13 (0.05 % level), at most 300 per category.

    References: Dunning (1993), "Accurate methods for the statistics of surprise and coincidence", Computational
    Linguistics 19(1); "Bayesian online classifiers for text classification and filtering", §2.3.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> result = likelihood_ratio(X, np.array([1, 1, 0, 0]))
    >>> result.scores.round(3), result.p_values.round(3)
    (array([[5.545, 1.726]]), array([[0.019, 0.189]]))
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    score = log_likelihood_ratio(table)
    return ScoreResult(score, chi2_p_value(score))


def log_likelihood_ratio(table: Table) -> FloatArray:
    """−2 ln λ of each table.

    Written with ln(O/E) = log1p((O − E)/E), where |O − E| = |ad − bc|/N is the same in all four cells: near
    independence the four terms cancel, and logarithms of O/E would leave only rounding error of the size of N.
    """
    a, b, c, d = table
    with_word, without, inside, outside = a + b, c + d, a + c, b + d
    excess = a * d - b * c
    half = special.xlog1py(a, excess / (with_word * inside))
    half += special.xlog1py(b, -excess / (with_word * outside))
    half += special.xlog1py(c, -excess / (without * inside))
    half += special.xlog1py(d, excess / (without * outside))
    return np.maximum(2.0 * half, 0.0)
