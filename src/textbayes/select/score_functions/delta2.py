"""Δ² of the contagion paper: rates of a word inside and outside the category, under count models."""

from __future__ import annotations

import numpy as np  # noqa: F401  (the examples use it)
from numpy.typing import ArrayLike

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, Matrix
from textbayes.lexical.delta2 import delta2_test
from textbayes.select.score_functions import scores


@scores.register("delta2")
def delta2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ² = (S − nπ)² / (nπ(1−π)) of counts, S of n in the category with share π of the text; exact (binomial) p-value.

    For Poisson counts, given n. The p-value is the mid-p, which counts half of the chance of the observed Δ² itself.
    Favours frequent words. ``lengths`` are those of the documents in thousands of words, the row sums of X unless
    given. Words that come in bursts get too small p-values: see ``delta2_negative_binomial``. Other methods for the
    p-value: :func:`~textbayes.lexical.delta2.delta2_score`.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4, here for unequal classes.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words.
    Y : boolean array (n_docs, n_labels)
    lengths : array (n_docs,), optional

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> result = delta2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1])
    >>> result.scores.round(3), result.p_values.round(4).tolist()
    (array([[10.889,  0.   ]]), [[0.0007, 0.8125]])
    """
    return delta2_test(X, Y, lengths=lengths, model="poisson", method="exact")


@scores.register("delta2_chi2")
def delta2_chi2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ² of counts with p-value by χ²₁: ``delta2`` in the limit of frequent words.

    Right for words with some ten occurrences to expect both inside and outside the category. ``lengths`` as in
    ``delta2``.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4; the limit is ours.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> delta2_chi2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1]).p_values.round(4)
    array([[0.001, 1.   ]])
    """
    return delta2_test(X, Y, lengths=lengths, model="poisson", method="chi2")


@scores.register("delta2_negative_binomial")
def delta2_negative_binomial(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ²/(1 + δω̃) of counts, δ a word's burstiness by moments; beta-binomial p-value, for negative-binomial counts.

    A word that fills two documents and is in no other is no longer taken for one that tells categories apart. δ = 0,
    common for rare words, is ``delta2``. ``lengths`` and mid-p as there.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §2.2 and §4; the distribution
    is derived in ``docs/guide/keyness.md``.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> result = delta2_negative_binomial(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1])
    >>> result.scores.round(3), result.p_values.round(4)
    (array([[2.882, 0.   ]]), array([[0.0616, 0.8125]]))
    """
    return delta2_test(X, Y, lengths=lengths, model="negative_binomial", method="exact")


@scores.register("delta2_negative_binomial_chi2")
def delta2_negative_binomial_chi2(X: Matrix, Y: AnyArray, *, lengths: ArrayLike | None = None) -> ScoreResult:
    """Δ²/(1 + δω̃) of counts with p-value by χ²₁: ``delta2_negative_binomial`` in the limit of frequent words.

    Reference: Airoldi, Cohen & Fienberg, "Bayesian methods for frequent terms in text", §4; the limit is ours.

    Parameters
    ----------
    X, Y, lengths
        As for :func:`delta2`.

    Examples
    --------
    >>> X = np.array([[9, 1], [7, 1], [1, 1], [1, 1]])
    >>> delta2_negative_binomial_chi2(X, np.array([1, 1, 0, 0]), lengths=[1, 1, 1, 1]).p_values.round(4)
    array([[0.0896, 1.    ]])
    """
    return delta2_test(X, Y, lengths=lengths, model="negative_binomial", method="chi2")
