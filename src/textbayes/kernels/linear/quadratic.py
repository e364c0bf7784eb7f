"""Minimum of a quadratic with penalties, by coordinate sweeps on its matrix."""

from __future__ import annotations

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.linear.coordinate import shrink


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
