"""Links as a Gibbs sampler sees them: what is drawn for each document so that the weights become easy to draw.

Each link offers two complementary ways, which the sampler alternates (interweaving):

``responses``  normal responses z ~ N(eta, 1/omega), given which the weights are those of a linear regression;
``slack``      how far y·eta may fall before an outcome that is drawn along with it would no longer be y: with u uniform
               on (0, p(y | eta)), the weights are those of the prior where p(y_i | eta_i) ≥ u_i for all documents.

The first moves weights well where documents say much, the second where they say little, as when classes are separable.
A link without normal responses has the second alone, which is a sampler too.

References: Albert & Chib (1993), Bayesian analysis of binary and polychotomous response data, JASA 88 (probit and
Student-t); Polson, Scott & Windle (2013), Bayesian inference for logistic models using Pólya-Gamma latent variables,
JASA 108; Damien, Wakefield & Walker (1999), JRSS B 61 (slack); Yu & Meng (2011), JCGS 20 (interweaving).
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import special

from textbayes.core.errors import MissingExtraError, NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.kernels.gibbs_tails import truncated_excess
from textbayes.links.base import BaseLink

_MOST_DOUBLINGS, _MOST_STEPS = 60, 100
_CLOSE = 1e-10  # an error of log p that no draw would show
_LEAST_PRECISION = 1e-100  # of a Student-t response, far below what is ever drawn


class Latent(ABC):
    """What is drawn for the documents of one label."""

    normal: ClassVar[bool] = True  # whether there are normal responses

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        self.y, self._link = y, link

    @abstractmethod
    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """omega (one value where it is the same for all) and omega·(z − eta)."""

    @abstractmethod
    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """How far each y·eta may fall, ≥ 0."""

    def log_likelihood(self, eta: FloatArray) -> float:
        """log p(y | eta), given all that ``state`` keeps: what is drawn anew in each iteration is integrated out."""
        return float(self._link.log_prob(eta, self.y).sum())

    def state(self) -> dict[str, FloatArray]:
        """What must be kept to go on from here."""
        return {}

    def restore(self, arrays: dict[str, FloatArray]) -> None:  # noqa: B027  # most links have nothing to keep
        """Take up a state."""


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
    """omega ~ PG(1, eta), z = y/(2·omega): exp(½ y·eta)/(2 cosh ½eta) as a mixture of normal densities of eta."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self._draw = polya_gamma()

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        omega = self._draw(1.0, eta, random_state=rng)
        return omega, 0.5 * self.y - omega * eta

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """m − logit(u·σ(m)) = log(1 + eᵐ) + log(1 − u·σ(m)) − log u for the margin m."""
        margin, u = self.y * eta, 1.0 - rng.random(len(eta))
        out = np.logaddexp(0.0, margin) + np.log1p(-u * special.expit(margin)) - np.log(u)
        return np.maximum(out, 0.0)


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

    def log_likelihood(self, eta: FloatArray) -> float:
        """Given omega, which the next responses build on: a probit."""
        return float(special.log_ndtr(self.y * eta * np.sqrt(self.omega)).sum())

    def state(self) -> dict[str, FloatArray]:
        return {"omega": self.omega.copy()}

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self.omega = arrays["omega"].copy()


class AnyLatent(Latent):
    """Slack alone, found by solving log p(y | margin − slack) = log p(y | margin) + log u: for every other link.

    All that is asked of the link is that p(y | eta) rises with y·eta. Where it never falls as low as u (label noise),
    the document holds nothing back: its slack is infinite.
    """

    normal = False

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        raise NotSupportedError(f"link {self._link.name!r} has no normal responses; its weights are drawn within slack")

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        target = self._link.log_prob(eta, self.y) - rng.standard_exponential(len(eta))
        enough, too_little = np.ones(len(eta)), np.zeros(len(eta))
        for _ in range(_MOST_DOUBLINGS):
            short = self._after(eta, enough) > target
            if not short.any():
                break
            too_little[short] = enough[short]
            enough[short] *= 2.0
        unbounded = self._after(eta, enough) > target
        at = 0.5 * (enough + too_little)
        for _ in range(_MOST_STEPS):  # Newton's steps where they stay between what is known, halving elsewhere
            gap = self._after(eta, at) - target
            if (np.abs(gap[~unbounded]) < _CLOSE).all():
                break
            too_little, enough = np.where(gap > 0.0, at, too_little), np.where(gap > 0.0, enough, at)
            slope = self.y * self._link.score(eta - self.y * at, self.y)
            step = at + gap / np.maximum(slope, 1e-300)
            at = np.where((step > too_little) & (step < enough), step, 0.5 * (enough + too_little))
        return np.where(unbounded, np.inf, at)

    def _after(self, eta: FloatArray, slack: FloatArray) -> FloatArray:
        return self._link.log_prob(eta - self.y * slack, self.y)


def make_latent(link: BaseLink, y: FloatArray) -> Latent:
    """The latent form of a link for outcomes y ∈ {−1, +1}."""
    if link.name == "probit" or (link.name == "student_t" and np.isinf(link.params()["df"])):
        return ProbitLatent(y, link)
    if link.name == "logit":
        return LogitLatent(y, link)
    if link.name == "student_t":
        return StudentLatent(y, link)
    return AnyLatent(y, link)


def polya_gamma() -> Callable[..., Any]:
    """``random_polyagamma`` of the package of that name, imported where it is needed."""
    try:
        draw: Callable[..., Any] = importlib.import_module("polyagamma").random_polyagamma
    except ImportError:
        raise MissingExtraError("polyagamma", "gibbs", "Gibbs sampling with the logit link") from None
    return draw
