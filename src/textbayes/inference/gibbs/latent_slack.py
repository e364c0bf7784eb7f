"""Links without normal responses, whose weights are drawn within slack: the skewed Student-t, and any other.

References: Damien, Wakefield & Walker (1999), JRSS B 61 (slack); Fernández & Steel (1998), JASA 93, 359–371 (two-piece
densities).
"""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray
from textbayes.inference.gibbs.latent_base import Latent
from textbayes.kernels.gibbs.tails import two_piece_slack
from textbayes.links.base import BaseLink

_MOST_DOUBLINGS, _MOST_STEPS = 60, 100
_CLOSE = 1e-10  # an error of log p that no draw would show
_LEAST_PRECISION = 1e-100


class SkewLatent(Latent):
    """e ~ two-piece N(0, 1/omega) with skew δ, known to be below eta where y = 1 and above where y = −1.

    omega ~ Gamma(ν/2, ν/2), or 1 for ν = ∞. Seen in the direction of y, e·y is below the margin y·eta and has the skew
    δ^y: its right side is N(0, δ^2y/omega), its left side N(0, δ^−2y/omega), with masses δ^2y : 1. Given e the margin
    may fall down to it, and omega ~ Gamma((ν + 1)/2, (ν + (e/stretch)²)/2).
    """

    normal = False

    def __init__(self, y: FloatArray, link: BaseLink) -> None:
        super().__init__(y, link)
        self._degrees, self._skew, self.omega = (
            float(link.params()["df"]),
            float(link.params()["skew"]),
            np.ones(len(y)),
        )

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        out, standard = np.empty(len(eta)), np.empty(len(eta))
        sides, uniforms = rng.random((2, len(eta)))
        two_piece_slack(self.y * eta, self._skew**self.y, self.omega, sides, uniforms, out, standard)
        if np.isfinite(self._degrees):
            drawn = rng.standard_gamma(0.5 * (self._degrees + 1.0), len(eta)) / (0.5 * (self._degrees + standard**2))
            self.omega = np.maximum(drawn, _LEAST_PRECISION)
        return out

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Given omega, a two-piece normal distribution function."""
        margin, skew, root = y * eta, self._skew**y, np.sqrt(self.omega)
        left = np.log(2.0 / (1.0 + skew**2)) + special.log_ndtr(np.minimum(margin, 0.0) * skew * root)
        beyond = 2.0 * skew**2 / (1.0 + skew**2) * special.ndtr(-np.maximum(margin, 0.0) * root / skew)
        return np.where(margin <= 0.0, left, np.log1p(-beyond))

    def state(self) -> dict[str, FloatArray]:
        return {"omega": self.omega.copy()}

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self.omega = arrays["omega"].copy()


class AnyLatent(Latent):
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
