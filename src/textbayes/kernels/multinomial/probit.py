"""Probabilities of a multinomial probit: the chance of each class that its normal variable is the highest.

z_c ~ N(eta_c, 1) independently, and a document is of the class whose z is highest:

    p_c = ∫ φ(t − eta_c) Π_{k≠c} Φ(t − eta_k) dt,

by the trapezoid rule on a grid around the largest predictor. The integrand is smooth and falls like a normal density on
either side, so that the rule converges exponentially; classes 20 below the largest still have eight digits.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit

_BELOW, _ABOVE, _STEP = 14.0, 8.0, 0.4
_ROOT_HALF, _DENSITY = math.sqrt(0.5), 1.0 / math.sqrt(2.0 * math.pi)


@njit(cache=True, nogil=True)
def highest_of_normals(eta, out):  # type: ignore[no-untyped-def]
    """p_c of every row of ``eta`` (n, n_classes), into ``out``; rows add up to one."""
    n_rows, n_classes = eta.shape
    below = np.empty(n_classes)
    for i in range(n_rows):
        row, found = eta[i], out[i]
        largest = row[0]
        for c in range(1, n_classes):
            largest = max(largest, row[c])
        found[:] = 0.0
        t = largest - _BELOW
        while t < largest + _ABOVE:
            together = 1.0
            for c in range(n_classes):
                below[c] = 0.5 * math.erfc((row[c] - t) * _ROOT_HALF)
                together *= below[c]
            for c in range(n_classes):
                gap = t - row[c]
                found[c] += math.exp(-0.5 * gap * gap) * _DENSITY * (together / below[c])
            t += _STEP
        total = found.sum()
        for c in range(n_classes):
            found[c] /= total
