"""One sweep of trust-region column relaxation for logistic regression over the columns of a sparse matrix (CSC).

A step of word j may move its weight by at most radius_j, hence document i's margin by at most δ = radius_j |x_ij|. On
that interval the logistic loss curves by no more than

    F(eta_i, δ) = ¼ if |eta_i| ≤ δ, else 1 / (2 + exp(|eta_i| − δ) + exp(δ − |eta_i|)),

so the minimiser of the quadratic with curvature Σ_i F x_ij², cut to the radius, never raises the objective. Afterwards
radius_j = max(2 |step|, radius_j / 2) (Zhang & Oles 2001; Genkin, Lewis & Madigan 2007).
"""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.linear.coordinate import shrink


@njit(cache=True, nogil=True)
def document_terms(eta, y, reach):  # type: ignore[no-untyped-def]
    """The score of a document and the bound on its curvature within ``reach`` of eta."""
    e = np.exp(-abs(eta))
    wrong = e / (1.0 + e) if y * eta >= 0.0 else 1.0 / (1.0 + e)
    beyond = abs(eta) - reach
    if beyond <= 0.0:
        return y * wrong, 0.25
    e = np.exp(-beyond)
    return y * wrong, e / ((1.0 + e) * (1.0 + e))


@njit(cache=True, nogil=True)
def limited_step(gradient, curvature, offset, l1, l2, low, high, radius):  # type: ignore[no-untyped-def]
    """The penalised minimiser within bounds and radius, as a step; exactly −offset where it is the kink."""
    target = shrink(curvature * offset + gradient, curvature, l1, l2, low, high)
    return min(max(target - offset, -radius), radius)


@njit(cache=True, nogil=True)
def relax_columns(  # type: ignore[no-untyped-def]
    indptr, indices, data, columns, y, weight, center, l1, l2, low, high, radius, w, eta
):
    """Step every one of ``columns`` in turn; changes w, eta and radius, and returns the largest |step|·curvature."""
    worst = 0.0
    for j in columns:
        start, stop = indptr[j], indptr[j + 1]
        g = h = 0.0
        for t in range(start, stop):
            i, x = indices[t], data[t]
            score, bound = document_terms(eta[i], y[i], radius[j] * abs(x))
            g += weight[i] * x * score
            h += weight[i] * x * x * bound
        h = max(h, 1e-12)
        offset = w[j] - center[j]
        step = limited_step(g, h, offset, l1[j], l2[j], low[j], high[j], radius[j])
        radius[j] = max(2.0 * abs(step), 0.5 * radius[j])
        if step != 0.0:
            w[j] = center[j] + (offset + step)
            for t in range(start, stop):
                eta[indices[t]] += step * data[t]
            worst = max(worst, abs(step) * (h + l2[j]))
    return worst


@njit(cache=True, nogil=True)
def relax_intercept(y, weight, l1, l2, radius, b, eta):  # type: ignore[no-untyped-def]
    """The same for a column of ones; changes eta and returns the intercept, its radius and |step|·curvature."""
    g = h = 0.0
    for i in range(len(eta)):
        score, bound = document_terms(eta[i], y[i], radius)
        g += weight[i] * score
        h += weight[i] * bound
    h = max(h, 1e-12)
    step = limited_step(g, h, b, l1, l2, -np.inf, np.inf, radius)
    for i in range(len(eta)):
        eta[i] += step
    return b + step, max(2.0 * abs(step), 0.5 * radius), abs(step) * (h + l2)
