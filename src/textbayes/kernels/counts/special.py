"""What the kernels of count models share: ln Γ, ψ and ψ′, a safeguarded Newton step, and random numbers by stream.

References: Abramowitz & Stegun (1964), 6.1.41, 6.3.18 and 6.4.11 (asymptotic series); Steele, Lea & Flood (2014),
Fast splittable pseudorandom number generators, OOPSLA (SplitMix64).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit

_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)


@njit(cache=True, nogil=True)
def log_gamma(x):  # type: ignore[no-untyped-def]
    """ln Γ(x) for x > 0; faster than the C library's."""
    product = 1.0
    while x < 10.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188))))) / x
    value = (x - 0.5) * math.log(x) - x + _HALF_LOG_2PI + series
    return value - math.log(product) if product != 1.0 else value


@njit(cache=True, nogil=True)
def digamma(x):  # type: ignore[no-untyped-def]
    """ψ(x) for x > 0."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (
        1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * (691.0 / 32760)))))
    )
    return shift + math.log(x) - 0.5 / x - series


@njit(cache=True, nogil=True)
def trigamma(x):  # type: ignore[no-untyped-def]
    """ψ′(x) for x > 0."""
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * (691.0 / 2730))))))
    return shift + (1.0 + 0.5 / x + series) / x


@njit(cache=True, nogil=True)
def factor(hessian, damping, lower):  # type: ignore[no-untyped-def]
    """Cholesky factor of −H + damping·diag into ``lower``; whether there is one.

    The damping is relative to the size of each diagonal entry, so that it does not depend on the units.
    """
    n = len(hessian)
    for i in range(n):
        for j in range(i + 1):
            total = -hessian[i, j]
            if i == j:
                total += damping * (abs(hessian[i, i]) + 1e-8)
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            if i == j:
                if not total > 1e-14 * (abs(hessian[i, i]) + 1e-8):
                    return False
                lower[i, i] = math.sqrt(total)
            else:
                lower[i, j] = total / lower[j, j]
    return True


@njit(cache=True, nogil=True)
def solve(lower, gradient, step):  # type: ignore[no-untyped-def]
    """step = (L Lᵀ)⁻¹ gradient; the decrement gradientᵀ step is returned."""
    n = len(gradient)
    for i in range(n):
        total = gradient[i]
        for k in range(i):
            total -= lower[i, k] * step[k]
        step[i] = total / lower[i, i]
    for i in range(n - 1, -1, -1):
        total = step[i]
        for k in range(i + 1, n):
            total -= lower[k, i] * step[k]
        step[i] = total / lower[i, i]
    decrement = 0.0
    for i in range(n):
        decrement += gradient[i] * step[i]
    return decrement


@njit(cache=True, nogil=True)
def stream(seed, chain, word):  # type: ignore[no-untyped-def]
    """The start of a stream of its own for every word of every chain: draws do not depend on who computes them."""
    state = mixed(np.uint64(seed) + _GOLDEN)
    state = mixed(state ^ (np.uint64(chain) * _MIX_1 + _GOLDEN))
    return mixed(state ^ (np.uint64(word) * _MIX_2 + _GOLDEN))


@njit(cache=True, nogil=True)
def mixed(z):  # type: ignore[no-untyped-def]
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@njit(cache=True, nogil=True)
def uniform(state):  # type: ignore[no-untyped-def]
    """A number inside (0, 1), and the state after it."""
    state = state + _GOLDEN
    return (float(mixed(state) >> _S11) + 0.5) * 2.0**-53, state


@njit(cache=True, nogil=True)
def normal(state):  # type: ignore[no-untyped-def]
    """A standard normal number (Box & Muller), and the state after it."""
    first, state = uniform(state)
    second, state = uniform(state)
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second), state
