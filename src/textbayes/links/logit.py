"""Logistic link: p(y | eta) = 1 / (1 + exp(−y·eta)).

Its Gaussian integrals are closed sums, for it is a mixture of probit links: a standard logistic variable is 2K·z with z
normal and K from Kolmogorov's distribution, so that

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

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import special

from textbayes.core.errors import MissingExtraError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.links import links
from textbayes.links._quadrature import check_moments
from textbayes.links.base import BaseLink, Derivatives, Latent, Likelihood, Moments

logit_kernels = LazyModule("textbayes.kernels.linear.likelihoods")

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


_FAR = 40.0  # predictors beyond which a Pólya–Gamma variable is an inverse Gaussian to 17 places
# Of PG(c, eta) the package's only exact method is Devroye's, which costs c draws. From c = 20 on its saddle point is as
# good as exact (10⁶ draws show no difference in mean, variance and skewness), but for |eta| from 28 on it is wrong.
_MANY, _FAR_OF_MANY = 20, 20.0


@links.register("logit")
class Logit(BaseLink):
    """The logistic link, with the majorising curvature tanh(m/2)/(2m) of Jaakkola & Jordan (2000), m = y·eta.

    >>> import numpy as np
    >>> float(Logit().probability(np.array([0.0]))[0])
    0.5
    """

    name = "logit"
    log_concave = True
    counts_in_latent = True

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return special.log_expit(y * eta)

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return y * special.expit(-y * eta)

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        m = np.abs(eta)
        small = m < 1e-4
        safe = np.where(small, 1.0, m)
        return np.where(small, 0.25 - m * m / 48.0, np.tanh(safe / 2.0) / (2.0 * safe))

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return special.expit(eta) * special.expit(-eta)

    def class_probability(self, eta: FloatArray) -> FloatArray:
        """Softmax: noise is Gumbel (McFadden 1974)."""
        return np.asarray(special.softmax(eta, axis=-1))

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        """One exponential serves all three: with e = exp(−|m|), p = 1/(1+e) and log p follows by log1p."""
        m = y * eta
        e = np.exp(-np.abs(m))
        wide = 1.0 / (1.0 + e)
        narrow = e * wide
        wrong = np.where(m >= 0.0, narrow, wide)
        return Derivatives(np.minimum(m, 0.0) - np.log1p(e), y * wrong, wide * narrow)

    def likelihood(self, eta: FloatArray, y: FloatArray, weight: FloatArray | None) -> Likelihood:
        return Likelihood(*logit_kernels.logit_likelihood(eta, y, np.empty(0) if weight is None else weight))

    def probability(self, eta: FloatArray) -> FloatArray:
        return special.expit(eta)

    def log_odds(self, eta: FloatArray) -> FloatArray:
        return eta

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        """A short sum of probits where that is exact, else, in the far tails, the general integral."""
        mean, var, y = np.broadcast_arrays(mean, var, y)
        check_moments(mean, var)
        near = within_reach(mean, var)
        if near.all():
            return Moments(*mixture_moments(mean, var, y))
        out = np.empty((3, *mean.shape))
        out[:, near] = mixture_moments(mean[near], var[near], y[near])
        out[:, ~near] = super().moments(mean[~near], var[~near], y[~near])
        return Moments(*out)

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        return LogitLatent(y, self, counts)


class LogitLatent(Latent):
    """omega ~ PG(1, eta), z = y/(2·omega): exp(½ y·eta)/(2 cosh ½eta) as a mixture of normal densities of eta.

    For a document that counts c times, omega ~ PG(c, eta) is the sum of what each of them would draw, and
    u ~ U(0, p(y | eta)^c) the lowest of their levels.
    """

    def __init__(self, y: FloatArray, link: BaseLink, counts: IntArray | None = None) -> None:
        super().__init__(y, link)
        self._draw = polya_gamma()
        self._counts: Any = np.ones(1, dtype=np.int64) if counts is None else counts

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        counts, omega = np.broadcast_to(self._counts, eta.shape), np.empty(len(eta))
        many = counts >= _MANY
        reach = np.where(many, _FAR_OF_MANY, _FAR)
        near = np.clip(eta, -reach, reach)
        for method, of in (("devroye", ~many), ("saddle", many)):
            if of.any():
                omega[of] = self._draw(counts[of], near[of], method=method, random_state=rng)
        far = np.abs(eta) > reach
        if far.any():
            # The package is wrong beyond 200 or so, where it returns 0.16 whatever eta is. Far out PG(c, eta) is an
            # inverse Gaussian, but for a share c·exp(−|eta|) (Polson, Scott & Windle 2013, JASA 108, section 4).
            omega[far] = rng.wald(0.5 * counts[far] / np.abs(eta[far]), (0.5 * counts[far]) ** 2)
        return omega, 0.5 * counts * self.y - omega * eta

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """m − logit(u·σ(m)) = log(1 + eᵐ) + log(1 − u·σ(m)) − log u for the margin m."""
        margin, u = self.y * eta, (1.0 - rng.random(len(eta))) ** (1.0 / self._counts)
        out = np.logaddexp(0.0, margin) + np.log1p(-u * special.expit(margin)) - np.log(u)
        return np.maximum(out, 0.0)

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._counts * super().log_prob(eta, y)


def polya_gamma() -> Callable[..., Any]:
    """``random_polyagamma`` of the package of that name, imported where it is needed."""
    try:
        draw: Callable[..., Any] = importlib.import_module("polyagamma").random_polyagamma
    except ImportError:
        raise MissingExtraError("polyagamma", "gibbs", "Gibbs sampling with the logit link") from None
    return draw
