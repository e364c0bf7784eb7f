"""Sweeps of soft clustering over the non-zeros: memberships of documents, then expected counts of words.

Each document, and each word, is computed by itself in a fixed order: results do not depend on how they are shared out.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.counts.clusters_dirichlet import improve, measure

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_TINY = 1e-300
_SUMS = {"reassoc", "contract"}  # sums over clusters may be taken several at a time


@njit(cache=True, nogil=True)
def _new_share(x, norm, burst):  # type: ignore[no-untyped-def]
    """Σ_{i<x} 1/(norm + i·burst): x/norm where words do not come in bursts."""
    if burst == 0.0 or x <= 1.0:
        return x / norm
    total, whole = 0.0, int(x)
    for i in range(whole):
        total += 1.0 / (norm + i * burst)
    return total + (x - whole) / (norm + whole * burst)


@njit(cache=True, nogil=True)
def _log_levels(x, norm, burst):  # type: ignore[no-untyped-def]
    """Σ_{i<x} ln(norm + i·burst)."""
    if burst == 0.0 or x <= 1.0:
        return x * math.log(norm)
    total, whole = 0.0, int(x)
    for i in range(whole):
        total += math.log(norm + i * burst)
    return total + (x - whole) * math.log(norm + whole * burst)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _responsibilities(indices, data, factors, bursts, own, counts):  # type: ignore[no-untyped-def]
    """Σ_w x_w φ_wk into ``counts``, φ_wk ∝ own_k factors_wk: one reading of a document."""
    n = len(own)
    counts[:] = 0.0
    for t in range(len(indices)):
        row = factors[U(indices[t])]
        norm = 0.0
        for k in range(n):
            norm += own[k] * row[k]
        share = _new_share(data[t], max(norm, _TINY), bursts[U(indices[t])])
        for k in range(n):
            counts[k] += share * row[k]
    for k in range(n):
        counts[k] *= own[k]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _ratios(indices, data, factors, bursts, own, ratios):  # type: ignore[no-untyped-def]
    """x_w/Σ_k own_k factors_wk into ``ratios``; Σ_w x_w ln Σ_k own_k factors_wk is returned. Of bursts their own."""
    bound = 0.0
    for t in range(len(indices)):
        row = factors[U(indices[t])]
        norm = 0.0
        for k in range(len(own)):
            norm += own[k] * row[k]
        norm = max(norm, _TINY)
        burst = bursts[U(indices[t])]
        ratios[t] = _new_share(data[t], norm, burst)
        bound += _log_levels(data[t], norm, burst)
    return bound


@njit(cache=True, nogil=True)
def document_sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, alpha, factors, bursts, expected, points, shares, ratios, bounds, first, last, max_steps, tol
):
    """Memberships of documents ``first`` to ``last`` − 1 of a CSR matrix, given the words.

    ``factors`` (V, K) holds exp E ln τ_wk, ``bursts`` (V,) δ_w/σ_w, and ``expected`` (n_docs, K) the words that a
    document would have if it were of one cluster, ω_d Σ_w σ_w E τ_wk. ``points`` γ (n_docs, K) is where each document
    starts and ends; exp E ln θ goes to ``shares`` (n_docs, K), x/norm to ``ratios`` (non-zeros), and to ``bounds`` the
    document's part of the bound but for constants of α and of the data. A document is read at most ``max_steps`` + 1
    times.
    """
    n = len(alpha)
    counts, log_means, curvatures = np.empty(n), np.empty(n), np.empty(n)
    own, found, work = np.empty(n), np.empty(n), np.empty((4, n))
    for d in range(first, last):
        words, values = indices[indptr[d] : indptr[d + 1]], data[indptr[d] : indptr[d + 1]]
        point, rates = points[d], expected[d]
        counts[:] = alpha
        bound, prime = measure(counts, rates, point, log_means, curvatures)
        for _ in range(max_steps):
            for k in range(n):
                own[k] = math.exp(log_means[k])
            _responsibilities(words, values, factors, bursts, own, found)
            for k in range(n):  # g is linear in the counts, so it follows them without another special function
                bound += (alpha[k] + found[k] - counts[k]) * log_means[k]
                counts[k] = alpha[k] + found[k]
            bound, prime, change = improve(counts, rates, point, log_means, curvatures, bound, prime, work)
            if change <= tol:
                break
        for k in range(n):
            own[k] = math.exp(log_means[k])
            shares[d, k] = own[k]
            bound += (alpha[k] - counts[k]) * log_means[k]
        bounds[d] = bound + _ratios(words, values, factors, bursts, own, ratios[indptr[d] : indptr[d + 1]])


@njit(cache=True, nogil=True, fastmath=_SUMS)
def word_counts(indptr, indices, ratios, shares, factors, counts, first, last):  # type: ignore[no-untyped-def]
    """N_wk = Σ_d x_dw φ_dwk of words ``first`` to ``last`` − 1 of a CSC matrix into ``counts`` (V, K)."""
    n = shares.shape[1]
    for w in range(first, last):
        total = counts[w]
        total[:] = 0.0
        for t in range(U(indptr[w]), U(indptr[w + 1])):
            row, ratio = shares[U(indices[t])], ratios[t]
            for k in range(n):
                total[k] += ratio * row[k]
        for k in range(n):
            total[k] *= factors[w, k]
