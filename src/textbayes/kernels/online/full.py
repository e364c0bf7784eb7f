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

Deferred updates. The covariance is C − Σ_k a_k s_k s_k' with the few directions s_k and factors a_k learnt since C was
last brought up to date. A document x with s = C x − Σ_k a_k (s_k'x) s_k then costs O(non-zeros · words) and is one more
direction; all of them are brought into C in one pass (``fold``). Position 0 is the bias, as above. ``base`` and
directions may have room for more words than ``mean`` has.

Symmetric matrices are used by their lower triangle, with room to spare: ``size`` is that of the part in use, the first
rows and columns.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.online.document import outcome, refined_outcome

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True, fastmath={"contract"})
def subtract_outer(matrix, size, vectors, factors):  # type: ignore[no-untyped-def]
    """A ← A − Σ_k factor_k v_k v_k' for rows v_k, whose number is a multiple of 4 (pad with factors 0).

    Four vectors and four rows of A at a time, so that what is loaded is used four times; written as chains of
    subtractions, which compile to fused multiply-adds. Only the lower triangle is right afterwards: see ``mirror``.
    """
    d, n = U(size), U(len(vectors))
    whole = d - d % U(4)
    for i in range(U(0), whole, U(4)):
        j, k, m = i + U(1), i + U(2), i + U(3)
        for b0 in range(U(0), n, U(4)):
            b1, b2, b3 = b0 + U(1), b0 + U(2), b0 + U(3)
            f0, f1, f2, f3 = factors[b0], factors[b1], factors[b2], factors[b3]
            p0, p1, p2, p3 = f0 * vectors[b0, i], f1 * vectors[b1, i], f2 * vectors[b2, i], f3 * vectors[b3, i]
            q0, q1, q2, q3 = f0 * vectors[b0, j], f1 * vectors[b1, j], f2 * vectors[b2, j], f3 * vectors[b3, j]
            r0, r1, r2, r3 = f0 * vectors[b0, k], f1 * vectors[b1, k], f2 * vectors[b2, k], f3 * vectors[b3, k]
            s0, s1, s2, s3 = f0 * vectors[b0, m], f1 * vectors[b1, m], f2 * vectors[b2, m], f3 * vectors[b3, m]
            for c in range(m + U(1)):
                x0, x1, x2, x3 = vectors[b0, c], vectors[b1, c], vectors[b2, c], vectors[b3, c]
                matrix[i, c] = matrix[i, c] - p0 * x0 - p1 * x1 - p2 * x2 - p3 * x3
                matrix[j, c] = matrix[j, c] - q0 * x0 - q1 * x1 - q2 * x2 - q3 * x3
                matrix[k, c] = matrix[k, c] - r0 * x0 - r1 * x1 - r2 * x2 - r3 * x3
                matrix[m, c] = matrix[m, c] - s0 * x0 - s1 * x1 - s2 * x2 - s3 * x3
    for i in range(whole, d):
        for b0 in range(U(0), n, U(4)):
            b1, b2, b3 = b0 + U(1), b0 + U(2), b0 + U(3)
            p0, p1 = factors[b0] * vectors[b0, i], factors[b1] * vectors[b1, i]
            p2, p3 = factors[b2] * vectors[b2, i], factors[b3] * vectors[b3, i]
            for c in range(i + U(1)):
                x0, x1, x2, x3 = vectors[b0, c], vectors[b1, c], vectors[b2, c], vectors[b3, c]
                matrix[i, c] = matrix[i, c] - p0 * x0 - p1 * x1 - p2 * x2 - p3 * x3


@njit(cache=True, nogil=True)
def mirror(matrix):  # type: ignore[no-untyped-def]
    """Copy the lower triangle to the upper one: symmetric to the last bit."""
    d = U(len(matrix))
    whole = d - d % U(4)
    for i in range(U(0), whole, U(4)):  # four at a time, for writes that fill cache lines
        k, m, n = i + U(1), i + U(2), i + U(3)
        for j in range(i):
            row = matrix[j]
            row[i], row[k], row[m], row[n] = matrix[i, j], matrix[k, j], matrix[m, j], matrix[n, j]
        for a in range(i, i + U(4)):
            for j in range(i, a):
                matrix[j, a] = matrix[a, j]
    for i in range(whole, d):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


# Sums of products may be taken in any order ("reassoc"): without that no dot product would run on vector registers.
@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def symmetric_times(lower, size, x, out):  # type: ignore[no-untyped-def]
    """out = A x from the lower triangle, four rows at a time: each element is loaded once and used twice."""
    n = U(size)
    whole = n - n % U(4)
    for i in range(n):
        out[i] = 0.0
    for i in range(U(0), whole, U(4)):
        j, k, m = i + U(1), i + U(2), i + U(3)
        x0, x1, x2, x3 = x[i], x[j], x[k], x[m]
        s0 = s1 = s2 = s3 = 0.0
        for c in range(i):
            a0, a1, a2, a3, xc = lower[i, c], lower[j, c], lower[k, c], lower[m, c], x[c]
            s0 += a0 * xc
            s1 += a1 * xc
            s2 += a2 * xc
            s3 += a3 * xc
            out[c] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
        out[i] += s0 + lower[i, i] * x0 + lower[j, i] * x1 + lower[k, i] * x2 + lower[m, i] * x3
        out[j] += s1 + lower[j, i] * x0 + lower[j, j] * x1 + lower[k, j] * x2 + lower[m, j] * x3
        out[k] += s2 + lower[k, i] * x0 + lower[k, j] * x1 + lower[k, k] * x2 + lower[m, k] * x3
        out[m] += s3 + lower[m, i] * x0 + lower[m, j] * x1 + lower[m, k] * x2 + lower[m, m] * x3
    for i in range(whole, n):
        xi, total = x[i], 0.0
        for c in range(i):
            total += lower[i, c] * x[c]
            out[c] += lower[i, c] * xi
        out[i] += total + lower[i, i] * xi


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def quadratic_form(lower, size, x):  # type: ignore[no-untyped-def]
    """x'A x from the lower triangle: half the work of A x."""
    n = U(size)
    whole = n - n % U(4)
    total = 0.0
    for i in range(U(0), whole, U(4)):
        j, k, m = i + U(1), i + U(2), i + U(3)
        x0, x1, x2, x3 = x[i], x[j], x[k], x[m]
        sums = 0.0
        for c in range(i):
            sums += (lower[i, c] * x0 + lower[j, c] * x1 + lower[k, c] * x2 + lower[m, c] * x3) * x[c]
        sums += x1 * lower[j, i] * x0 + x2 * (lower[k, i] * x0 + lower[k, j] * x1)
        sums += x3 * (lower[m, i] * x0 + lower[m, j] * x1 + lower[m, k] * x2)
        squares = lower[i, i] * x0 * x0 + lower[j, j] * x1 * x1 + lower[k, k] * x2 * x2 + lower[m, m] * x3 * x3
        total += 2.0 * sums + squares
    for i in range(whole, n):
        sums = 0.0
        for c in range(i):
            sums += lower[i, c] * x[c]
        total += x[i] * (2.0 * sums + lower[i, i] * x[i])
    return total


# x'C x is a sum of terms that may cancel; below this share of their size it is rounding, and the document is known.
_KNOWN = 1e-10  # below this share of its terms x'C x is rounding
MOST = 16  # directions stored apart from C; a multiple of 4. More cost more in the triangular part than they save


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
    """Rounding error of x'C x: a share of (Σ |x_j| √C_jj)², or of a bound on it without roots."""
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
