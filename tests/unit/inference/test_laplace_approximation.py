"""The Gaussian at the mode: against dense algebra, numerical derivatives and integrals, and MCMC."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse

from references.optimality import slope_of
from textbayes.inference.laplace_approximation import laplace_approximation
from textbayes.links import links, make_link

# -- what it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [name for name in links.names() if links.get(name)().log_concave])
@pytest.mark.parametrize("prior", ["gaussian", "laplace", "elastic_net"])
def test_is_the_inverse_of_the_numerical_second_derivative(make_problem, approximate, data, link, prior):
    X, y = data()
    problem = make_problem(X, y, prior, 0.5, link, intercept=2.0)
    posterior, approximation = approximate(problem)
    w = np.append(posterior.mean[0], posterior.intercept[0])
    active = np.flatnonzero(posterior.mean[0])
    assert len(active) >= 3
    X1, step = np.hstack([X, np.ones((len(X), 1))]), 1e-5

    def gradient(w):
        of_prior = np.append(slope_of(problem.prior, w[:-1]), slope_of(problem.intercept_prior, w[-1:]))
        return of_prior - X1.T @ problem.link.score(X1 @ w, problem.y[:, 0])

    free = np.append(active, len(w) - 1)
    rows = [(gradient(w + step * e) - gradient(w - step * e))[free] / (2 * step) for e in np.eye(len(w))[free]]
    covariance = np.linalg.inv(np.array(rows))
    words, intercept = approximation.standard_errors()
    np.testing.assert_allclose(words[0, active], np.sqrt(np.diag(covariance))[:-1], rtol=1e-5)
    assert intercept[0] == pytest.approx(np.sqrt(covariance[-1, -1]), rel=1e-5)
    assert np.isnan(np.delete(words[0], active)).all()
    assert approximation.log_det[0] == pytest.approx(np.linalg.slogdet(np.array(rows))[1], rel=1e-5)
    documents = np.random.default_rng(1).normal(size=(7, X.shape[1]))
    at = np.hstack([documents[:, active], np.ones((7, 1))])
    np.testing.assert_allclose(
        approximation.variance(documents)[:, 0], np.einsum("ij,jk,ik->i", at, covariance, at), rtol=1e-5
    )


@pytest.mark.parametrize(("n", "p"), [(60, 8), (25, 60), (40, 41)])
def test_by_words_and_by_documents_equal_dense_algebra(make_problem, approximate, data, dense_precision, n, p):
    X, y = data(n, p, labels=3)
    problem = make_problem(X, y, scale=np.linspace(0.5, 2.0, p))
    posterior, approximation = approximate(problem)
    documents = sparse.random(2500, p, 0.3, format="csr", random_state=0)
    variance = approximation.variance(documents)
    words, intercepts = approximation.standard_errors()
    at = np.hstack([documents.toarray(), np.ones((2500, 1))])
    assert approximation.exact.all()
    for label in range(3):
        precision = dense_precision(problem, posterior, np.arange(p), label)
        covariance = np.linalg.inv(precision)
        np.testing.assert_allclose(words[label], np.sqrt(np.diag(covariance))[:-1], rtol=1e-8)
        assert intercepts[label] == pytest.approx(np.sqrt(covariance[-1, -1]), rel=1e-8)
        assert approximation.log_det[label] == pytest.approx(np.linalg.slogdet(precision)[1], rel=1e-9)
        np.testing.assert_allclose(
            variance[:, label], np.einsum("ij,jk,ik->i", at, covariance, at, optimize=True), rtol=1e-7
        )
        columns, ours = approximation.covariance(label)
        assert columns.tolist() == list(range(p))
        np.testing.assert_allclose(ours, np.roll(covariance, 1, axis=(0, 1)), rtol=1e-7, atol=1e-10)


def test_documents_beyond_the_limit_are_summed_up(make_problem, approximate, dense_precision):
    rng = np.random.default_rng(0)
    n, p = 900, 400
    X = sparse.random(n, p, 0.03, format="csr", random_state=1, data_rvs=lambda size: rng.gamma(2.0, 0.5, size))
    y = X @ rng.normal(0, 1.5, p) + rng.logistic(size=n) > 0.0
    problem = make_problem(X, y, scale=1.5)
    posterior, whole = approximate(problem)
    small = laplace_approximation(problem, posterior, memory=8 * 300**2)
    assert whole.exact.all()
    assert not small.exact.any()
    documents = sparse.random(300, p, 0.03, format="csr", random_state=2)
    # A hard case: twice as many documents are summed up as held. Much better than no correlations at all.
    error = np.abs(np.log(small.variance(documents) / whole.variance(documents))) / 2.0
    diagonal = np.diag(dense_precision(problem, posterior, np.arange(p)))
    crude = documents.multiply(documents) @ (1.0 / diagonal[:-1])[:, None] + 1.0 / diagonal[-1]
    crude_error = np.abs(np.log(crude / whole.variance(documents))) / 2.0
    assert error.mean() < 0.3 * crude_error.mean()
    assert error.max() < 0.3 * crude_error.max()
    ours, theirs = small.standard_errors(), whole.standard_errors()
    np.testing.assert_allclose(ours[0], theirs[0], rtol=0.2)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=0.2)
    covariance = small.covariance(0)[1]
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    np.testing.assert_allclose(np.sqrt(np.diag(covariance))[1:], ours[0][0], rtol=1e-8)
    assert small.log_det[0] == pytest.approx(-np.linalg.slogdet(covariance)[1], rel=1e-8)
    # With room for all documents nothing is summed up.
    again = laplace_approximation(problem._replace(X=problem.X[:250], y=problem.y[:250]), posterior, memory=8 * 300**2)
    assert again.exact.all()


# -- how good it is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "scale"), [("gaussian", 1.0), ("laplace", 1.0), ("student_t", 1.0)])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_one_weight_against_numerical_integration(make_problem, approximate, prior, scale, link):
    """Without an intercept the exact posterior is a curve: its spread is approached as documents add up."""
    errors = []
    for n in (40, 640):
        rng = np.random.default_rng(n)
        x = rng.normal(size=n)
        y = make_link(link).probability(0.8 * x) > rng.random(n)
        problem = make_problem(x[:, None], y, prior, scale, link, intercept=None)
        posterior, approximation = approximate(problem)
        words, intercepts = approximation.standard_errors()
        assert intercepts[0] == 0.0
        grid = posterior.mean[0, 0] + words[0, 0] * np.linspace(-9.0, 9.0, 4001)
        log_density = problem.link.log_prob(grid[:, None] * x, problem.y[:, 0]).sum(axis=1)
        log_density -= problem.prior.neg_log(grid)
        density = np.exp(log_density - log_density.max())
        density /= integrate.simpson(density, x=grid)
        mean = integrate.simpson(grid * density, x=grid)
        spread = np.sqrt(integrate.simpson((grid - mean) ** 2 * density, x=grid))
        errors.append(abs(np.log(words[0, 0] / spread)))
    assert errors[0] < 0.15
    assert errors[1] < 0.015


def test_word_and_intercept_against_integration_in_two_dimensions(make_problem, approximate):
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 0.5, 400)
    y = 1.2 * x - 1.0 + rng.logistic(size=400) > 0.0
    problem = make_problem(x[:, None], y, scale=2.0, intercept=3.0)
    posterior, approximation = approximate(problem)
    (words, intercepts), cov = approximation.standard_errors(), approximation.covariance(0)[1]
    w = posterior.mean[0, 0] + words[0, 0] * np.linspace(-6, 6, 161)
    b = posterior.intercept[0] + intercepts[0] * np.linspace(-6, 6, 161)
    log_density = problem.link.log_prob(
        w[:, None, None] * x + b[:, None], np.broadcast_to(problem.y[:, 0], (161, 161, 400))
    ).sum(axis=2)
    log_density += -0.5 * (w[:, None] / 2.0) ** 2 - 0.5 * (b / 3.0) ** 2
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    mean_w, mean_b = (density.sum(axis=1) @ w), (density.sum(axis=0) @ b)
    exact = np.array(
        [
            [density.sum(axis=0) @ (b - mean_b) ** 2, (w - mean_w) @ density @ (b - mean_b)],
            [(w - mean_w) @ density @ (b - mean_b), density.sum(axis=1) @ (w - mean_w) ** 2],
        ]
    )
    np.testing.assert_allclose(cov, exact, rtol=0.03)
    # And the probabilities that integrate over the posterior.
    documents = np.array([[0.0], [1.0], [4.0]])
    variance = approximation.variance(documents)[:, 0]
    for x_new, var in zip(documents[:, 0], variance, strict=True):
        eta = w[:, None] * x_new + b
        integrated = (density * problem.link.probability(eta)).sum()
        at_mode = posterior.mean[0, 0] * x_new + posterior.intercept[0]
        assert problem.link.predictive(np.array([at_mode]), np.array([var]))[0] == pytest.approx(integrated, abs=0.004)


@pytest.mark.parametrize(("prior", "scale"), [("gaussian", 0.7), ("laplace", 0.5)])
def test_against_a_long_markov_chain(make_problem, approximate, data, prior, scale):
    X, y = data(n=300, p=4, seed=5)
    problem = make_problem(X, y, prior, scale, intercept=2.0)
    posterior, approximation = approximate(problem)
    assert (posterior.mean != 0.0).all()
    words, intercepts = approximation.standard_errors()
    sd = np.append(words[0], intercepts[0])
    X1, sign = np.hstack([X, np.ones((300, 1))]), problem.y[:, 0]

    def log_posterior(w):  # many chains at once, one per row
        of_prior = problem.prior.neg_log(w[:, :-1]).sum(axis=1) + problem.intercept_prior.neg_log(w[:, -1])
        return problem.link.log_prob(w @ X1.T, sign).sum(axis=1) - of_prior

    rng, n_chains = np.random.default_rng(6), 60
    w = np.append(posterior.mean[0], posterior.intercept[0]) + sd * rng.normal(size=(n_chains, 5))
    height, kept = log_posterior(w), []
    for step in range(1500):
        new = w + 0.9 * sd * rng.normal(size=w.shape)
        new_height = log_posterior(new)
        accept = np.log(rng.random(n_chains)) < new_height - height
        w, height = np.where(accept[:, None], new, w), np.where(accept, new_height, height)
        if step >= 200:
            kept.append(w)
    chains = np.array(kept)
    exact = chains.reshape(-1, 5).std(axis=0)
    # Chains are independent: their own spreads tell the error of the pooled one.
    error = chains.std(axis=0).std(axis=0) / np.sqrt(n_chains)
    # The approximation errs by order 1/n: three per cent here, beside the chain's error.
    assert (np.abs(sd - exact) <= 0.03 * exact + 3.0 * error).all()
    documents = rng.normal(size=(6, 4))
    eta = chains.reshape(-1, 5) @ np.hstack([documents, np.ones((6, 1))]).T
    np.testing.assert_allclose(np.sqrt(approximation.variance(documents)[:, 0]), eta.std(axis=0), rtol=0.06)
    at_mode = documents @ posterior.mean[0] + posterior.intercept[0]
    integrated = problem.link.predictive(at_mode, approximation.variance(documents)[:, 0])
    np.testing.assert_allclose(integrated, problem.link.probability(eta).mean(axis=0), atol=0.015)
