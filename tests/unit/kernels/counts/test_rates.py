"""The Dirichlet–Poisson log-posterior: against scipy's densities, finite differences and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, special, stats

from textbayes.kernels.counts import rates as kernel

CASES = [(2, 2.0, 1.0), (3, 0.4, 0.0), (5, 10.0, 300.0), (4, 1.5, 20.0)]
IDS = [f"{n}classes-beta{one:g}-{two:g}" for n, one, two in CASES]


def problem(n_classes, seed=0):
    rng = np.random.default_rng(seed)
    exposure = rng.uniform(1.0, 80.0, n_classes)
    counts = rng.poisson(exposure * rng.gamma(1.0, 1.0, n_classes)).astype(float)
    shares = rng.uniform(0.5, 1.5, n_classes)
    return counts, exposure, shares * n_classes / shares.sum(), rng


def by_scipy(counts, exposure, log_rates, shares, one, two, j):
    """Poisson likelihood (without Σ N ln T − ln N!), Dirichlet density, and the Jacobian σ Πτ for j = 1."""
    rates = np.exp(log_rates)
    sigma = rates.sum()
    value = stats.poisson.logpmf(counts, exposure * rates).sum()
    value -= (special.xlogy(counts, exposure) - special.gammaln(counts + 1.0)).sum()
    value += stats.dirichlet.logpdf(rates / sigma, shares * (one + two * sigma))
    return value + j * (np.log(sigma) + np.log(rates / sigma).sum())


@pytest.mark.parametrize("j", [0.0, 1.0])
@pytest.mark.parametrize(("n_classes", "one", "two"), CASES, ids=IDS)
def test_value_is_the_log_posterior(n_classes, one, two, j):
    counts, exposure, shares, rng = problem(n_classes)
    for _ in range(5):
        point = rng.normal(0.0, 1.0, n_classes)
        found = kernel.rate_value(counts, exposure, point, shares, one, two, j)
        assert found == pytest.approx(by_scipy(counts, exposure, point, shares, one, two, j), rel=1e-10)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("j", [0.0, 1.0])
@pytest.mark.parametrize(("n_classes", "one", "two"), CASES, ids=IDS)
def test_derivatives_by_finite_differences(n_classes, one, two, j, symmetric):
    counts, exposure, shares, rng = problem(n_classes, 1)
    shares = np.ones(n_classes) if symmetric else shares
    point = rng.normal(0.0, 0.7, n_classes)
    gradient, hessian = np.empty(n_classes), np.empty((n_classes, n_classes))

    def slope(at):
        kernel.rate_derivatives(counts, exposure, at, shares, one, two, j, gradient, hessian)
        return gradient.copy()

    expected = optimize.approx_fprime(
        point, lambda at: kernel.rate_value(counts, exposure, at, shares, one, two, j), 1e-6
    )
    np.testing.assert_allclose(slope(point), expected, rtol=1e-4, atol=1e-2)
    bend = hessian.copy()
    step = 1e-5 * np.eye(n_classes)
    differences = np.array([(slope(point + e) - slope(point - e)) / 2e-5 for e in step])
    np.testing.assert_allclose(bend, differences, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(bend, bend.T)


@pytest.mark.parametrize(("n_classes", "one", "two"), CASES, ids=IDS)
def test_modes_are_those_of_a_general_optimiser(n_classes, one, two):
    counts, exposure, shares, _ = problem(n_classes, 2)
    start = np.log((counts + 1.0) / exposure)[None]
    modes, left, _ = kernel.rate_modes(counts[None], exposure, shares[None], one, two, 1.0, start.copy(), 1e-10, 100)
    assert left[0] < 1e-9
    found = optimize.minimize(
        lambda at: -by_scipy(counts, exposure, at, shares, one, two, 1.0),
        start[0],
        method="BFGS",
        options={"gtol": 1e-8},
    )
    np.testing.assert_allclose(modes[0], found.x, atol=2e-5)


def test_modes_from_far_away_and_of_words_without_occurrences():
    counts = np.array([[0.0, 0.0], [400.0, 0.0], [1.0, 0.0]])
    exposure = np.array([600.0, 3.0])
    for beta in ((0.5, 0.0), (2.0, 1.0), (10.0, 2000.0)):
        found = [
            kernel.rate_modes(counts, exposure, np.ones((1, 2)), *beta, 1.0, np.full((3, 2), far), 1e-10, 200)
            for far in (-12.0, -2.0, 6.0)
        ]
        for modes, left, _ in found:
            assert left.max() < 1e-8
            np.testing.assert_allclose(modes, found[0][0], atol=1e-4)


def test_ratio_basis_has_the_mode_of_the_dirichlet():
    """With β₂ = 0 and equal exposure the mode of τ in the simplex is (N + β₁ − 1)/Σ, in logarithms (N + β₁)/Σ."""
    counts, exposure = np.array([[7.0, 2.0, 1.0]]), np.full(3, 10.0)
    start = np.log((counts + 1.0) / exposure)
    for j, extra in ((0.0, 2.0), (1.0, 3.0)):
        modes, _, _ = kernel.rate_modes(counts, exposure, np.ones((1, 3)), 3.0, 0.0, j, start, 1e-12, 100)
        ratios = np.exp(modes[0]) / np.exp(modes[0]).sum()
        np.testing.assert_allclose(ratios, (counts[0] + extra) / (counts[0] + extra).sum(), rtol=1e-8)


def test_evidence_is_near_the_integral():
    """Laplace's approximation of ∫ e^f dθ over two classes, against a sum over a fine grid."""
    counts, exposure = np.array([40.0, 25.0]), np.array([10.0, 12.0])
    start = np.log(counts / exposure)[None]
    shares = np.ones((1, 2))
    modes, _, evidence = kernel.rate_modes(counts[None], exposure, shares, 2.0, 1.0, 1.0, start, 1e-12, 100)
    axes = [np.linspace(mode - 1.5, mode + 1.5, 161) for mode in modes[0]]
    values = np.array(
        [
            [kernel.rate_value(counts, exposure, np.array([a, b]), shares[0], 2.0, 1.0, 1.0) for b in axes[1]]
            for a in axes[0]
        ]
    )
    integral = special.logsumexp(values) + 2.0 * np.log(3.0 / 160)
    assert evidence[0] == pytest.approx(integral, abs=0.01)


def test_draws_do_not_depend_on_who_draws_them():
    rng = np.random.default_rng(3)
    counts, exposure = rng.poisson(5.0, (7, 3)).astype(float), np.array([2.0, 3.0, 4.0])
    start, scales = np.log((counts + 1.0) / exposure), np.full((7, 4), 0.5)

    def draws(lo, hi):
        numbers = (lo, 11, 2, 50, 20, 2)
        return kernel.sample_rates(
            counts[lo:hi], exposure, np.ones((1, 3)), 2.0, 1.0, start[lo:hi], scales[lo:hi], *numbers
        )[0]

    np.testing.assert_array_equal(draws(0, 7), np.concatenate([draws(0, 4), draws(4, 7)], axis=1))
