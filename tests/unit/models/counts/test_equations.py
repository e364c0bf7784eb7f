"""Equations of the contagion paper against transcriptions of their own, letter by letter as printed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse, special, stats

from textbayes.core.errors import InputError
from textbayes.lexical import delta2_test
from textbayes.models.counts import BayesCountClassifier, make_count_model
from textbayes.models.counts.base import Dispersed


def documents(seed=0, n_docs=40):
    """Counts of three words in two classes, bursts of the third, and lengths from 100 to 3,000 words."""
    rng = np.random.default_rng(seed)
    code, omega = np.arange(n_docs) % 2, rng.uniform(0.1, 3.0, n_docs)
    rates = np.array([[2.0, 4.0, 5.0], [4.0, 4.0, 2.0]])[code]
    bursts = rng.gamma(1.0 / np.array([0.01, 0.5, 1.5]), np.array([0.01, 0.5, 1.5]), (n_docs, 3))
    return rng.poisson(omega[:, None] * rates * bursts).astype(float), code, omega


def log_negative_binomial(x, omega, mu, delta):
    """§ 2.2: Γ(x + κ)/(x! Γ(κ)) (ωδ)^x (1 + ωδ)^−(x + κ), κδ = μ."""
    kappa = mu / delta
    coefficient = special.gammaln(x + kappa) - special.gammaln(x + 1.0) - special.gammaln(kappa)
    return coefficient + x * np.log(omega * delta) - (x + kappa) * np.log1p(omega * delta)


@pytest.mark.equation("contagion", "2.2")
def test_the_negative_binomial_as_printed():
    x, _, omega = documents()
    rng = np.random.default_rng(1)
    rates, deltas = rng.gamma(1.0, 2.0, (2, 3)), rng.gamma(1.0, 1.0, (2, 3))
    found = make_count_model("negative_binomial").log_likelihood(sparse.csr_matrix(x), omega, Dispersed(rates, deltas))
    for c in range(2):
        expected = log_negative_binomial(x, omega[:, None], rates[c], deltas[c]).sum(axis=1)
        np.testing.assert_allclose(found[:, c], expected, rtol=1e-10)


@pytest.mark.equation("contagion", "2.2")
def test_its_mean_and_variance_are_those_named():
    mu, delta, omega = 3.0, 0.8, 1.7
    x = np.arange(2_000.0)
    mass = np.exp(log_negative_binomial(x, omega, mu, delta))
    mean = (mass * x).sum()
    assert mass.sum() == pytest.approx(1.0)
    assert mean == pytest.approx(omega * mu)
    assert (mass * x**2).sum() - mean**2 == pytest.approx(omega * mu * (1.0 + omega * delta))


def log_posterior(point, x, code, omega, beta, a):
    """§ 3.1 and (A3)–(A6) of one word and two classes, at (ln μ₁, ln μ₂, ln ζ₁, ln ζ₂), densities of scipy."""
    mu, zeta = np.exp(point[:2]), np.exp(point[2:])
    delta = np.expm1(zeta) / a  # ζ = log(1 + aδ)
    sigma, xi = mu.sum(), zeta.sum()
    tau, eta = mu[0] / sigma, zeta[0] / xi
    value = log_negative_binomial(x, omega, mu[code], delta[code]).sum()
    value += stats.beta.logpdf(tau, beta[0] + beta[1] * sigma, beta[0] + beta[1] * sigma)  # (A3), σ flat (A4)
    value += stats.beta.logpdf(eta, beta[2], beta[2])  # (A5)
    value += stats.gamma.logpdf(xi, beta[4], scale=beta[3] / beta[4])  # (A6): shape β₅, mean β₄
    # dμ₁ dμ₂ = σ dσ dτ and d ln μ = dμ/μ; the same of ζ: the density of logarithms, whose mode is taken.
    return value + np.log(sigma * tau * (1.0 - tau)) + np.log(xi * eta * (1.0 - eta))


@pytest.mark.equation("contagion", "3.1", "3.1 a", "A3", "A4", "A5", "A6", "3.2.1")
@pytest.mark.parametrize("a", [1.0, 0.2, 5.0, "length"])
def test_the_mode_of_the_hierarchy_for_any_scale_of_dispersion(a):
    x, code, omega = documents()
    beta = (2.0, 1.0, 3.0, 1.5, 2.0)
    model = make_count_model("dirichlet_negative_binomial", beta=beta, dispersion_scale=a)
    found = model.estimate(model.statistics(sparse.csr_matrix(x), np.eye(2)[code], omega))
    scale = omega.mean() if a == "length" else a
    for w in range(3):
        own = np.log(np.concatenate([found.rates[:, w], np.log1p(scale * found.deltas[:, w])]))

        def minus(point, w=w):
            return -log_posterior(point, x[:, w], code, omega, beta, scale)

        best = optimize.minimize(minus, own + 0.1, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-11})
        assert minus(own) <= best.fun + 1e-7, "no point that another search finds is higher"
        np.testing.assert_allclose(own, best.x, atol=2e-3)
        slope = optimize.approx_fprime(own, minus, 1e-6)
        np.testing.assert_allclose(slope, 0.0, atol=2e-3)


@pytest.mark.equation("contagion", "3.1 a")
def test_the_scale_by_length_makes_the_unit_of_length_irrelevant():
    """Lengths told in hundreds of words in place of thousands: the same texts, so the same probabilities."""
    x, code, omega = documents()
    X = sparse.csr_matrix(x)

    def probabilities(unit, **settings):
        # β₂ multiplies a rate per unit of length.
        model = make_count_model("dirichlet_negative_binomial", beta=(2.0, unit, 3.0, 1.5, 2.0), **settings)
        return BayesCountClassifier(model).fit(X, code, lengths=unit * omega).predict_proba(X, unit * omega)

    by_length = [probabilities(unit, dispersion_scale="length") for unit in (1.0, 10.0)]
    np.testing.assert_allclose(by_length[0], by_length[1], atol=1e-5)
    fixed = [probabilities(unit) for unit in (1.0, 10.0)]
    assert np.abs(fixed[0] - fixed[1]).max() > 1e-3


@pytest.mark.parametrize("given", [0.0, -1.0, np.inf, np.nan, "mean", None])
def test_a_scale_that_is_none_is_refused(given):
    with pytest.raises(InputError, match="dispersion_scale"):
        make_count_model("dirichlet_negative_binomial", dispersion_scale=given)


@pytest.mark.equation("contagion", "3.2")
def test_log_odds_are_those_against_the_first_class():
    x, code, omega = documents()
    model = BayesCountClassifier("dirichlet_negative_binomial", beta=(2.0, 1.0)).fit(
        sparse.csr_matrix(x), code, lengths=omega
    )
    rates, deltas = model.estimate_.rates, model.estimate_.deltas
    log_p = np.stack(
        [log_negative_binomial(x, omega[:, None], rates[c], deltas[c]).sum(axis=1) for c in range(2)], axis=1
    ) + np.log([0.5, 0.5])
    np.testing.assert_allclose(model.decision_function(x, omega), log_p[:, 1] - log_p[:, 0], atol=1e-8)


@pytest.mark.equation("contagion", "1")
def test_delta2_as_printed_where_both_classes_have_as_much_text():
    x, _, _ = documents()
    inside = np.arange(40) < 20
    found = delta2_test(x.astype(int), inside, lengths=np.ones(40)).scores[0]
    one, two = x[inside].sum(axis=0), x[~inside].sum(axis=0)
    np.testing.assert_allclose(found, (one - two) ** 2 / (one + two))
