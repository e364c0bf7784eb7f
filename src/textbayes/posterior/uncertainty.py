"""Two parts of the uncertainty of a yes-or-no answer: what more texts could tell, and what no number of them will."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray

_REACH = 8.5  # standard deviations of the predictor on either side; beyond lies less than 1e-16
_STEP = 0.35  # of the predictor: the trapezoidal rule is then exact to ten digits, see ``gaussian_uncertainty``
_LEAST_NODES, _MOST_NODES = 101, 20_001
_AT_ONCE = 4_000_000


class Uncertainty(NamedTuple):
    """Entropy in bits of each label's yes or no, by a posterior of the weights; arrays (n_docs, n_columns).

    ``total`` is the entropy of the averaged probability, ``aleatoric`` the average of the entropies: what is left if
    the weights were known. Their difference ``epistemic`` is the mutual information of label and weights: what is
    unknown for want of training texts.

    References
    ----------
    Depeweg, Hernández-Lobato, Doshi-Velez & Udluft (2018), Decomposition of uncertainty in Bayesian deep learning,
    ICML. Houlsby, Huszár, Ghahramani & Lengyel (2011), Bayesian active learning for classification, arXiv:1112.5745.
    """

    total: FloatArray
    aleatoric: FloatArray

    @property
    def epistemic(self) -> FloatArray:
        """Mutual information of label and weights, in bits; never negative."""
        return np.maximum(self.total - self.aleatoric, 0.0)


def entropy_bits(proba: FloatArray) -> FloatArray:
    """Entropy of yes or no, in bits.

    >>> entropy_bits(np.array([0.5, 0.0, 0.11])).round(3)
    array([1. , 0. , 0.5])
    """
    return np.asarray((special.entr(proba) + special.entr(1.0 - proba)) / np.log(2.0))


def gaussian_uncertainty(
    mean: FloatArray, var: FloatArray, probability: Callable[[FloatArray], FloatArray], averaged: FloatArray
) -> Uncertainty:
    """The parts where predictors are N(mean, var): ∫ H(p(u)) N(u) du beside the entropy of the averaged probability.

    The integral is a sum over equally spaced predictors. For a link that is analytic within ±h of the real line the
    error falls as exp(−2πh/step): h is π for the logit.

    Parameters
    ----------
    mean, var : arrays (n_docs, n_columns)
    probability : function
        p(y = 1) at predictors of shape (…, n_columns).
    averaged : array (n_docs, n_columns)
        ∫ p(u) N(u) du.

    Examples
    --------
    >>> mean, var = np.zeros((1, 2)), np.array([[0.0, 25.0]])  # by symmetry ½ on average
    >>> told = gaussian_uncertainty(mean, var, special.expit, np.full((1, 2), 0.5))
    >>> told.total.round(2).tolist(), told.aleatoric.round(2).tolist()
    ([[1.0, 1.0]], [[1.0, 0.35]])
    """
    sd = np.sqrt(np.maximum(var, 0.0))
    nodes = int(np.clip(2.0 * _REACH * sd.max(initial=0.0) / _STEP, _LEAST_NODES, _MOST_NODES))
    z = np.linspace(-_REACH, _REACH, nodes)
    weight = np.exp(-0.5 * z**2)
    weight /= weight.sum()
    aleatoric = np.empty_like(mean)
    at_once = max(1, _AT_ONCE // (nodes * max(mean.shape[1], 1)))
    for first in range(0, len(mean), at_once):
        rows = slice(first, first + at_once)
        at = mean[rows, None] + sd[rows, None] * z[:, None]
        aleatoric[rows] = np.einsum("j,ijk->ik", weight, entropy_bits(probability(at)))
    return Uncertainty(entropy_bits(averaged), aleatoric)
