"""The Newton step of ``coordinate.py`` with a thinned curvature, for fits whose documents are mostly settled.

Once most documents lie far on their own side, their curvature is next to nothing, and reading them in every sweep is
wasted. Here documents with curvature of at most ``floor`` keep their part of the gradient, exactly, but of their part
of XᵀΩX only the diagonal is kept. The model touches the objective with the right slope, so that a line search along
the step leads to the same optimum; sweeps cost the non-zeros of the documents that matter.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from textbayes.kernels.coordinate import shrink, violation_at

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def keep_documents(omega, floor):  # type: ignore[no-untyped-def]
    """New numbers of the documents with curvature above ``floor``, −1 for the others, and how many are kept."""
    number = np.empty(len(omega), dtype=np.int32)
    n_kept = 0
    for i in range(len(omega)):
        if omega[i] > floor:
            number[i] = n_kept
            n_kept += 1
        else:
            number[i] = -1
    return number, n_kept


@njit(cache=True, nogil=True)
def thin_columns(indptr, indices, data, score, omega, number):  # type: ignore[no-untyped-def]
    """The columns with the documents kept alone, and per column what the model needs of all documents.

    Returns the thinned CSC arrays with omega·x beside x, and Σ x·score over all and over the dropped documents, Σ
    omega·x over the kept, Σ omega·x² over all and over the dropped.
    """
    n_columns = len(indptr) - 1
    thin_indptr = np.zeros(n_columns + 1, dtype=np.int64)
    thin_indices = np.empty(len(indices), dtype=np.int32)
    thin_data, weighted = np.empty(len(data)), np.empty(len(data))
    gradient, lost_gradient = np.empty(n_columns), np.empty(n_columns)
    mass, curvature, lost_curvature = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    slot = 0
    for k in range(n_columns):
        g = g_lost = m = h = h_lost = 0.0
        for t in range(U(indptr[k]), U(indptr[k + 1])):
            i, x = U(indices[t]), data[t]
            wx = omega[i] * x
            if number[i] >= 0:
                thin_indices[slot] = number[i]
                thin_data[slot] = x
                weighted[slot] = wx
                slot += 1
                g += x * score[i]
                m += wx
                h += wx * x
            else:
                g_lost += x * score[i]
                h_lost += wx * x
        thin_indptr[k + 1] = slot
        gradient[k], lost_gradient[k], mass[k] = g + g_lost, g_lost, m
        curvature[k], lost_curvature[k] = h + h_lost, h_lost
    columns = thin_indptr, thin_indices[:slot], thin_data[:slot], weighted[:slot]
    return columns, gradient, lost_gradient, mass, curvature, lost_curvature


@njit(cache=True, nogil=True)
def newton_step_thinned(  # type: ignore[no-untyped-def]
    indptr, indices, data, score, omega, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol,
    max_sweeps, floor, target
):  # fmt: skip
    """As ``coordinate.newton_step``, to which it is equal where no document has curvature of ``floor`` or below.

    Where the largest violation is at most ``target``, nothing is done but to say so: no sweeps.
    """
    n_columns = len(indptr) - 1
    number, n_kept = keep_documents(omega, floor)
    columns, gradient, lost_gradient, mass, curvature, lost_curvature = thin_columns(
        indptr, indices, data, score, omega, number
    )
    thin_indptr, thin_indices, thin_data, weighted = columns
    violation = 0.0
    for k in range(n_columns):
        violation = max(violation, violation_at(gradient[k], w[k] - center[k], l1[k], l2[k], low[k], high[k]))
    has_intercept = intercept_l1 >= 0.0
    residual_sum, omega_sum = score.sum(), omega.sum()
    shift = 0.0
    if has_intercept:
        violation = max(violation, violation_at(residual_sum, b, intercept_l1, intercept_l2, -np.inf, np.inf))
        shift = shrink(omega_sum * b + residual_sum, omega_sum, intercept_l1, intercept_l2) - b
    if violation <= target:
        return violation, w, 0.0, np.empty(0), 0
    tol = sweep_tol * violation
    residual = np.empty(n_kept)
    for i in range(len(score)):
        if number[i] >= 0:
            residual[number[i]] = score[i]
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
                    residual[U(thin_indices[t])] -= step * weighted[t]
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
    eta_step = np.full(len(score), shift)
    for k in range(n_columns):
        step = new_w[k] - w[k]
        if step != 0.0:
            for t in range(U(indptr[k]), U(indptr[k + 1])):
                eta_step[U(indices[t])] += step * data[t]
    return violation, new_w, shift, eta_step, sweeps
