"""Tails of the normal and the Student-t distribution, to full precision: as polynomials, and as tables for kernels.

With f the density and T the cdf, everything a link needs at a distance t ≥ 0 from the mode follows from the

    hazard  r(t) = f(t) / T(−t),     excess  e(t) = r(t) − h(t),     h(t) = −f'(t)/f(t) = (ν + 1) t / (ν + t²),

because r' = r·e. Both log T(−t) and the second derivative r·e then come without cancellation, however far the tail. The
excess is a mean of differences over the tail,

    e(t) = ∫ (h(s) − h(t)) f(s) ds / ∫ f(s) ds   over s > t,

which quadrature gives to rounding error. That is done once per ν, at Chebyshev nodes; calls evaluate the polynomial.

``student_tail`` gives the excess by one polynomial in log(1 + τ/2). A compiled loop (``compiled_likelihood``) wants no
logarithm and a short polynomial: here e is cut into cells of equal width in u = 1/(1 + τ/2), τ = t/√(1 + t²/ν), with a
polynomial of degree 7 on each. On u the bulk and the tail of small ν are equally smooth, to t = ∞ at its lower end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray
from textbayes.links.base import Latent, Likelihood

if TYPE_CHECKING:
    from textbayes.links.base import BaseLink

gibbs_kernels = LazyModule("textbayes.kernels.gibbs")
tails_kernels = LazyModule("textbayes.kernels.linear.likelihoods")


_SQRT_2_OVER_PI = np.sqrt(2.0 / np.pi)
# Below this margin φ/Φ ≈ −m and the difference φ/Φ + m cancels; a continued fraction gives it directly.
_FAR_TAIL = -15.0
_FRACTION_TERMS = 24


def inverse_mills(m: FloatArray) -> FloatArray:
    """φ(m)/Φ(m) by the scaled complementary error function: no overflow, no cancellation."""
    return _SQRT_2_OVER_PI / special.erfcx(-m / np.sqrt(2.0))


def mills_hessian(m: FloatArray, ratio: FloatArray) -> FloatArray:
    """r·(r + m) with r = φ(m)/Φ(m) given: −d² log Φ(m)/dm²."""
    out = ratio * (ratio + m)
    far = m < _FAR_TAIL
    if far.any():
        out[far] = ratio[far] * mills_excess(-m[far], _FRACTION_TERMS)
    return out


def mills_excess(t: FloatArray, n_terms: int) -> FloatArray:
    """φ(t)/Φ(−t) − t = 1/(t + 2/(t + 3/(t + …))) for t > 0 (Laplace's continued fraction)."""
    tail = t
    for k in range(n_terms, 1, -1):
        tail = t + k / tail
    return 1.0 / tail


class ProbitLatent(Latent):
    """z ~ N(eta, 1) with the sign of y (Albert & Chib 1993)."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self._one, self._spread = np.ones(1), np.ones(len(y))

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return self._one, self.y * self.slack(eta, rng) - eta

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        return normal_slack(self.y * eta, self._spread, rng)


def normal_slack(margin: FloatArray, spread: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the excess above zero of a normal variable of that mean and standard deviation, known to be positive."""
    out = np.empty(len(margin))
    gibbs_kernels.truncated_excess(margin, spread, rng.random(len(margin)), out)
    return out


_FARTHEST = 1e5  # where the polynomial ends if √ν lies beyond; no predictor does
_NODES = 96  # the largest ν need degree 70; up to ν = 100 it is 25
_PRECISION = 1e-14
_QUADRATURE_POINTS = 320


class Tail(NamedTuple):
    """log T(−t), the hazard f(t)/T(−t) and its excess over h(t) = −f'(t)/f(t)."""

    log_prob: FloatArray
    hazard: FloatArray
    excess: FloatArray


def scaled_excess(tau: FloatArray, df: float) -> FloatArray:
    """e(t)·√(1 + t²/ν)·(1 + τ) at τ = t/√(1 + t²/ν), for finite ν."""
    return _chebyshev(_to_unit(tau, df), _fit(df))


@lru_cache(maxsize=256)
def student_tail(df: float) -> Callable[[FloatArray], Tail]:
    """The function t ↦ Tail for t ≥ 0; ``df`` may be inf (normal).

    >>> import numpy as np
    >>> float(np.exp(student_tail(1.0)(np.array([1.0])).log_prob[0]).round(12))  # Cauchy: a quarter lies beyond 1
    0.25
    """
    if np.isinf(df):
        return _normal_tail
    series = _fit(df)
    # T(0) = ½ fixes the density's constant: no gamma functions, whose logarithms cancel for large ν.
    log_density_at_zero = np.log(0.5 * _chebyshev(-np.ones(1), series)[0])

    def tail(t: FloatArray) -> Tail:
        square = t * (t / df)
        root = np.sqrt(1.0 + square)
        tau = t / root
        excess = _chebyshev(_to_unit(tau, df), series) / (root * (1.0 + tau))
        hazard = (df + 1.0) / df * tau / root + excess
        log_density = log_density_at_zero - 0.5 * (df + 1.0) * _log_plus_one(square, df)
        return Tail(log_density - np.log(hazard), hazard, excess)

    return tail


def _normal_tail(t: FloatArray) -> Tail:
    hazard = inverse_mills(-t)
    return Tail(special.log_ndtr(-t), hazard, mills_hessian(-t, hazard) / hazard)


@lru_cache(maxsize=256)
def _fit(df: float) -> FloatArray:
    """Chebyshev series of e(t)·√(1 + t²/ν)·(1 + τ), which stays of order 1, in log(1 + τ/2), τ = t/√(1 + t²/ν).

    τ runs from 0 to √ν like t at first; on the logarithmic scale both the bulk and the tail's bend at √ν are smooth.
    """
    angle = np.pi * (np.arange(_NODES) + 0.5) / _NODES
    tau = 2.0 * np.expm1(0.5 * (np.cos(angle) + 1.0) * _log_range(df))
    share = tau / np.sqrt(df)
    root = 1.0 / np.sqrt((1.0 - share) * (1.0 + share))
    values = _excess(tau * root, df) * root * (1.0 + tau)
    series = 2.0 / _NODES * np.cos(np.outer(np.arange(_NODES), angle)) @ values
    series[0] /= 2.0
    return series[: np.flatnonzero(np.abs(series) > _PRECISION * np.abs(series).max())[-1] + 1]


def _to_unit(tau: FloatArray, df: float) -> FloatArray:
    return np.minimum(np.log(1.0 + 0.5 * tau) * (2.0 / _log_range(df)) - 1.0, 1.0)


def _log_plus_one(square: FloatArray, df: float) -> FloatArray:
    """log(1 + t²/ν), to be multiplied by ν/2: only large ν need the slower function, exact for small t²/ν."""
    return np.log(1.0 + square) if df <= 100.0 else np.log1p(square)


def _chebyshev(x: FloatArray, series: FloatArray) -> FloatArray:
    """Clenshaw's recurrence in place, in half the time of NumPy's ``chebval``."""
    twice = 2.0 * x
    last, before = np.full_like(x, series[-1]), np.zeros_like(x)
    spare = np.empty_like(x)
    for coefficient in series[-2:0:-1]:
        np.multiply(twice, last, out=spare)
        spare -= before
        spare += coefficient
        last, before, spare = spare, last, before
    return x * last - before + series[0]


def _log_range(df: float) -> float:
    return float(np.log1p(0.5 * min(np.sqrt(df), _FARTHEST)))


def _excess(t: FloatArray, df: float) -> FloatArray:
    """e(t) by quadrature, in the variable q with f(s) = f(t)·exp(−h(t)·q − q²/2).

    On that scale the tail of every ν looks like a normal one; the trapezoidal rule in k, q ∝ exp(k − exp(−k)), then
    converges exponentially (Takahasi & Mori 1974).
    """
    k = np.linspace(-3.7, 6.5, _QUADRATURE_POINTS)
    t = t[:, None]
    spread = df + t * t
    h = (df + 1.0) * t / spread
    q = np.exp(k - np.exp(-k)) / (1.0 + h)
    x = q * (h + 0.5 * q)
    growth = np.minimum(2.0 * x / (df + 1.0), 600.0)  # log of (ν + s²)/(ν + t²); what lies beyond weighs nothing
    gain = spread * np.expm1(growth)  # s² − t²
    s = np.sqrt(t * t + gain)
    weight = np.exp(growth - x) * (h + q) / s * q * (1.0 + np.exp(-k))
    difference = gain / (s + t) * (df - s * t) / (df + s * s)  # ∝ h(s) − h(t)
    return (df + 1.0) / spread[:, 0] * (difference * weight).sum(axis=1) / weight.sum(axis=1)


_DEGREE = 7  # as the kernel has it
_FEWEST_CELLS, _MOST_CELLS = 64, 1024
_TABLE_PRECISION = 3e-14
_NORMAL_TERMS = 150  # of the continued fraction, for t ≥ 2


class TailTable(NamedTuple):
    """Polynomials of e(t)·√(1 + t²/ν)/u by cell, in the distance from its middle; u at t = ∞; the density at 0."""

    polynomials: FloatArray
    u_least: float
    log_density_at_zero: float


def compiled_likelihood(
    df: float, skew: float, eta: FloatArray, y: FloatArray, weight: FloatArray | None
) -> Likelihood | None:
    """``SkewT(df, skew).likelihood``, a few times faster; None for degrees of freedom too large for a table."""
    table = tail_table(df)
    if table is None:
        return None
    given = np.empty(0) if weight is None else weight
    return Likelihood(
        *tails_kernels.tail_likelihood(
            eta, y, given, table.polynomials, table.u_least, df, skew, table.log_density_at_zero
        )
    )


@lru_cache(maxsize=256)
def tail_table(df: float) -> TailTable | None:
    """The table for ``df``, with as many cells as full precision takes.

    >>> table = tail_table(1.0)
    >>> bool(abs(np.exp(table.log_density_at_zero) * np.pi - 1.0) < 1e-13)  # Cauchy: 1/π
    True
    """
    u_least = 0.0 if np.isinf(df) else 1.0 / (1.0 + 0.5 * np.sqrt(df))
    node = 0.5 * np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    trial = np.array([-0.5, -0.47, 0.0, 0.47, 0.5])  # as far from the nodes as can be
    powers, trial_powers = (np.vander(x, _DEGREE + 1, increasing=True) for x in (node, trial))
    n_cells = _FEWEST_CELLS
    while n_cells <= _MOST_CELLS:
        middle, width = np.arange(n_cells)[:, None] + 0.5, (1.0 - u_least) / n_cells
        table = np.linalg.solve(powers, _excess_over_u(u_least + width * (middle + node), df).T).T
        exact = _excess_over_u(u_least + width * (middle + trial), df)
        if np.abs(table @ trial_powers.T - exact).max() <= _TABLE_PRECISION * np.abs(exact).max():
            hazard_at_zero = float(table[-1] @ trial_powers[-1])  # 2·f(0), for T(0) = ½
            return TailTable(np.ascontiguousarray(table), float(u_least), float(np.log(0.5 * hazard_at_zero)))
        n_cells *= 2
    return None


def _excess_over_u(u: FloatArray, df: float) -> FloatArray:
    """e(t)·√(1 + t²/ν)/u at τ = 2(1 − u)/u: of order 1 up to t = ∞."""
    tau = 2.0 * (1.0 - u) / np.maximum(u, 1e-300)
    if np.isinf(df):
        return _normal_excess(tau) * (1.0 + 0.5 * tau)
    return scaled_excess(tau, df) * (1.0 + 0.5 * tau) / (1.0 + tau)


def _normal_excess(t: FloatArray) -> FloatArray:
    """φ(t)/Φ(−t) − t without cancellation: by the hazard up to 2, beyond by Laplace's continued fraction."""
    return np.where(t < 2.0, inverse_mills(-t) - t, mills_excess(np.maximum(t, 2.0), _NORMAL_TERMS))
