"""Logistic link: p(y | eta) = 1 / (1 + exp(−y·eta))."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray
from textbayes.links import links
from textbayes.links._logistic_mixture import mixture_moments, within_reach
from textbayes.links._quadrature import check_moments
from textbayes.links.base import BaseLink, Derivatives, Likelihood, Moments


@links.register("logit")
class Logit(BaseLink):
    """The logistic link, with the majorising curvature tanh(m/2)/(2m) of Jaakkola & Jordan (2000), m = y·eta.

    >>> import numpy as np
    >>> float(Logit().probability(np.array([0.0]))[0])
    0.5
    """

    name = "logit"
    log_concave = True

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
