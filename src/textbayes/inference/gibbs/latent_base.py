"""What every link offers a Gibbs sampler: draws for each document that make the weights easy to draw."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from textbayes.core.errors import NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.links.base import BaseLink


class Latent(ABC):
    """What is drawn for the documents of one label.

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
        """How far each sign·eta may fall, ≥ 0."""

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
        """What must be kept to go on from here."""
        return {}

    def restore(self, arrays: dict[str, FloatArray]) -> None:  # noqa: B027  # most links have nothing to keep
        """Take up a state."""
