"""Ratios of the normal density and its tail, without overflow or cancellation; and the probit's latent variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray
from textbayes.links._latent import Latent

if TYPE_CHECKING:
    from textbayes.links.base import BaseLink

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
    from textbayes.kernels.gibbs.tails import truncated_excess  # loads numba

    out = np.empty(len(margin))
    truncated_excess(margin, spread, rng.random(len(margin)), out)
    return out
