"""State of Gaussian approximations, what they predict, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError, ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.inference import Posterior, Problem
from textbayes.inference.coordinate import Coordinate
from textbayes.inference.laplace_approximation import GaussianApproximation, laplace_approximation
from textbayes.links import make_link
from textbayes.posterior.intervals import predictive_probabilities, probability_interval
from textbayes.priors import make_prior


@pytest.mark.parametrize("memory", [2**28, 8 * 2 * 20**2])
def test_state_survives_json(make_problem, approximate, data, memory):
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
def test_a_damaged_state_is_refused(make_problem, approximate, data, name):
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
            predictive_probabilities(eta, np.zeros_like(var), link, space),
            normalise_classes(link.log_prob(eta, np.ones_like(eta))),
            rtol=1e-8,
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


def test_what_does_not_go_together_is_refused(make_problem, approximate, data):
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


@pytest.mark.parametrize(("prior", "scale"), [("gaussian", 2.0), ("laplace", 2.0)])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_shifts_bring_the_mode_near_the_mean_of_the_posterior(prior, scale, link):
    """Against the mean by quadrature, one word and no intercept: the first order leaves less than a third."""
    rng = np.random.default_rng(3)
    x = rng.random((25, 1)) + 0.2
    y = np.where(rng.random((25, 1)) < 0.85, 1.0, -1.0)
    columns = sparse.csc_matrix(x)
    columns.indices = columns.indices.astype(np.int32)
    problem = Problem(columns, y, make_link(link), make_prior(prior, scale), None)
    posterior = Coordinate(tol=1e-9, max_iter=500).run(problem)
    grid = np.linspace(-20.0, 20.0, 20_001)
    log = problem.link.log_prob(x * grid, np.broadcast_to(y, (25, len(grid)))).sum(axis=0)
    log = log - problem.prior.neg_log(grid[:, None]).reshape(len(grid), -1).sum(axis=1)
    density = np.exp(log - log.max())
    mean = (grid * density).sum() / density.sum()
    approximation = laplace_approximation(problem, posterior, shifts=True)
    mode, shift = posterior.mean[0, 0], approximation.mean_shifts()[0][0, 0]
    assert mean > mode
    assert abs(mode + shift - mean) < (mean - mode) / 3.0
    assert laplace_approximation(problem, posterior).mean_shifts()[0][0, 0] == 0.0
