"""Jeffreys prior: w ~ N(mean, τ) with p(τ) ∝ 1/τ, that is p(w) ∝ 1/|w − mean|."""

from __future__ import annotations

import numpy as np

from textbayes.core.protocols import LocalPenalty
from textbayes.core.types import FloatArray
from textbayes.priors import priors
from textbayes.priors.base import BasePrior

_NEAREST = 1e-150  # closer to the mean than this is at the mean; the square still is a number


@priors.register("jeffreys")
class Jeffreys(BasePrior):
    """Jeffreys prior, −log p(w) = log|w − mean| + constant: very sparse, and without a hyperparameter to choose.

    Improper and not log-concave: the density is infinite at the mean, where a weight stays once it is there, and the
    result depends on the start. Fits that are given no start begin at the mode under the Gaussian prior of the same
    ``scale``; that, and leaving a word free where it is infinite, is all that ``scale`` does here.

    Seen from w the penalty is at most |w − mean|/|w₀ − mean| + constant, and E[1/τ | w₀] = (w₀ − mean)⁻².

    References
    ----------
    Figueiredo & Jain (2001), Bayesian learning of sparse classifiers, CVPR.

    >>> import numpy as np
    >>> Jeffreys().variance(np.array([-0.5]))
    array([0.25])
    """

    name = "jeffreys"
    proper = False
    smooth = False
    log_concave = False
    pole = True

    def neg_log(self, w: FloatArray) -> FloatArray:
        distance = np.maximum(np.abs(w - self.mean), _NEAREST)
        return np.where(np.isinf(self.scale), 0.0, np.log(distance))

    def local(self, w: FloatArray) -> LocalPenalty:
        shape = np.shape(w)
        center = np.array(np.broadcast_to(self.mean, shape))
        l1 = np.where(np.isinf(self.scale), 0.0, 1.0 / np.maximum(np.abs(w - center), _NEAREST))
        return LocalPenalty(center, l1, np.zeros(shape))

    def variance(self, w: FloatArray) -> FloatArray:
        return np.where(np.isinf(self.scale), np.inf, (w - self.mean) ** 2)
