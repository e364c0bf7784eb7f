"""The likelihood of classes that are powers of their own, against its definition and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special

from textbayes.kernels.linear.likelihoods import class_power_likelihood

N_MEMBERS, N_CLASSES = 3, 5


def documents(spread: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    scores = rng.normal(-1.0, spread, size=(N_MEMBERS, 60, N_CLASSES)).astype(np.float32)
    return scores, rng.integers(N_CLASSES, size=60), rng.uniform(0.5, 2.0, size=60)


def by_definition(theta, scores, codes, weight):
    share, bias, c = theta[:N_MEMBERS], theta[N_MEMBERS:-1], np.exp(theta[-1])
    log_odds = np.tensordot(share, scores.astype(np.float64), axes=1) + bias
    log_p = special.log_softmax(c * special.log_expit(log_odds / c), axis=1)
    return weight @ log_p[np.arange(len(codes)), codes]


@pytest.mark.parametrize("log_sharpness", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("spread", [1.0, 200.0])
def test_the_likelihood_and_its_gradient(log_sharpness, spread):
    given = documents(spread)
    theta = np.append(np.random.default_rng(5).normal(0.4, 0.3, size=N_MEMBERS + N_CLASSES), log_sharpness)
    gradient = np.empty(len(theta))
    found = class_power_likelihood(*given, theta[:N_MEMBERS], theta[N_MEMBERS:-1], np.exp(log_sharpness), gradient)
    assert found == pytest.approx(by_definition(theta, *given), rel=1e-12)
    by_difference = optimize.approx_fprime(theta, by_definition, 1e-6, *given)
    np.testing.assert_allclose(gradient, by_difference, rtol=1e-3, atol=1e-3 * np.abs(by_difference).max())
