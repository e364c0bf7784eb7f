"""Equations of Madahian & Faghihi (2014): values by integration, draws against SciPy's distributions.

Draws have fixed seeds: a test that passes once always passes.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from textbayes.inference.gibbs.block import Design, JointDraw
from textbayes.inference.gibbs.chain import Scales
from textbayes.links.probit import Probit
from textbayes.reproduce.gibbs.sampling import LAMBDA, PAPER, keep_top_words
from textbayes.text import TermWeighting

N_DRAWS, LEAST_P = 20_000, 1e-3


@pytest.mark.equation("gibbs", "2", "3")
@pytest.mark.parametrize("eta", [-2.5, -0.3, 0.0, 1.7])
def test_probit_is_the_probability_that_the_latent_variable_is_positive(eta):
    mass = integrate.quad(stats.norm(loc=eta).pdf, 0.0, np.inf, epsabs=0.0, epsrel=1e-11)[0]
    assert Probit().probability(np.array([eta]))[0] == pytest.approx(mass, rel=1e-9)


@pytest.mark.equation("gibbs", "4")
@pytest.mark.parametrize("theta", [-3.0, 0.0, 0.4])
def test_prior_is_double_exponential_of_rate_root_lambda(theta):
    density = np.exp(-PAPER.prior.neg_log(np.array([theta, 0.0])))
    assert density[0] / density[1] == pytest.approx(np.exp(-np.sqrt(LAMBDA) * abs(theta)), rel=1e-12)


@pytest.mark.equation("gibbs", "5")
@pytest.mark.parametrize("theta", [0.3, 2.0, 7.0])
def test_prior_is_a_normal_scale_mixture(theta):
    """θ | η ~ N(0, η), η ~ Exp(λ/2): whose variance is 4/λ² = 100, as the paper says."""

    def joint(root):
        eta = root**2  # so that nothing is infinite at 0
        return 2.0 * root * stats.norm.pdf(theta, scale=root) * LAMBDA / 2.0 * np.exp(-LAMBDA * eta / 2.0)

    mixture = integrate.quad(joint, 1e-12, 60.0, epsabs=0.0, epsrel=1e-10, limit=500)[0]
    scale = float(np.ravel(PAPER.prior.scale)[0])
    assert stats.laplace.pdf(theta, scale=scale) == pytest.approx(mixture, rel=1e-8)
    assert stats.expon(scale=2.0 / LAMBDA).var() == pytest.approx(100.0)


@pytest.mark.equation("gibbs", "6")
@pytest.mark.parametrize("y", [1.0, -1.0])
@pytest.mark.parametrize("eta", [-4.0, -0.5, 0.0, 2.0])
def test_latent_variable_is_a_normal_cut_at_zero(eta, y):
    predictors = np.full(N_DRAWS, eta)
    omega, pull = Probit().latent(np.full(N_DRAWS, y)).responses(predictors, np.random.default_rng(0))
    ends = (-eta, np.inf) if y > 0.0 else (-np.inf, -eta)
    np.testing.assert_array_equal(omega, 1.0)
    assert stats.kstest(predictors + pull, stats.truncnorm(*ends, loc=eta).cdf).pvalue > LEAST_P


@pytest.mark.equation("gibbs", "7")
@pytest.mark.parametrize("form", ["words", "documents"])
@pytest.mark.parametrize("shape", [(6, 9), (12, 4)])
def test_weights_are_normal_given_responses_and_variances(shape, form):
    rng = np.random.default_rng(1)
    X, z, eta = rng.normal(size=shape), rng.normal(size=shape[0]), rng.gamma(2.0, size=shape[1])
    covariance = np.linalg.inv(X.T @ X + np.diag(1.0 / eta))
    mean = covariance @ X.T @ z
    columns = sparse.csc_matrix(X)
    columns.indices = columns.indices.astype(np.int32)
    joint, ones, start = JointDraw(Design.of(columns, False), form), np.ones(shape[0]), rng.normal(size=shape[1])
    draws = np.array([joint.draw(ones, z - X @ start, start, eta, rng) for _ in range(N_DRAWS // 8)])
    # Whitened they are independent and standard normal, each of them and their squared length.
    white = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    assert stats.kstest(white.ravel(), stats.norm.cdf).pvalue > LEAST_P
    assert stats.kstest((white**2).sum(axis=0), stats.chi2(shape[1]).cdf).pvalue > LEAST_P
    assert np.abs(white @ white.T / white.shape[1] - np.eye(shape[1])).max() < 4.5 * np.sqrt(2.0 / white.shape[1])


@pytest.mark.equation("gibbs", "8")
@pytest.mark.parametrize("theta", [0.01, -0.6, 5.0])
def test_inverse_variances_are_inverse_gaussian(theta):
    """η⁻¹ | θ has mean √λ/|θ| and shape λ."""
    scales = Scales(PAPER.prior.for_label(0, N_DRAWS), None, N_DRAWS, False)
    drawn = scales.variances(np.full(N_DRAWS, theta), np.random.default_rng(2))
    mean = np.sqrt(LAMBDA) / abs(theta)
    assert stats.kstest(1.0 / drawn, stats.invgauss(mean / LAMBDA, scale=LAMBDA).cdf).pvalue > LEAST_P


@pytest.mark.equation("gibbs", "9", "10")
def test_weights_of_words():
    counts = np.array([[2, 0, 1], [0, 3, 1], [1, 1, 0], [5, 0, 0]])
    n_docs, document_frequency = 4, np.array([3, 2, 2])
    raw = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * np.log((n_docs + 1) / (document_frequency + 1)), 0)
    expected = raw / np.sqrt((raw**2).sum(axis=1, keepdims=True))
    got = TermWeighting("tfidf").fit_transform(sparse.csr_matrix(counts)).toarray()
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.equation("gibbs", "§ 5")
def test_classification_is_by_the_means_of_the_words_that_are_largest():
    """P(y = 1) = Φ(x'θ̄) over the words of largest |θ̄|: of three words two, and 0.2 − 1.5 = −1.3."""
    kept = keep_top_words(np.array([0.2, -1.5, 0.1]), 2)
    assert Probit().probability(np.array([[1.0, 1.0, 1.0]]) @ kept)[0] == pytest.approx(stats.norm.cdf(-1.3))
