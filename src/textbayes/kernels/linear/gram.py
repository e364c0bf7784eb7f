"""The same Newton step as ``coordinate.newton_step``, by the weighted Gram matrix of the working set.

Documents hold few of a small working set's words, so XᵀΩX costs about two sweeps over the residuals; afterwards a step
costs one row of the Gram matrix, contiguous in memory, and the model can be solved almost exactly.
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.linear.coordinate import SPARE_EFFORT, shrink, violation_at, worst_violation

U = np.uint64  # unsigned indices spare numba's test for negative ones: the Gram matrix takes half the time


@njit(cache=True, nogil=True)
def count_pairs(starts, stops, indices, n_rows):  # type: ignore[no-untyped-def]
    """Pairs of non-zeros Σ_i r_i (r_i + 1)/2 in the rows of some columns."""
    counts = np.zeros(n_rows, dtype=np.int32)
    for k in range(len(starts)):
        for t in range(U(starts[k]), U(stops[k])):
            counts[U(indices[t])] += 1
    n_pairs = 0
    for i in range(n_rows):
        n_pairs += np.int64(counts[i]) * (counts[i] + 1) // 2
    return n_pairs


@njit(cache=True, nogil=True)
def gather_row_block(cursors, stops, indices, data, first, last):  # type: ignore[no-untyped-def]
    """CSR arrays of the rows from ``first`` up to ``last`` of columns in CSC, columns ascending within a row.

    Column k goes on at ``cursors[k]`` and ends at ``stops[k]``; the cursors move on to the next block. Rows of a column
    are in ascending order.
    """
    row_ptr = np.zeros(last - first + 1, dtype=np.int64)
    for k in range(len(cursors)):
        for t in range(cursors[k], stops[k]):
            if indices[t] >= last:
                break
            row_ptr[indices[t] - first + 1] += 1
    for i in range(last - first):
        row_ptr[i + 1] += row_ptr[i]
    fill = row_ptr[:-1].copy()
    columns = np.empty(row_ptr[-1], dtype=np.int32)
    values = np.empty(row_ptr[-1], dtype=np.float64)
    for k in range(len(cursors)):
        t = cursors[k]
        while t < stops[k] and indices[t] < last:
            slot = fill[indices[t] - first]
            columns[slot] = k
            values[slot] = data[t]
            fill[indices[t] - first] = slot + 1
            t += 1
        cursors[k] = t
    return row_ptr, columns, values


@njit(cache=True, nogil=True)
def gather_rows(indptr, indices, data, n_rows):  # type: ignore[no-untyped-def]
    """CSR arrays of a CSC matrix whose rows are in order, columns ascending within a row."""
    return gather_row_block(indptr[:-1].copy(), indptr[1:], indices, data, 0, n_rows)


@njit(cache=True, nogil=True)
def add_gradient(row_ptr, columns, values, score, gradient):  # type: ignore[no-untyped-def]
    """Add Xᵀscore of some rows."""
    for i in range(len(row_ptr) - 1):
        for s in range(U(row_ptr[i]), U(row_ptr[i + 1])):
            gradient[U(columns[s])] += values[s] * score[i]


@njit(cache=True, nogil=True)
def add_gram(row_ptr, columns, values, omega, floor, gram):  # type: ignore[no-untyped-def]
    """Add XᵀΩX of some rows below the diagonal, with a last row for the intercept.

    Documents below ``floor`` count on the diagonal alone.
    """
    last = U(len(gram) - 1)
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


@njit(cache=True, nogil=True)
def mirror(gram):  # type: ignore[no-untyped-def]
    """Fill in what lies above the diagonal."""
    for row in range(len(gram)):
        for column in range(row):
            gram[column, row] = gram[row, column]


@njit(cache=True, nogil=True)
def add_steps(row_ptr, columns, values, step, eta_step):  # type: ignore[no-untyped-def]
    """Add X step of some rows."""
    for i in range(len(row_ptr) - 1):
        moved = 0.0
        for s in range(U(row_ptr[i]), U(row_ptr[i + 1])):
            moved += values[s] * step[U(columns[s])]
        eta_step[i] += moved


@njit(cache=True, nogil=True)
def weighted_gram(row_ptr, columns, values, score, omega, n_columns):  # type: ignore[no-untyped-def]
    """XᵀΩX, Xᵀscore and Xᵀomega with a last row and column for the intercept."""
    gram, gradient = np.zeros((n_columns + 1, n_columns + 1)), np.zeros(n_columns + 1)
    add_gram(row_ptr, columns, values, omega, 0.0, gram)
    gram[n_columns, n_columns] = omega.sum()
    mirror(gram)
    add_gradient(row_ptr, columns, values, score, gradient)
    gradient[n_columns] = score.sum()
    return gram, gradient


def newton_step_gram(  # type: ignore[no-untyped-def]
    blocks, score, omega, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol, max_sweeps, floor,
    target
):  # fmt: skip
    """As ``coordinate.newton_step``, with the rows of the sub-matrix in place of its columns.

    ``blocks()`` goes through its rows: numbers of the first and the last, and CSR arrays. The result does not depend on
    how they are cut into blocks.
    """
    q = len(w)
    gradient = np.zeros(q + 1)
    for first, last, (row_ptr, columns, values) in blocks():
        add_gradient(row_ptr, columns, values, score[first:last], gradient)
    gradient[q] = score.sum()
    violation = worst_violation(gradient, gradient, 0.0, w, center, l1, l2, low, high)
    if intercept_l1 >= 0.0:
        violation = max(violation, violation_at(gradient[q], b, intercept_l1, intercept_l2, -np.inf, np.inf))
    if violation <= target:
        return violation, w, 0.0, score[:0], 0
    gram = np.zeros((q + 1, q + 1))
    for first, last, (row_ptr, columns, values) in blocks():
        add_gram(row_ptr, columns, values, omega[first:last], floor, gram)
    gram[q, q] = omega.sum()
    new_w, step_w, shift, sweeps = _solve(
        gram, gradient, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol, max_sweeps, target
    )
    eta_step = np.full(len(score), shift)
    for first, last, (row_ptr, columns, values) in blocks():
        add_steps(row_ptr, columns, values, step_w, eta_step[first:last])
    return violation, new_w, shift, eta_step, sweeps


@njit(cache=True, nogil=True)
def _solve(  # type: ignore[no-untyped-def]
    gram, gradient, center, l1, l2, low, high, w, b, intercept_l1, intercept_l2, sweep_tol, max_sweeps, target
):  # fmt: skip
    """Minimise the quadratic model of a Gram matrix, of which the part below the diagonal is filled in."""
    q = len(w)
    mirror(gram)
    mass, score_sum, omega_sum = gram[q].copy(), gradient[q], gram[q, q]
    shift = 0.0
    if intercept_l1 >= 0.0:
        shift = shrink(omega_sum * b + score_sum, omega_sum, intercept_l1, intercept_l2, -np.inf, np.inf) - b
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
            if k < q:
                new = shrink(pull, h, l1[k], k_l2, low[k], high[k])
            else:
                new = shrink(pull, h, intercept_l1, k_l2, -np.inf, np.inf)
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
    return new_w, step_w, shift, sweeps
