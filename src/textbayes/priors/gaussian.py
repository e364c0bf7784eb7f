"""Gaussian prior: w ~ N(mean, scale²)."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray
from textbayes.priors import priors
from textbayes.priors.base import BasePrior


@priors.register("gaussian")
class Gaussian(BasePrior):
    """Gaussian prior, −log p(w) = ½ ((w − mean)/scale)² + log(scale √2π): the ridge penalty with l2 = 1/scale².

    >>> import numpy as np
    >>> Gaussian(scale=2.0).penalty(np.array([4.0]))
    array([2.])
    """

    name = "gaussian"
    proper = True
    smooth = True
    log_concave = True
    exact_local = True

    def neg_log(self, w: FloatArray) -> FloatArray:
        constant = np.where(np.isinf(self.scale), 0.0, np.log(self.scale * np.sqrt(2.0 * np.pi)))
        return 0.5 * ((w - self.mean) / self.scale) ** 2 + constant

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        center, l2 = np.broadcast_to(self.mean, shape), np.broadcast_to(1.0 / self.scale**2, shape)
        return LocalPenalty(np.array(center), np.zeros(shape), np.array(l2))
