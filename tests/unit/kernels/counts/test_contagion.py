"""The negative-binomial log-likelihood and hierarchy: scipy's density, series, finite differences, an optimiser."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import optimize, special, stats

from textbayes.kernels.counts import contagion as kernel
from textbayes.kernels.counts import contagion_posterior as modes_kernel

FIRST, NODES = np.log(1e-6), 384
WIDTH = (np.log(1.1e4) - FIRST) / (NODES - 1)


@pytest.mark.parametrize("z", [0.0, 1e-12, 1e-4, 0.05, 0.0999, 0.1001, 1.0, 50.0, 1e5])
def test_zero_ratio_and_its_derivatives(z):
    found = kernel.zero_ratio(z)
    with mpmath.workdps(60):
        expected = [
            mpmath.diff(lambda t: mpmath.log1p(t) / t, mpmath.mpf(z) if z else mpmath.mpf("1e-25"), n) for n in range(3)
        ]
    np.testing.assert_allclose(found, [float(value) for value in expected], rtol=1e-11)


@pytest.mark.parametrize("delta", [0.0, 1e-12, 1e-7, 3e-6, 1e-3, 0.2, 5.0, 300.0, 9e3])
def test_zero_mass_is_the_sum_over_documents(delta):
    rng = np.random.default_rng(0)
    omega, weight = rng.uniform(0.01, 20.0, 40), rng.uniform(0.5, 2.0, 40)
    table, sums = kernel.exposure_table(omega, weight, FIRST, WIDTH, NODES)
    parts = np.array([kernel.zero_ratio(w * delta) for w in omega])
    exact = [(weight * omega ** (n + 1)) @ parts[:, n] for n in range(3)]
    found = kernel.zero_mass(table, sums, FIRST, WIDTH, delta)
    # A δ^n is what Newton's method in ln ζ sees of the n-th derivative.
    scale = max(delta, 1e-6)
    for n, (one, other) in enumerate(zip(found, exact, strict=True)):
        assert abs(one - other) * scale**n <= (1e-11, 1e-9, 1e-6)[n] * exact[0]


def documents(n_classes, seed=0, n_docs=30):
    rng = np.random.default_rng(seed)
    code = np.sort(rng.integers(0, n_classes, n_docs))
    omega, weight = rng.uniform(0.2, 4.0, n_docs), rng.choice([1.0, 1.0, 2.0], n_docs)
    delta = 0.8
    counts = rng.negative_binomial(3.0 / delta, 1.0 / (1.0 + omega * delta)).astype(float)
    tables, sums = zip(
        *(kernel.exposure_table(omega[code == c], weight[code == c], FIRST, WIDTH, NODES) for c in range(n_classes)),
        strict=True,
    )
    return counts, code, omega, weight, np.array(tables), np.array(sums), rng


def word(n_classes, seed=0):
    """The arguments of ``word_derivatives`` before the prior, and the documents they come from."""
    counts, code, omega, weight, tables, sums, rng = documents(n_classes, seed)
    has = counts > 0
    tails, n_tails = np.zeros((n_classes, 200)), np.zeros(n_classes, dtype=np.int64)
    bounds = np.zeros(n_classes + 1, dtype=np.int64)
    values, weights = counts[has], weight[has]
    modes_kernel.read_word(code[has], values, weights, 0, has.sum(), tails, n_tails, bounds)
    arguments = (tails, n_tails, values * weights, omega[has], bounds, tables, sums, FIRST, WIDTH)
    return arguments, (counts, code, omega, weight), rng


def by_scipy(docs, point, n_classes, pseudo, shares, betas, j):
    counts, code, omega, weight = docs
    rates, zeta = np.exp(point[:n_classes]), np.exp(point[n_classes:])
    deltas = np.expm1(zeta)
    value = 0.0
    for x, c, length, times in zip(counts, code, omega, weight, strict=True):
        own = stats.nbinom.logpmf(x, rates[c] / deltas[c], 1.0 / (1.0 + length * deltas[c]))
        value += times * (own - x * np.log(length) + special.gammaln(x + 1.0))
    value += pseudo[0] @ point[:n_classes] - pseudo[1] @ rates
    sigma, xi = rates.sum(), zeta.sum()
    value += stats.dirichlet.logpdf(rates / sigma, shares * (betas[0] + betas[1] * sigma))
    value += j * (np.log(sigma) + np.log(rates / sigma).sum())
    spread = stats.dirichlet.logpdf(zeta / xi, np.full(n_classes, betas[2]))
    spread += stats.gamma.logpdf(xi, betas[4], scale=betas[3] / betas[4]) + j * (np.log(xi) + np.log(zeta / xi).sum())
    constant = special.gammaln(n_classes * betas[2]) - n_classes * special.gammaln(betas[2])
    constant += betas[4] * np.log(betas[4] / betas[3]) - special.gammaln(betas[4])
    return value + spread - constant


def value_of(*arguments):
    """The log-posterior, without its derivatives."""
    size = len(arguments[-1])
    return modes_kernel.word_derivatives(*arguments, np.empty(size), np.empty((size, size)))


CASES = [(2, (2.0, 1.0, 3.0, 1.5, 2.0)), (3, (10.0, 30.0, 50.0, 0.7, 1.0))]


@pytest.mark.parametrize("j", [0.0, 1.0])
@pytest.mark.parametrize(("n_classes", "betas"), CASES, ids=["two", "three"])
def test_value_is_the_log_posterior(n_classes, betas, j):
    arguments, docs, rng = word(n_classes)
    pseudo, shares, betas = rng.uniform(0.0, 1.0, (2, n_classes)), np.ones(n_classes), np.array(betas)
    for _ in range(5):
        point = rng.normal(0.0, 0.8, 2 * n_classes)
        found = value_of(*arguments, pseudo, shares, betas, j, point)
        assert found == pytest.approx(by_scipy(docs, point, n_classes, pseudo, shares, betas, j), rel=1e-9)


@pytest.mark.parametrize("j", [0.0, 1.0])
@pytest.mark.parametrize(
    ("n_classes", "betas"), [*CASES, (2, (-1.0, 0.0, -1.0, 1.0, 1.0))], ids=["two", "three", "flat"]
)
def test_derivatives_by_finite_differences(n_classes, betas, j):
    arguments, _, rng = word(n_classes, 1)
    prior = (rng.uniform(0.0, 1.0, (2, n_classes)), np.ones(n_classes), np.array(betas), j)
    size = 2 * n_classes
    gradient, hessian = np.empty(size), np.empty((size, size))
    point = rng.normal(0.0, 0.6, size)

    def slope(at):
        modes_kernel.word_derivatives(*arguments, *prior, at, gradient, hessian)
        return gradient.copy()

    found, bend = slope(point), hessian.copy()
    steps = 1e-5 * np.eye(size)
    value = [value_of(*arguments, *prior, point + e) for e in np.vstack([steps, -steps])]
    np.testing.assert_allclose(found, (np.array(value[:size]) - np.array(value[size:])) / 2e-5, rtol=1e-5, atol=1e-4)
    differences = np.array([(slope(point + e) - slope(point - e)) / 2e-5 for e in steps])
    np.testing.assert_allclose(bend, differences, rtol=1e-4, atol=1e-4)


def test_modes_are_those_of_a_general_optimiser():
    n_classes, betas = 2, np.array([2.0, 1.0, 3.0, 1.5, 2.0])
    counts, code, omega, weight, tables, sums, _ = documents(n_classes, 3)
    has = counts > 0
    prior = (np.zeros((1, 2, n_classes)), np.ones((1, n_classes)), betas, 1.0)
    indptr = np.array([0, has.sum()])
    columns = (indptr, counts[has], weight[has], omega[has], code[has], tables, sums, FIRST, WIDTH)
    start = np.zeros((1, 4))
    found, left, _ = modes_kernel.contagion_modes(*columns, *prior, start, 1e-12, 200)
    docs = (counts, code, omega, weight)
    best = optimize.minimize(
        lambda at: -by_scipy(docs, at, n_classes, np.zeros((2, 2)), np.ones(2), betas, 1.0), start[0], method="BFGS",
        options={"gtol": 1e-7},
    )  # fmt: skip
    assert left[0] < 1e-10
    np.testing.assert_allclose(found[0], best.x, atol=1e-4)


def test_without_a_prior_the_estimate_of_equal_counts_is_the_poisson():
    """Counts less spread than a Poisson's have their maximum at δ = 0, the least δ there is, and μ = Σx/Σω."""
    counts, omega = np.full(20, 2.0), np.linspace(0.9, 1.1, 20)
    table, sums = kernel.exposure_table(omega, np.ones(20), FIRST, WIDTH, NODES)
    columns = (np.array([0, 20]), counts, np.ones(20), omega, np.zeros(20, dtype=np.int64), table[None], sums[None])
    prior = (np.zeros((1, 2, 1)), np.ones((1, 1)), np.array([-1.0, 0.0, -1.0, 1.0, 1.0]), 1.0)
    found, left, _ = modes_kernel.contagion_modes(*columns, FIRST, WIDTH, *prior, np.zeros((1, 2)), 1e-10, 200)
    assert left[0] <= 1e-10
    assert np.expm1(np.exp(found[0, 1])) < 1e-7
    assert np.exp(found[0, 0]) == pytest.approx(40.0 / omega.sum(), rel=1e-6)


@pytest.mark.parametrize("whole", [0, 1, 63, 64, 65, 500, 10**6, 10**9])
@pytest.mark.parametrize(
    ("rate", "delta"), [(0.3, 0.0), (2.0, 1e-12), (2.0, 1e-6), (0.7, 0.4), (1e-8, 5.0), (40.0, 9e3)]
)
def test_the_sum_of_a_large_count_is_the_gamma_functions(whole, rate, delta):
    with mpmath.workdps(60):
        mu, d = mpmath.mpf(rate), mpmath.mpf(delta)
        expected = mpmath.loggamma(mu / d + whole) - mpmath.loggamma(mu / d) if d else mpmath.mpf(0)
        expected += whole * mpmath.log(d if d else mu)
    np.testing.assert_allclose(
        kernel.log_rising_factorial(rate, delta, float(whole)), float(expected), rtol=1e-12, atol=1e-10
    )
