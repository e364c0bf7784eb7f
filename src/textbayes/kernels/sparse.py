"""Products of a sparse matrix (CSC arrays) with many vectors at once: the matrix is read one time for all labels."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.kernels._cache import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def transpose_times(indptr: IntArray, indices: IntArray, data: FloatArray, vectors: FloatArray) -> FloatArray:
    """Xᵀ V for X (n, p) in CSC and V (n, k) row-major: the gradients of k labels; O(nnz·k).

    Four labels at a time, and then the last ones together, so that their sums stay in registers while a column, in the
    cache after its first reading, is gone through again for the next.
    """
    n_columns, k = len(indptr) - 1, vectors.shape[1]
    out = np.empty((n_columns, k))
    in_fours = k - k % 4
    for j in range(n_columns):
        start, stop = U(indptr[j]), U(indptr[j + 1])
        for first in range(0, in_fours, 4):
            c = U(first)
            a0 = a1 = a2 = a3 = 0.0
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                a0 += x * vectors[i, c]
                a1 += x * vectors[i, c + U(1)]
                a2 += x * vectors[i, c + U(2)]
                a3 += x * vectors[i, c + U(3)]
            out[j, first], out[j, first + 1], out[j, first + 2], out[j, first + 3] = a0, a1, a2, a3
        c = U(in_fours)
        a0 = a1 = a2 = 0.0
        if k - in_fours == 3:
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                a0 += x * vectors[i, c]
                a1 += x * vectors[i, c + U(1)]
                a2 += x * vectors[i, c + U(2)]
            out[j, in_fours], out[j, in_fours + 1], out[j, in_fours + 2] = a0, a1, a2
        elif k - in_fours == 2:
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                a0 += x * vectors[i, c]
                a1 += x * vectors[i, c + U(1)]
            out[j, in_fours], out[j, in_fours + 1] = a0, a1
        elif k - in_fours == 1:
            for t in range(start, stop):
                a0 += data[t] * vectors[U(indices[t]), c]
            out[j, in_fours] = a0
    return out


@njit(cache=True, nogil=True)
def times(indptr: IntArray, indices: IntArray, data: FloatArray, weights: FloatArray, n_rows: int) -> FloatArray:
    """X W for X (n, p) in CSC and W (p, k) row-major: the linear predictors of k labels; O(nnz·k).

    Eight labels or more are a loop of their own. With fewer it would cost more than what it does: four of them, and
    then the last ones together, have their weights in registers.
    """
    k = weights.shape[1]
    out = np.zeros((n_rows, k))
    if k >= 8:
        for j in range(len(indptr) - 1):
            row = weights[j]
            for t in range(U(indptr[j]), U(indptr[j + 1])):
                x = data[t]
                target = out[U(indices[t])]
                for label in range(U(k)):
                    target[label] += x * row[label]
        return out
    c, rest = U(k - k % 4), k % 4
    for j in range(len(indptr) - 1):
        start, stop = U(indptr[j]), U(indptr[j + 1])
        if k >= 4:
            w0, w1, w2, w3 = weights[j, 0], weights[j, 1], weights[j, 2], weights[j, 3]
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                out[i, U(0)] += x * w0
                out[i, U(1)] += x * w1
                out[i, U(2)] += x * w2
                out[i, U(3)] += x * w3
        if rest == 3:
            w0, w1, w2 = weights[j, c], weights[j, c + U(1)], weights[j, c + U(2)]
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                out[i, c] += x * w0
                out[i, c + U(1)] += x * w1
                out[i, c + U(2)] += x * w2
        elif rest == 2:
            w0, w1 = weights[j, c], weights[j, c + U(1)]
            for t in range(start, stop):
                x, i = data[t], U(indices[t])
                out[i, c] += x * w0
                out[i, c + U(1)] += x * w1
        elif rest == 1:
            w0 = weights[j, c]
            for t in range(start, stop):
                out[U(indices[t]), c] += data[t] * w0
    return out


@njit(cache=True, nogil=True)
def weighted_sums(
    indptr: IntArray, indices: IntArray, data: FloatArray, omega: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Σ omega·x and Σ omega·x² of every column of X (n, p) in CSC, for omega (n, k) row-major."""
    n_columns, k = len(indptr) - 1, omega.shape[1]
    mass, curvature = np.empty((n_columns, k)), np.empty((n_columns, k))
    for j in range(n_columns):
        for c in range(U(k)):
            m = h = 0.0
            for t in range(U(indptr[j]), U(indptr[j + 1])):
                weighted = omega[U(indices[t]), c] * data[t]
                m += weighted
                h += weighted * data[t]
            mass[j, c], curvature[j, c] = m, h
    return mass, curvature


@njit(cache=True, nogil=True)
def column_dots(first: FloatArray, second: FloatArray) -> FloatArray:
    """Σ_i a_ic b_ic of each column c of two matrices, in the same order whatever the number of columns."""
    out = np.zeros(first.shape[1])
    for i in range(first.shape[0]):
        for c in range(first.shape[1]):
            out[c] += first[i, c] * second[i, c]
    return out


@njit(cache=True, nogil=True)
def column_sums(matrix: FloatArray) -> FloatArray:
    """Σ_i a_ic of each column c, in the same order whatever the number of columns."""
    out = np.zeros(matrix.shape[1])
    for i in range(matrix.shape[0]):
        for c in range(matrix.shape[1]):
            out[c] += matrix[i, c]
    return out
