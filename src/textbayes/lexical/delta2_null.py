"""The null distribution of Δ² and four ways to its p-values; a fifth, by simulation, is in ``delta2``.

For one word and one category, S₁ counts the word inside and n everywhere; π is the category's share of all text. If the
rate of the word is the same inside and outside, S₁ has mean nπ given n, and

    Δ² = (S₁ − nπ)² / (nπ(1−π)),

which is the paper's (S₁ − S₂)²/(S₁ + S₂) where both sides have equally much text. ``docs/guide/keyness.md`` has the
derivations.

Mean and variance of Δ² follow from expansions. With D = (1−π)S₁ − πS₂, whose mean is 0 under the null, and T = S₁ + S₂
with mean M, Δ² = D² / (π(1−π) T). Expanding 1/T about M,

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
from scipy import special

from textbayes.core.types import FloatArray, IntArray
from textbayes.lexical.p_values import chi2_p_value

# κ_r(x) = μδ⁻¹ Σ_j a_rj (ωδ)^j of one negative-binomial count; κ_{r+1} = P(1+P) dκ_r/dP with P = ωδ.
_NEGATIVE_BINOMIAL = (
    (1.0,),
    (1.0, 1.0),
    (1.0, 3.0, 2.0),
    (1.0, 7.0, 12.0, 6.0),
    (1.0, 15.0, 50.0, 60.0, 24.0),
    (1.0, 31.0, 180.0, 390.0, 360.0, 120.0),
)


class NullMoments(NamedTuple):
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


def second_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> NullMoments:
    """Mean c20/s and variance (c40 + 2c20²)/s² of D²/s, s = π(1−π)M."""
    c = _joint(share, inside, outside)
    scale = share * (1.0 - share) * (inside[0] + outside[0])
    return NullMoments(c(2, 0) / scale, (c(4, 0) + 2.0 * c(2, 0) ** 2) / scale**2)


def third_order(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> NullMoments:
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
    return NullMoments(mean / scale, variance / scale**2)


def printed_third_order(m: FloatArray) -> NullMoments:
    """The paper's N(1 − 1/(2m), (1 + m(25 + 2m(11 + 8m)))/(8m³)), Poisson counts of mean m = ωμ in both classes.

    Its variance is not that of the 3rd-order polynomial (see the top of this file) nor closer to that of Δ², which is
    2 − 1/m + O(1/m²); kept to be compared.

    Reference: the contagion paper, §4.
    """
    m = np.asarray(m, dtype=np.float64)
    return NullMoments(1.0 - 1.0 / (2.0 * m), (1.0 + m * (25.0 + 2.0 * m * (11.0 + 8.0 * m))) / (8.0 * m**3))


def _joint(share: FloatArray, inside: list[FloatArray], outside: list[FloatArray]) -> Callable[[int, int], FloatArray]:
    def c(a: int, b: int) -> FloatArray:
        r = a + b - 1
        result: FloatArray = (1.0 - share) ** a * inside[r] + (-share) ** a * outside[r]
        return result

    return c


MOST_EXACT = 1e9
"""Above so many occurrences of a word its exact tails are those of χ²₁ and their logarithms lose digits."""

MOST_TABLED = 1e6
"""Logarithms of factorials are looked up as far as this."""


class WordCategoryPairs(NamedTuple):
    """Words and categories, as arrays that broadcast.

    ``observed`` S₁, ``total`` n ≥ 1, ``share`` 0 < π < 1, ``dispersion`` δ ≥ 0 (0: Poisson), ``tilt`` ω̃ of the
    category, and ``label``, its row in ``powers_in`` (n_labels, 6), the Σω^r inside; ``powers`` (6,) is of all text.
    """

    observed: FloatArray
    total: FloatArray
    share: FloatArray
    dispersion: FloatArray
    tilt: FloatArray
    label: IntArray
    powers_in: FloatArray
    powers: FloatArray

    @property
    def inflation(self) -> FloatArray:
        """1 + δω̃: the variance of S₁ − πn over that of Poisson counts."""
        return 1.0 + self.dispersion * self.tilt


class NullTail(NamedTuple):
    """P(Δ² > observed) and P(Δ² = observed) under the null; ``equal`` is 0 for continuous approximations."""

    greater: FloatArray
    equal: FloatArray


Method = Callable[[WordCategoryPairs], NullTail]


def delta2(pairs: WordCategoryPairs) -> FloatArray:
    """Δ² = (S₁ − nπ)² / (nπ(1−π))."""
    scale = pairs.total * (pairs.share * (1.0 - pairs.share))
    result: FloatArray = np.square(pairs.observed - pairs.total * pairs.share) / scale
    return result


def chi2(pairs: WordCategoryPairs) -> NullTail:
    """Δ²/(1 + δω̃) as χ²₁: the limit for many occurrences, since S₁ − πn is then normal."""
    p = chi2_p_value(delta2(pairs) / pairs.inflation)
    return NullTail(p, np.zeros(()))


def exact(pairs: WordCategoryPairs) -> NullTail:
    """The conditional distribution given n: binomial(n, π); with δ > 0 beta-binomial(n; πA, (1−π)A), A = n/(δω̃).

    The binomial is exact for Poisson counts of any lengths. The beta-binomial is exact for negative-binomial counts in
    documents of one length, with A = κN their total shape; here κ = μ/δ with μ = n/Ω, and unequal lengths enter by
    ω̃, which keeps the variance right. More than 1e9 occurrences are left to :func:`chi2`.
    """
    from textbayes.kernels.counts.delta2_tails import tails

    shape = np.broadcast_shapes(*(np.shape(part) for part in pairs[:5]))
    k, n, share, dispersion, tilt = (np.broadcast_to(part, shape).ravel() for part in pairs[:5])
    size = np.full(k.shape, np.inf)
    np.divide(n, dispersion * tilt, out=size, where=dispersion * tilt > 0.0)
    few = n <= MOST_EXACT
    greater, equal = np.zeros(k.shape), np.zeros(k.shape)
    table = special.gammaln(np.arange(1.0, min(n.max(initial=0.0), MOST_TABLED) + 2.0))
    greater[few], equal[few] = tails(k[few], n[few], share[few], size[few], table)
    if not few.all():
        greater[~few] = np.broadcast_to(chi2(pairs).greater, shape).ravel()[~few]
    return NullTail(greater.reshape(shape), equal.reshape(shape))


def normal_second_order(pairs: WordCategoryPairs) -> NullTail:
    """Δ² as normal with the moments of its 2nd-order expansion (the paper's, for any shares and for δ > 0)."""
    return _normal(pairs, second_order)


def normal_third_order(pairs: WordCategoryPairs) -> NullTail:
    """Δ² as normal with the moments of its 3rd-order expansion."""
    return _normal(pairs, third_order)


METHODS: dict[str, Method] = {
    "chi2": chi2,
    "exact": exact,
    "second_order": normal_second_order,
    "third_order": normal_third_order,
}


def _normal(pairs: WordCategoryPairs, expansion: Callable[..., NullMoments]) -> NullTail:
    rate, powers_in = pairs.total / pairs.powers[0], pairs.powers_in[pairs.label]
    inside = cumulants(rate, pairs.dispersion, powers_in)
    outside = cumulants(rate, pairs.dispersion, np.maximum(pairs.powers - powers_in, 0.0))
    mean, variance = expansion(pairs.share, inside, outside)
    p: FloatArray = special.ndtr((mean - delta2(pairs)) / np.sqrt(variance))
    return NullTail(p, np.zeros(()))
