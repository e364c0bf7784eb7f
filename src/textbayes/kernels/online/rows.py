"""Sparse rows of documents: with position 0 for the bias, of all words or those of one label; their dot products."""

from __future__ import annotations

import numpy as np

from textbayes.kernels._cache import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def after_bias(indptr, indices, data):  # type: ignore[no-untyped-def]
    """Row bounds and positions (columns counted from 1), and whether all values are finite, in one call for streams."""
    bounds, positions = np.empty(len(indptr), dtype=np.int64), np.empty(len(indices), dtype=np.int32)
    for i in range(U(len(indptr))):
        bounds[i] = indptr[i]
    finite = True
    for t in range(U(len(indices))):
        positions[t] = indices[t] + 1
        finite &= np.isfinite(data[t])
    return bounds, positions, finite


@njit(cache=True, nogil=True)
def restrict_rows(indptr, indices, data, position):  # type: ignore[no-untyped-def]
    """CSR arrays with the columns renumbered by ``position``; a column at −1 is dropped. O(non-zeros)."""
    n_docs = len(indptr) - 1
    new_indptr = np.zeros(n_docs + 1, dtype=np.int64)
    n = 0
    for t in range(U(indptr[0]), U(indptr[n_docs])):
        n += position[U(indices[t])] >= 0
    new_indices = np.empty(n, dtype=np.int32)
    new_data = np.empty(n)
    n = 0
    for i in range(n_docs):
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            place = position[U(indices[t])]
            if place >= 0:
                new_indices[n] = place
                new_data[n] = data[t]
                n += 1
        new_indptr[i + 1] = n
    return new_indptr, new_indices, new_data


@njit(cache=True, nogil=True)
def rows_times_columns(indptr, indices, data, col_indptr, col_indices, col_data, n_columns):  # type: ignore[no-untyped-def]
    """A B' for A by rows and B' by the words of its documents: what two documents share is all that is read."""
    n_rows = len(indptr) - 1
    out = np.zeros((n_rows, n_columns))
    for i in range(n_rows):
        row = out[i]
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            word, x = U(indices[t]), data[t]
            for s in range(U(col_indptr[word]), U(col_indptr[word + U(1)])):
                row[U(col_indices[s])] += x * col_data[s]
    return out
