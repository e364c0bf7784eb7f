"""Latent variables of the documents, given which a Gibbs sampler can draw the weights.

Each link offers two complementary ways, which the sampler alternates (interweaving):

``responses``  normal responses z ~ N(eta, 1/omega), given which the weights are those of a linear regression;
``slack``      how far y·eta may fall before an outcome that is drawn along with it would no longer be y: with u uniform
               on (0, p(y | eta)), the weights are those of the prior where p(y_i | eta_i) ≥ u_i for all documents.

The first moves weights well where documents say much, the second where they say little, as when classes are separable.
A link without normal responses has the second alone, which is a sampler too; ``SolvedSlack`` finds it for any link.

References: Damien, Wakefield & Walker (1999), JRSS B 61 (slack); Yu & Meng (2011), JCGS 20 (interweaving); the files of
the links name those of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray

if TYPE_CHECKING:
    from textbayes.links.base import BaseLink

LEAST_PRECISION = 1e-100  # of a Student-t response, far below what is ever drawn
_MOST_DOUBLINGS, _MOST_STEPS = 60, 100
_CLOSE = 1e-10  # an error of log p that no draw would show


class Latent(ABC):
    """The latent variables of one label's documents.

    Attributes
    ----------
    normal : bool
        Whether there are normal responses.
    y : array (n_docs,)
        Outcomes, −1 or +1; may be replaced.
    """

    normal: bool = True

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        self.y, self._link = y, link

    @property
    def signs(self) -> FloatArray:
        """The outcomes that the last responses or slack were drawn for: ``y``, unless the link doubts it."""
        return self.y

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """omega (one value where it is the same for all) and omega·(z − eta)."""
        raise NotSupportedError(f"link {self._link.name!r} has no normal responses; its weights are drawn within slack")

    @abstractmethod
    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Distance that each sign·eta may fall, ≥ 0."""

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """log p(y | eta), given all that ``state`` keeps: what is drawn anew in each iteration is integrated out."""
        return self._link.log_prob(eta, y)

    def log_likelihood(self, eta: FloatArray) -> float:
        """The same of all documents together."""
        return float(self.log_prob(eta, self.y).sum())

    def outcomes(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        """New outcomes given predictors and all that ``state`` keeps, as joint tests of the sampler need them."""
        return np.where(np.log(rng.random(len(eta))) < self.log_prob(eta, np.ones(len(eta))), 1.0, -1.0)

    def state(self) -> dict[str, FloatArray]:
        """Arrays that are needed to go on from here."""
        return {}

    def restore(self, arrays: dict[str, FloatArray]) -> None:  # noqa: B027  # most links have nothing to keep
        """Take up a state."""


class SolvedSlack(Latent):
    """Slack found by solving log p(y | margin − slack) = log p(y | margin) + log u.

    For a link that nothing else is known of; all that is asked is that p(y | eta) rises with y·eta. Where it never
    falls as low as u, the document holds nothing back: its slack is infinite.
    """

    normal = False

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


class PrecisionLatent(Latent):
    """A latent normal variable with a precision omega of its own for every document, stored between draws."""

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self.omega = np.ones(len(y))

    def _draw_omega(self, degrees: float, square: FloatArray, rng: np.random.Generator) -> None:
        """omega ~ Gamma((ν + 1)/2, (ν + square)/2): a Student-t variable is a normal one of such a precision."""
        drawn = rng.standard_gamma(0.5 * (degrees + 1.0), len(square)) / (0.5 * (degrees + square))
        self.omega = np.maximum(drawn, LEAST_PRECISION)

    def state(self) -> dict[str, FloatArray]:
        return {"omega": self.omega.copy()}

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self.omega = arrays["omega"].copy()
