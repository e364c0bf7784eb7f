"""Two-sided tails of binomial and beta-binomial counts about their mean: the exact null distribution of Δ²."""

from __future__ import annotations

import math

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.kernels._cache import njit

_LEAST_STIRLING = 16.0  # from here on four terms of Stirling's series are exact to rounding
_NEGLIGIBLE = 1e-18
_TIE = 1e-10  # distances from the mean that differ by less are equal: nπ carries rounding error


@njit(cache=True, nogil=True)
def _stirling(x):  # type: ignore[no-untyped-def]
    """ln Γ(x) − (x−½) ln x + x − ½ ln 2π for x ≥ 16."""
    y = 1.0 / (x * x)
    return (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x


@njit(cache=True, nogil=True)
def log_rising(a, k):  # type: ignore[no-untyped-def]
    """ln[Γ(a+k) / (Γ(a) a^k)]: 0 as a → ∞, without the cancellation of huge log-gammas there."""
    if k == 0.0 or a == math.inf:
        return 0.0
    if a < _LEAST_STIRLING:
        return math.lgamma(a + k) - math.lgamma(a) - k * math.log(a)
    return (a + k - 0.5) * math.log1p(k / a) - k + _stirling(a + k) - _stirling(a)


@njit(cache=True, nogil=True)
def _log_factorial(k, table):  # type: ignore[no-untyped-def]
    return table[int(k)] if k < len(table) else math.lgamma(k + 1.0)


@njit(cache=True, nogil=True)
def log_mass(k, n, share, size, table):  # type: ignore[no-untyped-def]
    """ln P(K = k), K beta-binomial(n; share·size, (1−share)·size); binomial(n, share) where ``size`` is infinite.

    ``table`` holds ln 0!, ln 1!, … as far as is convenient; it may be empty.
    """
    rest = n - k
    chosen = _log_factorial(n, table) - _log_factorial(k, table) - _log_factorial(rest, table)
    even = k * math.log(share) + rest * math.log1p(-share)
    return chosen + even + log_rising(share * size, k) + log_rising((1.0 - share) * size, rest) - log_rising(size, n)


@njit(cache=True, nogil=True)
def _ratio(k, n, share, size):  # type: ignore[no-untyped-def]
    """P(K = k+1) / P(K = k)."""
    if size == math.inf:
        return (n - k) / (k + 1.0) * (share / (1.0 - share))
    return (n - k) / (k + 1.0) * ((share * size + k) / ((1.0 - share) * size + n - k - 1.0))


@njit(cache=True, nogil=True)
def _beyond(k, mass, n, share, size):  # type: ignore[no-untyped-def]
    """P(K > k) for k above the mean, given P(K = k), summed term by term until nothing is added."""
    term, total = mass, 0.0
    one_peak = size * share > 1.0 and size * (1.0 - share) > 1.0  # else the mass may rise again towards n
    while k < n:
        term *= _ratio(k, n, share, size)
        total += term
        k += 1.0
        if one_peak and term < _NEGLIGIBLE * total:
            break
    return total


@njit(cache=True, nogil=True)
def tails(
    k: FloatArray, n: FloatArray, share: FloatArray, size: FloatArray, table: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(|K − nπ| > |k − nπ|) and P(|K − nπ| = |k − nπ|), elementwise; 0 < share < 1, ``table`` as in log_mass.

    Tails on the left are tails on the right of n − K, whose share is 1 − π. O(n) per element, less where the
    distribution has one peak.
    """
    greater, equal = np.empty(len(k)), np.empty(len(k))
    for i in range(len(k)):
        n_i, size_i = n[i], size[i]
        k_i, share_i = k[i], share[i]
        if k_i < n_i * share_i:
            k_i, share_i = n_i - k_i, 1.0 - share_i
        mirror = 2.0 * n_i * share_i - k_i  # as far below the mean as k is above
        near = math.floor(mirror + 0.5)
        tie = abs(mirror - near) <= _TIE * (1.0 + n_i) and near >= 0.0
        mass = math.exp(log_mass(k_i, n_i, share_i, size_i, table))
        right = _beyond(k_i, mass, n_i, share_i, size_i)
        left = same = 0.0
        below = near if tie else math.floor(mirror)
        if below >= 0.0:
            at = n_i - below
            same = math.exp(log_mass(at, n_i, 1.0 - share_i, size_i, table))
            left = _beyond(at, same, n_i, 1.0 - share_i, size_i)
        if not tie:  # the nearest count below is further away than k
            left, same = left + same, 0.0
        elif near == k_i:  # k is the mean itself, its own mirror
            same = 0.0
        greater[i] = min(left + right, 1.0)
        equal[i] = mass + same
    return greater, equal
