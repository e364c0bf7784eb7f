"""Label noise around any link: p(y | eta) = rate + (1 − 2·rate)·p_base(y | eta)."""

from __future__ import annotations

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.links import links, make_link
from textbayes.links.base import BaseLink, Derivatives, Expectation, Latent, Moments

_LOG_HALF = -np.log(2.0)
_LEAST_CURVATURE = 1e-300


@links.register("flip")
class Flip(BaseLink):
    """Every label was flipped with probability ``rate``, so no document is ever less likely than that.

    With b the base link and w = (1 − 2·rate)·p_b/p, the probability that a label was not drawn by coin,

    - score = w·score_b, hessian = w·hessian_b − w·(1 − w)·score_b²;
    - curvature = w·curvature_b majorises: p mixes p_b with a coin that does not depend on eta, and by Jensen's
      inequality log p(u) − log p(eta) ≥ w·[log p_b(u) − log p_b(eta)] with equal slopes at eta (EM).

    w → 0 for a document far on the wrong side: it is taken for mislabelled and pulls no more. Not log-concave.

    Parameters
    ----------
    base : str or link
        Any other link.
    rate : float in [0, ½)
        Share of flipped labels. No probability is lower, so keep it well below the share of the rarest label.

    References
    ----------
    Copas (1988), Binary regression models for contaminated data, JRSS B 50, 225–265.

    Examples
    --------
    >>> import numpy as np
    >>> Flip("probit", rate=0.1).probability(np.array([-9.0, 0.0, 9.0]))
    array([0.1, 0.5, 0.9])
    """

    name = "flip"
    parameters = ("rate", "base")
    examples = (
        {"base": "logit", "rate": 0.1},
        {"base": "probit", "rate": 1e-6},
        {"base": "student_t:df=2", "rate": 0.3},
        {"base": "skew_t:df=inf,skew=0.5", "rate": 0.01},
        {"base": "probit", "rate": 0.0},
    )

    def __init__(self, base: str | BaseLink = "logit", rate: float = 0.001) -> None:
        self.base, self.rate = make_link(base), float(rate)
        if not 0.0 <= self.rate < 0.5:
            raise InputError(f"rate={rate} is given; the share of flipped labels must be at least 0 and below 0.5")
        self.log_concave = self.base.log_concave and self.rate == 0.0
        self.em_majorises = self.base.em_majorises
        self._log_rate = np.log(self.rate) if self.rate > 0.0 else -np.inf
        self._log_unflipped = np.log1p(-2.0 * self.rate)

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._mix(self.base.log_prob(eta, y))

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        log_base = self.base.log_prob(eta, y)
        return self._unflipped(log_base, self._mix(log_base)) * self.base.score(eta, y)

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self._share(eta, y, self.base.curvature(eta, y))

    def expectation(self, eta: FloatArray, y: FloatArray) -> Expectation:
        return Expectation(self.score(eta, y), self._share(eta, y, self.base.expectation(eta, y).weight))

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return self.derivatives(eta, y).hessian

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        log_base, score, hessian = self.base.derivatives(eta, y)
        log_prob = self._mix(log_base)
        unflipped = self._unflipped(log_base, log_prob)
        coin = np.exp(self._log_rate - log_prob)
        return Derivatives(log_prob, unflipped * score, unflipped * (hessian - coin * score**2))

    def probability(self, eta: FloatArray) -> FloatArray:
        return self.rate + (1.0 - 2.0 * self.rate) * self.base.probability(eta)

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        """The mixture of the coin and the base link's own: d1 = w·d1_b, d2 = w·d2_b + w·(1 − w)·d1_b²."""
        log_base, slope, bend = self.base.moments(mean, var, y)
        log_z = self._mix(log_base)
        unflipped, coin = self._unflipped(log_base, log_z), np.exp(self._log_rate - log_z)
        return Moments(log_z, unflipped * slope, unflipped * (bend + coin * slope**2))

    @property
    def tail_index(self) -> float:
        return self.base.tail_index

    @property
    def least_probability(self) -> float:
        return self.rate

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        return FlipLatent(y, self)

    def _mix(self, log_base: FloatArray) -> FloatArray:
        """log p, from the small side: of 1 − p where p_b > ½, so that a small rate is not lost in rounding."""
        wrong = self.rate + (1.0 - 2.0 * self.rate) * -np.expm1(np.maximum(log_base, _LOG_HALF))
        return np.where(
            log_base > _LOG_HALF, np.log1p(-wrong), np.logaddexp(self._log_rate, self._log_unflipped + log_base)
        )

    def _share(self, eta: FloatArray, y: FloatArray, of_base: FloatArray) -> FloatArray:
        """Share w of a weight of the base link; where w underflows so does the score, and the step is 0, not 0/0."""
        log_base = self.base.log_prob(eta, y)
        return np.maximum(self._unflipped(log_base, self._mix(log_base)) * of_base, _LEAST_CURVATURE)

    def _unflipped(self, log_base: FloatArray, log_prob: FloatArray) -> FloatArray:
        """w = (1 − 2·rate)·p_b/p."""
        return np.exp(self._log_unflipped + log_base - log_prob)


class FlipLatent(Latent):
    """Latent outcomes before some were flipped, and then all that their own link draws for them.

    p(truth = y | y, eta) = (1 − rate)·p_base(y | eta)/p(y | eta).
    """

    def __init__(self, y: FloatArray, link: Flip) -> None:
        super().__init__(y, link)
        self._rate = link.rate
        self._base = link.base.latent(y)
        self.normal = self._base.normal

    @property
    def signs(self) -> FloatArray:
        return self._base.signs

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        self._draw_truth(eta, rng)
        return self._base.responses(eta, rng)

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        self._draw_truth(eta, rng)
        return self._base.slack(eta, rng)

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """log(rate + (1 − 2·rate)·p_base), the truth integrated out."""
        return np.log(self._rate + (1.0 - 2.0 * self._rate) * np.exp(self._base.log_prob(eta, y)))

    def _draw_truth(self, eta: FloatArray, rng: np.random.Generator) -> None:
        log_unflipped = np.log1p(-self._rate) + self._base.log_prob(eta, self.y) - self.log_prob(eta, self.y)
        unflipped = np.log(1.0 - rng.random(len(eta))) < log_unflipped
        self._base.y = np.where(unflipped, self.y, -self.y)

    def state(self) -> dict[str, FloatArray]:
        return self._base.state()

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self._base.restore(arrays)
