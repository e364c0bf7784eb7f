"""Priors as a Gibbs sampler sees them: given a precision that may be drawn, a penalty l1·|w − mean| + ½ l2·(w − mean)².

A prior whose penalty has that form is sampled as it is. One that is a normal scale mixture, w ~ N(mean, scale²/q) with
a random precision q, says how q is drawn given the weight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from textbayes.core.types import FloatArray


class Mixing(ABC):
    """The distribution of the precisions q of a normal scale mixture, one for each word.

    Attributes
    ----------
    degrees : float or array
        ν where q ~ Gamma(ν/2, ν/2), and inf where q^(−1/2) is half-Cauchy: for these two a kernel moves q and its
        weight together, which mixes better. 0 for any other distribution, which needs ``draw`` alone.
    """

    degrees: FloatArray | float = 0.0

    @abstractmethod
    def draw(self, square: FloatArray, precision: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Precisions given the weights, or a step of a chain that keeps their distribution.

        Parameters
        ----------
        square : array (n_words,)
            ((w − mean)/scale)², so that the density is ∝ p(q)·√q·exp(−½ q·square).
        precision : array (n_words,)
            The present ones.
        rng : numpy.random.Generator
        """


class Conditional(NamedTuple):
    """The penalty given a precision q: l1·|w − mean| + ½ q·l2·(w − mean)², with q = 1 where there is no mixing.

    Parameters
    ----------
    l1, l2 : float or array (n_words,)
    mixing : Mixing, optional
        Of the precisions; of a scale mixture l1 is 0 and l2 is 1/scale².
    """

    l1: FloatArray | float
    l2: FloatArray | float
    mixing: Mixing | None = None
