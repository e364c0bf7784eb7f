"""Laplace's approximation of the marginal likelihood against integration over a grid, and what must not change it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from textbayes.core.errors import NotSupportedError
from textbayes.inference import Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.links import make_link
from textbayes.models.weights import as_columns
from textbayes.priors import make_prior
from textbayes.tune import factor_grid, log_evidence, search_evidence
from textbayes.tune.path import at_scale


def data(n_docs, weights, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_docs, len(weights)))
    return X, np.where(X @ weights + rng.logistic(size=n_docs) > 0.0, 1.0, -1.0)


def problem_of(X, y, prior, scale=1.0, link="logit", intercept=None, **more):
    made = make_prior(prior, scale)
    return Problem(as_columns(X), y[:, None], make_link(link), made, intercept, **more)


def approximated(problem):
    return float(log_evidence(problem, Coordinate(1e-10, 500).run(problem))[0][0])


def integrated(problem, half_width=8.0, n=141):
    """log ∫ p(y | w) p(w) dw by the trapezoidal rule over a box of so many posterior standard deviations.

    Kinks lie on the grid: it is a shifted multiple of its step.
    """
    X = problem.X.toarray()
    y, d = problem.y[:, 0], X.shape[1]
    mode = Coordinate(1e-10, 500).run(problem).mean[0]
    axes = []
    for j in range(d):
        spread = 1.0 / np.sqrt(0.2 * (X[:, j] ** 2).sum() + 1e-3)
        step = 2.0 * half_width * spread / n
        middle = round(mode[j] / step)
        axes.append(step * (middle + np.arange(-(n // 2), n // 2 + 1)))
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    total = -problem.prior.neg_log(points).sum(axis=1)
    for x, label in zip(X, y, strict=True):
        total += problem.link.log_prob(points @ x, np.full(len(points), label))
    return float(logsumexp(total) + sum(np.log(axis[1] - axis[0]) for axis in axes))


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("weights", [[1.0], [0.7, -0.4]], ids=["one word", "two words"])
def test_gaussian_prior_against_integration(link, scale, weights):
    """The error falls as 1/n: some hundredths at 50 documents, a fourth of that at 200."""
    errors = []
    for n_docs in (50, 200):
        X, y = data(n_docs, np.array(weights))
        problem = problem_of(X, y, "gaussian", scale, link)
        errors.append(abs(approximated(problem) - integrated(problem)))
    assert errors[0] < 0.05
    assert errors[1] < 0.02


def test_three_words_against_integration():
    X, y = data(150, np.array([1.0, -0.5, 0.2]))
    problem = problem_of(X, y, "gaussian", 2.0)
    assert approximated(problem) == pytest.approx(integrated(problem, n=41), abs=0.03)


@pytest.mark.parametrize(("weights", "n_active"), [([0.9], 1), ([0.02], 0), ([1.2, 0.0], 1)], ids=str)
def test_laplace_prior_against_integration(weights, n_active):
    """Words at their kink are integrated with it, words well away from it are Gaussian."""
    X, y = data(150, np.array(weights), seed=4)
    problem = problem_of(X, y, "laplace", 0.1)
    assert np.count_nonzero(Coordinate(1e-9).run(problem).mean) == n_active
    assert approximated(problem) == pytest.approx(integrated(problem), abs=0.03)


def test_a_sign_leaves_one_side():
    X, y = data(100, np.array([-0.8]))
    prior = make_prior("laplace", 0.1, sign=1.0)
    problem = Problem(as_columns(X), y[:, None], make_link("logit"), prior, None)
    one_side = Problem(as_columns(X), y[:, None], make_link("logit"), make_prior("laplace", 0.1), None)
    # The constant of the density is that of both sides; the integral runs over one.
    steps = np.linspace(0.0, 1.0, 20_001)
    values = -one_side.prior.neg_log(steps)
    for x, label in zip(X, y, strict=True):
        values += one_side.link.log_prob(steps * x[0], np.full(len(steps), label))
    exact = logsumexp(values[1:-1]) + np.log(steps[1])
    assert approximated(problem) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_what_must_not_change_it(prior):
    X, y = data(120, np.array([1.0, -0.6, 0.0, 0.3]))
    value = approximated(problem_of(X, y, prior))
    rows, columns = np.random.default_rng(1).permutation(120), np.array([2, 0, 3, 1])
    assert approximated(problem_of(X[rows][:, columns], y[rows], prior)) == pytest.approx(value, abs=1e-6)
    assert approximated(problem_of(X, -y, prior)) == pytest.approx(value, abs=1e-6)  # all weights turn round
    # A word measured in other units under a prior scaled along is the same model.
    units = np.array([10.0, 1.0, 0.1, 3.0])
    assert approximated(problem_of(X * units, y, prior, 1.0 / units)) == pytest.approx(value, abs=1e-6)
    # A word of no document tells nothing; its prior integrates to one.
    assert approximated(problem_of(np.column_stack([X, np.zeros(120)]), y, prior)) == pytest.approx(value, abs=1e-6)


def test_words_of_a_label_are_all_that_counts():
    X, y = data(120, np.array([1.0, -0.6, 0.0, 0.3]))
    words = np.array([[True, False, True, True]])
    some = approximated(problem_of(X, y, "laplace", words=words))
    assert some == pytest.approx(approximated(problem_of(X[:, words[0]], y, "laplace")), abs=1e-8)


def test_weights_of_documents_are_repetitions():
    X, y = data(60, np.array([1.0, -0.6]))
    counts = np.random.default_rng(2).integers(0, 3, 60)
    weighted = approximated(problem_of(X, y, "gaussian", sample_weight=counts.astype(float)))
    rows = np.repeat(np.arange(60), counts)
    assert weighted == pytest.approx(approximated(problem_of(X[rows], y[rows], "gaussian")), abs=1e-7)


def test_a_penalised_intercept_is_a_column_of_ones():
    X, y = data(100, np.array([1.0, -0.6]))
    prior = make_prior("gaussian", 1.0)
    ones = problem_of(np.column_stack([X, np.ones(100)]), y, "gaussian")
    assert approximated(problem_of(X, y, "gaussian", intercept=prior)) == pytest.approx(approximated(ones), abs=1e-7)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_the_search_finds_the_scale_the_weights_were_drawn_from(prior):
    """Many weights from the prior: the evidence of their scale is highest near it."""
    rng = np.random.default_rng(3)
    true_scale = 0.7
    w = rng.normal(0, true_scale, 30) if prior == "gaussian" else rng.laplace(0, true_scale, 30)
    X, y = data(1500, w, seed=5)
    found = search_evidence(problem_of(X, y, prior), np.geomspace(0.05, 20.0, 9))
    assert 0.5 * true_scale < found.factor[0] < 2.0 * true_scale
    best = found.log_evidence[:, 0].argmax()
    assert found.factors[best - 1, 0] < found.factor[0] < found.factors[best + 1, 0]


def test_refining_does_not_lose_evidence(make_problem):
    problem = make_problem()
    factors = factor_grid(problem, 5)
    found = search_evidence(problem, factors)
    best = found.log_evidence.argmax(axis=0)
    at_end = np.isin(best, (0, 4))
    np.testing.assert_array_equal(found.factor[at_end], factors[best, np.arange(3)][at_end])
    there = at_scale(problem, found.factor)
    value = log_evidence(there, Coordinate(1e-7, 300).run(there))[0]
    assert (value >= found.log_evidence.max(axis=0) - 1e-3).all()


def test_what_is_refused():
    X, y = data(30, np.array([1.0]))
    problem = problem_of(sparse.csr_matrix(X), y, "jeffreys")
    with pytest.raises(NotSupportedError, match="choose its scale by cross-validation"):
        log_evidence(problem, Coordinate().run(problem))


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_an_intercept_with_a_mean_is_a_column_of_ones(prior):
    X, y = data(60, [0.8, -0.5], seed=4)
    ones = np.column_stack([X, np.ones(60)])
    column = Problem(
        as_columns(ones), y[:, None], make_link("logit"),
        make_prior(prior, np.array([1.0, 1.0, 0.3]), np.array([0.0, 0.0, -0.7])), None,
    )  # fmt: skip
    own = problem_of(X, y, prior, intercept=make_prior(prior, 0.3, -0.7))
    assert approximated(own) == pytest.approx(approximated(column), rel=1e-9)


def test_labels_with_links_and_intercept_priors_of_their_own_are_searched_as_each_alone(make_problem):
    means = np.array([[-2.0], [0.5], [1.5]])
    links = ["logit", "probit", "student_t:df=8"]
    factors = np.geomspace(0.1, 5.0, 5)
    together = search_evidence(make_problem(";".join(links), "gaussian", 0.3, intercept_mean=means), factors)
    for label in range(3):
        alone = make_problem(links[label], "gaussian", 0.3, intercept_mean=means[label], labels=[label])
        found = search_evidence(alone, factors)
        assert 0 < found.log_evidence[:, 0].argmax() < 4  # so that it is refined
        assert together.factor[label] == pytest.approx(found.factor[0], rel=1e-3)
