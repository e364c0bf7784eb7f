"""Probit link: p(y | eta) = Φ(y·eta)."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray, IntArray
from textbayes.links import links
from textbayes.links._quadrature import check_moments
from textbayes.links._student import ProbitLatent, compiled_likelihood, inverse_mills, mills_hessian
from textbayes.links.base import BaseLink, Derivatives, Latent, Likelihood, Moments

multinomial_kernels = LazyModule("textbayes.kernels.multinomial")


@links.register("probit")
class Probit(BaseLink):
    """The normal-cdf link of Albert & Chib (1993); its curvature is at most 1, so EM uses omega = 1.

    With m = y·eta and r = φ(m)/Φ(m): score = y·r, hessian = r·(r + m), both exact for |eta| up to 1e4 and beyond.

    >>> import numpy as np
    >>> float(Probit().probability(np.array([0.0]))[0])
    0.5
    """

    name = "probit"
    log_concave = True

    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return special.log_ndtr(y * eta)

    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return y * inverse_mills(y * eta)

    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        return np.ones_like(eta)

    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray:
        m = y * eta
        return mills_hessian(m, inverse_mills(m))

    def class_probability(self, eta: FloatArray) -> FloatArray:
        """Multinomial probit with independent standard normal noise (Albert & Chib 1993, section 4)."""
        rows = np.ascontiguousarray(eta, dtype=np.float64).reshape(-1, eta.shape[-1])
        out = np.empty_like(rows)
        multinomial_kernels.highest_of_normals(rows, out)
        return out.reshape(eta.shape)

    def derivatives(self, eta: FloatArray, y: FloatArray) -> Derivatives:
        m = y * eta
        ratio = inverse_mills(m)
        return Derivatives(special.log_ndtr(m), y * ratio, mills_hessian(m, ratio))

    def likelihood(self, eta: FloatArray, y: FloatArray, weight: FloatArray | None) -> Likelihood:
        compiled = compiled_likelihood(np.inf, 1.0, eta, y, weight)
        return super().likelihood(eta, y, weight) if compiled is None else compiled

    def probability(self, eta: FloatArray) -> FloatArray:
        return special.ndtr(eta)

    def moments(self, mean: FloatArray, var: FloatArray, y: FloatArray) -> Moments:
        """The probit of mean/√(1 + var): a Gaussian predictor and Gaussian noise add up."""
        mean, var, y = np.broadcast_arrays(mean, var, y)
        check_moments(mean, var)
        spread = np.sqrt(1.0 + var)
        log_z, slope, bend = self.derivatives(np.atleast_1d(mean / spread), np.atleast_1d(y))
        log_z, slope, bend = (part.reshape(mean.shape) for part in (log_z, slope, bend))
        return Moments(log_z, slope / spread, -bend / (1.0 + var))

    def latent(self, y: FloatArray, counts: IntArray | None = None) -> Latent:
        return ProbitLatent(y, self)
