"""Equations of Eyheramendy, Genkin, Ju, Lewis & Madigan (2003); the M-step (13, 14) is held in the tests of EM."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from references.optimality import working_response
from textbayes.evaluate import contingency, precision, recall
from textbayes.links.probit import Probit
from textbayes.priors import make_prior
from textbayes.select import scores

GAMMA, SIGMA = 0.6, 1.7
BETAS = (-2.0, 0.3, 1.1)


def over_variances(function):
    """∫ function(τ) dτ over τ > 0, in u = ln τ."""
    return integrate.quad(
        lambda u: np.exp(u) * function(np.exp(u)), -60.0, 60.0, epsabs=0.0, epsrel=1e-10, limit=1000, points=(-3.0, 3.0)
    )[0]


@pytest.mark.equation("sparse", "1")
def test_probability_is_the_normal_cdf_of_the_score():
    eta = np.array([-3.0, 0.0, 0.7])
    np.testing.assert_allclose(Probit().probability(eta), stats.norm.cdf(eta), rtol=1e-12)


@pytest.mark.equation("sparse", "2")
def test_gaussian_prior():
    weights = np.array([0.0, *BETAS])
    cost = make_prior("gaussian", SIGMA).neg_log(weights)
    np.testing.assert_allclose(cost - cost[0], 0.5 * (weights / SIGMA) ** 2, rtol=1e-12)


@pytest.mark.equation("sparse", "3", "4", "5", "21")
@pytest.mark.parametrize("beta", BETAS)
def test_exponential_variances_make_a_laplace_prior(beta):
    """τ ~ (γ/2) exp(−γτ/2) and N(β; 0, τ) integrate to a Laplace density of rate √γ."""
    mixed = over_variances(lambda tau: stats.norm.pdf(beta, scale=tau**0.5) * GAMMA / 2.0 * np.exp(-GAMMA * tau / 2.0))
    rate = np.sqrt(GAMMA)
    cost = make_prior("laplace", 1.0 / rate).neg_log(np.array([beta, 0.0]))
    assert rate / 2.0 * np.exp(cost[1] - cost[0]) == pytest.approx(mixed, rel=1e-8)


@pytest.mark.equation("sparse", "6")
@pytest.mark.parametrize("beta", BETAS)
def test_jeffreys_prior_is_one_over_the_weight(beta):
    ratio = [over_variances(lambda tau, b=b: stats.norm.pdf(b, scale=tau**0.5) / tau) for b in (beta, 1.0)]
    cost = make_prior("jeffreys", 1.0).neg_log(np.array([beta, 1.0]))
    assert np.exp(cost[1] - cost[0]) == pytest.approx(ratio[0] / ratio[1], rel=1e-8)


@pytest.mark.equation("sparse", "9")
@pytest.mark.parametrize("beta", BETAS)
def test_expected_inverse_variance(beta):
    """√γ/|β| under the exponential prior of τ; the print has γ."""
    parts = [
        over_variances(lambda tau, k=k: tau**-k * stats.norm.pdf(beta, scale=tau**0.5) * np.exp(-GAMMA * tau / 2.0))
        for k in (1, 0)
    ]
    variance = make_prior("laplace", GAMMA**-0.5).variance(np.array([beta]))[0]
    assert 1.0 / variance == pytest.approx(parts[0] / parts[1], rel=1e-8)


@pytest.mark.equation("sparse", "10")
@pytest.mark.parametrize("y", [1.0, -1.0])
def test_expected_latent_variable(y):
    eta = np.array([-3.0, -0.4, 0.0, 2.0])
    z, weight = working_response(Probit(), eta, np.full(4, y))
    ends = (-eta, np.inf) if y > 0.0 else (-np.inf, -eta)
    np.testing.assert_allclose(z, stats.truncnorm(*ends, loc=eta).mean(), rtol=1e-8)
    np.testing.assert_array_equal(weight, 1.0)


@pytest.mark.equation("sparse", "15")
def test_words_are_scored_by_the_correlation():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (40, 5)).astype(float), rng.random(40) < 0.4
    expected = [abs(np.corrcoef(column, y)[0, 1]) for column in X.T]
    np.testing.assert_allclose(scores.get("pearson")(X, y[:, None]).scores[0], expected, rtol=1e-10)


@pytest.mark.equation("sparse", "16", "17")
def test_precision_and_recall():
    """3 right, 1 wrongly given, 2 missed: 3/4 and 3/5."""
    truth, given = np.array([1, 1, 1, 1, 1, 0, 0], bool), np.array([1, 1, 1, 0, 0, 1, 0], bool)
    counts = contingency(truth[:, None], given[:, None])
    assert (float(precision(counts, "micro")), float(recall(counts, "micro"))) == pytest.approx((0.75, 0.6))


SECOND = {  # of the log prior at β along d, as printed in eq. 18, 20 and 22
    "gaussian": lambda beta, d: -np.sum(d**2) / SIGMA**2,
    "jeffreys": lambda beta, d: np.sum(d**2 / beta**2),
    "laplace": lambda beta, d: 0.0,
}


@pytest.mark.equation("sparse", "18", "19", "20", "22")
@pytest.mark.parametrize("prior", SECOND)
def test_second_derivative_of_the_log_posterior(prior):
    """d'(∂² log p)d = Σ_i (x_i·d)² f(±w_i) + the prior's part, f = (φ'Φ − φ²)/Φ², which is negative."""
    rng = np.random.default_rng(1)
    X, y, beta, d = (
        rng.normal(size=(15, 3)),
        rng.choice([-1.0, 1.0], 15),
        np.array([0.8, -1.2, 0.5]),
        rng.normal(size=3),
    )
    w = y * (X @ beta)
    density, mass = stats.norm.pdf(w), stats.norm.cdf(w)
    f = (-w * density * mass - density**2) / mass**2
    assert (f < 0.0).all()
    printed = np.sum((X @ d) ** 2 * f) + SECOND[prior](beta, d)
    np.testing.assert_allclose(-Probit().hessian(X @ beta, y), f, rtol=1e-9)
    of_words = make_prior(prior, SIGMA)

    def log_posterior(step):
        at = beta + step * d
        return Probit().log_prob(X @ at, y).sum() - of_words.neg_log(at).sum()

    h = 1e-3
    second = (log_posterior(h) - 2.0 * log_posterior(0.0) + log_posterior(-h)) / h**2
    assert second == pytest.approx(printed, rel=1e-4)
