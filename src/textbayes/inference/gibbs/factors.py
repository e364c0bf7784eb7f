"""A low-rank prior covariance between words: words that go together in documents have weights that go together.

With one row u_j of k loadings for each word, |u_j| < 1,

    w_j = mean_j + scale_j·(√(1 − |u_j|²)·e_j + u_j'f),   f ~ N(0, I_k),

where e_j is of the prior's family with scale 1. For a Gaussian prior every weight is N(mean_j, scale_j²) as before, and
two weights have the correlation u_i'u_j: scales keep their meaning. For other families a shared Gaussian part is added
to deviations that are as sparse as the family makes them. To a sampler f is k further words, with the columns X·S·U:
nothing else changes, and no matrix of words by words is ever made.

The paper that this answers (see ``docs``) names such a prior as future work; factors for words that documents alone
cannot distinguish are those of principal components regression, shrunk instead of cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.priors.base import BasePrior


def cooccurrence_factors(
    X: Any, rank: int = 20, share: float = 0.95, random_state: int = 0, sample_weight: AnyArray | None = None
) -> FloatArray:
    """Loadings (n_features, rank) of words by how they co-occur, for ``Gibbs(factors=…)``.

    The ``rank`` largest principal components of the correlations between columns, of which ``share`` is believed:
    U U' is the best approximation of share·correlations. Words that no document has, or all have alike, get no loading
    and stay independent.

    Parameters
    ----------
    X : sparse matrix or array (n_docs, n_features)
        Documents; unlabelled ones will do.
    rank : int
        Components, fewer than documents and words.
    share : float in (0, 1)
        Of the prior variance that may be common to several words. Components are few, so less than this is common.
    random_state : int
        Of the iterative decomposition's start.
    sample_weight : array (n_docs,), optional
        How many times each document counts; once by default.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 2.0]])
    >>> U = cooccurrence_factors(X, rank=1, share=0.5)
    >>> bool(np.isclose(U[0, 0], U[1, 0])), bool(abs(U[0, 0]) > abs(U[2, 0]))  # two words that are always together
    (True, True)
    """
    X = sparse.csc_matrix(X, dtype=np.float64)
    n_docs, n_features = X.shape
    if rank != int(rank) or not 1 <= rank < min(n_docs, n_features):
        raise InputError(
            f"rank={rank!r} is given for {n_docs} documents and {n_features} words; pass a whole number from 1 on that "
            "is smaller than both"
        )
    if not 0.0 < share < 1.0:
        raise InputError(f"share={share!r} is given; the part of a prior variance that words share is between 0 and 1")
    if not np.isfinite(X.data).all():
        raise InputError("X has entries that are not finite; replace or drop them before factors are looked for")
    weight = np.ones(n_docs) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    root = np.sqrt(weight)
    mean = (X.T @ weight) / weight.sum()
    square = X.multiply(X).T @ weight
    spread = square - weight.sum() * mean**2
    varies = spread > 1e-12 * square
    if not varies.any():
        return np.zeros((n_features, int(rank)))
    scale = np.divide(1.0, np.sqrt(spread), out=np.zeros(n_features), where=varies)

    def forward(v: AnyArray) -> AnyArray:
        scaled = scale * v.ravel()
        return root * (X @ scaled - mean @ scaled)

    def backward(r: AnyArray) -> AnyArray:
        r = root * r.ravel()
        return scale * (X.T @ r - mean * r.sum())

    centred = LinearOperator((n_docs, n_features), matvec=forward, rmatvec=backward, dtype=np.float64)
    start = np.random.default_rng(random_state).standard_normal(min(n_docs, n_features))
    _, sizes, words = svds(centred, k=int(rank), v0=start)
    return np.where(varies[:, None], np.sqrt(share) * words.T * sizes, 0.0)


def loadings_of(factors: ArrayLike, X: Any, columns: IntArray, counts: IntArray | None = None) -> FloatArray | None:
    """Factor loadings of the words in ``columns``: rows of an array, or of as many factors as a number says.

    There are as many as documents and words allow, or none.

    Parameters
    ----------
    factors : int or array (n_features, n_factors)
    X : sparse matrix (n_docs, n_features)
    columns : array of int
    counts : array (n_docs,), optional
        How many times each document counts.
    """
    if np.ndim(factors):
        return check_factors(factors, X.shape[1])[columns]
    if not isinstance(factors, (int, np.integer)) or factors < 1:
        raise InputError(
            f"factors={factors!r} is given; pass a number of factors from 1 on, or an array of loadings with one row "
            "for each word"
        )
    of_words = X[:, columns]
    rank = min(int(factors), min(of_words.shape) - 1)
    return cooccurrence_factors(of_words, rank, sample_weight=counts) if rank > 0 else None


def check_factors(factors: ArrayLike, n_features: int) -> FloatArray:
    """Check factor loadings, an array of one row per word; a sentence says what is wrong with them."""
    loadings = np.asarray(factors, dtype=np.float64)
    if loadings.ndim != 2 or loadings.shape[0] != n_features:
        raise InputError(
            f"factors of shape {loadings.shape} are given; pass one row of loadings for each of the {n_features} "
            "words, as cooccurrence_factors makes them"
        )
    if not np.isfinite(loadings).all() or (common_share(loadings) >= 1.0).any():
        raise InputError(
            "some factors are not finite, or a word's loadings have squares that add up to 1 or more, which leaves it "
            "no variance of its own; scale them down"
        )
    return loadings


def common_share(loadings: FloatArray) -> FloatArray:
    """Share |u_j|² of the prior variance of each word that it has in common with others."""
    return np.einsum("jk,jk->j", loadings, loadings)


def own_part(prior: BasePrior, loadings: FloatArray) -> BasePrior:
    """The prior of mean + scale·√(1 − |u|²)·e, for a prior with hyperparameters of shape (n_features,)."""
    scale = prior.scale * np.sqrt(1.0 - common_share(loadings))
    return type(prior)(**{**vars(prior), "scale": scale})
