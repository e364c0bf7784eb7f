"""Student-t prior: w ~ N(mean, scale² τ) with τ inverse-gamma."""

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
from textbayes.priors.base import BasePrior, Conditional, Mixing


@priors.register("student_t")
class StudentT(BasePrior):
    """−log p(w) = ½ (ν + 1) log(1 + u²/ν) + constant, u = (w − mean)/scale: most weights small, a few very large.

    ``degrees`` ν = 1 is the Cauchy prior, ν = ∞ the Gaussian. No kink, hence no weight exactly at the mean; not
    log-concave, so the result may depend on the start. The penalty is concave in u², hence at most quadratic with
    l2 = E[1/τ | w]/scale² = (ν + 1)/(ν scale² + (w − mean)²).

    References
    ----------
    Gelman, Jakulin, Pittau & Su (2008), A weakly informative default prior distribution for logistic and other
    regression models, Annals of Applied Statistics.

    >>> import numpy as np
    >>> StudentT(scale=1.0, degrees=3.0).variance(np.array([1.0]))
    array([1.])
    """

    name = "student_t"
    fields: ClassVar[Fields] = {"degrees": Hyper(above=0.0)}
    proper = True
    smooth = True
    log_concave = False

    def __init__(
        self, scale: ArrayLike = 1.0, mean: ArrayLike = 0.0, degrees: ArrayLike = 4.0, sign: ArrayLike = 0
    ) -> None:
        super().__init__(scale, mean, sign)
        self.degrees = as_numbers(degrees, "degrees")
        if not ((self.degrees > 0.0) & np.isfinite(self.degrees)).all():
            raise InputError("degrees must be positive and finite; infinite degrees are the gaussian prior")

    def neg_log(self, w: FloatArray) -> FloatArray:
        nu, finite = self.degrees, np.where(np.isinf(self.scale), 1.0, self.scale)
        constant = special.gammaln(nu / 2.0) - special.gammaln((nu + 1.0) / 2.0) + 0.5 * np.log(nu * np.pi)
        return self.penalty(w) + np.where(np.isinf(self.scale), 0.0, constant + np.log(finite))

    def penalty(self, w: FloatArray) -> FloatArray:
        return 0.5 * (self.degrees + 1.0) * np.log1p(((w - self.mean) / self.scale) ** 2 / self.degrees)

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        center = np.array(np.broadcast_to(self.mean, shape))
        return LocalPenalty(center, np.zeros(shape), np.array(np.broadcast_to(self._precision(w), shape)))

    def conditional(self) -> Conditional:
        return Conditional(0.0, self.scale**-2.0, GammaMixing(self.degrees))

    @property
    def tail_index(self) -> float:
        return float(self.degrees.min())

    def _precision(self, w: FloatArray) -> FloatArray:
        return (self.degrees + 1.0) / (self.degrees * self.scale**2 + (w - self.mean) ** 2)


class GammaMixing(Mixing):
    """q ~ Gamma(ν/2, ν/2), hence Gamma((ν + 1)/2, (ν + square)/2) given the weight."""

    def __init__(self, degrees: FloatArray) -> None:
        self.degrees = degrees

    def draw(self, square: FloatArray, precision: FloatArray, rng: np.random.Generator) -> FloatArray:
        degrees = np.broadcast_to(self.degrees, square.shape)
        return np.clip(rng.standard_gamma(0.5 * (degrees + 1.0)) / (0.5 * (degrees + square)), 1e-150, 1e150)
