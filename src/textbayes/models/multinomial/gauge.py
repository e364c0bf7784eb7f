"""One of the many weight vectors that mean the same: what a softmax leaves open, and how it is settled.

Adding the same number to a word's weights in all classes changes no probability. A prior with curvature decides which
of these vectors is the mode; the others leave a choice, which must not depend on the path that a solver took:

- a free word or intercept (infinite scale in all classes): its weights add up to 0;
- a Laplace prior: the penalty Σ_c |w_c + t − m_c|/s_c is least at a weighted median of m_c − w_c, and where that is an
  interval (as many classes above the mean as below), at its middle.

For two classes both make the weights opposite numbers, so that each is half of the log-odds' weight.
"""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray
from textbayes.inference.base import Posterior, Problem
from textbayes.priors.base import BasePrior


def centred(problem: Problem, posterior: Posterior) -> Posterior:
    """The mode of the same probabilities and the same prior density that depends on nothing but the problem."""
    weights, intercept = posterior.mean, posterior.intercept
    weights = weights + shifts(problem.prior, weights)
    if problem.intercept_prior is not None:
        intercept = intercept + shifts(problem.intercept_prior, intercept[:, None])[0]
    return posterior._replace(mean=weights, intercept=intercept)


def shifts(prior: BasePrior, weights: FloatArray) -> FloatArray:
    """Shift to add to the weights (n_classes, n_words) of each word, 0 where the prior has a mode of its own."""
    moved = np.zeros(weights.shape[1])
    signed = np.broadcast_to(prior.sign != 0.0, weights.shape).any(axis=0)
    free = np.broadcast_to(np.isinf(prior.scale), weights.shape).all(axis=0) & ~signed
    moved[free] = -weights[:, free].mean(axis=0)
    if prior.exact_local:
        center, l1, l2 = prior.local(weights)
        open_ = ~free & ~signed & ~(l2 > 0.0).any(axis=0) & (weights != center).any(axis=0)
        moved[open_] = median_shifts((weights - center)[:, open_], l1[:, open_])
    return moved


def median_shifts(offsets: FloatArray, l1: FloatArray) -> FloatArray:
    """The middle of where Σ_c l1_c |offset_c + t| is least, for each column.

    >>> 0.0 + median_shifts(np.array([[3.0, 3.0], [0.0, 0.0], [0.0, -1.0], [0.0, -1.0]]), np.ones((4, 2)))
    array([0. , 0.5])
    """
    order = np.argsort(-offsets, axis=0)
    breaks = np.take_along_axis(-offsets, order, axis=0)
    below = np.cumsum(np.take_along_axis(l1, order, axis=0), axis=0)
    half = 0.5 * below[-1]
    rounding = 1e-9 * half
    first = (below >= half - rounding).argmax(axis=0)
    last = (below > half + rounding).argmax(axis=0)
    columns = np.arange(offsets.shape[1])
    middle: FloatArray = 0.5 * (breaks[first, columns] + breaks[last, columns])
    return middle
