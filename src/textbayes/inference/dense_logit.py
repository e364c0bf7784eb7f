"""Logistic regression on a few dense columns, such as what several models said: the mode by Newton's method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.kernels.linear.logit import dense_logit_loss


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
    F, y, weight = np.ascontiguousarray(F), np.ascontiguousarray(y), np.ascontiguousarray(weight)
    theta, here = start, _at(F, y, weight, start, mean, precision)
    for _ in range(20):
        step = np.linalg.solve(here.hessian, here.gradient)
        length = 1.0
        while (there := _at(F, y, weight, theta - length * step, mean, precision)).loss > here.loss and length > 1e-3:
            length *= 0.5
        if there.loss > here.loss:
            break
        theta, gain, here = theta - length * step, here.loss - there.loss, there
        if gain < 1e-6:
            break
    return theta, here.hessian


class _Place(NamedTuple):
    """−log posterior at some coefficients, and its derivatives."""

    loss: float
    gradient: FloatArray
    hessian: FloatArray


def _at(
    F: FloatArray, y: BoolArray, weight: FloatArray, theta: FloatArray, mean: FloatArray, precision: FloatArray
) -> _Place:
    gradient, hessian, off = np.empty(len(theta)), np.empty((len(theta), len(theta))), theta - mean
    loss = dense_logit_loss(F, y, weight, theta, gradient, hessian)
    return _Place(loss + 0.5 * float(precision @ off**2), gradient + precision * off, hessian + np.diag(precision))
