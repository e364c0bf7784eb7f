"""Expected information gain of many documents for many labels, in one pass (see ``online/information.py``)."""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.online.outcome import outcome

_BITS = 1.0 / math.log(2.0)


@njit(cache=True, nogil=True)
def expected_gain(mean, var, noise_variance, rate):  # type: ignore[no-untyped-def]
    """Σ_y Z_y ½ [(d1² + d2)·v − ln(1 + d2·v)] in bits, and Z of y = +1; flat arrays in and out."""
    gain, proba = np.empty(len(mean)), np.empty(len(mean))
    for i in range(len(mean)):
        v, total = var[i], 0.0
        for y in (-1.0, 1.0):
            log_z, first, second = outcome(mean[i], v, y, noise_variance, rate)
            z = math.exp(log_z)
            total += z * 0.5 * ((first * first + second) * v - math.log1p(second * v))
            proba[i] = z
        gain[i] = max(total, 0.0) * _BITS
    return gain, proba
