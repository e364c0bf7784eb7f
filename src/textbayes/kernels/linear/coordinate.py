"""Coordinate descent on the common objective for one label, over a working set of columns of a sparse matrix.

Minimises the quadratic model

    −Σ_i score_i d_i + ½ Σ_i omega_i d_i²  +  Σ_j [ l1_j |w_j − c_j| + ½ l2_j (w_j − c_j)² ],

with d = X (w − w₀) + (b − b₀) and low_j ≤ w_j − c_j ≤ high_j, by cyclic exact steps. The intercept is profiled out: its
optimum is known after every step from two running sums, so it costs O(1) a step instead of a pass over all documents.
This file keeps the residual of every document (cost of a step: the column's non-zeros); ``gram.py`` keeps the gradient
of every column instead and is faster for small working sets.

Most documents of a fit lie far on their own side, and reading them in every sweep is wasted. Those with curvature below
``floor`` keep their part of the gradient, exactly, but of their part of XᵀΩX only the diagonal remains. The model still
touches the objective with the right slope, so a line search along its step leads to the same optimum.

``minimise_quadratic`` does the same on a matrix that is given.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.kernels._cache import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
SPARE_EFFORT = 0.1  # of the violation aimed at: sweeps need not be finer than this


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
def dot(a, b):  # type: ignore[no-untyped-def]
    """Σ a·b without the linear algebra library, whose threads would get in the way of ours."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True)
def penalty_value(w, center, l1, l2):  # type: ignore[no-untyped-def]
    """Σ_j [ l1_j |w_j − c_j| + ½ l2_j (w_j − c_j)² ]."""
    total = 0.0
    for j in range(len(w)):
        offset = w[j] - center[j]
        total += l1[j] * abs(offset) + 0.5 * l2[j] * offset * offset
    return total


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
def worst_violation(gradient, mass, shift, w, center, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """The largest violation of the words once the intercept has moved by ``shift``; ``mass`` is Σ omega·x."""
    worst = 0.0
    for k in range(len(w)):
        worst = max(worst, violation_at(gradient[k] - shift * mass[k], w[k] - center[k], l1[k], l2[k], low[k], high[k]))
    return worst


@njit(cache=True, nogil=True)
def violations(gradient, w, center, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """``violation_at`` of every word."""
    out = np.empty(len(w))
    for k in range(len(w)):
        out[k] = violation_at(gradient[k], w[k] - center[k], l1[k], l2[k], low[k], high[k])
    return out


@njit(cache=True, nogil=True)
def expected_gain(indptr, indices, data, omega, violation, l2):  # type: ignore[no-untyped-def]
    """Σ_j violation_j² / (2 curvature_j): what a step of each word alone would lower the objective by."""
    gain = 0.0
    for j in range(len(violation)):
        if violation[j] > 0.0:
            h = l2[j] + 1e-300
            for t in range(U(indptr[j]), U(indptr[j + 1])):
                h += omega[U(indices[t])] * data[t] * data[t]
            gain += 0.5 * violation[j] * violation[j] / h
    return gain


@njit(cache=True, nogil=True)
def shrink(target, curvature, l1, l2, low, high):  # type: ignore[no-untyped-def]
    """argmin over u in [low, high] of ½ curvature·u² − target·u + l1·|u| + ½ l2·u²."""
    u = 0.0
    if target > l1:
        u = (target - l1) / (curvature + l2)
    elif target < -l1:
        u = (target + l1) / (curvature + l2)
    return min(max(u, low), high)


@njit(cache=True, nogil=True)
def root_curvature(omega, floor):  # type: ignore[no-untyped-def]
    """√omega of documents with curvature of at least ``floor``, −√omega of the others, which are settled."""
    root = np.empty(len(omega))
    for i in range(len(omega)):
        root[i] = math.sqrt(omega[i])
        if omega[i] < floor or omega[i] == 0.0:
            root[i] = -root[i]
    return root


@njit(cache=True, nogil=True)
def thin_columns(starts, stops, indices, data, score, root, thin_indices, thin_data):  # type: ignore[no-untyped-def]
    """Copy √omega·x of the documents that are not settled, and take sums over the documents.

    Returns where the columns of the copy begin, and per column Σ x·score over all and over the settled documents,
    Σ omega·x over the others, Σ omega·x² over all and over the settled.
    """
    n_columns = len(starts)
    thin_indptr = np.zeros(n_columns + 1, dtype=np.int64)
    gradient, lost_gradient = np.empty(n_columns), np.empty(n_columns)
    mass, curvature, lost_curvature = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    slot = 0
    for k in range(n_columns):
        g = g_lost = m = h = h_lost = 0.0
        for t in range(U(starts[k]), U(stops[k])):
            i, x = U(indices[t]), data[t]
            scaled = root[i] * x
            if root[i] > 0.0:
                thin_indices[slot] = indices[t]
                thin_data[slot] = scaled
                slot += 1
                g += x * score[i]
                m += root[i] * scaled
                h += scaled * scaled
            else:
                g_lost += x * score[i]
                h_lost += scaled * scaled
        thin_indptr[k + 1] = slot
        gradient[k], lost_gradient[k], mass[k] = g + g_lost, g_lost, m
        curvature[k], lost_curvature[k] = h + h_lost, h_lost
    return thin_indptr, gradient, lost_gradient, mass, curvature, lost_curvature


@njit(cache=True, nogil=True)
def newton_step(  # type: ignore[no-untyped-def]
    starts, stops, indices, data, score, omega, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol,
    max_sweeps, floor, target, thin_indices, thin_data
):  # fmt: skip
    """One proximal Newton direction on the working set; a negative ``intercept_l1`` means that there is no intercept.

    Returns the largest violation at the start, the new weights, the intercept's shift, the change of eta and the number
    of sweeps. Where that violation is at most ``target``, nothing is done but to say so. Sweeps end when no step
    changes the model's gradient by more than ``sweep_tol`` times the words' largest violation; between full sweeps only
    the columns away from their centre are swept.

    Column k of the working set is ``starts[k]:stops[k]`` of the matrix. Its documents that are not settled are copied
    to ``thin_indices`` and ``thin_data``, for the sweeps to read no others: there must be room for all non-zeros.
    """
    n_columns, n_rows = len(starts), len(score)
    # In units of √omega a step lowers the residual by the very numbers that its gradient is the sum of: one copy of the
    # matrix serves both.
    root = root_curvature(omega, floor)
    residual = np.empty(n_rows)  # of settled documents, whose roots are negative or 0, it is never read
    residual_sum = omega_sum = 0.0
    for i in range(n_rows):  # in one loop, which numba compiles in less time than four array expressions
        residual[i] = score[i] / root[i] if root[i] > 0.0 else 0.0
        residual_sum += score[i]
        omega_sum += omega[i]
    thin_indptr, gradient, lost_gradient, mass, curvature, lost_curvature = thin_columns(
        starts, stops, indices, data, score, root, thin_indices, thin_data
    )
    violation = worst_violation(gradient, mass, 0.0, w, center, l1, l2, low, high)
    has_intercept = intercept_l1 >= 0.0
    shift = 0.0
    if has_intercept:
        violation = max(violation, violation_at(residual_sum, b, intercept_l1, intercept_l2, -np.inf, np.inf))
        shift = shrink(omega_sum * b + residual_sum, omega_sum, intercept_l1, intercept_l2, -np.inf, np.inf) - b
    if violation <= target:
        return violation, w, 0.0, score[:0], 0
    # The intercept's own violation, a sum over all documents, must not make the words' look small: it goes at once.
    of_words = worst_violation(gradient, mass, shift, w, center, l1, l2, low, high)
    tol = max(sweep_tol * of_words, SPARE_EFFORT * target)
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
            start, stop = U(thin_indptr[k]), U(thin_indptr[k + 1])
            g = lost_gradient[k] - lost_curvature[k] * (new_w[k] - w[k]) - shift * mass[k]
            for t in range(start, stop):
                g += thin_data[t] * residual[U(thin_indices[t])]
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
                    residual[U(thin_indices[t])] -= step * thin_data[t]
                if has_intercept:
                    residual_sum -= step * mass[k]
                    pull = omega_sum * b + residual_sum
                    shift = shrink(pull, omega_sum, intercept_l1, intercept_l2, -np.inf, np.inf) - b
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
    eta_step = np.empty(n_rows)
    for i in range(n_rows):
        eta_step[i] = shift
    for k in range(n_columns):
        step = new_w[k] - w[k]
        if step != 0.0:
            for t in range(U(starts[k]), U(stops[k])):
                eta_step[U(indices[t])] += step * data[t]
    return violation, new_w, shift, eta_step, sweeps


@njit(cache=True, nogil=True)
def minimise_quadratic(hessian, gradient, u, l1, l2, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """Minimise g'(v − u) + ½ (v − u)'H(v − u) + Σ l1 |v| + ½ l2 v² over v, to a violation of ``tol``; O(n²) a sweep."""
    v, slope = u.copy(), gradient.copy()
    for _ in range(max_sweeps):
        worst = 0.0
        for j in range(len(v)):
            h = max(hessian[j, j], 1e-12)
            new = shrink(h * v[j] - slope[j], h, l1[j], l2[j], -np.inf, np.inf)
            step = new - v[j]
            if step != 0.0:
                v[j] = new
                slope += step * hessian[j]
                worst = max(worst, np.abs(step) * (h + l2[j]))
        if worst <= tol:
            break
    return v
