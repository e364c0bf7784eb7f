"""The logistic link as a mixture of probit links, which makes its Gaussian integrals closed sums.

A standard logistic variable is 2K·z with z normal and K from Kolmogorov's distribution, so that

    1/(1 + exp(−u)) = E[Φ(u/s)],  s = 2K,      ∫ 1/(1 + exp(−u)) N(u; m, v) du = E[Φ(m/√(s² + v))].

The trapezoidal rule in log s converges exponentially: 27 nodes are exact to rounding for |m| up to √(1 + v/4), and to
1e-9, relative, of the probability and of both derivatives of its logarithm, up to 8 times that.

References
----------
Andrews & Mallows (1974), Scale mixtures of normal distributions, JRSS B 36, 99–102. Monahan & Stefanski (1992), Normal
scale mixture approximations to F*(z) and computation of the logistic-normal integral, in Handbook of the Logistic
Distribution.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import special

from textbayes.core.types import BoolArray, FloatArray

_STEP = 0.12  # of log s
_FIRST, _LAST = -14, 12  # nodes; what lies outside weighs less than 1e-15
_TERMS = 12
_REACH = 8.0


def within_reach(mean: FloatArray, var: FloatArray) -> BoolArray:
    """Mask of the arguments for which the sum is exact to 1e-9: all but the far tails."""
    return np.abs(mean) <= _REACH * np.sqrt(1.0 + 0.25 * var)


def mixture_moments(mean: FloatArray, var: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """log Z and its derivatives in the mean, with Z = Σ weight·Φ(y·mean/√(scale² + var))."""
    scale, weight = logistic_mixture()
    spread = np.sqrt(scale**2 + np.asarray(var)[..., None])
    place = (y * mean)[..., None] / spread
    density = np.exp(-0.5 * place * place) / spread
    z = special.ndtr(place) @ weight
    slope = density @ weight / (np.sqrt(2.0 * np.pi) * z)
    bend = (density * place / spread) @ weight / (np.sqrt(2.0 * np.pi) * z)
    return np.minimum(np.log(z), 0.0), y * slope, -bend - slope * slope


@cache
def logistic_mixture() -> tuple[FloatArray, FloatArray]:
    """Scales s and weights of the normal components, 27 of each.

    >>> scale, weight = logistic_mixture()
    >>> float((weight * special.ndtr(1.0 / scale)).sum().round(12)), float(special.expit(1.0).round(12))
    (0.73105857863, 0.73105857863)
    """
    k = np.exp(_STEP * np.arange(_FIRST, _LAST + 1))
    weight = _STEP * k * _kolmogorov_density(k)
    return 2.0 * k, weight / weight.sum()


def _kolmogorov_density(k: FloatArray) -> FloatArray:
    """The derivative of Kolmogorov's distribution function, by whichever of its two series converges fast."""
    j = np.arange(1.0, _TERMS + 1.0)[:, None]
    right = 8.0 * k * (-((-1.0) ** j) * j**2 * np.exp(-2.0 * (j * k) ** 2)).sum(axis=0)
    rate = ((2.0 * j - 1.0) * np.pi) ** 2 / (8.0 * k**2)
    left = np.sqrt(2.0 * np.pi) / k**2 * (np.exp(-rate) * (2.0 * rate - 1.0)).sum(axis=0)
    return np.where(k < 1.0, left, right)
