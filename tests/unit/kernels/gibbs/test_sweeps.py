"""Single draws of the sweeps against numerical integration of the density that they claim to have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from textbayes.kernels.gibbs import (
    draw_between,
    draw_offset,
    gamma_between,
    half_cauchy_between,
    sweep_given_responses,
    sweep_scales_within_slack,
    sweep_within_slack,
)

N = 4000
P_VALUE = 1e-3


def check_distribution(draws, density, points):
    """Kolmogorov-Smirnov against the integral of a density that is known up to a constant."""
    grid = np.unique(np.concatenate([np.quantile(draws, np.linspace(0.0, 1.0, 400)), points]))
    pieces = [integrate.quad(density, a, b, epsabs=0.0)[0] for a, b in itertools.pairwise(grid)]
    outside = 2.0 / len(draws)  # what lies beyond the extreme draws, about
    cdf = np.concatenate([[0.0], np.cumsum(pieces)]) / np.sum(pieces)
    distance = np.abs(np.interp(np.sort(draws), grid, cdf) - (np.arange(len(draws)) + 0.5) / len(draws)).max()
    assert distance < stats.kstwo.isf(P_VALUE, len(draws)) + outside


@pytest.mark.parametrize(
    ("curvature", "pull", "l1"),
    [(1.0, 0.3, 0.0), (2.0, 1.0, 1.0), (0.04, -0.2, 0.45), (1e-4, 0.01, 0.45), (3.0, 40.0, 0.5), (0.5, -2.0, 8.0),
     (1.0, 60.0, 0.5), (0.01, -200.0, 0.1),
     (0.0, 0.2, 0.7)],
)  # fmt: skip
def test_offsets_given_responses(curvature, pull, l1):
    rng = np.random.default_rng(0)
    draws = np.array([draw_offset(curvature, pull, l1, *rng.random(2)) for _ in range(N)])
    peak = np.sign(pull) * max(abs(pull) - l1, 0.0) / curvature if curvature else 0.0

    def log_density(d):
        return -0.5 * curvature * d * d + pull * d - l1 * abs(d)

    near = abs(peak) * np.sqrt(curvature) < 30.0  # else the density at the kink is no number
    check_distribution(draws, lambda d: np.exp(log_density(d) - log_density(peak)), [0.0] if near else [])


@pytest.mark.parametrize(("low", "high"), [(-1.0, 2.0), (0.5, 3.0), (-4.0, -0.1), (-0.2, np.inf), (2.0, np.inf),
                                           (-np.inf, np.inf), (-np.inf, -9.0), (1.0, 1.0 + 1e-9)])  # fmt: skip
@pytest.mark.parametrize(("l1", "l2"), [(0.7, 0.0), (0.0, 1.3), (2.0, 0.4), (0.1, 30.0)])
def test_draws_between_two_ends(low, high, l1, l2):
    rng = np.random.default_rng(1)
    draws = np.array([draw_between(low, high, l1, l2, *rng.random(2)) for _ in range(N)])
    assert (draws >= low).all()
    assert (draws <= high).all()
    if high - low < 1e-6:
        assert stats.kstest((draws - low) / (high - low), stats.uniform.cdf).pvalue > P_VALUE
        return
    near = min(max(0.0, low), high)
    height = -l1 * abs(near) - 0.5 * l2 * near**2
    inside = [0.0] if low < 0.0 < high else []
    check_distribution(draws, lambda d: np.exp(-l1 * abs(d) - 0.5 * l2 * d * d - height), inside)


def test_a_free_column_is_uniform_between_its_ends():
    draws = np.array([draw_between(-1.0, 3.0, 0.0, 0.0, 0.5, u) for u in np.random.default_rng(2).random(N)])
    assert stats.kstest(draws, stats.uniform(-1.0, 4.0).cdf).pvalue > P_VALUE


def _columns(n_docs=12, n_words=5):
    X = sparse.random(n_docs, n_words, density=0.5, random_state=3, format="csc")
    X.data -= 0.4
    return X, (X.indptr.astype(np.int64), X.indices, X.data)


@pytest.mark.parametrize("omega", [np.array([1.7]), np.linspace(0.2, 3.0, 12)])
def test_pull_follows_the_weights(omega):
    X, columns = _columns()
    rng = np.random.default_rng(4)
    z, d = rng.normal(size=12), rng.normal(size=5)
    pull = omega * (z - X @ d)
    sweep_given_responses(
        *columns, omega, pull, d, np.full(5, 0.3), np.full(5, 0.1), rng.random(5), rng.random(5), False
    )
    np.testing.assert_allclose(pull, omega * (z - X @ d), atol=1e-13)


def test_slack_follows_the_weights_and_is_never_overdrawn():
    X, columns = _columns()
    rng = np.random.default_rng(5)
    d, y = rng.normal(size=5), rng.choice([-1.0, 1.0], 12)
    slack = rng.exponential(size=12)
    floor = y * (X @ d) - slack
    for _ in range(50):
        sweep_within_slack(*columns, y, slack, d, np.full(5, 0.3), np.full(5, 0.1), rng.random(5), rng.random(5))
        assert (slack >= 0.0).all()
        np.testing.assert_allclose(slack, y * (X @ d) - floor, atol=1e-12)


def test_sweeps_sample_a_regression_with_a_gaussian_prior():
    """Given responses, the posterior is a known normal distribution: means and covariances of many sweeps agree."""
    X, columns = _columns()
    rng = np.random.default_rng(6)
    omega, z, l2 = np.linspace(0.5, 2.0, 12), rng.normal(size=12), np.full(5, 0.7)
    covariance = np.linalg.inv((X.T @ sparse.diags(omega) @ X).toarray() + np.diag(l2))
    mean = covariance @ (X.T @ (omega * z))
    d, draws = np.zeros(5), np.empty((20_000, 5))
    pull = omega * z
    for k in range(len(draws)):
        sweep_given_responses(*columns, omega, pull, d, np.zeros(5), l2, rng.random(5), rng.random(5), False)
        draws[k] = d
    error = 5.0 / np.sqrt(len(draws) / 3.0)  # 5 standard errors at an autocorrelation time of 3, which it is below
    spread = np.sqrt(np.diag(covariance))
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean), error * spread)
    np.testing.assert_array_less(np.abs(np.cov(draws.T) - covariance), 2.0 * error * np.outer(spread, spread))


@pytest.mark.parametrize("omega", [np.array([1.3]), np.linspace(0.5, 2.0, 12)])
@pytest.mark.parametrize("of_intercept", [0.0, 0.4])
def test_sweeps_with_the_intercept_integrated_out(omega, of_intercept):
    """The same known normal distribution with a column of ones, whose prior may be flat."""
    X, _ = _columns()
    X = sparse.hstack([X, np.ones((12, 1))]).tocsc()
    columns = (X.indptr.astype(np.int64), X.indices, X.data)
    rng = np.random.default_rng(7)
    z, l2 = rng.normal(1.0, 1.0, 12), np.append(np.full(5, 0.7), of_intercept)
    full = np.broadcast_to(omega, (12,))
    covariance = np.linalg.inv((X.T @ sparse.diags(full) @ X).toarray() + np.diag(l2))
    mean = covariance @ (X.T @ (full * z))
    d, draws, pull = np.zeros(6), np.empty((20_000, 6)), full * z
    for k in range(len(draws)):
        sweep_given_responses(*columns, omega, pull, d, np.zeros(6), l2, rng.random(6), rng.random(6), True)
        draws[k] = d
    np.testing.assert_allclose(pull, full * (z - X @ d), atol=1e-9)
    error = 5.0 / np.sqrt(len(draws) / 3.0)
    spread = np.sqrt(np.diag(covariance))
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean), error * spread)
    np.testing.assert_array_less(np.abs(np.cov(draws.T) - covariance), 2.0 * error * np.outer(spread, spread))


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, np.inf), (0.5, 2.0), (1e3, np.inf), (1e-8, 1e-7), (3.0, 3.1), (0.0, 1e-3), (0.2, np.inf)]
)
def test_half_cauchy_numbers_between_two_ends(low, high):
    rng = np.random.default_rng(5)
    draws = np.array([half_cauchy_between(low, high, u) for u in rng.random(N)])
    law = stats.halfcauchy
    share = (law.sf(low) - law.sf(draws)) / (law.sf(low) - law.sf(high))
    assert (draws >= low * (1.0 - 1e-12)).all()
    assert (draws <= high * (1.0 + 1e-12)).all()
    assert stats.kstest(share, stats.uniform.cdf).pvalue > P_VALUE


@pytest.mark.parametrize("shape", [0.5, 2.0, 15.0])
@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (0.3, 1.2), (1.5, np.inf), (0.0, 0.4)])
def test_a_step_between_two_ends_keeps_the_gamma_distribution_there(shape, low, high):
    rng = np.random.default_rng(6)
    law = stats.gamma(shape, scale=1.0 / shape)
    inside = (law.cdf(low), law.cdf(high))
    at = law.ppf(inside[0] + rng.random(N) * (inside[1] - inside[0]))
    after = np.array([gamma_between(q, shape, low, high, *rng.random(2)) for q in at])
    share = (law.cdf(after) - inside[0]) / (inside[1] - inside[0])
    assert stats.kstest(share, stats.uniform.cdf).pvalue > P_VALUE
    assert (after != at).mean() > 0.99


@pytest.mark.parametrize("degrees", [1.0, 4.0, np.inf])
def test_scales_and_weights_that_move_together_keep_the_prior_within_the_room(degrees):
    """One word, in one document that wants it above −0.5 and one that wants it below 3: before and after alike."""
    rng = np.random.default_rng(7)
    n_tries = 40_000
    square = rng.standard_cauchy(n_tries) ** -2.0
    q = square if np.isinf(degrees) else rng.gamma(0.5 * degrees, 2.0 / degrees, n_tries)
    w = rng.standard_normal(n_tries) / np.sqrt(q)
    inside = np.flatnonzero((w > -0.5) & (w < 3.0))
    first, second = inside[: len(inside) // 2], inside[len(inside) // 2 :]
    X, y = sparse.csc_matrix([[2.0], [1.0]]), np.array([1.0, -1.0])
    moved = np.empty((len(first), 2))
    for k, start in enumerate(first):
        offset, precision = w[[start]], q[[start]]
        slack = np.array([2.0 * (offset[0] + 0.5), 3.0 - offset[0]])
        sweep_scales_within_slack(
            X.indptr.astype(np.int64), X.indices, X.data, y, slack, offset, np.array([degrees]), precision,
            np.array([0]), rng.random(1), rng.random(1),
        )  # fmt: skip
        moved[k] = offset[0], precision[0]
        np.testing.assert_allclose(slack, [2.0 * (offset[0] + 0.5), 3.0 - offset[0]], atol=1e-9)
    assert (moved[:, 0] != w[first]).mean() > 0.99
    assert stats.ks_2samp(moved[:, 0], w[second]).pvalue > P_VALUE
    assert stats.ks_2samp(moved[:, 1], q[second]).pvalue > P_VALUE
    assert stats.ks_2samp(moved[:, 0] * np.sqrt(moved[:, 1]), (w * np.sqrt(q))[second]).pvalue > P_VALUE
