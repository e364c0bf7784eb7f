"""Assumed-density updates of a Gaussian with full covariance, for one label, in blocks of documents.

For a document x with outcome y the posterior N(m, C) becomes (Opper 1998)

    s = C x,   m ← m + s·∂ ln Z,   C ← C + s s'·∂² ln Z,

where Z depends on x'm and x'C x only. Written one by one, every document costs a pass over C. Here C stays as it was
at the block's start: with S_k = C x_k, the values c_tk = x_t's_k follow by forward substitution on scalars,

    c_tk = x_t'S_k − Σ_{l<k} a_l c_kl c_tl,   mean_t = x_t'm + Σ_{k<t} d_k c_tk,   var_t = x_t'S_t − Σ_{k<t} a_k c_tk²,

d = ∂ ln Z and a = −∂² ln Z; at the block's end s_k = S_k − Σ_{l<k} a_l c_kl s_l and C ← C − Σ_k a_k s_k s_k' in one
pass. Successive documents with the bias alone share one k: their updates all go along C e_0, so each costs O(1).
The result is that of the one-by-one updates up to rounding (``tests/references/online.py``).

Position 0 is the bias, 1 in every document; rows hold the other positions, from 1 on, each at most once.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.online.outcome import outcome, refined_outcome
from textbayes.kernels.online.symmetric import mirror, subtract_outer

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
# x'C x is a sum of terms that may cancel; below this share of their size it is rounding, and the document is known.
_KNOWN = 1e-10
MOST = 16  # directions kept apart from C; a multiple of 4. More cost more in the triangular part than they save


@njit(cache=True, nogil=True, fastmath={"contract"})
def _subtract_rows(target, source, factors, n):  # type: ignore[no-untyped-def]
    """target ← target − Σ_{l<n} factor_l source_l."""
    d = U(len(target))
    whole = U(n - n % 4)
    for a in range(U(0), whole, U(4)):
        b, c, e = a + U(1), a + U(2), a + U(3)
        fa, fb, fc, fe = factors[a], factors[b], factors[c], factors[e]
        for j in range(d):
            target[j] = target[j] - fa * source[a, j] - fb * source[b, j] - fc * source[c, j] - fe * source[e, j]
    for a in range(whole, U(n)):
        fa = factors[a]
        for j in range(d):
            target[j] -= fa * source[a, j]


@njit(cache=True, nogil=True)
def _rounding(cov, indices, data, start, stop):  # type: ignore[no-untyped-def]
    """What x'C x cannot be told from 0 below: a share of (Σ |x_j| √C_jj)², or of a bound on it without roots."""
    size, weighted = 1.0, cov[0, 0]
    for t in range(start, stop):
        a, x = U(indices[t]), abs(data[t])
        size += x
        weighted += x * cov[a, a]
    return _KNOWN * size * weighted


@njit(cache=True, nogil=True, fastmath={"contract"})
def _times_cov(cov, indices, data, start, stop, out):  # type: ignore[no-untyped-def]
    """out = C x for one row, four words at a time."""
    d = U(len(out))
    whole = stop - (stop - start) % U(4)
    for j in range(d):
        out[j] = cov[0, j]
    for t in range(start, whole, U(4)):
        x0, x1, x2, x3 = data[t], data[t + U(1)], data[t + U(2)], data[t + U(3)]
        a0, a1, a2, a3 = U(indices[t]), U(indices[t + U(1)]), U(indices[t + U(2)]), U(indices[t + U(3)])
        for j in range(d):
            out[j] = out[j] + x0 * cov[a0, j] + x1 * cov[a1, j] + x2 * cov[a2, j] + x3 * cov[a3, j]
    for t in range(whole, stop):
        x, a = data[t], U(indices[t])
        for j in range(d):
            out[j] += x * cov[a, j]


@njit(cache=True, nogil=True)
def _dot_row(vector, indices, data, start, stop):  # type: ignore[no-untyped-def]
    total = vector[0]
    for t in range(start, stop):
        total += data[t] * vector[U(indices[t])]
    return total


@njit(cache=True, nogil=True)
def _fold(mean, cov, directions, products, moved, removed, n):  # type: ignore[no-untyped-def]
    """Bring the first ``n`` directions of a block into mean and covariance, in place."""
    for k in range(1, n):
        _subtract_rows(directions[k], directions, removed[:k] * products[k, :k], k)
    _subtract_rows(mean, directions, -moved[:n], n)
    padded = (n + 3) // 4 * 4
    for k in range(n, padded):
        removed[k] = 0.0
        directions[k, :] = 0.0
    subtract_outer(cov, len(cov), directions[:padded], removed[:padded])
    mirror(cov)


@njit(cache=True, nogil=True)
def look_full(indices, data, mean, cov):  # type: ignore[no-untyped-def]
    """x'm, x'C x and C x of one document; C x is 0 where rounding is all that x'C x shows."""
    direction = np.empty(len(mean))
    start, stop = U(0), U(len(indices))
    _times_cov(cov, indices, data, start, stop, direction)
    var = _dot_row(direction, indices, data, start, stop)
    if var <= _rounding(cov, indices, data, start, stop):
        direction[:] = 0.0
    return _dot_row(mean, indices, data, start, stop), max(var, 0.0), direction


@njit(cache=True, nogil=True, fastmath={"contract"})
def take_full(mean, cov, direction, first, second):  # type: ignore[no-untyped-def]
    """m ← m + first·s, C ← C + second·s s', in place."""
    d = U(len(mean))
    for i in range(d):
        mean[i] += first * direction[i]
        factor = second * direction[i]
        for j in range(i + U(1)):
            cov[i, j] += factor * direction[j]
    mirror(cov)


@njit(cache=True, nogil=True)
def learn_full(indptr, indices, data, y, mean, cov, noise_variance, rate, sites, log_z):  # type: ignore[no-untyped-def]
    """Learn the rows in turn; ``mean``, ``cov``, ``sites`` and ``log_z`` (one value per row) are changed in place.

    y = 0 marks a document without a judgement: it is passed over and its log_z is 0. ``sites`` (n, 2) holds what each
    document has contributed so far, as precision and shift, and is empty where documents are always new.
    """
    d = len(mean)
    block = MOST if d >= 100 else 12  # a small C is cheap to pass over
    directions = np.empty((block, d))
    products = np.empty((block, block))  # c_tk, k < t
    start_mean, start_var, known = np.empty(block), np.empty(block), np.empty(block)
    moved, removed = np.empty(block), np.empty(block)  # Σ d and Σ a along each direction
    n, last_is_bias = 0, False
    for i in range(len(y)):
        log_z[i] = 0.0
        if y[i] == 0.0:
            continue
        start, stop = U(indptr[i]), U(indptr[i + 1])
        if not (last_is_bias and start == stop and n > 0):
            if n == block:
                _fold(mean, cov, directions, products, moved, removed, n)
                n = 0
            _times_cov(cov, indices, data, start, stop, directions[n])
            m = _dot_row(mean, indices, data, start, stop)
            v = _dot_row(directions[n], indices, data, start, stop)
            for k in range(n):
                c = _dot_row(directions[k], indices, data, start, stop)
                for b in range(k):
                    c -= removed[b] * products[k, b] * products[n, b]
                products[n, k] = c
                m += moved[k] * c
                v -= removed[k] * c * c
            start_mean[n], start_var[n], moved[n], removed[n] = m, max(v, 0.0), 0.0, 0.0
            known[n] = _rounding(cov, indices, data, start, stop)
            last_is_bias = start == stop
            n += 1
        k = n - 1
        left = 1.0 - removed[k] * start_var[k]
        center, spread = start_mean[k] + moved[k] * start_var[k], start_var[k] * left
        if spread <= known[k]:
            log_z[i] = outcome(center, spread, y[i], noise_variance, rate)[0]
            continue
        if len(sites):
            log_z[i], first, second, sites[i, 0], sites[i, 1] = refined_outcome(
                center, spread, y[i], noise_variance, rate, sites[i, 0], sites[i, 1]
            )
        else:
            log_z[i], first, second = outcome(center, spread, y[i], noise_variance, rate)
        moved[k] += first * left
        removed[k] -= second * left * left
    if n:
        _fold(mean, cov, directions, products, moved, removed, n)
