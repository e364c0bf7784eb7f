"""A Gaussian with full covariance whose latest updates wait beside it, so that a document costs no pass over it.

The covariance is C − Σ_k a_k s_k s_k' with the few directions s_k and factors a_k learnt since C was last brought up to
date. A document x with s = C x − Σ_k a_k (s_k'x) s_k then costs O(non-zeros · words) and is one more direction; all of
them are brought into C in one pass (``fold``). Position 0 is the bias, as in ``online_full``. ``base`` and directions
may have room for more words than ``mean`` has.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.online.symmetric import mirror, subtract_outer

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_KNOWN = 1e-10  # as in online_full: below this share of its terms x'C x is rounding


@njit(cache=True, nogil=True)
def predict_deferred(indptr, indices, data, mean, base, directions, removed, n):  # type: ignore[no-untyped-def]
    """Mean and variance of the linear predictor of every row, O(non-zeros²/2 + n · non-zeros) each."""
    n_docs = len(indptr) - 1
    center, spread = np.empty(n_docs), np.empty(n_docs)
    for i in range(n_docs):
        start, stop = U(indptr[i]), U(indptr[i + 1])
        m, v = mean[0], base[0, 0]
        for s in range(start, stop):
            a, x = U(indices[s]), data[s]
            row = base[a]
            m += x * mean[a]
            half = row[0] + 0.5 * x * row[a]
            for t in range(start, s):
                half += data[t] * row[U(indices[t])]
            v += 2.0 * x * half
        for k in range(n):
            along = directions[k, 0]
            for s in range(start, stop):
                along += data[s] * directions[k, U(indices[s])]
            v -= removed[k] * along * along
        center[i], spread[i] = m, max(v, 0.0)
    return center, spread


@njit(cache=True, nogil=True)
def look_deferred(indices, data, mean, base, directions, removed, n):  # type: ignore[no-untyped-def]
    """x'm, x'C x and C x of one document, C up to date; C x is 0 where rounding is all that x'C x shows."""
    d = U(len(mean))
    direction = base[0, : len(mean)].copy()
    size, weighted = 1.0, base[0, 0]
    for t in range(len(indices)):
        a, x = U(indices[t]), data[t]
        row = base[a]
        for j in range(d):
            direction[j] += x * row[j]
        size += abs(x)
        weighted += abs(x) * row[a]
    for k in range(n):
        along = directions[k, 0]
        for t in range(len(indices)):
            along += data[t] * directions[k, U(indices[t])]
        factor = removed[k] * along
        for j in range(d):
            direction[j] -= factor * directions[k, j]
    center, var = mean[0], direction[0]
    for t in range(len(indices)):
        a = U(indices[t])
        center += data[t] * mean[a]
        var += data[t] * direction[a]
    if var <= _KNOWN * size * weighted:
        direction[:] = 0.0
    return center, max(var, 0.0), direction


@njit(cache=True, nogil=True)
def fold(base, size, directions, removed):  # type: ignore[no-untyped-def]
    """C ← C − Σ_k a_k s_k s_k' in place, C the first ``size`` rows; the number of directions is a multiple of 4."""
    subtract_outer(base, size, directions, removed)
    mirror(base)
