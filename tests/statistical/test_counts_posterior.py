"""Draws against numerically integrated posteriors of two classes, and parameters recovered from simulated documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.models.counts import make_count_model
from textbayes.models.counts.hierarchy import Sampling

LONG = Sampling(n_draws=12_000, thin=4, warmup=1_000, chains=2, random_state=5)


def log_prior_of_rates(a, b, one, two):
    """Density of two log-rates under σ flat and τ | σ ~ Beta, with the Jacobian σ τ (1 − τ)."""
    rates = np.exp(a), np.exp(b)
    sigma = rates[0] + rates[1]
    ratio, power = rates[0] / sigma, one + two * sigma
    return stats.beta.logpdf(ratio, power, power) + np.log(sigma * ratio * (1.0 - ratio))


@pytest.mark.equation("contagion", "3.2.2 Dirichlet-Poisson")
@pytest.mark.parametrize(
    ("beta", "n_draws"),
    [((2.0, 1.0), 12_000), ((0.5, 0.0), 100_000), ((5.0, 30.0), 12_000)],
    ids=["2-1", "half-0", "5-30"],
)
def test_dirichlet_poisson_means_are_the_integrals(beta, n_draws):
    """The second word was never seen in one class: with β₁ = ½ its rate varies by 1.4 times its mean."""
    counts, exposure = np.array([[12.0, 3.0], [0.0, 7.0], [150.0, 90.0]]).T, np.array([4.0, 9.0])
    X = sparse.csr_matrix(counts)
    model = make_count_model("dirichlet_poisson", beta=beta, sampling=replace(LONG, n_draws=n_draws))
    found = model.estimate(model.statistics(X, np.eye(2), exposure))
    a = b = np.linspace(-18.0, 5.0, 1_700)  # fine beside the narrowest, wide beside the longest tail
    log_prior, ratio = log_prior_of_rates(a[:, None], b, *beta), np.exp(a)[:, None] / (np.exp(a)[:, None] + np.exp(b))
    for w in range(3):
        log_density = log_prior + stats.poisson.logpmf(counts[0, w], exposure[0] * np.exp(a))[:, None]
        log_density += stats.poisson.logpmf(counts[1, w], exposure[1] * np.exp(b))
        density = np.exp(log_density - log_density.max())
        density /= density.sum()
        expected = np.exp(a) @ density.sum(axis=1), np.exp(b) @ density.sum(axis=0)
        np.testing.assert_allclose(found.rates[:, w], expected, rtol=0.01)
        drawn = found.draws[:, 0, w] / found.draws[:, :, w].sum(axis=1)
        assert drawn.mean() == pytest.approx((ratio * density).sum(), rel=0.01)
    assert found.r_hat.max() < 1.01
    assert found.effective.min() > 2_000


@pytest.mark.equation("contagion", "3.2.2 Dirichlet-negative-binomial")
def test_dirichlet_negative_binomial_means_are_the_integrals():
    """Four parameters, but classes meet in the prior alone: sums over the grid are products of matrices."""
    rng = np.random.default_rng(4)
    omega, code = rng.uniform(0.5, 2.0, 60), np.repeat([0, 1], 30)
    rates, delta = np.array([3.0, 5.0])[code], 1.0
    x = rng.negative_binomial(rates / delta, 1.0 / (1.0 + omega * delta)).astype(float)
    beta = (2.0, 1.0, 4.0, 1.5, 2.0)
    model = make_count_model("dirichlet_negative_binomial", beta=beta, sampling=LONG)
    found = model.estimate(model.statistics(sparse.csr_matrix(x[:, None]), np.eye(2)[code], omega))
    theta, v = np.linspace(-0.8, 3.6, 160), np.linspace(-7.0, 1.2, 160)
    mean, spread = np.exp(theta)[:, None], np.expm1(np.exp(v))
    likelihood = []
    for c in range(2):
        logs = sum(
            stats.nbinom.logpmf(count, mean / spread, 1.0 / (1.0 + length * spread))
            for count, length in zip(x[code == c], omega[code == c], strict=True)
        )
        likelihood.append(np.exp(logs - logs.max()))
    of_rates = np.exp(log_prior_of_rates(theta[:, None], theta, *beta[:2]))
    zeta = np.exp(v)
    xi = zeta[:, None] + zeta
    ratio = zeta[:, None] / xi
    of_spreads = stats.beta.pdf(ratio, beta[2], beta[2]) * stats.gamma.pdf(xi, beta[4], scale=beta[3] / beta[4])
    of_spreads = of_spreads * xi * ratio * (1.0 - ratio)
    joint = likelihood[0] * (of_rates @ likelihood[1] @ of_spreads.T)  # of (θ₁, v₁), the second class summed out
    other = likelihood[1] * (of_rates.T @ likelihood[0] @ of_spreads)
    for c, density in enumerate((joint, other)):
        density = density / density.sum()
        assert found.rates[c, 0] == pytest.approx(np.exp(theta) @ density.sum(axis=1), rel=0.01)
        assert np.log1p(found.deltas[c, 0]) == pytest.approx(zeta @ density.sum(axis=0), rel=0.01)
    assert found.r_hat.max() < 1.01


@pytest.mark.parametrize("name", ["negative_binomial", "dirichlet_negative_binomial"])
def test_rates_and_dispersions_are_recovered(name):
    rng = np.random.default_rng(6)
    code, omega = np.repeat([0, 1], 1500), rng.uniform(0.2, 3.0, 3000)
    rates = np.array([[0.5, 3.0, 8.0], [1.0, 3.0, 4.0]])
    deltas = np.array([0.3, 1.0, 2.0])
    x = rng.negative_binomial(rates[code] / deltas, 1.0 / (1.0 + omega[:, None] * deltas)).astype(float)
    settings = {"method": "likelihood"} if name == "negative_binomial" else {}
    model = make_count_model(name, **settings)
    found = model.estimate(model.statistics(sparse.csr_matrix(x), np.eye(2)[code], omega))
    np.testing.assert_allclose(found.rates, rates, rtol=0.12)
    np.testing.assert_allclose(found.deltas, np.broadcast_to(deltas, (2, 3)), rtol=0.2)


def test_evidence_prefers_the_constants_that_made_the_rates():
    """Splits over classes drawn from a narrow Dirichlet call for a large β₁, from a wide one for a small β₁."""
    rng = np.random.default_rng(7)
    exposure, chosen = np.full(2, 100.0), []
    for strength in (0.5, 200.0):
        split = rng.beta(strength, strength, 400)
        rates = rng.gamma(2.0, 1.0, 400) * np.vstack([split, 1.0 - split])
        counts = sparse.csr_matrix(rng.poisson(exposure[:, None] * rates).astype(float))
        model = make_count_model("dirichlet_poisson", beta="evidence")
        chosen.append(model.estimate(model.statistics(counts, np.eye(2), exposure)).beta)
    assert chosen[0][0] < chosen[1][0] or chosen[0][1] < chosen[1][1]
    assert chosen[0][0] <= 1.0
