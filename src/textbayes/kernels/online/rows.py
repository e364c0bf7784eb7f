"""The words of one label, from rows over the whole vocabulary."""

from __future__ import annotations

import numpy as np
from numba import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


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
