"""Special functions against scipy's, and streams of random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from textbayes.kernels.counts import special as kernel

POINTS = np.concatenate([np.geomspace(1e-6, 1e8, 120), np.linspace(0.1, 20.0, 67)])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (kernel.log_gamma, special.gammaln),
        (kernel.digamma, special.digamma),
        (kernel.trigamma, lambda x: special.polygamma(1, x)),
    ],
    ids=["log_gamma", "digamma", "trigamma"],
)
def test_special_functions(ours, theirs):
    found, expected = np.array([ours(x) for x in POINTS]), theirs(POINTS)
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=2e-13)


def test_newton_step_solves_the_damped_system():
    rng = np.random.default_rng(0)
    square = rng.standard_normal((5, 5))
    hessian, gradient = -(square @ square.T) - np.eye(5), rng.standard_normal(5)
    lower, step = np.zeros((5, 5)), np.empty(5)
    assert kernel.factor(hessian, 0.3, lower)
    decrement = kernel.solve(lower, gradient, step)
    damped = -hessian + 0.3 * np.diag(np.abs(np.diag(hessian)) + 1e-8)
    np.testing.assert_allclose(step, np.linalg.solve(damped, gradient), rtol=1e-12)
    assert decrement == pytest.approx(gradient @ step)


def test_a_hessian_of_no_maximum_has_no_factor():
    assert not kernel.factor(np.diag([-1.0, 1.0]), 0.0, np.zeros((2, 2)))


def drawn(function, state, n):
    values = np.empty(n)
    for i in range(n):
        values[i], state = function(np.uint64(state))  # a plain integer would be taken for a signed one
    return values


def test_streams_are_uniform_normal_and_unrelated():
    state = kernel.stream(7, 0, 3)
    uniforms, normals = drawn(kernel.uniform, state, 20_000), drawn(kernel.normal, state, 20_000)
    assert uniforms.min() > 0.0
    assert uniforms.max() < 1.0
    assert stats.kstest(uniforms, "uniform").pvalue > 1e-3
    assert stats.kstest(normals, "norm").pvalue > 1e-3
    for other in (kernel.stream(7, 0, 4), kernel.stream(7, 1, 3), kernel.stream(8, 0, 3)):
        assert abs(np.corrcoef(uniforms, drawn(kernel.uniform, other, 20_000))[0, 1]) < 0.03
