"""Coordinate descent on the house equation for one label, over a working set of columns of a sparse matrix.

Minimises the quadratic model

    −Σ_i score_i d_i + ½ Σ_i omega_i d_i²  +  Σ_j [ l1_j |w_j − c_j| + ½ l2_j (w_j − c_j)² ],

with d = X (w − w₀) + (b − b₀) and low_j ≤ w_j − c_j ≤ high_j, by cyclic exact steps. The intercept is profiled out: its
optimum is known after every step from two running sums, so it costs O(1) a step instead of a pass over all documents.
This file keeps the residual of every document (cost of a step: the column's non-zeros); ``gram.py`` keeps the gradient
of every column instead and is faster for small working sets.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from textbayes.core.types import FloatArray, IntArray

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def gather_columns(indptr: IntArray, indices: IntArray, data: FloatArray, columns: IntArray):  # type: ignore[no-untyped-def]
    """The sub-matrix of ``columns`` as CSC arrays of its own, contiguous for the sweeps."""
    n_columns = len(columns)
    sub_indptr = np.empty(n_columns + 1, dtype=np.int64)
    sub_indptr[0] = 0
    for k in range(n_columns):
        j = columns[k]
        sub_indptr[k + 1] = sub_indptr[k] + indptr[j + 1] - indptr[j]
    sub_indices = np.empty(sub_indptr[n_columns], dtype=np.int32)
    sub_data = np.empty(sub_indptr[n_columns], dtype=np.float64)
    for k in range(n_columns):
        start = indptr[columns[k]]
        for t in range(sub_indptr[k], sub_indptr[k + 1]):
            source = start + t - sub_indptr[k]
            sub_indices[t] = indices[source]
            sub_data[t] = data[source]
    return sub_indptr, sub_indices, sub_data


@njit(cache=True, nogil=True)
def violation_at(gradient, offset, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """What a step up or down from offset = w − c would gain at first, the larger of the two that are allowed.

    Without bounds it is the distance of zero from the subdifferential; ``gradient`` is that of the log-likelihood.
    """
    smooth = gradient - l2 * offset
    worst = 0.0
    if offset < high:
        worst = max(worst, smooth - (l1 if offset >= 0.0 else -l1))
    if offset > low:
        worst = max(worst, -smooth - (l1 if offset <= 0.0 else -l1))
    return worst


@njit(cache=True, nogil=True)
def shrink(target, curvature, l1, l2, low=-np.inf, high=np.inf):  # type: ignore[no-untyped-def]
    """argmin over u in [low, high] of ½ curvature·u² − target·u + l1·|u| + ½ l2·u²."""
    u = 0.0
    if target > l1:
        u = (target - l1) / (curvature + l2)
    elif target < -l1:
        u = (target + l1) / (curvature + l2)
    return min(max(u, low), high)


@njit(cache=True, nogil=True)
def weigh_columns(indptr, indices, data, score, omega, weighted):  # type: ignore[no-untyped-def]
    """Per column Σ x·score, Σ omega·x and Σ omega·x²; fills ``weighted`` with omega·x for the sweeps."""
    n_columns = len(indptr) - 1
    gradient = np.empty(n_columns)
    mass = np.empty(n_columns)
    curvature = np.empty(n_columns)
    for k in range(n_columns):
        g = m = h = 0.0
        for t in range(U(indptr[k]), U(indptr[k + 1])):
            i, x = U(indices[t]), data[t]
            g += x * score[i]
            wx = omega[i] * x
            weighted[t] = wx
            m += wx
            h += wx * x
        gradient[k], mass[k], curvature[k] = g, m, h
    return gradient, mass, curvature


@njit(cache=True, nogil=True)
def newton_step(  # type: ignore[no-untyped-def]
    indptr, indices, data, score, omega, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol,
    max_sweeps
):  # fmt: skip
    """One proximal Newton direction on the working set; a negative ``intercept_l1`` means that there is no intercept.

    Returns the largest violation at the start, the new weights, the intercept's shift, the change of eta and the number
    of sweeps. Sweeps end when no step changes the model's gradient by more than ``sweep_tol`` times that violation;
    between full sweeps only the columns away from their centre are swept.
    """
    n_columns, n_rows = len(indptr) - 1, len(score)
    weighted = np.empty(len(data))
    gradient, mass, curvature = weigh_columns(indptr, indices, data, score, omega, weighted)
    violation = 0.0
    for k in range(n_columns):
        violation = max(violation, violation_at(gradient[k], w[k] - center[k], l1[k], l2[k], low[k], high[k]))
    has_intercept = intercept_l1 >= 0.0
    residual_sum, omega_sum = score.sum(), omega.sum()
    shift = 0.0
    if has_intercept:
        violation = max(violation, violation_at(residual_sum, b, intercept_l1, intercept_l2, -np.inf, np.inf))
        shift = shrink(omega_sum * b + residual_sum, omega_sum, intercept_l1, intercept_l2) - b
    tol = sweep_tol * violation
    residual = score.copy()
    new_w = w.copy()
    active = np.empty(n_columns, dtype=np.int64)
    n_active, full, sweeps = 0, True, 0
    while sweeps < max_sweeps:
        sweeps += 1
        worst = 0.0
        if full:
            n_active = 0
        for position in range(n_columns if full else n_active):
            k = position if full else active[position]
            start, stop = U(indptr[k]), U(indptr[k + 1])
            g = -shift * mass[k]
            for t in range(start, stop):
                g += data[t] * residual[U(indices[t])]
            h = curvature[k]
            if has_intercept and intercept_l1 == 0.0:
                # The step moves the intercept along: the curvature is that of the centred column.
                h -= mass[k] * mass[k] / (omega_sum + intercept_l2)
            h = max(h, 1e-10 * curvature[k], 1e-12)
            offset = new_w[k] - center[k]
            new_offset = shrink(h * offset + g, h, l1[k], l2[k], low[k], high[k])
            step = new_offset - offset
            if step != 0.0:
                new_w[k] = center[k] + new_offset
                for t in range(start, stop):
                    residual[U(indices[t])] -= step * weighted[t]
                if has_intercept:
                    residual_sum -= step * mass[k]
                    shift = shrink(omega_sum * b + residual_sum, omega_sum, intercept_l1, intercept_l2) - b
                worst = max(worst, abs(step) * (h + l2[k]))
            if full and new_offset != 0.0:
                active[n_active] = k
                n_active += 1
        if worst <= tol:
            if full:
                break
            full = True
        else:
            full = False
    eta_step = np.full(n_rows, shift)
    for k in range(n_columns):
        step = new_w[k] - w[k]
        if step != 0.0:
            for t in range(U(indptr[k]), U(indptr[k + 1])):
                eta_step[U(indices[t])] += step * data[t]
    return violation, new_w, shift, eta_step, sweeps
