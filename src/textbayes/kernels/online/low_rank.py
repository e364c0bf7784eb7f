"""Assumed-density updates of a Gaussian whose precision is diagonal plus low rank, for one label.

With precision D + V V' (D diagonal, V of few columns) the covariance is diagonal minus low rank, and positive definite
whatever V is. For a document x, with t = V'D⁻¹x and M = I + V'D⁻¹V = L L',

    x'C x = x'D⁻¹x − |L⁻¹t|²,   C x = D⁻¹(x − V M⁻¹ t),

and learning it adds √β x, β = −∂²/(1 + ∂² x'C x), as one more column. As long as columns are only added, the mean is
m + D⁻¹(g + V c) with g sparse and c short: a document costs O(non-zeros · columns + columns²). When there is no room
for more columns, the directions that say least beside D (small eigenvalues of V'D⁻¹V) are dropped and their diagonal is
added to D, so that the precision of every single weight stays what it was.

Position 0 is the bias, 1 in every document.

References: Mishkin, Kunstner, Nielsen, Schmidt & Khan (2018), SLANG, NeurIPS (diagonal correction).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.online.document import outcome

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def look_low_rank(indices, data, mean, diagonal, factor, n, root, pending, shift, solved):  # type: ignore[no-untyped-def]
    """x'm and x'C x of one document; ``solved[:n]`` becomes L⁻¹ V'D⁻¹x.

    ``root`` is L, ``pending`` is g and ``shift`` is c.
    """
    share = 1.0 / diagonal[0]
    center, spread = mean[0] + share * pending[0], share
    for c in range(U(n)):
        solved[c] = share * factor[0, c]
    for t in range(U(len(indices))):
        a, x = U(indices[t]), data[t]
        share = x / diagonal[a]
        center += x * mean[a] + share * pending[a]
        spread += share * x
        for c in range(U(n)):
            solved[c] += share * factor[a, c]
    for c in range(n):
        center += solved[c] * shift[c]
        for b in range(c):
            solved[c] -= root[c, b] * solved[b]
        solved[c] /= root[c, c]
        spread -= solved[c] * solved[c]
    return center, max(spread, 0.0)


@njit(cache=True, nogil=True)
def take_low_rank(indices, data, factor, n, root, pending, shift, solved, spread, first, second):  # type: ignore[no-untyped-def]
    """The update of one document, in place; returns the number of columns now in use.

    An outcome that widens the posterior (∂² > 0, with label noise) moves the mean only.
    """
    pending[0] += first
    for t in range(len(indices)):
        pending[indices[t]] += first * data[t]
    precision = -second / (1.0 + second * spread)
    added = precision > 0.0
    if added:
        size = math.sqrt(precision)
        factor[0, n] = size  # columns not in use are zero
        for t in range(len(indices)):
            factor[indices[t], n] = size * data[t]
        for c in range(n):
            root[n, c] = size * solved[c]
        root[n, n] = math.sqrt(1.0 + precision * spread)
        shift[n] = 0.0
    for c in range(n - 1, -1, -1):  # M⁻¹ t = L'⁻¹ (L⁻¹ t)
        for b in range(c + 1, n):
            solved[c] -= root[b, c] * solved[b]
        solved[c] /= root[c, c]
        shift[c] -= first * solved[c]
    return n + 1 if added else n


@njit(cache=True, nogil=True)
def fold_mean(mean, diagonal, factor, n, pending, shift):  # type: ignore[no-untyped-def]
    """m ← m + D⁻¹(g + V c); g and c become 0."""
    for a in range(len(mean)):
        moved = pending[a]
        for c in range(n):
            moved += factor[a, c] * shift[c]
        mean[a] += moved / diagonal[a]
        pending[a] = 0.0
    shift[:n] = 0.0


@njit(cache=True, nogil=True)
def inner_products(diagonal, factor, n):  # type: ignore[no-untyped-def]
    """M = I + V'D⁻¹V of the columns in use."""
    inner = np.eye(n)
    for a in range(len(diagonal)):
        for c in range(n):
            share = factor[a, c] / diagonal[a]
            if share != 0.0:
                for b in range(c + 1):
                    inner[c, b] += share * factor[a, b]
    for c in range(n):
        for b in range(c):
            inner[b, c] = inner[c, b]
    return inner


@njit(cache=True, nogil=True)
def compress(diagonal, factor, n, vectors):  # type: ignore[no-untyped-def]
    """V ← V · vectors, whose columns are orthonormal; what the diagonal of V V' loses goes into D."""
    rank = vectors.shape[1]
    row = np.empty(rank)
    for a in range(len(diagonal)):
        lost = 0.0
        row[:] = 0.0
        for c in range(n):
            value = factor[a, c]
            if value != 0.0:
                lost += value * value
                for b in range(rank):
                    row[b] += value * vectors[c, b]
        for b in range(rank):
            lost -= row[b] * row[b]
            factor[a, b] = row[b]
        factor[a, rank:] = 0.0
        diagonal[a] += max(lost, 0.0)


@njit(cache=True, nogil=True)
def predict_low_rank(indptr, indices, data, mean, diagonal, factor, n, root, pending, shift):  # type: ignore[no-untyped-def]
    """Mean and variance of the linear predictor of every row."""
    n_docs = len(indptr) - 1
    solved, center, spread = np.empty(n), np.empty(n_docs), np.empty(n_docs)
    for i in range(n_docs):
        words, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        center[i], spread[i] = look_low_rank(words, values, mean, diagonal, factor, n, root, pending, shift, solved)
    return center, spread


@njit(cache=True, nogil=True)
def learn_low_rank(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, first_row, mean, diagonal, factor, n, root, pending, shift, noise_variance, rate, log_z
):
    """Learn the rows from ``first_row`` on, in place, as long as ``factor`` has room beyond the ``n`` columns in use.

    Returns the row to go on with and the number of columns in use. y = 0 marks a document without a judgement.
    """
    solved = np.empty(factor.shape[1])
    for i in range(first_row, len(y)):
        log_z[i] = 0.0
        if y[i] == 0.0:
            continue
        if n == factor.shape[1]:
            return i, n
        words, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        center, spread = look_low_rank(words, values, mean, diagonal, factor, n, root, pending, shift, solved)
        log_z[i], first, second = outcome(center, spread, y[i], noise_variance, rate)
        n = take_low_rank(words, values, factor, n, root, pending, shift, solved, spread, first, second)
    return len(y), n
