"""Draws of the softmax's posterior against numerical integration, with tolerances from their Monte-Carlo errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, softmax

from textbayes import BayesMultinomialClassifier
from textbayes.core.errors import NotSupportedError
from textbayes.inference.gibbs import Gibbs
from textbayes.inference.gibbs.diagnostics import effective_sample_size
from textbayes.models.multinomial.shift_draws import draw_laplace_shifts, draw_shifts

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


def integrate(prior, scale, counts, half_width, n=81):
    """Mean of w₀, of w₀², and of the probabilities of NEW over a grid of the three classes' weights of one word.

    The density has kinks at 0 at most, which is a point of the grid: the trapezoid rule errs by its step squared.
    """
    grid = np.linspace(-half_width, half_width, n)
    w = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    log_density = LOG_PRIOR[prior](w, scale).sum(axis=1)
    for x, y, count in zip(X[:, 0], Y, counts, strict=True):
        log_density += count * log_softmax(x * w, axis=1)[:, y]
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    proba = np.array([mass @ softmax(x * w, axis=1) for x in NEW[:, 0]])
    return mass @ w[:, 0], mass @ w[:, 0] ** 2, proba


@pytest.mark.parametrize(
    ("prior", "scale", "half_width", "method"),
    [
        ("gaussian", 1.0, 6.0, "auto"),
        ("laplace", 0.7, 12.0, "auto"),
        ("laplace", 0.7, 12.0, "sweeps"),
        ("student_t", 0.5, 12.0, "auto"),
    ],
)
def test_draws_have_the_moments_and_probabilities_of_the_posterior(prior, scale, half_width, method):
    gibbs = Gibbs(chains=4, warmup=200, max_draws=800, target_ess=np.inf, random_state=1, method=method)
    model = BayesMultinomialClassifier(prior, scale, inference=gibbs, fit_intercept=False)
    with pytest.warns(UserWarning, match="sampled less well than asked for"):  # asked for: infinitely well
        model.fit(X, Y, COUNTS)
    first, second, proba = integrate(prior, scale, COUNTS, half_width)
    weights = model.draws_.labels[0].weights[:, :, 0].astype(np.float64)
    within_error(weights, first)
    within_error(weights**2, second)
    every = np.stack([one.weights[:, :, 0] for one in model.draws_.labels], axis=-1).astype(np.float64)
    for i, x in enumerate(NEW[:, 0]):
        drawn = softmax(x * every, axis=-1)
        within_error(drawn[..., 1], proba[i, 1])
        np.testing.assert_allclose(model.predict_proba(NEW)[i], drawn.mean(axis=(0, 1)), rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(NEW, average=False), softmax(NEW @ model.coef_.T, axis=1))
    np.testing.assert_allclose(model.standard_errors_[0, 0], weights.std(), rtol=1e-4)


def test_free_intercepts_add_up_to_zero_and_have_their_posterior():
    """Two classes of one word: u = w₁ − w₀ ~ N(0, 2·scale²) and b = b₁ − b₀ flat are integrated over a grid."""
    gibbs = Gibbs(chains=4, warmup=300, max_draws=800, target_ess=np.inf, random_state=2)
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


@pytest.mark.filterwarnings("ignore:the posterior was sampled less well")
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
