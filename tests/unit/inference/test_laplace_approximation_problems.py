"""The Gaussian at the mode in hard places: weights, signs, copies of words, separated data, single sides."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.inference.coordinate import Coordinate
from textbayes.inference.laplace_approximation import laplace_approximation
from textbayes.links import links, make_link
from textbayes.priors import make_prior, priors


def test_weights_count_documents(make_problem, approximate, data):
    X, y = data(50, 4)
    times = np.random.default_rng(0).integers(0, 4, 50)
    weighted = make_problem(X, y, scale=0.8, sample_weight=times.astype(float))
    repeated = make_problem(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0), scale=0.8)
    ours, theirs = approximate(weighted)[1], approximate(repeated)[1]
    np.testing.assert_allclose(ours.standard_errors()[0], theirs.standard_errors()[0], rtol=1e-5)
    np.testing.assert_allclose(ours.variance(X), theirs.variance(X), rtol=1e-5)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_words_that_a_label_may_not_use_take_no_part(make_problem, approximate, data, prior):
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


def test_words_held_by_a_sign_take_no_part(make_problem, approximate, data):
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


def test_two_copies_of_a_word(make_problem, approximate, data, dense_precision):
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
def test_separated_data(make_problem, approximate, prior):
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
def test_a_label_with_documents_on_one_side_only(make_problem, approximate, data, prior, link):
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


def test_free_words(make_problem, approximate, data, dense_precision):
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
def test_without_an_intercept_or_with_one_that_a_kink_holds(make_problem, approximate, data, intercept):
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
def test_every_link_and_prior_gives_a_positive_definite_covariance(make_problem, data, prior, link, shape):
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
def test_outliers_count_with_their_expected_curvature(make_problem, approximate, memory):
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
