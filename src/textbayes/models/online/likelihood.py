"""How an outcome depends on the linear predictor, and what that says of a Gaussian over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray
from textbayes.links import make_link
from textbayes.links.base import BaseLink, Moments
from textbayes.links.flip import Flip
from textbayes.links.probit import Probit

_LOG_HALF = -np.log(2.0)
_BEYOND_DOUBT = 40.0  # a predictor whose probit is 0 or 1 to the last bit


class ClosedForm(NamedTuple):
    """A probit of some noise whose labels are flipped at some rate: its moments are known in closed form."""

    noise_variance: float
    flip_rate: float


@dataclass(frozen=True)
class OnlineLikelihood:
    """p(y | x, w) = link(y | x'w / noise), y ∈ {−1, +1}.

    ``noise`` is σ0 of the online paper. A posterior for (noise, prior variance v) is that for (1, v/noise²) with all
    weights divided by ``noise``; it is separate so that the paper's numbers can be written as printed. A probit,
    plain or with flipped labels, may have ``noise=0``: the hard threshold.

    Parameters
    ----------
    link : str or link
        Any link. ``probit`` and ``flip:…,base=probit`` run compiled; for others each document asks the link's
        ``moments``.
    noise : float
        The scale on which the link sees x'w.

    References
    ----------
    Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering, SIGIR, § 3.1 and 4.2.

    Examples
    --------
    >>> OnlineLikelihood("probit", noise=3.0).predictive(np.array([0.0, 5.0]), 16.0).round(3)  # Φ(0) and Φ(1)
    array([0.5  , 0.841])
    """

    link: BaseLink
    noise: float = 1.0

    def __init__(self, link: str | BaseLink = "probit", noise: float = 1.0) -> None:
        object.__setattr__(self, "link", make_link(link))
        if self.link.for_label(0) is not self.link:
            raise InputError(f"link {self.link.spec!r} is of several labels; an online model has one link: name one")
        object.__setattr__(self, "noise", float(noise))
        if not 0.0 <= self.noise < np.inf:
            raise InputError(f"noise={noise!r} is not usable; pass a finite number that is not negative")
        if self.noise == 0.0 and self.closed_form is None:
            raise InputError(
                f"noise=0 is a hard threshold, which needs a probit link; {self.link.spec!r} needs more noise"
            )

    @property
    def closed_form(self) -> ClosedForm | None:
        """Numbers of the compiled updates where they apply, else None."""
        if isinstance(self.link, Probit):
            return ClosedForm(self.noise**2, 0.0)
        if isinstance(self.link, Flip) and isinstance(self.link.base, Probit):
            return ClosedForm(self.noise**2, self.link.rate)
        return None

    def moments(self, mean: FloatArray, var: FloatArray | float, y: FloatArray) -> Moments:
        """ln Z, Z = ∫ p(y | u/noise) N(u; mean, var) du, and its two derivatives in ``mean``.

        Learning y moves u to mean + var·d1 and its variance to var + var²·d2.
        """
        mean, var, y = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (mean, var, y)))
        if mean.ndim == 0:  # links work on arrays
            return Moments(*(part[0] for part in self.moments(mean[None], var[None], y[None])))
        if self.closed_form is None:
            log_z, d1, d2 = self.link.moments(mean / self.noise, var / self.noise**2, y)
            return Moments(log_z, d1 / self.noise, d2 / self.noise**2)
        # A Gaussian predictor and Gaussian noise add up: the same link on a wider scale.
        spread = np.sqrt(self.noise**2 + var)
        silent = spread == 0.0  # a document without words at a hard threshold
        spread = np.where(silent, 1.0, spread)
        log_z, score, hessian = self.link.derivatives(mean / spread, y)
        return Moments(
            np.where(silent, _LOG_HALF, log_z),
            np.where(silent, 0.0, score / spread),
            np.where(silent, 0.0, -hessian / spread**2),
        )

    def log_probabilities(self, mean: FloatArray, var: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """ln p(y = +1) and ln p(y = −1), averaged over a predictor N(mean, var), or of one known to be ``mean``."""
        return self.log_probability(mean, var, 1.0), self.log_probability(mean, var, -1.0)

    def log_probability(self, mean: FloatArray, var: FloatArray | None, y: float = 1.0) -> FloatArray:
        """ln p(y), averaged over a predictor N(mean, var), or of one known to be ``mean``.

        Parameters
        ----------
        mean : array
        var : array like it, or None
            None for a predictor that is known (plug-in); at a hard threshold one of 0 says nothing.
        y : float
            +1 or −1.
        """
        if var is not None and self.closed_form is None:
            return self.moments(mean, var, np.full_like(mean, y)).log_z
        return self.link.log_prob(self._on_link_scale(mean, var), np.array(y))

    def _on_link_scale(self, mean: FloatArray, var: FloatArray | None) -> FloatArray:
        """What a link sees of a predictor: noise and, of a closed form, variance add up."""
        if var is None:
            return mean / self.noise if self.noise else _BEYOND_DOUBT * np.sign(mean)
        if self.noise:
            return mean / np.sqrt(self.noise**2 + var)
        return np.divide(mean, np.sqrt(var), out=np.zeros_like(mean), where=var > 0.0)  # no words, no opinion

    def predictive(self, mean: FloatArray, var: FloatArray | float) -> FloatArray:
        """p(y = +1) of a predictor N(mean, var)."""
        mean, var = np.broadcast_arrays(np.asarray(mean, dtype=np.float64), var)
        return np.exp(self.log_probability(mean, var))


# The three likelihoods of the online paper (§ 3.1, Table 6, § 4.2).
PAPER_PROBIT = OnlineLikelihood("probit", noise=0.5)
PAPER_LOGIT = OnlineLikelihood("probit", noise=1.6474)
PAPER_FLIP = OnlineLikelihood(Flip("probit", rate=0.1), noise=0.0)


def make_likelihood(likelihood: str | BaseLink | OnlineLikelihood) -> OnlineLikelihood:
    """A likelihood as it is, or a link's name or a link with noise 1."""
    return likelihood if isinstance(likelihood, OnlineLikelihood) else OnlineLikelihood(likelihood)
