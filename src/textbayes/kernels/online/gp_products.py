"""Dot products of two sets of sparse documents, as a dense array."""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


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
