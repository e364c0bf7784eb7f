"""Laplace prior: p(w) = exp(−|w − mean|/scale) / (2 scale)."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray
from textbayes.priors import priors
from textbayes.priors.base import BasePrior


@priors.register("laplace")
class Laplace(BasePrior):
    """Laplace prior, −log p(w) = |w − mean|/scale + log(2 scale): the lasso, which sets weights to ``mean``.

    The penalty is l1 = 1/scale.

    Examples
    --------
    >>> import numpy as np
    >>> Laplace(scale=0.5).penalty(np.array([-3.0]))
    array([6.])
    """

    name = "laplace"
    proper = True
    smooth = False
    log_concave = True
    exact_local = True

    def neg_log(self, w: FloatArray) -> FloatArray:
        constant = np.where(np.isinf(self.scale), 0.0, np.log(2.0 * self.scale))
        return np.abs(w - self.mean) / self.scale + constant

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        center, l1 = np.broadcast_to(self.mean, shape), np.broadcast_to(1.0 / self.scale, shape)
        return LocalPenalty(np.array(center), np.array(l1), np.zeros(shape))
