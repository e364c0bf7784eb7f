"""Products of a sparse matrix with a vector for every class, in the precision of what they are given.

As ``kernels.sparse``, which works in double precision for any number of labels: here a class is a lane of the
processor, so that single precision takes half the time. What a Newton step needs no more digits of is computed so.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def times_classes(indptr, indices, data, weights, out):  # type: ignore[no-untyped-def]
    """X W for X (n, p) in CSC and W (p, k) row-major, into ``out`` (n, k)."""
    n_classes = U(weights.shape[1])
    out[:] = 0.0
    for j in range(len(indptr) - 1):
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x, i = data[t], U(indices[t])
            for c in range(n_classes):
                out[i, c] += x * weights[j, c]


@njit(cache=True, nogil=True)
def transpose_times_classes(indptr, indices, data, vectors, out):  # type: ignore[no-untyped-def]
    """Xᵀ V for X (n, p) in CSC and V (n, k) row-major, into ``out`` (p, k)."""
    n_classes = U(vectors.shape[1])
    sums = np.zeros(vectors.shape[1], dtype=vectors.dtype)
    for j in range(len(indptr) - 1):
        for c in range(n_classes):
            sums[c] = 0.0
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x, i = data[t], U(indices[t])
            for c in range(n_classes):
                sums[c] += x * vectors[i, c]
        for c in range(n_classes):
            out[j, c] = sums[c]
