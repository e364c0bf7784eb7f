"""Links with normal responses: probit, logit and Student-t.

References: Albert & Chib (1993), Bayesian analysis of binary and polychotomous response data, JASA 88 (probit and
Student-t); Polson, Scott & Windle (2013), Bayesian inference for logistic models using Pólya-Gamma latent variables,
JASA 108.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from textbayes.core.errors import MissingExtraError
from textbayes.core.types import FloatArray, IntArray
from textbayes.inference.gibbs.latent_base import Latent
from textbayes.kernels.gibbs.tails import truncated_excess
from textbayes.links.base import BaseLink

_FAR = 40.0  # predictors beyond which a Pólya–Gamma variable is an inverse Gaussian to 17 places
# Of PG(c, eta) the package's only exact method is Devroye's, which costs c draws. From c = 20 on its saddle point is as
# good as exact (10⁶ draws show no difference in mean, variance and skewness), but for |eta| from 28 on it is wrong.
_MANY, _FAR_OF_MANY = 20, 20.0
_LEAST_PRECISION = 1e-100  # of a Student-t response, far below what is ever drawn


class ProbitLatent(Latent):
    """z ~ N(eta, 1) with the sign of y."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self._one, self._spread = np.ones(1), np.ones(len(y))

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        return self._one, self.y * self.slack(eta, rng) - eta

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        out = np.empty(len(eta))
        truncated_excess(self.y * eta, self._spread, rng.random(len(eta)), out)
        return out


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


class StudentLatent(Latent):
    """z ~ N(eta, 1/omega) with the sign of y, omega ~ Gamma(ν/2, ν/2)."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self._degrees, self.omega = float(link.params()["df"]), np.ones(len(y))

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        error = self.y * self.slack(eta, rng) - eta
        shape = 0.5 * (self._degrees + 1.0)
        drawn = rng.standard_gamma(shape, len(eta)) / (0.5 * (self._degrees + error**2))
        self.omega = np.maximum(drawn, _LEAST_PRECISION)
        return self.omega, self.omega * error

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        out = np.empty(len(eta))
        truncated_excess(self.y * eta, self.omega**-0.5, rng.random(len(eta)), out)
        return out

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Given omega, which the next responses build on: a probit."""
        return np.asarray(special.log_ndtr(y * eta * np.sqrt(self.omega)))

    def state(self) -> dict[str, FloatArray]:
        return {"omega": self.omega.copy()}

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self.omega = arrays["omega"].copy()


def polya_gamma() -> Callable[..., Any]:
    """``random_polyagamma`` of the package of that name, imported where it is needed."""
    try:
        draw: Callable[..., Any] = importlib.import_module("polyagamma").random_polyagamma
    except ImportError:
        raise MissingExtraError("polyagamma", "gibbs", "Gibbs sampling with the logit link") from None
    return draw
