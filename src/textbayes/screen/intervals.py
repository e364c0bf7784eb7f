"""How sure the model is of a predictor."""

from __future__ import annotations

import numpy as np
from scipy import linalg, special
from scipy.sparse import csr_matrix

from textbayes.core.types import FloatArray, IntArray

WIDE = 1.6448536269514722  # of a normal distribution, 90 % within
_MOST = 3000  # judged records that intervals go by, those with most curvature: the others make them a little wider
_AT_ONCE = 2048  # rows


def standard_errors(X: csr_matrix, rows: IntArray, judged: IntArray, weight: FloatArray, eta: FloatArray) -> FloatArray:
    """Posterior standard deviations of predictors by Laplace's approximation, the prior being N(0, 1) throughout.

    With W the curvatures of the judged records, x'(I + A'WA)⁻¹x = x'x − k'W^½ (I + W^½KW^½)⁻¹ W^½k (Woodbury), with a
    column of ones for the intercept.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    rows, judged : arrays of int
    weight, eta : arrays (n_judged,)
        Weights of the judged records in the likelihood, and their predictors.
    """
    A, root, factor = _curved(X, judged, weight, eta)
    x = X[rows]
    variance = np.asarray(x.multiply(x).sum(axis=1)).ravel() + 1.0
    for start in range(0, len(rows), _AT_ONCE):
        span = slice(start, start + _AT_ONCE)
        cross = ((x[span] @ A.T).toarray() + 1.0) * root
        variance[span] -= (linalg.solve_triangular(factor, cross.T, lower=True) ** 2).sum(axis=0)
    return np.sqrt(np.maximum(variance, 0.0))


def word_standard_errors(
    X: csr_matrix, columns: IntArray, judged: IntArray, weight: FloatArray, eta: FloatArray
) -> FloatArray:
    """Posterior standard deviations of the weights of some words, likewise.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    columns, judged : arrays of int
    weight, eta : arrays (n_judged,)
    """
    A, root, factor = _curved(X, judged, weight, eta)
    cross = A[:, columns].toarray() * root[:, None]
    return np.sqrt(np.maximum(1.0 - (linalg.solve_triangular(factor, cross, lower=True) ** 2).sum(axis=0), 0.0))


def _curved(
    X: csr_matrix, judged: IntArray, weight: FloatArray, eta: FloatArray
) -> tuple[csr_matrix, FloatArray, FloatArray]:
    """The judged records that count, the roots of their curvatures, and the Cholesky factor of I + W^½KW^½."""
    p = special.expit(eta)
    curvature = weight * p * (1.0 - p)
    first = np.argsort(-curvature, kind="stable")[:_MOST]
    A, root = X[judged[first]], np.sqrt(curvature[first])
    inner = (A @ A.T).toarray() + 1.0
    return A, root, linalg.cholesky(np.eye(len(first)) + root[:, None] * inner * root, lower=True)
