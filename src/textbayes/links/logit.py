"""Logistic link: p(y | eta) = 1 / (1 + exp(−y·eta))."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from textbayes.core.errors import MissingExtraError
from textbayes.core.types import FloatArray, IntArray
from textbayes.links import links
from textbayes.links._latent import Latent
from textbayes.links._logistic_mixture import mixture_moments, within_reach
from textbayes.links._quadrature import check_moments
from textbayes.links.base import BaseLink, Derivatives, Likelihood, Moments

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
        from textbayes.kernels.linear.logit import logit_likelihood

        return Likelihood(*logit_likelihood(eta, y, np.empty(0) if weight is None else weight))

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
