"""Logistic regression on a few dense columns, against finite differences and a general minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from textbayes.inference.newton import logit_mode
from textbayes.kernels.linear.likelihoods import dense_logit_loss

N_DOCS, N_TERMS = 80, 3


def documents(spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    F = np.column_stack([np.ones(N_DOCS), rng.normal(0.0, spread, size=(N_DOCS, N_TERMS - 1))])
    y = rng.random(N_DOCS) < special.expit(F @ np.array([-1.0, 1.0, 0.5]) / spread)
    return F, y, rng.uniform(0.5, 3.0, size=N_DOCS)


def loss(theta, F, y, weight):
    return weight @ -special.log_expit(np.where(y, 1.0, -1.0) * (F @ theta))


def derivatives(theta, F, y, weight):
    gradient, hessian = np.empty(N_TERMS), np.empty((N_TERMS, N_TERMS))
    found = dense_logit_loss(F, y, weight, theta, gradient, hessian)
    return found, gradient, hessian


@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_the_loss_and_its_derivatives(spread):
    given, theta = documents(spread), np.array([0.3, -0.7, 0.4])
    found, gradient, hessian = derivatives(theta, *given)
    assert found == pytest.approx(loss(theta, *given), rel=1e-12)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(gradient, optimize.approx_fprime(theta, loss, 1e-7, *given), atol=1e-4 * scale)
    step = 1e-5 / spread
    columns = [
        (derivatives(theta + step * e, *given)[1] - derivatives(theta - step * e, *given)[1]) / (2.0 * step)
        for e in np.eye(N_TERMS)
    ]
    np.testing.assert_allclose(hessian, np.array(columns), atol=1e-4 * np.abs(hessian).max())


def test_the_mode_is_that_of_a_general_minimiser_and_the_hessian_is_taken_there():
    given = documents(1.0)
    mean, precision = np.array([0.0, 1.0, 0.0]), np.array([0.1, 2.0, 5.0])

    def posterior(theta):
        return loss(theta, *given) + 0.5 * precision @ (theta - mean) ** 2

    best = optimize.minimize(posterior, np.zeros(N_TERMS), method="BFGS", options={"gtol": 1e-9}).x
    found, hessian = logit_mode(*given, np.zeros(N_TERMS), mean, precision)
    np.testing.assert_allclose(found, best, atol=1e-4)
    np.testing.assert_allclose(hessian, derivatives(found, *given)[2] + np.diag(precision), rtol=1e-12)


def test_a_start_far_away_is_no_obstacle():
    given = documents(1.0)
    prior = np.zeros(N_TERMS), np.full(N_TERMS, 0.1)
    near, _ = logit_mode(*given, np.zeros(N_TERMS), *prior)
    far, _ = logit_mode(*given, np.full(N_TERMS, 30.0), *prior)
    np.testing.assert_allclose(far, near, atol=1e-3)
