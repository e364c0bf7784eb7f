"""Student-t link: p(y | eta) = T_ν(y·eta)."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray, IntArray
from textbayes.links import links
from textbayes.links._student import ProbitLatent, normal_slack
from textbayes.links.base import Latent, PrecisionLatent
from textbayes.links.skew_t import SkewT


@links.register("student_t")
class StudentT(SkewT):
    """The cdf of the Student-t distribution (Albert & Chib 1993): robust to outliers.

    A document on the wrong side at a distance t costs −log p ≈ ν·log t, against t for ``logit`` and t²/2 for
    ``probit``; its pull on the weights, the score ≈ ν/t, fades away. ν = 1 is the Cauchit, ν = 8 close to the logit
    (eta scaled by 0.63), and ν = ∞ the probit.

    It is ``skew_t`` with skew 1, where the formulas stand: with m = y·eta, density f and r = f(m)/T(m), score = y·r and
    hessian = r·(r + (ν + 1)·m/(ν + m²)), negative for far outliers: not log-concave for finite ν. The majorising
    curvature is the sharp one, never above the weight of EM, T_{ν+2}(m·√((ν+2)/ν)) / T_ν(m) (Eyheramendy & Madigan,
    eq. 6).

    Parameters
    ----------
    df : float, at least 0.5
        Degrees of freedom ν; inf is the probit.

    References
    ----------
    Albert & Chib (1993), Bayesian analysis of binary and polychotomous response data, JASA 88, 669–679.

    Examples
    --------
    >>> import numpy as np
    >>> StudentT(df=1).probability(np.array([-1.0, 0.0, 1.0]))  # Cauchit: ½ + arctan(eta)/π
    array([0.25, 0.5 , 0.75])
    """

    name = "student_t"
    parameters = ("df",)
    examples = tuple({"df": df} for df in (1.0, 2.0, 8.0, 100.0, np.inf))

    def __init__(self, df: float = 4.0) -> None:
        super().__init__(df, skew=1.0)

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        return ProbitLatent(y, self) if np.isinf(self.df) else StudentLatent(y, self)


class StudentLatent(PrecisionLatent):
    """z ~ N(eta, 1/omega) with the sign of y, omega ~ Gamma(ν/2, ν/2) (Albert & Chib 1993)."""

    def __init__(self, y: FloatArray, link: StudentT) -> None:
        super().__init__(y, link)
        self._degrees = link.df

    def responses(self, eta: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        error = self.y * self.slack(eta, rng) - eta
        self._draw_omega(self._degrees, error**2, rng)
        return self.omega, self.omega * error

    def slack(self, eta: FloatArray, rng: np.random.Generator) -> FloatArray:
        return normal_slack(self.y * eta, self.omega**-0.5, rng)

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        """Given omega, which the next responses build on: a probit."""
        return np.asarray(special.log_ndtr(y * eta * np.sqrt(self.omega)))
