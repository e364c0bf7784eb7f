from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import Problem
from textbayes.inference.em import Em
from textbayes.inference.starts import least_squares_start
from textbayes.links import make_link
from textbayes.priors import make_prior
from textbayes.reproduce.sparse.stopping import ZEROS, EmEnding, follow_em, make_start
from textbayes.reproduce.sparse.systems import EmStop, fit, parameters, size


def make_problem(prior: str = "laplace", scale: float = 0.2, link: str = "probit", seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    X = sparse.random(200, 25, density=0.3, random_state=rng, format="csc")
    X.data = 1.0 + np.log(1.0 + rng.poisson(0.5, X.nnz))
    X = sparse.csc_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64)), shape=X.shape)
    w = np.zeros(25)
    w[:4] = 2.0, -1.5, 1.0, -1.0
    y = np.where(X @ w + rng.normal(size=200) > 0.3, 1.0, -1.0)[:, None]
    made = make_prior(prior, scale)
    return Problem(X, y, make_link(link), made, made.rescaled(scale))


@pytest.mark.parametrize("negative", [-1.0, 0.0])
def test_the_start_is_the_least_squares_solution(negative):
    problem, ridge = make_problem(), 1e-6
    dense = np.column_stack([problem.X.toarray(), np.ones(200)])
    stacked = np.vstack([dense, np.sqrt(ridge) * np.eye(26)])  # ridge regression as least squares with added rows
    expected = np.linalg.lstsq(stacked, np.append(np.maximum(problem.y[:, 0], negative), np.zeros(26)), rcond=None)[0]
    np.testing.assert_allclose(parameters(least_squares_start(problem, negative)), expected, atol=1e-10)


def test_words_that_always_come_together_have_a_start_all_the_same():
    problem = make_problem()
    twice = sparse.csc_matrix(sparse.hstack([problem.X, problem.X]))
    start = least_squares_start(problem._replace(X=twice))
    np.testing.assert_allclose(start.mean[0, :25], start.mean[0, 25:], atol=1e-6)


def one_step(problem: Problem, beta: np.ndarray, rate: float) -> np.ndarray:
    """The E- and M-step as the paper prints them, equations 10 to 13, with ω_j = rate/|β_j|."""
    from scipy.stats import norm

    X, y = np.column_stack([problem.X.toarray(), np.ones(200)]), problem.y[:, 0]
    eta = X @ beta
    v = np.where(y > 0, eta + norm.pdf(eta) / norm.cdf(eta), eta - norm.pdf(eta) / norm.cdf(-eta))
    return np.linalg.solve(np.diag(rate / np.abs(beta)) + X.T @ X, X.T @ v)


@pytest.mark.parametrize("gamma", [0.5, 5.0])
def test_em_goes_the_way_of_the_printed_equations(gamma):
    problem = make_problem(scale=1.0 / gamma)
    method = Em(0.0, 6, plain=True)
    method.trace = []
    start = least_squares_start(problem)
    method.run(problem, start)
    beta = parameters(start)
    for step in method.trace[1:]:
        beta = one_step(problem, beta, gamma)
        np.testing.assert_allclose(np.append(step.w, step.b), beta, rtol=1e-6, atol=1e-10)


def test_em_ends_at_the_first_change_within_the_tolerance():
    problem, stop = make_problem(), EmStop(tol=1e-2)
    course = follow_em(problem, least_squares_start(problem), 1e-4, 500)
    place = EmEnding(stop.tol).place(course.change)
    assert course.change[place] <= stop.tol < course.change[:place].min()
    posterior = fit(problem, stop)
    assert posterior.info.n_iter[0] == place + 1
    for zero, count in zip(ZEROS, course.counts[place], strict=True):
        assert size(posterior, zero) == count


def test_dropping_dead_words_changes_no_count():
    # A strong prior: most words are dead within the steps followed.
    problem = make_problem(scale=0.02)
    start = least_squares_start(problem)
    course = follow_em(problem, start, 0.0, 120)
    method = Em(0.0, 120, plain=True)
    method.trace = []
    method.run(problem, start)
    betas = np.array([np.append(step.w, step.b) for step in method.trace])
    counts = (np.abs(betas[1:, :, None]) > np.array(ZEROS)).sum(axis=1)
    np.testing.assert_array_equal(course.counts, counts)
    assert counts[-1, -1] < 20
    changes = np.linalg.norm(np.diff(betas, axis=0), axis=1) / np.linalg.norm(betas[:-1], axis=1)
    np.testing.assert_allclose(course.change, changes, rtol=1e-6)


def test_a_word_near_zero_shrinks_by_its_gradient_over_the_rate():
    # Why Table 4 depends on when EM stops: β_j → |β_j| · |gradient_j|/rate, in a number of steps never zero.
    gamma = 20.0
    problem = make_problem(scale=1.0 / gamma)
    method = Em(0.0, 60, plain=True)
    method.trace = []
    method.run(problem, least_squares_start(problem))
    last, after = method.trace[-2:]
    eta = problem.X @ last.w + last.b
    gradient = problem.X.T @ problem.link.score(eta, problem.y[:, 0])
    small = (np.abs(last.w) < 1e-8) & (np.abs(last.w) > 1e-200)
    assert small.sum() >= 5
    np.testing.assert_allclose(after.w[small] / np.abs(last.w[small]), gradient[small] / gamma, rtol=1e-3)


@pytest.mark.parametrize(("prior", "link"), [("laplace", "probit"), ("gaussian", "probit"), ("laplace", "logit")])
def test_the_exact_fit_is_where_em_ends_in_the_long_run(prior, link):
    problem = make_problem(prior, link=link)
    exact = parameters(fit(problem, EmStop(), exact=True))
    method = Em(1e-9, 50_000, plain=True)
    limit = parameters(method.run(problem, least_squares_start(problem)))
    np.testing.assert_allclose(limit, exact, atol=2e-4)
    if prior == "laplace":
        assert size(fit(problem, EmStop(), exact=True), 0.0) < 26
    else:
        assert size(fit(problem, EmStop()), 1e-10) == 26


@pytest.mark.parametrize("start", ["least squares", "ridge", "ones"])
def test_every_start_has_no_weight_at_zero(start):
    assert np.abs(parameters(make_start(make_problem(), start))).min() > 0.0


def test_rules_by_steps_and_by_change():
    change = np.array([0.5, 0.2, 0.05, 0.06, 0.01])
    assert [EmEnding(tol).place(change) for tol in (0.2, 0.06, 0.01, 0.001)] == [1, 2, 4, 4]
    assert [EmEnding(steps=n).place(change) for n in (1, 3, 9)] == [0, 2, 4]
    assert str(EmEnding(0.01)) == "change ≤ 0.01"
    assert str(EmEnding(steps=30)) == "30 steps"
