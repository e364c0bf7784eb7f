"""Several linear models of one link, pooled into one: eta = Σ_m weight_m · eta_m.

A log-linear pool averages the members' errors. Its weights maximise the likelihood of texts that the members did not
see, under a weak prior that they share one unit equally, so the pool is calibrated as well: a single over-confident
member gets a weight below 1.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray
from textbayes.linear import one_of_many
from textbayes.links.base import BaseLink

_PRIOR_SD = 2.0


def probabilities(eta: FloatArray, link: BaseLink, space: LabelSpace) -> FloatArray:
    """Probability of every column; those of one-of-many classes add up to one."""
    return one_of_many(eta, link) if space.kind == "multiclass" else link.probability(eta)


def pooled_probabilities(eta: FloatArray, pool: FloatArray, link: BaseLink, space: LabelSpace) -> FloatArray:
    """Probabilities of the pool of members' predictors ``eta`` (n_members, n_docs, n_columns)."""
    return probabilities(np.tensordot(pool, eta, axes=1), link, space)


def fit_pool(
    eta: FloatArray, indicator: BoolArray, link: BaseLink, space: LabelSpace, learnable: BoolArray | None = None
) -> FloatArray:
    """Non-negative weights of the members that fit held-out labels best, under w ~ N(1/n_members, 2²).

    Only entries that are ``learnable`` (n_docs, n_columns) count; where there are none, members share equally.
    """
    n_members = len(eta)
    equal = np.full(n_members, 1.0 / n_members)
    use = np.ones(indicator.shape, dtype=np.bool_) if learnable is None else learnable
    right = indicator & use
    if not (right.any() and (use & ~indicator).any()):
        return equal

    def negative_log_posterior(pool: FloatArray) -> float:
        strain = 0.5 * float((((pool - equal) / _PRIOR_SD) ** 2).sum())
        return pool_loss(eta, pool, indicator, link, space, use) + strain

    bounds = [(0.0, 10.0)] * n_members
    found = optimize.minimize(negative_log_posterior, equal, bounds=bounds, method="L-BFGS-B")
    return np.asarray(found.x if found.fun <= negative_log_posterior(equal) else equal)


def pool_loss(
    eta: FloatArray, pool: FloatArray, indicator: BoolArray, link: BaseLink, space: LabelSpace, learnable: BoolArray
) -> float:
    """−Σ log p of the labels by a pool of members' predictors, over the entries that are ``learnable``."""
    proba = np.clip(pooled_probabilities(eta, pool, link, space), 1e-300, 1.0)
    if space.kind == "multiclass":
        return float(-np.log(proba[indicator & learnable]).sum())
    return float(-np.log(np.where(indicator, proba, np.maximum(1.0 - proba, 1e-300))[learnable]).sum())
