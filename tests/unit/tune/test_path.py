"""Paths of warm-started fits against cold fits at a tight tolerance, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from references.optimality import cold_fits, slope_of
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.inference import Problem
from textbayes.models.weights import as_columns
from textbayes.tune import factor_grid, narrowest_factor, regularisation_path
from textbayes.tune.path import at_scale, check_factors

FACTORS = np.geomspace(0.03, 100.0, 7)


def assert_same(path, reference, atol=1e-5):
    for point, (fits, theirs) in enumerate(zip(path.solutions, reference, strict=True)):
        np.testing.assert_allclose([fit.objective for fit in fits], theirs.info.objective, rtol=1e-8)
        ours = path.posterior(point)
        np.testing.assert_allclose(ours.mean, theirs.mean, atol=atol)
        np.testing.assert_allclose(ours.intercept, theirs.intercept, atol=atol)


def _weights(n):
    return np.random.default_rng(5).integers(0, 4, n).astype(float)


CASES = {
    "laplace": {},
    "probit": {"link": "probit"},
    "elastic net": {"prior": "elastic_net"},
    "weighted documents": {"weight": _weights(240)},
    "words of their own": {"words": np.random.default_rng(6).random((3, 60)) < 0.6},
    "scales of their own": {"scale": np.random.default_rng(7).uniform(0.3, 3.0, 60)},
    "means": {"mean": np.where(np.arange(60) < 5, 0.7, 0.0)},
    "signs": {"sign": np.where(np.arange(60) % 2, 1.0, -1.0)},
    "free words": {"scale": np.where(np.arange(60) < 3, np.inf, 1.0)},
    "penalised intercept": {"intercept": 0.5},
    "intercepts with means": {"intercept": 0.5, "intercept_mean": np.array([[-2.0], [0.0], [1.5]])},
}


@pytest.mark.parametrize("case", CASES)
def test_equals_cold_fits(make_problem, case):
    problem = make_problem(**CASES[case])
    # Far along a path words separate the documents, and two solvers take long to agree to nine digits: once is enough.
    factors = FACTORS if case in ("laplace", "words of their own", "signs") else FACTORS[:5]
    assert_same(regularisation_path(problem, factors, tol=1e-9, max_iter=1000), cold_fits(problem, factors, tol=1e-10))


def test_at_the_default_tolerance_the_objective_is_within_a_thousandth(make_problem):
    problem = make_problem()
    path, reference = regularisation_path(problem, FACTORS), cold_fits(problem, FACTORS)
    for fits, cold in zip(path.solutions, reference, strict=True):
        for ours, best in zip(fits, cold.info.objective, strict=True):
            assert best * (1.0 - 1e-9) <= ours.objective <= best * (1.0 + 1e-3)


def test_a_guide_leads_to_the_same_place(make_problem):
    problem = make_problem()
    rows = np.flatnonzero(np.arange(240) % 5)
    part = problem._replace(X=as_columns(problem.X.tocsr()[rows]), y=np.ascontiguousarray(problem.y[rows]))
    guide = regularisation_path(problem, FACTORS[:5])
    guided = regularisation_path(part, FACTORS[:5], tol=1e-9, max_iter=1000, guide=guide)
    assert_same(guided, cold_fits(part, FACTORS[:5], tol=1e-10))


def test_one_factor_for_each_label(make_problem):
    problem = make_problem()
    factors = FACTORS[:4, None] * np.array([1.0, 2.0, 0.5])
    together = regularisation_path(problem, factors, tol=1e-9, max_iter=1000)
    for label in range(3):
        alone = regularisation_path(make_problem(labels=[label]), factors[:, [label]], tol=1e-9, max_iter=1000)
        for point in range(4):
            np.testing.assert_allclose(together.posterior(point).mean[label], alone.posterior(point).mean[0], atol=1e-6)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(3)
    X = sparse.random(150, 40, density=0.2, random_state=2, format="csc")
    from textbayes.links import make_link
    from textbayes.priors import make_prior

    prior = make_prior("laplace", 1.0)
    y = np.where(rng.random((150, 19)) < rng.uniform(0.1, 0.5, 19), 1.0, -1.0)
    problem = Problem(as_columns(X), y, make_link("logit"), prior, prior.rescaled(np.inf))
    one, three = (regularisation_path(problem, FACTORS, n_jobs=n_jobs) for n_jobs in (1, 3))
    for point in range(len(FACTORS)):
        np.testing.assert_array_equal(one.posterior(point).mean, three.posterior(point).mean)


@pytest.mark.parametrize("link", ["student_t:df=4", "skew_t:df=8,skew=2"])
def test_links_that_are_not_log_concave_end_at_an_optimum(make_problem, link):
    """Which one may depend on the start; no word may violate its condition there."""
    problem = make_problem(link=link)
    path = regularisation_path(problem, FACTORS[:5], tol=1e-7, max_iter=1000)
    for point, factor in enumerate(FACTORS[:5]):
        fit = path.posterior(point)
        for label in range(3):
            eta = problem.X @ fit.mean[label] + fit.intercept[label]
            gradient = problem.X.T @ problem.link.score(eta, problem.y[:, label])
            support = fit.mean[label] != 0.0
            np.testing.assert_allclose(gradient[support] * factor, np.sign(fit.mean[label][support]), atol=1e-4)
            assert (np.abs(gradient[~support]) * factor <= 1.0 + 1e-4).all()


@pytest.mark.parametrize(
    ("prior", "inference"), [("gaussian", "coordinate"), ("gaussian", "em"), ("student_t", "coordinate")]
)
def test_other_inferences_are_warm_started(make_problem, prior, inference):
    problem = make_problem(prior=prior)
    path = regularisation_path(problem, FACTORS[:4], inference, tol=1e-9, max_iter=500)
    for point, row in enumerate(check_factors(FACTORS[:4], 3)):
        there, fit = at_scale(problem, row), path.posterior(point)
        for label in range(3):
            w = fit.mean[label]
            score = there.link.score(there.X @ w + fit.intercept[label], there.y[:, label])
            slope = slope_of(there.prior.for_label(label, 60), w)
            np.testing.assert_allclose(there.X.T @ score, slope, atol=1e-5)


def test_a_label_on_one_side_keeps_its_words_at_zero(make_problem):
    problem = make_problem()
    problem.y[:, 1] = -1.0
    path = regularisation_path(problem, FACTORS)
    assert (path.n_words()[:, 1] == 0).all()
    assert all(fits[1].intercept == pytest.approx(np.log(0.5 / 240.5)) for fits in path.solutions)


def test_predictors_are_those_of_the_weights(make_problem, texts):
    X, _ = texts
    path = regularisation_path(make_problem(), FACTORS)
    eta = path.linear_predictor(X)
    for point in range(len(FACTORS)):
        fit = path.posterior(point)
        np.testing.assert_allclose(eta[point], X @ fit.mean.T + fit.intercept, atol=1e-12)
    mixed = path.posterior(np.array([1, 3, 5]))
    np.testing.assert_array_equal(mixed.mean[1], path.posterior(3).mean[1])


def test_the_intercept_is_scaled_along(make_problem, texts):
    """As a column of ones with the same prior."""
    X, _ = texts
    problem = make_problem(intercept=1.0)
    tied = regularisation_path(problem, FACTORS[:5], tol=1e-10, max_iter=1000, tie_intercept=True)
    ones = problem._replace(X=as_columns(sparse.hstack([X, np.ones((240, 1))])), intercept_prior=None)
    column = cold_fits(ones, FACTORS[:5], tol=1e-10)
    for point in range(5):
        fit, other = tied.posterior(point), column[point]
        np.testing.assert_allclose(np.column_stack([fit.mean, fit.intercept]), other.mean, atol=1e-5)


# -- grids ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", ["laplace", "elastic net", "scales of their own", "weighted documents", "means"])
def test_the_narrowest_factor_is_where_the_first_word_moves(make_problem, case):
    problem = make_problem(**CASES[case])
    factor = narrowest_factor(problem)
    center = np.broadcast_to(problem.prior.mean, (60,))
    below, above = (cold_fits(problem, (factor * share)[None, :])[0].mean != center for share in (0.999, 1.01))
    assert not below.any()
    assert above.any(axis=1).all()


def test_a_smooth_prior_s_narrowest_factor_moves_no_document_far(make_problem):
    problem = make_problem(prior="gaussian")
    factor = narrowest_factor(problem)
    fit = regularisation_path(problem, factor[None, :], "newton", tol=1e-8).posterior(0)
    moved = np.abs(problem.X @ fit.mean.T).max(axis=0)
    assert (moved > 0.03).all()
    assert (moved < 0.15).all()


def test_grids_are_even_and_as_wide_as_asked(make_problem):
    problem = make_problem()
    grid = factor_grid(problem, 6)
    np.testing.assert_allclose(grid[0], narrowest_factor(problem))
    np.testing.assert_allclose(grid[1:] / grid[:-1], 2000.0**0.2)
    common = factor_grid(problem, 6, per_label=False)
    assert (common == common[:, :1]).all()
    assert common[0, 0] == pytest.approx(narrowest_factor(problem).min())
    assert factor_grid(problem, 1).shape == (1, 3)


def test_a_label_that_no_word_tells_anything_of(make_problem):
    problem = make_problem()
    problem.y[:, 0] = 1.0
    assert narrowest_factor(problem)[0] == 1.0


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([1.0, 0.5], "must grow"),
        ([0.0, 1.0], "zero, negative"),
        ([1.0, np.inf], "infinite"),
        (np.ones((2, 2)), r"pass \(n_points,\) or \(n_points, 3\)"),
        ([], "factors have shape"),
    ],
)
def test_factors_that_make_no_path(make_problem, factors, message):
    with pytest.raises(InputError, match=message):
        regularisation_path(make_problem(), factors)


def test_what_is_refused(make_problem):
    with pytest.raises(InputError, match="tie_intercept needs one scale for all labels"):
        regularisation_path(make_problem(intercept=1.0), np.array([[1.0, 2.0, 3.0]]), tie_intercept=True)
    with pytest.raises(InputError, match="0 scales were asked for"):
        factor_grid(make_problem(), 0)
    with pytest.raises(NotSupportedError, match="needs a prior that is smooth"):
        regularisation_path(make_problem(), FACTORS, "newton")
