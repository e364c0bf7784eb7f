"""Elastic net prior: Laplace and Gaussian in one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from textbayes.core.array_fields import Hyper
from textbayes.core.codec import Fields
from textbayes.core.errors import InputError
from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray
from textbayes.core.validation import as_numbers
from textbayes.priors import priors
from textbayes.priors.base import BasePrior


@priors.register("elastic_net")
class ElasticNet(BasePrior):
    """Sparse like the lasso, and words that occur together share their weight as under the ridge penalty.

    −log p(w) = l1_ratio |u| + ½ (1 − l1_ratio) u² + constant with u = (w − mean)/scale: ``scale`` is the width, as in
    every prior, and ``l1_ratio`` the shape, from 0 (exactly ``gaussian``) to 1 (exactly ``laplace``). In the kernels'
    terms l1 = l1_ratio/scale and l2 = (1 − l1_ratio)/scale².

    References
    ----------
    Zou & Hastie (2005), Regularization and variable selection via the elastic net, JRSS B.
    Li & Lin (2010), The Bayesian elastic net, Bayesian Analysis.

    >>> import numpy as np
    >>> ElasticNet(scale=0.5, l1_ratio=0.75).penalty(np.array([2.0]))
    array([5.])
    """

    name = "elastic_net"
    fields: ClassVar[Fields] = {"l1_ratio": Hyper(0.0, 1.0)}
    proper = True
    smooth = False
    log_concave = True
    exact_local = True

    def __init__(
        self, scale: ArrayLike = 1.0, mean: ArrayLike = 0.0, l1_ratio: ArrayLike = 0.5, sign: ArrayLike = 0
    ) -> None:
        super().__init__(scale, mean, sign)
        self.l1_ratio = as_numbers(l1_ratio, "l1_ratio")
        if not ((self.l1_ratio >= 0.0) & (self.l1_ratio <= 1.0)).all():
            raise InputError("l1_ratio must lie between 0 (gaussian) and 1 (laplace); some values are outside or NaN")

    def neg_log(self, w: FloatArray) -> FloatArray:
        l1, l2 = self._penalties()
        distance = np.abs(w - self.mean)
        return l1 * distance + 0.5 * l2 * distance**2 + self._log_constant()

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        l1, l2 = self._penalties()
        return LocalPenalty(*(np.array(np.broadcast_to(part, shape)) for part in (self.mean, l1, l2)))

    def _penalties(self) -> tuple[FloatArray, FloatArray]:
        return self.l1_ratio / self.scale, (1.0 - self.l1_ratio) / self.scale**2

    def _log_constant(self) -> FloatArray:
        """log ∫ exp(−a|u| − ½ b u²) du·scale = log(scale √(2π/b) erfcx(a/√(2b))), which tends to log(2 scale/a)."""
        a, b = self.l1_ratio, 1.0 - self.l1_ratio
        root = np.sqrt(np.where(b > 0.0, b, 1.0))
        mixed = np.sqrt(2.0 * np.pi) / root * special.erfcx(a / (np.sqrt(2.0) * root))
        integral = np.where(b > 0.0, mixed, 2.0 / np.where(b > 0.0, 1.0, a))
        return np.where(np.isinf(self.scale), 0.0, np.log(np.where(np.isinf(self.scale), 1.0, self.scale) * integral))
