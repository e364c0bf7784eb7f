"""Mean and variance of Δ² by expansions of 2nd and 3rd order, for Poisson and negative-binomial counts.

With D = (1−π)S₁ − πS₂, whose mean is 0 under the null, and T = S₁ + S₂ with mean M, Δ² = D² / (π(1−π) T). Expanding
1/T about M,

    2nd order   Δ² ≈ D² / (π(1−π)M)
    3rd order   Δ² ≈ D² (1 − (T−M)/M) / (π(1−π)M).

The moments of these polynomials follow from the joint cumulants c_ab of (D, T), which add up over the two independent
sums: c_ab = (1−π)^a k_{a+b}(S₁) + (−π)^a k_{a+b}(S₂). For Poisson counts and π = ½ the 2nd order gives the paper's
N(1, 2 + 1/(2m)), m = M/2, and the 3rd order its mean 1 − 1/(2m), but the variance 2 − 3/m + 5/(2m²) + 1/(8m³) where the
paper prints 2 + 11/(4m) + 25/(8m²) + 1/(8m³): a misprint or slip, see :func:`printed_third_order`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray

# κ_r(x) = μδ⁻¹ Σ_j a_rj (ωδ)^j of one negative-binomial count; κ_{r+1} = P(1+P) dκ_r/dP with P = ωδ.
_NEGATIVE_BINOMIAL = (
    (1.0,),
    (1.0, 1.0),
    (1.0, 3.0, 2.0),
    (1.0, 7.0, 12.0, 6.0),
    (1.0, 15.0, 50.0, 60.0, 24.0),
    (1.0, 31.0, 180.0, 390.0, 360.0, 120.0),
)


class Moments(NamedTuple):
    """Moments of Δ² under the null, elementwise."""

    mean: FloatArray
    variance: FloatArray


def cumulants(rate: FloatArray, dispersion: FloatArray, powers: FloatArray) -> list[FloatArray]:
    """Cumulants k_1, …, k_6 of a sum of counts, given Σ_d ω_d^r as the columns of ``powers``.

    k_r = μ Σ_j a_rj δ^{j−1} Σ_d ω_d^j, with a_rj the coefficients of the negative binomial's cumulants in P = ωδ;
    δ = 0 leaves k_r = μ Σω, the Poisson's.
    """
    return [
        rate * sum(a * dispersion**j * powers[..., j] for j, a in enumerate(coefficients))
        for coefficients in _NEGATIVE_BINOMIAL
    ]


def second_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> Moments:
    """Mean c20/s and variance (c40 + 2c20²)/s² of D²/s, s = π(1−π)M."""
    c = _joint(share, inside, outside)
    scale = share * (1.0 - share) * (inside[0] + outside[0])
    return Moments(c(2, 0) / scale, (c(4, 0) + 2.0 * c(2, 0) ** 2) / scale**2)


def third_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> Moments:
    """Moments of D²(1 − (T−M)/M)/s: joint moments up to order 6 by partitions into blocks of two and more."""
    c = _joint(share, inside, outside)
    total = inside[0] + outside[0]
    scale = share * (1.0 - share) * total
    d4 = c(4, 0) + 3.0 * c(2, 0) ** 2
    d4t = c(4, 1) + 6.0 * c(2, 0) * c(2, 1) + 4.0 * c(1, 1) * c(3, 0)
    d4tt = (
        c(4, 2)
        + 6.0 * c(2, 0) * c(2, 2)
        + 8.0 * c(1, 1) * c(3, 1)
        + c(0, 2) * c(4, 0)
        + 4.0 * c(3, 0) * c(1, 2)
        + 6.0 * c(2, 1) ** 2
        + 3.0 * c(2, 0) ** 2 * c(0, 2)
        + 12.0 * c(1, 1) ** 2 * c(2, 0)
    )
    mean = c(2, 0) - c(2, 1) / total
    variance = d4 - 2.0 * d4t / total + d4tt / total**2 - mean**2
    return Moments(mean / scale, variance / scale**2)


def printed_third_order(m: FloatArray) -> Moments:
    """The paper's N(1 − 1/(2m), (1 + m(25 + 2m(11 + 8m)))/(8m³)), Poisson counts of mean m = ωμ in both classes.

    Its variance is not that of the 3rd-order polynomial (see the top of this file) nor closer to that of Δ², which is
    2 − 1/m + O(1/m²); kept to be compared.

    Reference: the contagion paper, §4.
    """
    m = np.asarray(m, dtype=np.float64)
    return Moments(1.0 - 1.0 / (2.0 * m), (1.0 + m * (25.0 + 2.0 * m * (11.0 + 8.0 * m))) / (8.0 * m**3))


def _joint(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> Callable[[int, int], FloatArray]:
    def c(a: int, b: int) -> FloatArray:
        r = a + b - 1
        result: FloatArray = (1.0 - share) ** a * inside[r] + (-share) ** a * outside[r]
        return result

    return c
