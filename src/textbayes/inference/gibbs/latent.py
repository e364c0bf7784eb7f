"""Links as a Gibbs sampler sees them: what is drawn for each document so that the weights become easy to draw.

Each link offers two complementary ways, which the sampler alternates (interweaving):

``responses``  normal responses z ~ N(eta, 1/omega), given which the weights are those of a linear regression;
``slack``      how far y·eta may fall before an outcome that is drawn along with it would no longer be y: with u uniform
               on (0, p(y | eta)), the weights are those of the prior where p(y_i | eta_i) ≥ u_i for all documents.

The first moves weights well where documents say much, the second where they say little, as when classes are separable.
A link without normal responses has the second alone, which is a sampler too.

References: Damien, Wakefield & Walker (1999), JRSS B 61 (slack); Yu & Meng (2011), JCGS 20 (interweaving); see
``latent_normal.py`` and ``latent_slack.py`` for those of the links.
"""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.inference.gibbs.latent_base import Latent
from textbayes.inference.gibbs.latent_normal import LogitLatent, ProbitLatent, StudentLatent
from textbayes.inference.gibbs.latent_slack import AnyLatent, SkewLatent
from textbayes.links.base import BaseLink
from textbayes.links.flip import Flip


class FlipLatent(Latent):
    """What the outcomes were before some were flipped, and then all that their own link draws for them.

    p(truth = y | y, eta) = (1 − rate)·p_base(y | eta)/p(y | eta).
    """

    def __init__(self, y: FloatArray, link: Flip) -> None:
        super().__init__(y, link)
        self._rate = link.rate
        self._base = make_latent(link.base, y)
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
        log_kept = np.log1p(-self._rate) + self._base.log_prob(eta, self.y) - self.log_prob(eta, self.y)
        kept = np.log(1.0 - rng.random(len(eta))) < log_kept
        self._base.y = np.where(kept, self.y, -self.y)

    def state(self) -> dict[str, FloatArray]:
        return self._base.state()

    def restore(self, arrays: dict[str, FloatArray]) -> None:
        self._base.restore(arrays)


def takes_counts(link: BaseLink) -> bool:
    """Whether there is one draw for a document that counts several times; of other links it is repeated."""
    return link.name == "logit"


def make_latent(link: BaseLink, y: FloatArray, counts: IntArray | None = None) -> Latent:
    """The latent form of a link for outcomes y ∈ {−1, +1}, which count so many times where the link takes counts."""
    if isinstance(link, Flip):
        return FlipLatent(y, link)
    if link.name == "probit" or (link.name == "student_t" and np.isinf(link.params()["df"])):
        return ProbitLatent(y, link)
    if link.name == "logit":
        return LogitLatent(y, link, counts)
    if link.name == "student_t":
        return StudentLatent(y, link)
    return SkewLatent(y, link) if link.name == "skew_t" else AnyLatent(y, link)
