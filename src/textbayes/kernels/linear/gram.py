"""The same Newton step as ``coordinate.newton_step``, by the weighted Gram matrix of the working set.

Documents hold few of a small working set's words, so XᵀΩX costs about two sweeps over the residuals; afterwards a step
costs one row of the Gram matrix, contiguous in memory, and the model can be solved almost exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from textbayes.kernels.linear.coordinate import SPARE_EFFORT, shrink, violation_at, worst_violation

U = np.uint64  # unsigned indices spare numba's test for negative ones: the Gram matrix takes half the time


@njit(cache=True, nogil=True)
def gather_rows(indptr, indices, data, n_rows):  # type: ignore[no-untyped-def]
    """CSR arrays of a CSC matrix (columns ascending within a row), and the pairs Σ_i r_i (r_i + 1)/2 of its rows."""
    row_ptr = np.zeros(n_rows + 1, dtype=np.int64)
    for t in range(len(indices)):
        row_ptr[indices[t] + 1] += 1
    n_pairs = 0
    for i in range(n_rows):
        n_pairs += row_ptr[i + 1] * (row_ptr[i + 1] + 1) // 2
        row_ptr[i + 1] += row_ptr[i]
    fill = row_ptr[:-1].copy()
    columns = np.empty(len(indices), dtype=np.int32)
    values = np.empty(len(indices), dtype=np.float64)
    for k in range(len(indptr) - 1):
        for t in range(indptr[k], indptr[k + 1]):
            slot = fill[indices[t]]
            columns[slot] = k
            values[slot] = data[t]
            fill[indices[t]] = slot + 1
    return row_ptr, columns, values, n_pairs


@njit(cache=True, nogil=True)
def row_gradient(row_ptr, columns, values, score, n_columns):  # type: ignore[no-untyped-def]
    """Xᵀscore, with a last place for the intercept."""
    gradient = np.zeros(n_columns + 1)
    for i in range(len(row_ptr) - 1):
        for s in range(U(row_ptr[i]), U(row_ptr[i + 1])):
            gradient[U(columns[s])] += values[s] * score[i]
    gradient[n_columns] = score.sum()
    return gradient


@njit(cache=True, nogil=True)
def fill_gram(row_ptr, columns, values, omega, n_columns, floor):  # type: ignore[no-untyped-def]
    """XᵀΩX with a last row and column for the intercept; documents below ``floor`` count on its diagonal alone."""
    size = n_columns + 1
    gram = np.zeros((size, size))
    last = U(n_columns)
    for i in range(len(row_ptr) - 1):
        start, stop = U(row_ptr[i]), U(row_ptr[i + 1])
        settled = omega[i] < floor
        for s in range(start, stop):
            a = U(columns[s])
            wx = values[s] * omega[i]
            if not settled:
                gram[last, a] += wx
            for t in range(s if settled else start, s + U(1)):
                gram[a, U(columns[t])] += wx * values[t]
    gram[last, last] = omega.sum()
    for row in range(size):
        for column in range(row):
            gram[column, row] = gram[row, column]
    return gram


@njit(cache=True, nogil=True)
def weighted_gram(row_ptr, columns, values, score, omega, n_columns):  # type: ignore[no-untyped-def]
    """XᵀΩX, Xᵀscore and Xᵀomega with a last row and column for the intercept."""
    gram = fill_gram(row_ptr, columns, values, omega, n_columns, 0.0)
    return gram, row_gradient(row_ptr, columns, values, score, n_columns)


@njit(cache=True, nogil=True)
def newton_step_gram(  # type: ignore[no-untyped-def]
    row_ptr, columns, values, score, omega, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol,
    max_sweeps, floor, target
):  # fmt: skip
    """As ``coordinate.newton_step``, with the rows of the sub-matrix in place of its columns."""
    q = len(w)
    gradient = row_gradient(row_ptr, columns, values, score, q)
    violation = worst_violation(gradient, gradient, 0.0, w, center, l1, l2, low, high)
    if intercept_l1 >= 0.0:
        violation = max(violation, violation_at(gradient[q], b, intercept_l1, intercept_l2, -np.inf, np.inf))
    if violation <= target:
        return violation, w, 0.0, score[:0], 0
    gram = fill_gram(row_ptr, columns, values, omega, q, floor)
    mass, score_sum, omega_sum = gram[q].copy(), gradient[q], gram[q, q]
    shift = 0.0
    if intercept_l1 >= 0.0:
        shift = shrink(omega_sum * b + score_sum, omega_sum, intercept_l1, intercept_l2) - b
    of_words = worst_violation(gradient, mass, shift, w, center, l1, l2, low, high)
    tol = max(sweep_tol * of_words, SPARE_EFFORT * target)
    swept = q + 1 if intercept_l1 > 0.0 else q
    profiled = intercept_l1 == 0.0
    if profiled:
        # The best intercept moves along with every step: eliminate it (Schur complement).
        omega_sum += intercept_l2
        for a in range(q):
            gradient[a] -= mass[a] * shift
            ratio = mass[a] / omega_sum
            for c in range(q):
                gram[a, c] -= ratio * mass[c]
    offset = np.empty(q + 1)
    for k in range(q):
        offset[k] = w[k] - center[k]
    offset[q] = b
    sweeps = 0
    while sweeps < max_sweeps:
        sweeps += 1
        worst = 0.0
        for k in range(swept):
            h = max(gram[k, k], 1e-12)
            k_l2 = l2[k] if k < q else intercept_l2
            pull = h * offset[k] + gradient[k]
            new = shrink(pull, h, l1[k], k_l2, low[k], high[k]) if k < q else shrink(pull, h, intercept_l1, k_l2)
            step = new - offset[k]
            if step != 0.0:
                offset[k] = new
                row = gram[k]
                for c in range(swept):
                    gradient[c] -= step * row[c]
                worst = max(worst, abs(step) * (h + k_l2))
        if worst <= tol:
            break
    new_w = w.copy()
    step_w = np.zeros(q)
    if intercept_l1 > 0.0:
        shift = offset[q] - b
    for k in range(q):
        if offset[k] != w[k] - center[k]:
            new_w[k] = center[k] + offset[k]
            step_w[k] = new_w[k] - w[k]
            if profiled:
                shift -= step_w[k] * mass[k] / omega_sum
    eta_step = np.full(len(score), shift)
    for i in range(len(row_ptr) - 1):
        moved = 0.0
        for s in range(U(row_ptr[i]), U(row_ptr[i + 1])):
            moved += values[s] * step_w[U(columns[s])]
        eta_step[i] += moved
    return violation, new_w, shift, eta_step, sweeps
