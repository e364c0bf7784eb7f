"""Information gain: the mutual information of word presence and category."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.lexical.tails import chi2_p_value
from textbayes.select.score_functions import scores
from textbayes.select.score_functions.likelihood_ratio import log_likelihood_ratio
from textbayes.select.tables import Table, score_tables


@scores.register("information_gain")
def information_gain(X: Matrix, Y: AnyArray) -> ScoreResult:
    """Information gain IG = H(category) − H(category | word present or not), in bits, one category against the rest.

    The same quantity as ``likelihood_ratio`` in another unit: −2 ln λ = 2 N ln 2 · IG exactly, for both are the
    Kullback–Leibler divergence of the observed table from independence. So the ranking within a category is the same,
    the p-value by χ²₁ is that of −2 ln λ, and only thresholds differ (IG does not grow with the corpus).

    Reference: Yang & Pedersen (1997), "A comparative study on feature selection in text categorization", ICML, §2.2
    (there summed over all categories of a single-label corpus; here per category).

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)

    Examples
    --------
    >>> X = np.array([[1, 0], [3, 1], [0, 1], [0, 1]])
    >>> information_gain(X, np.array([1, 1, 0, 0])).scores.round(3)
    array([[1.   , 0.311]])
    """
    return score_tables(X, Y, _statistic)


def _statistic(table: Table) -> ScoreResult:
    ratio = log_likelihood_ratio(table)
    n_docs = sum(table)
    return ScoreResult(ratio / (2.0 * np.log(2.0) * n_docs), chi2_p_value(ratio))
