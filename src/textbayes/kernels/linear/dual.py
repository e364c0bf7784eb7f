"""Dual coordinate ascent for one label of a logistic regression with a Gaussian prior, over the rows of a matrix (CSR).

Columns are scaled by their prior standard deviations and what the prior means say is an offset, so that the prior is
N(0, 1). With margins m_i = y_i (offset_i + x_i·u + b) and weights c_i of the documents, minimising

    Σ_i c_i log(1 + e^(−m_i)) + ½ u·u

is the same as minimising over 0 ≤ a_i ≤ c_i

    ½ |Σ_i a_i y_i x_i|² + Σ_i [a_i y_i offset_i + a_i log(a_i/c_i) + (c_i − a_i) log(1 − a_i/c_i)],

and then u = Σ_i a_i y_i x_i (Yu, Huang & Lin 2011, Machine Learning 85). At the optimum a_i = c_i σ(−m_i), and
elsewhere the duality gap is Σ_i c_i KL(a_i/c_i ‖ σ(−m_i)): the documents' shares in it say which ones are settled.

A sweep visits documents and steps those with a share worth the while; a document that is found settled is visited half
as often every time, until it is not, or a survey finds so. What the visits found adds up to an estimate of the gap,
some of it old; when it is small enough a survey of all documents says what it is. Sweeps take the rows as these lie in
memory, which should therefore be in random order. The intercept is a column of ones. Where it is free, or its prior so
wide that every step of a document would throw it about, a narrower prior around its present place takes over and moves
along with every sweep (proximal points, Rockafellar 1976).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.linear.coordinate import dot

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_SUMS = {"reassoc", "contract", "nsz"}  # sums in any order: several at a time
_SETTLED = 0.8  # of the mean share in the gap: documents with less are visited less and less often
_NEGLIGIBLE = 0.02  # of the mean share in the gap: documents with less are left as they are
_LONGEST = 4  # sweeps between two visits, or
_WAIT = 4  # one of so many sweeps so far, if that is longer: near the end few documents matter
_NEVER = np.int32(2**31 - 1)
_SLACK = 0.7  # of the gap asked for: what is known of the documents, some of it old, must be this good for a survey
_REACH = 2.0  # variance of the intercept's proximal prior, in units of what the documents alone leave of it
_COUPLED = 0.05  # share of its own curvature that the words leave to the intercept, at least
_TINY = 1e-300
_FLOOR = 1e-8  # all documents may be certain: no division by zero
_MAX_NEWTON = 30
_START = np.int64(0)  # a plain 0 would be typed as a literal, and each helper compiled twice
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
        held = m < 0.0 < new and high > 0.0  # where σ is flat Newton's method overshoots
        if held:
            new = 0.0
        if new <= low or new >= high:
            new = 0.5 * (low + high)
        if abs(new - m) <= _SMALL and not held:
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
def terms(margin, a, c):  # type: ignore[no-untyped-def]
    """σ(−margin), and of a document its share in the gap, its −log likelihood and its curvature c σ(m) σ(−m)."""
    e = math.exp(-abs(margin))
    p = (e if margin >= 0.0 else 1.0) / (1.0 + e)
    return p, divergence(a, c, margin, p), c * (max(-margin, 0.0) + math.log1p(e)), c * p * (1.0 - p)


@njit(cache=True, nogil=True)
def survey(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, c, offset, u, b, a, eta, share, loss, curvature, read
):
    """Fill in every document's predictor, share in the gap, −log likelihood and curvature; returns sums of these three.

    Without ``read`` documents are not looked at: u is zero.
    """
    total_gap = total_loss = total_curvature = 0.0
    for i in range(len(y)):
        eta[i] = offset[i] + b
        if read:
            eta[i] += row_dot(indices, data, U(indptr[i]), U(indptr[i + 1]), u)
        if c[i] > 0.0:
            _, share[i], loss[i], curvature[i] = terms(y[i] * eta[i], a[i], c[i])
            total_gap += share[i]
            total_loss += loss[i]
            total_curvature += curvature[i]
    return total_gap, total_loss, max(total_curvature, _FLOOR)


@njit(cache=True, nogil=True)
def schedule(share, c, gap, n_used, n_sweeps, due, period):  # type: ignore[no-untyped-def]
    """Have documents that hold much of the gap visited by the next sweep, others by the next or the one after it."""
    for i in range(len(c)):
        period[i] = 1 if share[i] * n_used > _SETTLED * gap else 2
        due[i] = n_sweeps + 1 + i % period[i] if c[i] > 0.0 else _NEVER


@njit(cache=True, nogil=True)
def sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, c, offset, length, n_used, center, width, u, b, total, a,
    share, loss, curvature, gap, total_loss, total_curvature, number, due, period,
):  # fmt: skip
    """Visit the documents that are due and step those worth it, the intercept being center + width·Σ_i a_i y_i.

    Changes u, a and what is known of each document; returns the intercept, that sum, and the sums of what is known.
    """
    settled, negligible = _SETTLED * gap / n_used, _NEGLIGIBLE * gap / n_used
    longest = max(_LONGEST, number // _WAIT)
    for i in range(len(y)):
        if due[i] > number:
            continue
        start, stop = U(indptr[i]), U(indptr[i + 1])
        margin = y[i] * (offset[i] + row_dot(indices, data, start, stop, u) + b)
        p, of_gap, of_loss, of_curvature = terms(margin, a[i], c[i])
        gap += of_gap - share[i]
        total_loss += of_loss - loss[i]
        total_curvature += of_curvature - curvature[i]
        share[i], loss[i], curvature[i] = of_gap, of_loss, of_curvature
        period[i] = 1 if of_gap > settled else min(2 * period[i], longest)
        due[i] = number + period[i]
        if of_gap > negligible:
            new = dual_step(margin, p, length[i] + width, c[i], a[i])
            step = (new - a[i]) * y[i]
            a[i] = new
            add_row(indices, data, start, stop, step, u)
            total += step
            b = center + width * total
    return b, total, gap, total_loss, max(total_curvature, _FLOOR)


@njit(cache=True, nogil=True)
def what_is_left(gap, loss, curvature, u, b, total, intercept_l2):  # type: ignore[no-untyped-def]
    """The duality gap, with what an intercept off its best place adds to it, and the objective."""
    objective = loss + 0.5 * dot(u, u)
    if intercept_l2 < 0.0:
        return gap, objective
    slope = total - intercept_l2 * b  # what the dual lacks of being feasible
    gap += slope * slope / (2.0 * (_COUPLED * curvature + intercept_l2))
    return gap, objective + 0.5 * intercept_l2 * b * b


@njit(cache=True, nogil=True)
def ascend(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, c, offset, n_columns, a, b, intercept_l2, tol, max_sweeps
):
    """Ascend from ``a`` until the gap is at most ``tol`` times the objective, or for ``max_sweeps``.

    The intercept b has penalty ½ intercept_l2 b²; a negative ``intercept_l2`` means that there is none. Changes ``a``
    and returns u, b, eta, the gap as a share of the objective, and the number of sweeps.
    """
    n_docs, has_intercept = len(y), intercept_l2 >= 0.0
    length, eta, u = np.empty(n_docs), np.empty(n_docs), np.zeros(n_columns)
    share, losses, curvatures = np.zeros(n_docs), np.zeros(n_docs), np.zeros(n_docs)
    due, period = np.empty(n_docs, dtype=np.int32), np.empty(n_docs, dtype=np.int32)
    n_used, total = _START, 0.0
    for i in range(n_docs):
        start, stop = U(indptr[i]), U(indptr[i + 1])
        length[i] = 0.0
        for t in range(start, stop):
            length[i] += data[t] * data[t]
        n_used += c[i] > 0.0
        if a[i] > 0.0:
            add_row(indices, data, start, stop, a[i] * y[i], u)
            total += a[i] * y[i]
    n_sweeps, center, width, slack, warm, left = _START, b, 0.0, _SLACK, bool(a.any()), 0.0
    while True:
        estimate = left
        gap, loss, curvature = survey(
            indptr, indices, data, y, c, offset, u, b, a, eta, share, losses, curvatures, n_sweeps > 0 or warm
        )
        left, objective = what_is_left(gap, loss, curvature, u, b, total, intercept_l2)
        if not left > tol * objective or n_sweeps >= max_sweeps:  # numbers too large end in NaN
            return u, b, eta, left / max(objective, _TINY), n_sweeps
        if n_sweeps == 0 and left > objective and warm:  # a start that is worse than none
            a[:] = 0.0
            u[:] = 0.0
            b = total = 0.0
            warm = False
            continue
        schedule(share, c, gap, n_used, n_sweeps, due, period)
        if n_sweeps > 0:
            slack = min(slack, _SLACK * max(estimate / left, 0.1))  # by how much it was too low
        while left > slack * tol * objective and n_sweeps < max_sweeps:
            n_sweeps += 1
            if has_intercept:
                hold = curvature / _REACH if intercept_l2 < curvature / _REACH else 0.0
                width = 1.0 / (intercept_l2 + hold)
                center = width * hold * b
                b = center + width * total
            b, total, gap, loss, curvature = sweep(
                indptr, indices, data, y, c, offset, length, n_used, center, width, u, b, total, a,
                share, losses, curvatures, gap, loss, curvature, n_sweeps, due, period,
            )  # fmt: skip
            left, objective = what_is_left(gap, loss, curvature, u, b, total, intercept_l2)
