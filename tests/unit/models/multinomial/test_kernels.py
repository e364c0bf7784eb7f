"""The softmax kernels against plain NumPy and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp, softmax

from textbayes.kernels.multinomial import (
    curvature_times,
    rest_of,
    softmax_likelihood,
    times_classes,
    transpose_times_classes,
)

RNG = np.random.default_rng(1)
ETA = RNG.standard_normal((7, 4)) * 3.0
CODES = np.array([0, 1, 2, 3, 0, 1, 2])
WEIGHT = RNG.random(7)


def log_likelihood(eta, weight):
    return np.sum(weight * (eta[np.arange(len(CODES)), CODES] - logsumexp(eta, axis=1)))


@pytest.mark.parametrize("weight", [np.empty(0), WEIGHT])
def test_the_likelihood_and_its_probabilities_are_those_of_scipy(weight):
    proba = np.empty_like(ETA)
    total = softmax_likelihood(ETA, CODES, weight, proba)
    assert total == pytest.approx(log_likelihood(ETA, weight if len(weight) else np.ones(7)), rel=1e-13)
    np.testing.assert_allclose(proba, softmax(ETA, axis=1), rtol=1e-13)


def test_predictors_far_apart_neither_overflow_nor_lose_the_likelihood():
    eta, proba = np.array([[2000.0, 0.0, -2000.0]]), np.empty((1, 3))
    assert softmax_likelihood(eta, np.array([1]), np.empty(0), proba) == -2000.0
    np.testing.assert_array_equal(proba, [[1.0, 0.0, 0.0]])


@pytest.mark.parametrize("which", range(4))
def test_with_the_others_held_a_class_is_a_logistic_regression_with_an_offset(which):
    rest = np.empty(len(ETA))
    rest_of(ETA, which, rest)
    np.testing.assert_allclose(rest, logsumexp(np.delete(ETA, which, axis=1), axis=1), rtol=1e-13)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(rest - ETA[:, which])), softmax(ETA, axis=1)[:, which], rtol=1e-12)


@pytest.mark.parametrize("weight", [np.empty(0), WEIGHT])
def test_the_curvature_is_the_second_derivative_of_the_likelihood(weight):
    step, out, h = RNG.standard_normal(ETA.shape), np.empty_like(ETA), 1e-5
    curvature_times(softmax(ETA, axis=1), weight, step, out)
    factor = (weight if len(weight) else np.ones(7))[:, None]
    scores = [factor * (np.eye(4)[CODES] - softmax(ETA + sign * h * step, axis=1)) for sign in (1.0, -1.0)]
    np.testing.assert_allclose(out, -(scores[0] - scores[1]) / (2.0 * h), atol=1e-9)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_products_are_those_of_scipy_in_either_precision(dtype, rtol):
    X = sparse.random(30, 12, 0.3, "csc", random_state=0)
    W, V = RNG.random((12, 5)).astype(dtype), RNG.random((30, 5)).astype(dtype)
    out, back = np.empty((30, 5), dtype), np.empty((12, 5), dtype)
    times_classes(X.indptr, X.indices, X.data.astype(dtype), W, out)
    transpose_times_classes(X.indptr, X.indices, X.data.astype(dtype), V, back)
    np.testing.assert_allclose(out, X @ W, rtol=rtol)
    np.testing.assert_allclose(back, X.T @ V, rtol=rtol)
