"""Logistic regression on a few dense columns, such as what several models said: the mode by Newton's method."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import BoolArray, FloatArray


def logit_mode(
    F: FloatArray, y: BoolArray, weight: FloatArray, start: FloatArray, mean: FloatArray, precision: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mode of the coefficients with a Gaussian prior, by Newton's method with halved steps; and the Hessian there.

    Parameters
    ----------
    F : array (n_docs, n_terms)
    y : boolean array (n_docs,)
    weight : array (n_docs,)
        How much each document counts.
    start, mean, precision : arrays (n_terms,)
        Where to begin; mean and precision of the prior.
    """
    sign = np.where(y, 1.0, -1.0)

    def loss(theta: FloatArray) -> float:
        return float(weight @ np.logaddexp(0.0, -sign * (F @ theta)) + 0.5 * precision @ (theta - mean) ** 2)

    def curvature(p: FloatArray) -> FloatArray:
        return np.asarray((F * (weight * p * (1.0 - p))[:, None]).T @ F + np.diag(precision))

    theta, value = start.copy(), loss(start)
    for _ in range(20):
        p = special.expit(F @ theta)
        gradient = F.T @ (weight * (p - y)) + precision * (theta - mean)
        step = np.linalg.solve(curvature(p), gradient)
        length = 1.0
        while (tried := loss(theta - length * step)) > value and length > 1e-3:
            length *= 0.5
        if tried > value:
            break
        theta, gain, value = theta - length * step, value - tried, tried
        if gain < 1e-6:
            break
    return theta, curvature(special.expit(F @ theta))
