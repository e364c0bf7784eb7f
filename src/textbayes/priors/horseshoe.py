"""Horseshoe prior: w ~ N(mean, scale² λ²) with λ half-Cauchy."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray
from textbayes.priors import priors
from textbayes.priors.base import BasePrior, Conditional, Mixing

_NEAREST = 1e-150  # closer to the mean than this is at the mean; the square still is a number
_FAR = 50.0  # beyond this the continued fraction, which gives 1/(t f) − 1 without cancellation
_FRACTION_TERMS = 8


@priors.register("horseshoe")
class Horseshoe(BasePrior):
    """p(w) = f(t)/(scale √(2π³)), f(t) = eᵗ E₁(t), t = ½ ((w − mean)/scale)²: words are set to zero or hardly shrunk.

    A proper cousin of ``jeffreys``: infinite at the mean, where a weight stays once it is there, with the tails of a
    Cauchy. Not log-concave: the result depends on the start, by default the mode under the Gaussian prior of the same
    scale. From f'(t) = f(t) − 1/t follows −d log p/dw = (1/(t f(t)) − 1)·(w − mean)/scale²; the penalty is concave in
    |w − mean|, hence at most linear.

    References
    ----------
    Carvalho, Polson & Scott (2010), The horseshoe estimator for sparse signals, Biometrika 97, 465–480, proof of
    Theorem 1.

    >>> import numpy as np
    >>> bool(Horseshoe(scale=0.1).neg_log(np.array([0.0])) < Horseshoe(scale=0.1).neg_log(np.array([1e-9])))
    True
    """

    name = "horseshoe"
    proper = True
    smooth = False
    log_concave = False
    pole = True

    def neg_log(self, w: FloatArray) -> FloatArray:
        finite, t = self._standard(w)
        constant = np.log(finite) + 0.5 * np.log(2.0 * np.pi**3)
        return np.where(np.isinf(self.scale), 0.0, constant - np.log(_scaled_integral(t)[0]))

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        finite, t = self._standard(w)
        slope = _scaled_integral(t)[1] * np.sqrt(2.0 * t) / finite
        l1 = np.where(np.isinf(self.scale), 0.0, slope)
        return LocalPenalty(np.array(np.broadcast_to(self.mean, shape)), l1, np.zeros(shape))

    def conditional(self) -> Conditional:
        return Conditional(0.0, self.scale**-2.0, HalfCauchyMixing())

    @property
    def tail_index(self) -> float:
        return 1.0

    def _standard(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The scale with 1 in place of infinity, and t."""
        finite = np.where(np.isinf(self.scale), 1.0, self.scale)
        return finite, 0.5 * np.maximum(np.abs(w - self.mean) / finite, _NEAREST) ** 2


class HalfCauchyMixing(Mixing):
    """q^(−1/2) half-Cauchy; given the weight, a step by a level drawn under 1/(1 + q)."""

    degrees = np.inf

    def draw(self, square: FloatArray, precision: FloatArray, rng: np.random.Generator) -> FloatArray:
        from textbayes.kernels.gibbs import half_cauchy_precisions  # loads numba

        out = np.empty(len(square))
        levels, uniforms = rng.random((2, len(square)))
        half_cauchy_precisions(square, precision, levels, uniforms, out)
        return out


def _scaled_integral(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """f(t) = eᵗ E₁(t) and 1/(t f(t)) − 1 for t > 0.

    E₁ directly for small t; else eᵗ E₁(t) = 1/(t + 1 − r), r = 1/(t + 3 − 4/(t + 5 − 9/(t + 7 − …))) (Abramowitz &
    Stegun 5.1.22, even part), so that 1/(t f) − 1 = (1 − r)/t.
    """
    near = np.minimum(t, _FAR)
    f_near = np.exp(near) * special.exp1(near)
    far = np.maximum(t, _FAR)
    tail = far + 2.0 * _FRACTION_TERMS + 1.0
    for k in range(_FRACTION_TERMS, 1, -1):
        tail = far + 2.0 * k - 1.0 - k * k / tail
    rest = 1.0 / tail
    is_near = t <= _FAR
    f = np.where(is_near, f_near, 1.0 / (far + 1.0 - rest))
    return f, np.where(is_near, 1.0 / (near * f_near) - 1.0, (1.0 - rest) / far)
