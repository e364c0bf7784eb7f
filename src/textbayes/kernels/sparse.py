"""Products of a sparse matrix (CSC arrays) with many vectors at once: the matrix is read one time for all labels."""

from __future__ import annotations

import numpy as np
from numba import njit

from textbayes.core.types import FloatArray, IntArray

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def transpose_times(indptr: IntArray, indices: IntArray, data: FloatArray, vectors: FloatArray) -> FloatArray:
    """Xᵀ V for X (n, p) in CSC and V (n, k) row-major: the gradients of k labels; O(nnz·k)."""
    n_columns, k = len(indptr) - 1, vectors.shape[1]
    out = np.zeros((n_columns, k))
    for j in range(n_columns):
        row = out[j]
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x = data[t]
            source = vectors[U(indices[t])]
            for c in range(U(k)):
                row[c] += x * source[c]
    return out


@njit(cache=True, nogil=True)
def times(indptr: IntArray, indices: IntArray, data: FloatArray, weights: FloatArray, n_rows: int) -> FloatArray:
    """X W for X (n, p) in CSC and W (p, k) row-major: the linear predictors of k labels; O(nnz·k)."""
    k = weights.shape[1]
    out = np.zeros((n_rows, k))
    for j in range(len(indptr) - 1):
        row = weights[j]
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x = data[t]
            target = out[U(indices[t])]
            for c in range(U(k)):
                target[c] += x * row[c]
    return out
