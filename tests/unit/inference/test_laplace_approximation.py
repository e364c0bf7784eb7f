"""The Gaussian at the mode: against dense algebra, numerical derivatives and integrals, MCMC, and in hard places."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import integrate, sparse

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.inference import Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.laplace_approximation import GaussianApproximation, laplace_approximation
from textbayes.inference.predictive import predictive_probabilities, probability_interval
from textbayes.linear import one_of_many
from textbayes.links import links, make_link
from textbayes.priors import make_prior, priors


def make_problem(X, y, prior="gaussian", scale=1.0, link="logit", intercept=np.inf, **others):
    columns = sparse.csc_matrix(X)
    columns.indices = columns.indices.astype(np.int32)
    chosen = make_prior(prior, scale)
    y = np.where(np.asarray(y), 1.0, -1.0)
    of_intercept = None if intercept is None else chosen.rescaled(intercept)
    return Problem(columns, y[:, None] if y.ndim == 1 else y, make_link(link), chosen, of_intercept, **others)


def approximate(problem, **settings):
    posterior = Coordinate(tol=1e-9, max_iter=2000).run(problem)
    return posterior, laplace_approximation(problem, posterior, **settings)


def data(n=80, p=5, seed=0, labels=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.7)
    eta = X @ rng.normal(0, 1.0, (p, labels)) + 0.3
    return X, eta + rng.logistic(size=eta.shape) > 0.0


def dense_precision(problem, posterior, active, label=0):
    """X'ΩX + diag(l2) written out, with the intercept as a last column of ones."""
    X = np.hstack([problem.X.toarray()[:, active], np.ones((problem.X.shape[0], 1))])
    eta = problem.X @ posterior.mean[label] + posterior.intercept[label]
    omega = problem.link.hessian(eta, problem.y[:, label])
    if problem.sample_weight is not None:
        omega = omega * problem.sample_weight
    l2 = problem.prior.for_label(label, problem.X.shape[1]).local(posterior.mean[label]).l2[active]
    of_intercept = problem.intercept_prior.local(posterior.intercept[label : label + 1]).l2
    return X.T @ (omega[:, None] * X) + np.diag(np.append(l2, of_intercept))


# -- what it is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [name for name in links.names() if links.get(name)().log_concave])
@pytest.mark.parametrize("prior", ["gaussian", "laplace", "elastic_net"])
def test_is_the_inverse_of_the_numerical_second_derivative(link, prior):
    X, y = data()
    problem = make_problem(X, y, prior, 0.5, link, intercept=2.0)
    posterior, approximation = approximate(problem)
    w = np.append(posterior.mean[0], posterior.intercept[0])
    active = np.flatnonzero(posterior.mean[0])
    assert len(active) >= 3
    X1, step = np.hstack([X, np.ones((len(X), 1))]), 1e-5

    def gradient(w):
        of_prior = np.append(problem.prior.neg_grad(w[:-1]), problem.intercept_prior.neg_grad(w[-1:]))
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
def test_by_words_and_by_documents_equal_dense_algebra(n, p):
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


def test_documents_beyond_the_limit_are_summed_up():
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
def test_one_weight_against_numerical_integration(prior, scale, link):
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


def test_word_and_intercept_against_integration_in_two_dimensions():
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
def test_against_a_long_markov_chain(prior, scale):
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


# -- what problems are made of ------------------------------------------------------------------------------------


def test_weights_count_documents():
    X, y = data(50, 4)
    times = np.random.default_rng(0).integers(0, 4, 50)
    weighted = make_problem(X, y, scale=0.8, sample_weight=times.astype(float))
    repeated = make_problem(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), scale=0.8)
    ours, theirs = approximate(weighted)[1], approximate(repeated)[1]
    np.testing.assert_allclose(ours.standard_errors()[0], theirs.standard_errors()[0], rtol=1e-5)
    np.testing.assert_allclose(ours.variance(X), theirs.variance(X), rtol=1e-5)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_words_that_a_label_may_not_use_take_no_part(prior):
    X, y = data(80, 6, labels=2)
    words = np.array([[True, False, True, True, False, True], [False, True, True, False, True, True]])
    problem = make_problem(X, y, prior, 1.0, words=words)
    _, approximation = approximate(problem)
    errors, intercepts = approximation.standard_errors()
    for label in range(2):
        allowed = np.flatnonzero(words[label])
        alone = approximate(make_problem(X[:, allowed], y[:, label], prior, 1.0))[1]
        np.testing.assert_allclose(errors[label, allowed], alone.standard_errors()[0][0], rtol=1e-4)
        assert intercepts[label] == pytest.approx(alone.standard_errors()[1][0], rel=1e-4)
        assert np.isnan(errors[label, ~words[label]]).all()
        np.testing.assert_allclose(approximation.variance(X)[:, label], alone.variance(X[:, allowed])[:, 0], rtol=1e-4)


def test_words_held_by_a_sign_take_no_part():
    X, y = data(100, 3, seed=2)
    free = approximate(make_problem(X, y))[0].mean[0]
    against = -np.sign(free[0])
    problem = make_problem(X, y)._replace(prior=type(make_prior("gaussian", 1.0))(1.0, sign=[against, 0.0, 0.0]))
    posterior, approximation = approximate(problem)
    assert posterior.mean[0, 0] == 0.0
    words = approximation.standard_errors()[0][0]
    assert np.isnan(words).tolist() == [True, False, False]
    alone = approximate(make_problem(X[:, 1:], y))[1]
    np.testing.assert_allclose(words[1:], alone.standard_errors()[0][0], rtol=1e-5)


def test_two_copies_of_a_word():
    """The mode shares the weight between them as it likes; what they do together is as sure as one word would be."""
    X, y = data(120, 3, seed=1)
    twice = np.hstack([X, X[:, :1]])
    scale = 3.0
    problem = make_problem(twice, y, "laplace", scale)
    posterior = Coordinate(tol=1e-9, max_iter=2000).run(problem)
    total = posterior.mean[0, 0] + posterior.mean[0, 3]
    assert (posterior.mean[0, 1:3] != 0.0).all()
    shared = posterior.mean.copy()
    shared[0, 0] = shared[0, 3] = 0.5 * total  # another mode: under the lasso penalty any split of one sign is
    approximation = laplace_approximation(problem, posterior._replace(mean=shared))
    words = approximation.standard_errors()[0][0]
    single = approximate(make_problem(X, y, "laplace", scale))[1]
    together = approximation.variance(twice)
    np.testing.assert_allclose(together, single.variance(X), rtol=1e-5)
    # Apart they are held by their priors alone: Var(w_0 − w_3) = 2·2·scale², and Var(w_0 + w_3) is the single word's.
    cov = approximation.covariance(0)[1]
    apart = np.array([0.0, 1.0, 0.0, 0.0, -1.0])
    assert apart @ cov @ apart == pytest.approx(4.0 * scale**2, rel=1e-6)
    assert words[0] == pytest.approx(0.5 * np.sqrt(4.0 * scale**2 + single.standard_errors()[0][0, 0] ** 2), rel=1e-5)
    # The Gaussian prior has a curvature of its own: exactly as the formula says.
    problem = make_problem(twice, y, "gaussian", scale)
    posterior, approximation = approximate(problem)
    exact = np.linalg.inv(dense_precision(problem, posterior, np.arange(4)))
    np.testing.assert_allclose(approximation.covariance(0)[1], np.roll(exact, 1, axis=(0, 1)), rtol=1e-7)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_separated_data(prior):
    """Where a word tells the classes apart for certain, the prior alone bounds its weight; errors stay finite."""
    X = np.array([[-3.0, 1.0], [-2.0, 0.0], [-1.5, 2.0], [1.5, 0.0], [2.0, 1.0], [3.0, 2.0]] * 4)
    posterior, approximation = approximate(make_problem(X, X[:, 0] > 0, prior, 2.0))
    words, intercepts = approximation.standard_errors()
    prior_sd = 2.0 if prior == "gaussian" else 2.0 * np.sqrt(2.0)
    assert 0.2 < words[0, 0] <= prior_sd
    assert 0.2 < intercepts[0] < 100.0
    proba = make_link("logit").predictive(
        X @ posterior.mean[0] + posterior.intercept[0], approximation.variance(X)[:, 0]
    )
    plug_in = make_link("logit").probability(X @ posterior.mean[0] + posterior.intercept[0])
    assert (np.abs(proba - 0.5) < np.abs(plug_in - 0.5)).all()  # less sure than the mode alone


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_a_label_with_documents_on_one_side_only(prior, link):
    X, _ = data(30, 4)
    problem = make_problem(X, np.zeros(30, dtype=bool), prior, 1.5, link)
    posterior, approximation = approximate(problem)
    words, intercepts = approximation.standard_errors()
    b = posterior.intercept[0]
    of_outcome = problem.link.hessian(np.array([b, b]), np.array([1.0, -1.0]))
    information = of_outcome @ [0.5, 30.5]  # 30 documents and two halves
    if prior == "laplace":
        assert np.isnan(words).all()
        assert intercepts[0] == pytest.approx(information**-0.5, rel=1e-6)
    else:
        assert (words <= 1.5 + 1e-12).all()
        assert (words > 0.5).all()
        assert intercepts[0] >= information**-0.5
    assert np.isfinite(approximation.variance(X)).all()


def test_free_words():
    X, y = data(200, 3)
    X = np.hstack([X, np.zeros((200, 1))])
    problem = make_problem(X, y, scale=np.array([np.inf, np.inf, 1.0, np.inf]))
    posterior, approximation = approximate(problem)
    words = approximation.standard_errors()[0][0]
    exact = np.linalg.inv(dense_precision(problem, posterior, np.arange(3)))
    np.testing.assert_allclose(words[:3], np.sqrt(np.diag(exact))[:3], rtol=1e-7)
    assert words[3] == pytest.approx(1e4)  # free and in no document: nothing is known of it
    # Two free copies: together as sure as one, apart all but unknown.
    problem = make_problem(np.hstack([X[:, :3], X[:, :1]]), y, scale=np.array([np.inf, 1.0, 1.0, np.inf]))
    approximation = approximate(problem)[1]
    cov = approximation.covariance(0)[1]
    together, apart = np.array([0, 1.0, 0, 0, 1.0]), np.array([0, 1.0, 0, 0, -1.0])
    alone = approximate(make_problem(X[:, :3], y, scale=np.array([np.inf, 1.0, 1.0])))[1].standard_errors()[0][0]
    assert np.sqrt(together @ cov @ together) == pytest.approx(alone[0], rel=1e-4)
    assert 100.0 * alone[0] < np.sqrt(apart @ cov @ apart) < np.inf


@pytest.mark.parametrize("intercept", [None, 1e-3])
def test_without_an_intercept_or_with_one_that_a_kink_holds(intercept):
    X, y = data(100, 3)
    problem = make_problem(X, y, "laplace", 1.0, intercept=intercept)
    posterior, approximation = approximate(problem)
    assert posterior.intercept[0] == 0.0
    assert approximation.standard_errors()[1][0] == 0.0
    assert approximation.variance(np.zeros((1, 3)))[0, 0] == 0.0
    assert (approximation.covariance(0)[1][0] == 0.0).all()
    omega = problem.link.hessian(X @ posterior.mean[0], problem.y[:, 0])
    exact = np.linalg.inv(X.T @ (omega[:, None] * X))
    np.testing.assert_allclose(approximation.covariance(0)[1][1:, 1:], exact, rtol=1e-7)


@pytest.mark.parametrize("prior", priors.names())
@pytest.mark.parametrize("link", links.names())
@pytest.mark.parametrize("shape", [(60, 6), (15, 40)], ids=["long", "wide"])
def test_every_link_and_prior_gives_a_positive_definite_covariance(prior, link, shape):
    X, y = data(*shape, seed=4)
    y[:3] = ~y[:3]  # outliers: negative curvature under links that forgive them
    problem = make_problem(X, y, prior, 1.0, link)
    posterior = Coordinate(tol=1e-6, max_iter=500).run(problem)
    approximation = laplace_approximation(problem, posterior)
    small = laplace_approximation(problem, posterior, memory=8 * 10**2)
    for one in (approximation, small):
        columns, cov = one.covariance(0)
        local = problem.prior.for_label(0, shape[1]).local(posterior.mean[0])
        held = (local.l1 > 0.0) & (posterior.mean[0] == local.center)
        np.testing.assert_array_equal(columns, np.flatnonzero(~held))
        assert np.linalg.eigvalsh(cov).min() > 0.0
        # No word is less certain than under its prior as seen from the mode.
        spread = 1.0 / np.sqrt(local.l2 + 0.5 * local.l1**2)[columns]
        words = one.standard_errors()[0][0]
        assert (words[columns] <= spread * (1.0 + 1e-6)).all()
        assert (one.variance(X) > 0.0).all()


@pytest.mark.parametrize("memory", [2**28, 8 * 4])
def test_outliers_count_with_their_expected_curvature(memory):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 2))
    y = X @ [1.5, 1.5] + rng.standard_cauchy(300) > 0.0
    X, y = np.vstack([X, [[20.0, 20.0], [-20.0, -20.0]]]), np.append(y, [False, True])
    weight = rng.uniform(0.5, 2.0, 302)
    problem = make_problem(X, y, link="student_t:df=1", sample_weight=weight)
    posterior, approximation = approximate(problem, memory=memory)
    eta = X @ posterior.mean[0] + posterior.intercept[0]
    assert (problem.link.hessian(eta, problem.y[:, 0])[-2:] < 0.0).all()
    p = 0.5 + np.arctan(eta) / np.pi
    omega = weight / (np.pi * (1.0 + eta**2)) ** 2 / (p * (1.0 - p))  # Fisher's information: p'²/(p·(1 − p))
    X1 = np.hstack([X, np.ones((302, 1))])
    exact = np.linalg.inv(X1.T @ (omega[:, None] * X1) + np.diag([1.0, 1.0, 0.0]))
    # Where there is room for two documents, the others are summed up.
    rtol = 1e-7 if approximation.exact.all() else 0.5
    assert approximation.exact.all() == (memory == 2**28)
    np.testing.assert_allclose(np.diag(approximation.covariance(0)[1]), np.roll(np.diag(exact), 1), rtol=rtol)


# -- state, predictions and refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [2**28, 8 * 2 * 20**2])
def test_state_survives_json(memory):
    X, y = data(30, 40, labels=2)
    _, approximation = approximate(make_problem(X, y), memory=memory)
    _, by_word = approximate(make_problem(X, y, "laplace", 0.5))
    for one in (approximation, by_word):
        meta, arrays = one.to_state()
        again = GaussianApproximation.from_state(json.loads(json.dumps(meta)), arrays)
        np.testing.assert_array_equal(again.variance(X), one.variance(X))
        for ours, theirs in zip(again.standard_errors(), one.standard_errors(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(again.log_det, one.log_det)
        np.testing.assert_array_equal(again.exact, one.exact)
        assert repr(again) == repr(one)


@pytest.mark.parametrize("name", ["columns", "root", "diagonal", "inverse", "coupling", "documents.indices"])
def test_a_damaged_state_is_refused(name):
    X, y = data(30, 40)
    dual = approximate(make_problem(X, y))[1].to_state()
    primal = approximate(make_problem(X, y, "laplace", 0.5))[1].to_state()
    meta, arrays = next(state for state in (primal, dual) if f"0.{name}" in state[1])
    whole = arrays[f"0.{name}"]
    broken = [whole[:-1], whole + 1000] if whole.dtype.kind == "i" else [whole[:-1], whole * np.nan]
    for bad in broken:
        with pytest.raises(ModelFileError, match="was the file altered"):
            GaussianApproximation.from_state(meta, {**arrays, f"0.{name}": bad})
    with pytest.raises(ModelFileError, match="was the file altered"):
        GaussianApproximation.from_state(meta, {key: part for key, part in arrays.items() if key != f"0.{name}"})


def test_predictions_of_classes_that_exclude_each_other():
    rng = np.random.default_rng(0)
    eta, var = rng.normal(0, 3, (50, 4)), rng.gamma(2.0, 1.0, (50, 4))
    space = LabelSpace(np.array(list("abcd")), "multiclass")
    for link in map(make_link, ("logit", "probit", "skew_t:df=4,skew=2")):
        np.testing.assert_allclose(
            predictive_probabilities(eta, np.zeros_like(var), link, space), one_of_many(eta, link), rtol=1e-8
        )
        proba = predictive_probabilities(eta, var, link, space)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        own = predictive_probabilities(eta, var, link, LabelSpace(space.classes, "multilabel"))
        np.testing.assert_allclose(proba, own / own.sum(axis=1, keepdims=True), rtol=1e-9)
    far = np.array([[-500.0, -400.0, -300.0, -300.0]])  # all their own probabilities are nearly 0
    proba = predictive_probabilities(far, np.ones((1, 4)), make_link("logit"), space)
    np.testing.assert_allclose(proba, [[0.0, 0.0, 0.5, 0.5]], atol=1e-12)


def test_an_interval_holds_its_share_of_the_probabilities():
    rng, link = np.random.default_rng(1), make_link("student_t:df=4")
    low, high = probability_interval(np.array([0.7]), np.array([2.0]), link, level=0.8)
    drawn = link.probability(rng.normal(0.7, np.sqrt(2.0), 200_000))
    assert np.mean(drawn < low) == pytest.approx(0.1, abs=0.003)
    assert np.mean(drawn > high) == pytest.approx(0.1, abs=0.003)
    for level in (0.0, 1.0, 90, np.nan):
        with pytest.raises(InputError, match=r"between 0 and 1, such as 0\.9"):
            probability_interval(np.zeros(1), np.ones(1), link, level)


def test_what_does_not_go_together_is_refused():
    X, y = data(20, 3)
    problem = make_problem(X, y)
    posterior, approximation = approximate(problem)
    with pytest.raises(InputError, match=r"shape \(2, 3\), the problem \(1, 3\)"):
        laplace_approximation(problem, posterior._replace(mean=np.zeros((2, 3))))
    with pytest.raises(InputError, match="memory=0 bytes"):
        laplace_approximation(problem, posterior, memory=0)
    with pytest.raises(InputError, match="X has 4 features; the approximation is of 3"):
        approximation.variance(np.zeros((2, 4)))
    wide = make_problem(sparse.csr_matrix((2, 3000)), [True, False])
    nowhere = Posterior(np.zeros((1, 3000)), np.zeros(1), None, posterior.info)
    large = laplace_approximation(wide, nowhere)
    np.testing.assert_allclose(large.standard_errors()[0], 1.0)  # the prior's own
    with pytest.raises(NotSupportedError, match="3000 active words"):
        large.covariance(0)
