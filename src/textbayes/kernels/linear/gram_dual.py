"""Warm-started dual coordinate ascent on a Gram matrix: a model of few judged records, with all records ranked by it.

The dual is that of ``dual``: one variable a_i for each judged record, 0 ≤ a_i ≤ c_i, and u = Σ a_i y_i x_i. With
K = X X' at hand a step costs one pass over the predictors of all records, which are then up to date whatever the number
of words. The predictors are separate for the two sides, E[0] of what relevant records say and E[1] of irrelevant
ones: when the weights of a side all change by one factor, as they do with every judgement, so do its variables and its
row of E, and the start is next to the optimum.

Sweeps move slowly along the one direction that all records of a side share (the intercept, words that all have). The
best common factor of a side's variables is found after each sweep, in O(judged), and takes that direction out.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.linear.dual import divergence, dual_step, wrong_side

U = np.uint64
_SUMS = {"reassoc", "contract", "nsz"}
_SKIPPED = 0.2  # of the mean share in the gap that is allowed: records with less are left as they are
_NEARLY = 1.0 - 1e-9  # of its weight: a variable there has an infinite slope
_MAX_NEWTON = 20


@njit(cache=True, nogil=True)
def gram_row(columns, values, starts, records, data, out):  # type: ignore[no-untyped-def]
    """Fill in x·x_j + 1 for all records j, the one being the intercept's.

    x is given by its columns and values, the records by their columns (CSC: ``starts``, ``records``, ``data``), so that
    only records that share a word with it are read.
    """
    out[:] = 1.0
    for k in range(len(columns)):
        for t in range(U(starts[columns[k]]), U(starts[columns[k] + 1])):
            out[U(records[t])] += values[k] * data[t]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def add_scaled(step, row, out):  # type: ignore[no-untyped-def]
    """out += step·row."""
    for t in range(len(out)):
        out[t] += step * row[t]


@njit(cache=True, nogil=True)
def narrowed(indices, n_columns):  # type: ignore[no-untyped-def]
    """Columns as places among those in use, which are few beside all, so that they fit into the cache; and these."""
    seen = np.zeros(n_columns, dtype=np.uint8)
    for t in range(len(indices)):
        seen[U(indices[t])] = 1
    used, n_used = np.empty(n_columns, dtype=np.int64), 0
    for j in range(n_columns):  # no branch: which words are in use is nothing to predict
        used[U(n_used)] = j
        n_used += seen[j]
    used, place = used[:n_used].copy(), np.empty(n_columns, dtype=np.int32)
    for k in range(n_used):
        place[U(used[k])] = k
    out = np.empty(len(indices), dtype=np.int32)
    for t in range(len(indices)):
        out[t] = place[U(indices[t])]
    return out, used


@njit(cache=True, nogil=True)
def sum_rows(indptr, indices, data, factors, n_columns):  # type: ignore[no-untyped-def]
    """Σ_i factors_i x_i of the rows of a matrix (CSR)."""
    out = np.zeros(n_columns)
    for i in range(len(factors)):
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            out[U(indices[t])] += factors[i] * data[t]
    return out


@njit(cache=True, nogil=True)
def add_columns(starts, records, data, columns, weights, out):  # type: ignore[no-untyped-def]
    """out += X weights by some columns of X (CSC), ascending, so that each sum has the order of :func:`add_rows`.

    ``weights`` are those of the columns.
    """
    for k in range(len(columns)):
        for t in range(U(starts[columns[k]]), U(starts[columns[k] + 1])):
            out[U(records[t])] += data[t] * weights[k]


@njit(cache=True, nogil=True)
def add_rows(indptr, indices, data, weights, out):  # type: ignore[no-untyped-def]
    """out += X weights by the rows of X (CSR), columns ascending; to the last bit what :func:`add_columns` makes."""
    for i in range(len(out)):
        total = out[i]
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            total += data[t] * weights[U(indices[t])]
        out[i] = total


@njit(cache=True, nogil=True)
def rescale(judged, y, c, a, E, offset, side):  # type: ignore[no-untyped-def]
    """Multiply the variables of one side, 0 relevant and 1 irrelevant, by the factor that is best for the dual."""
    sign, quadratic, linear, largest = 1.0 - 2.0 * side, 0.0, 0.0, 0.0
    for k in range(len(judged)):
        if y[k] == sign and a[k] > 0.0:
            i = judged[k]
            quadratic += a[k] * sign * E[side, i]
            linear += a[k] * sign * (E[1 - side, i] + offset[i])
            largest = max(largest, a[k] / c[k])
    if quadratic <= 0.0:
        return
    factor, low, high = 1.0, 0.0, 1.0 / largest
    for _ in range(_MAX_NEWTON):
        slope, curvature = quadratic * factor + linear, quadratic
        for k in range(len(judged)):
            if y[k] == sign and a[k] > 0.0:
                share = min(a[k] * factor / c[k], _NEARLY)
                slope += a[k] * math.log(share / (1.0 - share))
                curvature += a[k] / (factor * (1.0 - share))
        if slope > 0.0:
            high = factor
        else:
            low = factor
        new = factor - slope / curvature
        if new <= low or new >= high:
            new = 0.5 * (low + high)
        moved, factor = abs(new - factor), new
        if moved <= 1e-3 * factor:
            break
    for k in range(len(judged)):
        if y[k] == sign:
            a[k] *= factor
    for t in range(E.shape[1]):
        E[side, t] *= factor


@njit(cache=True, nogil=True)
def refit_logit(K, judged, y, c, a, E, offset, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """Ascend from ``a`` until the duality gap is at most ``tol`` for each unit of weight; changes ``a`` and ``E``.

    Rows of K that are read are those of judged records. Returns the gap as it was found in the last sweep.
    """
    weight = c.sum()
    gap = 0.0
    for _ in range(max_sweeps):
        gap = 0.0
        for k in range(len(judged)):
            i = judged[k]
            margin = y[k] * (offset[i] + E[0, i] + E[1, i])
            p = wrong_side(margin)
            share = divergence(a[k], c[k], margin, p)
            gap += share
            if share > _SKIPPED * tol * c[k]:
                new = dual_step(margin, p, K[i, i], c[k], a[k])
                add_scaled((new - a[k]) * y[k], K[i], E[0 if y[k] > 0.0 else 1])
                a[k] = new
        if gap <= tol * weight:
            break
        rescale(judged, y, c, a, E, offset, 1)
        rescale(judged, y, c, a, E, offset, 0)
    return gap / weight


@njit(cache=True, nogil=True)
def refit_squared_hinge(K, judged, y, c, a, E, tol, max_sweeps):  # type: ignore[no-untyped-def]
    """The same for Σ c_i max(0, 1 − m_i)² + ½ u·u, until no slope is more than ``tol``; a_i ≥ 0 has no bound above.

    Hsieh, Chang, Lin, Keerthi & Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM, ICML.
    Returns the largest slope found in the last sweep.
    """
    worst = 0.0
    for _ in range(max_sweeps):
        worst = 0.0
        for k in range(len(judged)):
            i = judged[k]
            slope = y[k] * (E[0, i] + E[1, i]) - 1.0 + 0.5 * a[k] / c[k]
            violation = abs(slope) if a[k] > 0.0 else max(-slope, 0.0)
            worst = max(worst, violation)
            if violation > _SKIPPED * tol:
                new = max(a[k] - slope / (K[i, i] + 0.5 / c[k]), 0.0)
                add_scaled((new - a[k]) * y[k], K[i], E[0 if y[k] > 0.0 else 1])
                a[k] = new
        if worst <= tol:
            break
        for side in range(2):
            sign, quadratic, linear = 1.0 - 2.0 * side, 0.0, 0.0
            for k in range(len(judged)):
                if y[k] == sign:
                    i = judged[k]
                    quadratic += a[k] * (sign * E[side, i] + 0.5 * a[k] / c[k])
                    linear += a[k] * (sign * E[1 - side, i] - 1.0)
            if quadratic > 0.0 and linear < 0.0:
                factor = -linear / quadratic
                for k in range(len(judged)):
                    if y[k] == sign:
                        a[k] *= factor
                for t in range(E.shape[1]):
                    E[side, t] *= factor
    return worst
