"""The sparse online Gaussian process of Csató & Opper, for one label, from kernel values alone.

The process is f ~ GP with mean α'k(x) and covariance K(x, x') + k(x)'C k(x'), k(x) the kernel values of x with the n
basis documents; Q is the inverse of their kernel matrix. Kept are α and the lower triangles of Q and of P = C + Q,
since everything asks for P: with γ = K(x, x) − k'Qk, the part of x that the basis does not span,

    mean f(x) = α'k,   var f(x) = γ + k'P k,

and learning y with derivatives d1, d2 of ln Z, when x is replaced by its projection on the basis,

    s = P k,   α ← α + d1 s,   P ← P + d2 s s'.

With the new basis document n+1, e = Qk, s = [Pk − e; 1] and z = [e; −1],

    α ← [α; 0] + d1 s,   P ← P + d2 s s' + z z'/γ,   Q ← Q + z z'/γ,

and taking document i out, with g = Q_i/Q_ii (its own column), keeps the process at all others:

    α ← α − α_i g,   P ← P − g P_i' − P_i g' + P_ii g g',   Q ← Q − Q_ii g g'.

To add a document and then take that same one out is the projection. So with a full basis the document that would
suffer least, by |α_i|/Q_ii, is found first, and if it is the new one, nothing is added.

Projections are gathered four at a time, for one pass over P.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.online.document import outcome
from textbayes.kernels.online.full import quadratic_form, subtract_outer, symmetric_times

_NOTHING_NEW = 1e-10  # of K(x, x): a remainder this small is rounding


@njit(cache=True, nogil=True)
def fold(P, n, pending, factors, n_pending):  # type: ignore[no-untyped-def]
    """P ← P − Σ factor s s' of the projections that wait."""
    if n_pending:
        for row in range(n_pending, 4):
            factors[row] = 0.0
            pending[row, :n] = 0.0
        subtract_outer(P, n, pending, factors)


@njit(cache=True, nogil=True)
def _column(lower, n, i, out):  # type: ignore[no-untyped-def]
    """Column i of a symmetric matrix given by its lower triangle."""
    for a in range(n):
        out[a] = lower[i, a] if a <= i else lower[a, i]


# Sums may be taken in any order ("reassoc"), as in ``online_symmetric``.
@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def look_gp(k, own, known, alpha, P, Q, n, pending, factors, n_pending, s):  # type: ignore[no-untyped-def]
    """Mean and variance of f, and γ; ``s`` becomes P k. ``known`` says that the document is in the basis itself."""
    mean = 0.0
    for a in range(n):
        mean += alpha[a] * k[a]
    symmetric_times(P, n, k, s)
    for row in range(n_pending):
        dot = 0.0
        for a in range(n):
            dot += pending[row, a] * k[a]
        dot *= factors[row]
        for a in range(n):
            s[a] -= dot * pending[row, a]
    spread = 0.0
    for a in range(n):
        spread += k[a] * s[a]
    novelty = 0.0 if known else max(own - quadratic_form(Q, n, k), 0.0)
    return mean, max(spread, 0.0) + novelty, novelty


@njit(cache=True, nogil=True)
def _least_useful(alpha, Q, n, s, e, first, novelty):  # type: ignore[no-untyped-def]
    """The basis document that would be missed least once the new one is in, n for the new one itself."""
    least, best = abs(first) * novelty, n
    for a in range(n):
        score = abs(alpha[a] + first * (s[a] - e[a])) / (Q[a, a] + e[a] * e[a] / novelty)
        if score <= least:
            if score < least or best == n:  # of equals the oldest goes, as the published algorithm has it
                best = a
            least = score
    return best


@njit(cache=True, nogil=True)
def _add(alpha, P, Q, n, k, own, s, first, second, slot, removed):  # type: ignore[no-untyped-def]
    """Put a new document into ``slot`` of the basis; where ``removed``, the one that was there is taken out.

    ``slot`` is n, the next free one, unless a document is removed.
    """
    e = np.zeros(n + 1)
    symmetric_times(Q, n, k, e)
    novelty = own
    for a in range(n):
        novelty -= k[a] * e[a]
    novelty = max(novelty, _NOTHING_NEW * own)
    vectors, factors = np.zeros((4, n + 1)), np.zeros(4)
    for a in range(n):
        vectors[0, a], vectors[1, a] = s[a] - e[a], e[a]
    vectors[0, n], vectors[1, n] = 1.0, -1.0
    factors[0], factors[1] = -second, -1.0 / novelty
    for a in range(n):
        alpha[a] += first * vectors[0, a]
    if not removed:
        alpha[n] = first
        P[n, : n + 1] = 0.0
        Q[n, : n + 1] = 0.0
        subtract_outer(P, n + 1, vectors, factors)
        factors[0] = 0.0
        subtract_outer(Q, n + 1, vectors, factors)
        return
    # Columns of the extended P and Q at the document that goes.
    i = slot
    p, q = np.empty(n + 1), np.empty(n + 1)
    _column(P, n, i, p)
    _column(Q, n, i, q)
    p[n] = q[n] = 0.0
    for a in range(n + 1):
        new = vectors[1, a] * vectors[1, i] / novelty
        p[a] += second * vectors[0, a] * vectors[0, i] + new
        q[a] += new
    weight = q[i]
    # P ← … − h g' − g h' with h = P_i − ½ P_ii g, as two squares of balanced vectors.
    g, h, g_size, h_size = np.empty(n + 1), np.empty(n + 1), 0.0, 0.0
    half = 0.5 * p[i]
    for a in range(n + 1):
        g[a] = q[a] / weight
        h[a] = p[a] - half * g[a]
        g_size += g[a] * g[a]
        h_size += h[a] * h[a]
    balance = math.sqrt(math.sqrt(h_size / g_size)) if h_size > 0.0 else 1.0
    for a in range(n + 1):
        vectors[2, a] = h[a] / balance + g[a] * balance
        vectors[3, a] = h[a] / balance - g[a] * balance
    factors[2], factors[3] = 0.5, -0.5
    own = alpha[i]
    for a in range(n):
        alpha[a] -= own * g[a]
    alpha[i] = first - own * g[n]
    # The new document moves into the slot: what the slot held before is nothing to it.
    for row in range(4):
        vectors[row, i] = vectors[row, n]
    g[i] = g[n]
    for a in range(n):
        P[max(a, i), min(a, i)] = 0.0
        Q[max(a, i), min(a, i)] = 0.0
    subtract_outer(P, n, vectors, factors)
    vectors[0, :n] = g[:n]
    factors[0], factors[2], factors[3] = weight, 0.0, 0.0
    subtract_outer(Q, n, vectors, factors)


@njit(cache=True, nogil=True)
def take_gp(  # type: ignore[no-untyped-def]
    k, own, known, novelty, alpha, P, Q, n, pending, factors, n_pending, s, first, second, tolerance
):
    """Learn one document in place; returns the slot it got (−1 for none) and the numbers of documents and projections.

    The basis is full when all of ``alpha`` is in use.
    """
    budget = len(alpha)
    slot = -1
    if not known and novelty > _NOTHING_NEW * own and novelty * abs(first) > tolerance:
        slot = n
        if n == budget:
            e = np.empty(n)
            symmetric_times(Q, n, k, e)
            slot = _least_useful(alpha, Q, n, s, e, first, novelty)
            if slot == n:
                slot = -1
    if slot >= 0:
        fold(P, n, pending, factors, n_pending)
        _add(alpha, P, Q, n, k, own, s, first, second, slot, n == budget)
        return slot, min(n + 1, budget), 0
    for a in range(n):
        alpha[a] += first * s[a]
        pending[n_pending, a] = s[a]
    factors[n_pending] = -second
    n_pending += 1
    if n_pending == 4:
        fold(P, n, pending, factors, n_pending)
        n_pending = 0
    return slot, n, n_pending


@njit(cache=True, nogil=True)
def learn_gp(  # type: ignore[no-untyped-def]
    cross, among, own, numbers, y, basis, alpha, P, Q, n, jitter, tolerance, noise_variance, rate, log_z
):
    """Learn a chunk of documents in turn; arrays change in place, and the number of basis documents is returned.

    Parameters: ``cross`` (n_docs, budget), kernel values with the basis; ``among`` (n_docs, n_docs), with each other;
    ``own``, K(x, x) with jitter; ``numbers`` of the documents and ``basis``, those of the basis: a document meets its
    own jitter when it is among them. y = 0 marks a document without a judgement.
    """
    pending, factors, n_pending = np.zeros((4, len(alpha))), np.zeros(4), 0
    s = np.empty(len(alpha))
    for t in range(len(y)):
        log_z[t] = 0.0
        if y[t] == 0.0:
            continue
        k, known = cross[t], False
        for a in range(n):
            if basis[a] == numbers[t]:
                k[a] += jitter
                known = True
        mean, var, novelty = look_gp(k, own[t], known, alpha, P, Q, n, pending, factors, n_pending, s)
        log_z[t], first, second = outcome(mean, var, y[t], noise_variance, rate)
        slot, n, n_pending = take_gp(
            k, own[t], known, novelty, alpha, P, Q, n, pending, factors, n_pending, s, first, second, tolerance
        )
        if slot >= 0:
            basis[slot] = numbers[t]
            for later in range(t + 1, len(y)):
                cross[later, slot] = among[later, t]
    fold(P, n, pending, factors, n_pending)
    return n


@njit(cache=True, nogil=True)
def predict_gp(cross, own, alpha, P, Q, n):  # type: ignore[no-untyped-def]
    """Mean and variance of f for documents with kernel values ``cross`` (n_docs, budget) and ``own``."""
    mean, var = np.empty(len(own)), np.empty(len(own))
    pending, factors, s = np.zeros((4, len(alpha))), np.zeros(4), np.empty(len(alpha))
    for t in range(len(own)):
        mean[t], var[t], _ = look_gp(cross[t], own[t], False, alpha, P, Q, n, pending, factors, 0, s)
    return mean, var
