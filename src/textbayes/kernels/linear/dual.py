"""Dual coordinate ascent for one label of a logistic regression with a Gaussian prior, over the rows of a matrix (CSR).

Columns are scaled by their prior standard deviations and what the prior means say is an offset, so that the prior is
N(0, 1). With margins m_i = y_i (offset_i + x_i·u + b) and weights c_i of the documents, minimising

    Σ_i c_i log(1 + e^(−m_i)) + ½ u·u

is the same as minimising over 0 ≤ a_i ≤ c_i

    ½ |Σ_i a_i y_i x_i|² + Σ_i [a_i y_i offset_i + a_i log(a_i/c_i) + (c_i − a_i) log(1 − a_i/c_i)],

and then u = Σ_i a_i y_i x_i (Yu, Huang & Lin 2011, Machine Learning 85). At the optimum a_i = c_i σ(−m_i), and
elsewhere the duality gap is Σ_i c_i KL(a_i/c_i ‖ σ(−m_i)): the documents' shares in it say which ones are settled.

A survey reads all documents and takes those with a share worth the while; sweeps over these alone follow until theirs
has fallen. They take the rows as these lie in memory, which should therefore be in random order. The intercept is a
column of ones. Where it is free, or its prior so wide that every step of a document would throw it about, a narrower
prior around its present place takes over and moves along (proximal points, Rockafellar 1976).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from textbayes.kernels.linear.coordinate import dot

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_SUMS = {"reassoc", "contract", "nsz"}  # sums in any order: several at a time
_SKIPPED = 0.5  # of the mean share in the gap: documents with less are left out of the sweeps
_GOAL = 0.5  # sweeps end when the gap of their documents has fallen to this share
_MAX_SWEEPS = 5
_REACH = 5.0  # variance of the intercept's proximal prior, in units of what the documents alone leave of it
_COUPLED = 0.1  # share of its own curvature that the words leave to the intercept, at least
_FLOOR = 1e-8  # all documents may be certain: no division by zero
_MAX_NEWTON = 30
_SMALL = 0.01  # change of a margin that the first derivative of σ describes


@njit(cache=True, nogil=True)
def scale_columns(indices, data, scale):  # type: ignore[no-untyped-def]
    """The entries of a matrix (CSR) whose columns are multiplied by ``scale``."""
    out = np.empty(len(data))
    for t in range(len(data)):
        out[t] = data[t] * scale[indices[t]]
    return out


@njit(cache=True, nogil=True, fastmath=_SUMS)
def row_dot(indices, data, start, stop, u):  # type: ignore[no-untyped-def]
    """x·u of one row."""
    total = 0.0
    for t in range(start, stop):
        total += data[t] * u[U(indices[t])]
    return total


@njit(cache=True, nogil=True)
def add_row(indices, data, start, stop, step, u):  # type: ignore[no-untyped-def]
    """u += step·x."""
    for t in range(start, stop):
        u[U(indices[t])] += step * data[t]


@njit(cache=True, nogil=True)
def wrong_side(margin):  # type: ignore[no-untyped-def]
    """σ(−margin)."""
    e = math.exp(-abs(margin))
    return (e if margin >= 0.0 else 1.0) / (1.0 + e)


@njit(cache=True, nogil=True)
def dual_step(margin, p, length, c, a):  # type: ignore[no-untyped-def]
    """The best value of one document's dual variable, others held: a' = c σ(−m) at m = margin + length·(a' − a).

    ``length`` is x·x and ``p`` is σ(−margin). In m this is the root of a function that rises at least as fast as m
    itself: Newton's method between bounds.
    """
    low, high, m = margin - length * a, margin + length * (c - a), margin
    for _ in range(_MAX_NEWTON):
        excess = m - margin - length * (c * p - a)
        if excess > 0.0:
            high = m
        else:
            low = m
        new = m - excess / (1.0 + length * c * p * (1.0 - p))
        if m < 0.0 < new and high > 0.0:  # where σ is flat Newton's method overshoots
            new = 0.0
        if new <= low or new >= high:
            new = 0.5 * (low + high)
        if abs(new - m) <= _SMALL:
            return c * p * (1.0 - (1.0 - p) * (new - m))
        m = new
        p = wrong_side(m)
    return c * p


@njit(cache=True, nogil=True)
def divergence(a, c, margin, p):  # type: ignore[no-untyped-def]
    """c KL(a/c ‖ p) with p = σ(−margin), a document's share in the duality gap; the margin serves where p rounds."""
    off, variance = a - c * p, c * p * (1.0 - p)
    if abs(off) < 0.03 * variance:  # two terms of a series: no logarithm, and no difference of near equals
        return 0.5 * off * off / variance * (1.0 - off * (1.0 - 2.0 * p) / (3.0 * variance))
    total = c * (max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))) + a * margin
    if a > 0.0:
        total += a * math.log(a / c)
    if a < c:
        total += (c - a) * math.log((c - a) / c)
    return max(total, 0.0)


@njit(cache=True, nogil=True)
def survey(indptr, indices, data, y, c, offset, u, b, a, eta, share):  # type: ignore[no-untyped-def]
    """Fill in every document's predictor and share in the gap.

    Returns the gap, Σ c log(1 + e^(−m)) and Σ c σ(m) σ(−m).
    """
    gap = loss = curvature = 0.0
    for i in range(len(y)):
        eta[i] = offset[i] + row_dot(indices, data, U(indptr[i]), U(indptr[i + 1]), u) + b
        if c[i] > 0.0:
            margin = y[i] * eta[i]
            e = math.exp(-abs(margin))
            p = (e if margin >= 0.0 else 1.0) / (1.0 + e)
            loss += c[i] * (max(-margin, 0.0) + math.log1p(e))
            curvature += c[i] * p * (1.0 - p)
            share[i] = divergence(a[i], c[i], margin, p)
            gap += share[i]
    return gap, loss, max(curvature, _FLOOR)


@njit(cache=True, nogil=True)
def sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, c, offset, length, order, center, width, u, b, total, a
):
    """Step the documents of ``order`` in turn, the intercept being center + width·Σ_i a_i y_i.

    Changes u and a; returns the intercept, that sum, and the documents' shares in the gap, each as it was found.
    """
    seen = 0.0
    for i in order:
        start, stop = U(indptr[i]), U(indptr[i + 1])
        margin = y[i] * (offset[i] + row_dot(indices, data, start, stop, u) + b)
        p = wrong_side(margin)
        seen += divergence(a[i], c[i], margin, p)
        new = dual_step(margin, p, length[i] + width, c[i], a[i])
        step = (new - a[i]) * y[i]
        a[i] = new
        add_row(indices, data, start, stop, step, u)
        total += step
        b = center + width * total
    return b, total, seen


@njit(cache=True, nogil=True)
def ascend(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, c, offset, n_columns, a, b, intercept_l2, tol, max_rounds
):
    """Ascend from ``a`` until the gap is at most ``tol`` times the objective, or for ``max_rounds`` surveys.

    The intercept b has penalty ½ intercept_l2 b²; a negative ``intercept_l2`` means that there is none. Changes ``a``
    and returns u, b, eta, the gap as a share of the objective, and the number of surveys.
    """
    n_docs, has_intercept = len(y), intercept_l2 >= 0.0
    length, share, eta = np.empty(n_docs), np.zeros(n_docs), np.empty(n_docs)
    u, order = np.zeros(n_columns), np.empty(n_docs, dtype=np.int64)
    n_used, total = 0, 0.0
    for i in range(n_docs):
        start, stop = U(indptr[i]), U(indptr[i + 1])
        length[i] = 0.0
        for t in range(start, stop):
            length[i] += data[t] * data[t]
        n_used += c[i] > 0.0
        if a[i] > 0.0:
            add_row(indices, data, start, stop, a[i] * y[i], u)
            total += a[i] * y[i]
    rounds, center, width = 0, b, 0.0
    while True:
        gap, loss, curvature = survey(indptr, indices, data, y, c, offset, u, b, a, eta, share)
        rounds += 1
        objective, left = loss + 0.5 * dot(u, u), gap
        if has_intercept:
            objective += 0.5 * intercept_l2 * b * b
            slope = total - intercept_l2 * b  # what the dual lacks of being feasible
            left += slope * slope / (2.0 * (_COUPLED * curvature + intercept_l2))
        if left <= tol * objective or rounds == max_rounds:
            return u, b, eta, left / objective, rounds
        if rounds == 1 and left > objective and a.any():  # a start that is worse than none
            a[:] = 0.0
            u[:] = 0.0
            b = total = 0.0
            continue
        n_swept = 0
        for i in range(n_docs):
            if share[i] * n_used > _SKIPPED * gap:
                order[n_swept] = i
                n_swept += 1
        if has_intercept:
            hold = curvature / _REACH if intercept_l2 < curvature / _REACH else 0.0
            width = 1.0 / (intercept_l2 + hold)
            center = width * hold * b
            b = center + width * total
        for _ in range(_MAX_SWEEPS):
            b, total, seen = sweep(
                indptr, indices, data, y, c, offset, length, order[:n_swept], center, width, u, b, total, a
            )
            if seen <= _GOAL * gap:
                break
