"""Draws of the softmax's posterior against numerical integration, with tolerances from their Monte-Carlo errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr, softmax

from textbayes import BayesMultinomialClassifier
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference.gibbs import Gibbs
from textbayes.links import make_link
from textbayes.models.multinomial.gibbs import draw_laplace_shifts, draw_shifts
from textbayes.posterior.diagnostics import effective_sample_size

X = np.array([[1.0], [0.5], [-1.0], [2.0], [-0.5], [0.3], [1.5], [-2.0]])
Y = np.array([0, 1, 2, 0, 2, 1, 0, 1])
NEW = np.array([[0.7], [-1.5], [3.0]])
COUNTS = np.array([1, 2, 1, 3, 1, 1, 0, 1])
LOG_PRIOR = {
    "gaussian": lambda w, scale: -0.5 * (w / scale) ** 2,
    "laplace": lambda w, scale: -np.abs(w) / scale,
    "student_t": lambda w, scale: -2.5 * np.log1p((w / scale) ** 2 / 4.0),
}


def within_error(series, exact, errors=4.5):
    """Whether the mean of draws (n_chains, n_draws) is the exact value up to so many Monte-Carlo errors."""
    error = series.std() / np.sqrt(effective_sample_size(series))
    assert error < 0.1 * series.std()
    assert abs(series.mean() - exact) < errors * error


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


def highest(eta):
    """P(eta_c + noise_c is highest) for standard normal noise: E over the noise of c that all others are below."""
    out = np.empty_like(eta)
    for c in range(eta.shape[-1]):
        gaps = eta[..., c, None, None] - np.delete(eta, c, axis=-1)[..., None]
        out[..., c] = ndtr(gaps + NODES).prod(axis=-2) @ WEIGHTS / np.sqrt(2.0 * np.pi)
    return out


PROBABILITY = {"logit": lambda eta: softmax(eta, axis=-1), "probit": highest}


def integrate(prior, scale, counts, half_width, link="logit", n=81):
    """Mean of w₀, of w₀², and of the probabilities of NEW over a grid of the three classes' weights of one word.

    The density has kinks at 0 at most, which is a point of the grid: the trapezoid rule errs by its step squared.
    """
    grid = np.linspace(-half_width, half_width, n)
    w = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    log_density = LOG_PRIOR[prior](w, scale).sum(axis=1)
    for x, y, count in zip(X[:, 0], Y, counts, strict=True):
        log_density += count * np.log(PROBABILITY[link](x * w)[:, y])
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    proba = np.array([mass @ PROBABILITY[link](x * w) for x in NEW[:, 0]])
    return mass @ w[:, 0], mass @ w[:, 0] ** 2, proba


@pytest.mark.parametrize(
    ("prior", "scale", "half_width", "method", "link"),
    [
        ("gaussian", 1.0, 6.0, "auto", "logit"),
        ("laplace", 0.7, 12.0, "auto", "logit"),
        ("laplace", 0.7, 12.0, "sweeps", "logit"),
        ("student_t", 0.5, 12.0, "auto", "logit"),
        ("gaussian", 1.0, 5.0, "auto", "probit"),
        ("laplace", 0.7, 4.5, "sweeps", "probit"),
    ],
)
def test_draws_have_the_moments_and_probabilities_of_the_posterior(prior, scale, half_width, method, link):
    gibbs = Gibbs(chains=2, warmup=100, max_draws=800, target_ess=np.inf, random_state=1, method=method, n_jobs=1)
    model = BayesMultinomialClassifier(prior, scale, inference=gibbs, fit_intercept=False, link=link)
    with pytest.warns(UserWarning, match="sampled less well than asked for"):  # asked for: infinitely well
        model.fit(X, Y, COUNTS)
    first, second, proba = integrate(prior, scale, COUNTS, half_width, link, 81 if link == "logit" else 31)
    weights = model.draws_.labels[0].weights[:, :, 0].astype(np.float64)
    within_error(weights, first)
    within_error(weights**2, second)
    every = np.stack([one.weights[:, :, 0] for one in model.draws_.labels], axis=-1).astype(np.float64)
    for i, x in enumerate(NEW[:, 0]):
        drawn = PROBABILITY[link](x * every)
        within_error(drawn[..., 1], proba[i, 1])
        np.testing.assert_allclose(model.predict_proba(NEW)[i], drawn.mean(axis=(0, 1)), rtol=1e-5)
    at_mean = PROBABILITY[link](NEW @ model.coef_.T)
    np.testing.assert_allclose(model.predict_proba(NEW, posterior_predictive=False), at_mean, rtol=1e-6)
    np.testing.assert_allclose(model.standard_errors_[0, 0], weights.std(), rtol=1e-4)


def test_free_intercepts_add_up_to_zero_and_have_their_posterior():
    """Two classes of one word: u = w₁ − w₀ ~ N(0, 2·scale²) and b = b₁ − b₀ flat are integrated over a grid."""
    gibbs = Gibbs(chains=2, warmup=200, max_draws=800, target_ess=np.inf, random_state=2, n_jobs=1)
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    with pytest.warns(UserWarning, match="sampled less well"):
        model = BayesMultinomialClassifier("gaussian", 0.8, inference=gibbs).fit(X, y)
    u, b = np.meshgrid(np.linspace(-7.0, 7.0, 401), np.linspace(-12.0, 12.0, 401), indexing="ij")
    log_density = -0.25 * (u / 0.8) ** 2
    for x, one in zip(X[:, 0], y, strict=True):
        log_density -= np.logaddexp(0.0, (u * x + b) * (1 - 2 * one))
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    first, second = model.draws_.labels
    np.testing.assert_allclose(first.intercept + second.intercept, 0.0, atol=1e-5)  # kept in single precision
    within_error(second.intercept - first.intercept, np.sum(mass * b))
    within_error((second.intercept - first.intercept) ** 2, np.sum(mass * b**2))
    within_error((second.weights - first.weights)[:, :, 0].astype(np.float64), np.sum(mass * u))


def test_common_shifts_have_the_density_of_the_prior_that_is_left():
    rng = np.random.default_rng(0)
    offsets, l1 = np.array([0.5, -1.0, -1.0, 2.0]), np.array([1.0, 0.5, 2.0, 1.5])
    drawn = draw_laplace_shifts(np.tile(offsets[:, None], 20_000), np.tile(l1[:, None], 20_000), rng)
    grid = np.linspace(-8.0, 8.0, 20_001)
    density = np.exp(-np.sum(l1[:, None] * np.abs(offsets[:, None] + grid), axis=0))
    cumulative = np.cumsum(density) / density.sum()
    assert stats.kstest(drawn, lambda t: np.interp(t, grid, cumulative)).pvalue > 1e-3
    l2 = np.array([1.0, 4.0, 0.0, 1.0])
    drawn = draw_shifts(np.tile(offsets[:, None], 20_000), np.zeros((4, 20_000)), np.tile(l2[:, None], 20_000), rng)
    mean = -(l2 @ offsets) / l2.sum()
    assert stats.kstest(drawn, stats.norm(mean, l2.sum() ** -0.5).cdf).pvalue > 1e-3
    flat_and_both = draw_shifts(np.ones((2, 2)), np.array([[0.0, 1.0]] * 2), np.array([[0.0, 1.0]] * 2), rng)
    np.testing.assert_array_equal(flat_and_both, 0.0)


def test_the_same_seed_gives_the_same_draws_whatever_the_threads(plain):
    data, y = plain.make_data(n_docs=30)
    fits = [
        BayesMultinomialClassifier(
            inference=Gibbs(
                chains=2, warmup=20, max_draws=50, target_ess=1.0, max_r_hat=9.0, random_state=3, n_jobs=n_jobs
            )
        ).fit(data, y)
        for n_jobs in (1, 2)
    ]
    np.testing.assert_array_equal(fits[0].draws_.labels[2].weights, fits[1].draws_.labels[2].weights)
    assert fits[0].fit_info_.converged[0]


@pytest.mark.filterwarnings("ignore:1 of 1 posteriors were sampled less well")
def test_an_interrupted_run_resumes_as_if_it_had_not_been(plain):
    data, y = plain.make_data(n_docs=30)
    settings = {
        "chains": 2,
        "warmup": 20,
        "max_draws": 120,
        "max_r_hat": 1.0 + 1e-9,
        "target_ess": 1.0,
        "random_state": 3,
    }
    states = []
    whole = BayesMultinomialClassifier(
        inference=Gibbs(**settings, progress=lambda progress: states.append(progress.state()))
    ).fit(data, y)
    assert len(states) > 1
    resumed = BayesMultinomialClassifier(inference=Gibbs(**settings, resume={0: states[0]}))
    np.testing.assert_array_equal(resumed.fit(data, y).draws_.labels[1].weights, whole.draws_.labels[1].weights)
    with pytest.raises(ValueError, match="was one of other documents"):
        resumed.fit(data[::-1], y)


def test_what_a_softmax_cannot_be_sampled_with_is_refused(plain):
    data, y = plain.make_data()
    with pytest.raises(NotSupportedError, match="factors of inference 'gibbs' is not for a softmax"):
        BayesMultinomialClassifier(inference=Gibbs(factors=np.ones((6, 1)))).fit(data, y)
    with pytest.raises(NotSupportedError, match="cannot take prior 'jeffreys'"):
        BayesMultinomialClassifier("jeffreys", inference="gibbs").fit(data, y)
    with pytest.raises(NotSupportedError, match="not whole numbers"):
        BayesMultinomialClassifier(inference="gibbs").fit(data, y, np.full(60, 0.5))


@pytest.mark.parametrize("eta", [[0.0, 0.0, 0.0], [1.0, -2.0, 0.3, 0.3], [4.0, 0.0, -3.0], [0.5, -20.0]])
def test_probabilities_of_a_multinomial_probit(eta):
    """By adaptive quadrature of the density of the highest; of two classes Φ of the difference over √2."""
    eta = np.array(eta)
    got = make_link("probit").class_probability(eta)
    for c, own in enumerate(eta):

        def density(t, c=c, own=own):
            return stats.norm.pdf(t - own) * ndtr(t - np.delete(eta, c)).prod()

        middle = (own + eta.max()) / 2.0
        exact = quad(density, middle - 12.0, middle + 12.0, epsabs=0.0, epsrel=1e-11, limit=400)[0]
        assert got[c] == pytest.approx(exact, rel=1e-7)
    if len(eta) == 2:
        assert got[1] == pytest.approx(ndtr((eta[1] - eta[0]) / np.sqrt(2.0)), rel=1e-7)


def test_two_classes_of_a_multinomial_probit_are_a_probit():
    """z₁ − z₀ ~ N(eta₁ − eta₀, 2): the posterior of u = w₁ − w₀, of prior variance 2·scale², by integration."""
    y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
    gibbs = Gibbs(chains=2, warmup=100, max_draws=800, target_ess=np.inf, random_state=3, n_jobs=1)
    with pytest.warns(UserWarning, match="sampled less well"):
        model = BayesMultinomialClassifier("gaussian", 0.8, inference=gibbs, fit_intercept=False, link="probit").fit(
            X, y
        )
    u = np.linspace(-8.0, 8.0, 4001)
    signs = np.where(y == 1, 1.0, -1.0)
    mass = np.exp(-0.25 * (u / 0.8) ** 2) * ndtr(np.outer(u, signs * X[:, 0]) / np.sqrt(2.0)).prod(axis=1)
    mass /= mass.sum()
    first, second = (label.weights[:, :, 0].astype(np.float64) for label in model.draws_.labels)
    within_error(second - first, mass @ u)
    within_error((second - first) ** 2, mass @ u**2)


def test_a_multinomial_probit_has_no_mode_here():
    with pytest.raises(NotSupportedError, match="link 'probit' of a multinomial model is sampled"):
        BayesMultinomialClassifier(link="probit").fit(X, Y)
    with pytest.raises(InputError, match="link='cloglog'"):
        BayesMultinomialClassifier(link="cloglog").fit(X, Y)
    with pytest.raises(NotSupportedError, match="no form for classes"):
        make_link("student_t").class_probability(np.zeros((1, 3)))
