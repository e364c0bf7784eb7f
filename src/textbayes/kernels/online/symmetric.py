"""Symmetric matrices by their lower triangle: products and low-rank updates that use what they load several times.

Every function takes a matrix with room to spare and the ``size`` of the part in use, its first rows and columns.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit

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
