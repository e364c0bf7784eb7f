"""Modes of the softmax regression: against scikit-learn, an independent solver, and by their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression

from references.optimality import slope_of
from textbayes import BayesLinearClassifier, BayesMultinomialClassifier
from textbayes.models.multinomial.mode import median_shifts
from textbayes.priors import make_prior, priors

SMOOTH = [name for name in priors.names() if priors.get(name).smooth]
TIGHT = {"tol": 1e-10, "max_iter": 2000}


def fit(X, y, prior="laplace", scale=1.0, **settings):
    return BayesMultinomialClassifier(prior, scale, **(TIGHT | settings)).fit(X, y)


def test_the_reference_gradient_is_the_slope_of_the_loss(plain):
    X, y = plain.make_data()
    rng = np.random.default_rng(3)
    coef, intercept, weight = rng.standard_normal((4, 6)), rng.standard_normal(4), rng.random(60)
    slope, slope_b = plain.gradient(coef, intercept, X, y, weight)
    every = optimize.approx_fprime(
        np.append(coef, intercept), lambda w: plain.loss(w[:24].reshape(4, 6), w[24:], X, y, weight), 1e-7
    )
    np.testing.assert_allclose(np.append(slope, slope_b), every, atol=1e-4)


@pytest.mark.parametrize("inference", ["coordinate", "newton"])
@pytest.mark.parametrize("scale", [0.3, 3.0])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_gaussian_mode_is_scikit_learns(inference, scale, n_classes, plain):
    X, y = plain.make_data(n_classes=n_classes)
    ours = fit(sparse.csr_matrix(X), y, "gaussian", scale, inference=inference)
    if n_classes == 2:  # scikit-learn then has one vector, of the log-odds
        theirs = LogisticRegression(C=2.0 * scale**2, tol=1e-12, solver="newton-cg").fit(X, y)
        coef, intercept = np.vstack([-theirs.coef_, theirs.coef_]) / 2.0, theirs.intercept_[0] * np.array([-0.5, 0.5])
    else:
        theirs = LogisticRegression(C=scale**2, tol=1e-12, solver="newton-cg").fit(X, y)
        coef, intercept = theirs.coef_, theirs.intercept_
    np.testing.assert_allclose(ours.coef_, coef, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, intercept, atol=1e-5)
    assert ours.intercept_.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("scale", [0.2, 1.0])
@pytest.mark.parametrize("n_classes", [3, 5])  # of an odd number of classes the weights are unique
def test_the_laplace_mode_is_that_of_an_independent_solver(scale, n_classes, plain):
    X, y = plain.make_data(n_classes=n_classes)
    ours = fit(X, y, "laplace", scale)
    coef, intercept = plain.fista(X, y, n_classes, 1.0 / scale)
    np.testing.assert_allclose(ours.coef_, coef, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, intercept - intercept.mean(), atol=1e-5)
    assert 0 < np.count_nonzero(ours.coef_) < ours.coef_.size or scale == 1.0


@pytest.mark.parametrize(
    ("name", "inference"),
    [*((name, "coordinate") for name in priors.names()), *((name, "newton") for name in SMOOTH)],
)
def test_at_the_mode_of_every_prior_no_weight_wants_to_move(name, inference, plain):
    X, y = plain.make_data()
    scale = np.array([[0.5], [1.0], [2.0], [1.0]]) * np.array([1.0, 0.5, 2.0, 1.0, 1.0, 3.0])
    weight = np.random.default_rng(5).random(60) + 0.5
    model = BayesMultinomialClassifier(name, scale, 0.1, inference=inference, **TIGHT).fit(X, y, weight)
    slope, slope_b = plain.gradient(model.coef_, model.intercept_, X, y, weight)
    prior = make_prior(name, scale, 0.1)
    center, l1, _ = prior.local(model.coef_)
    held = (model.coef_ == center) & (l1 > 0.0)
    np.testing.assert_allclose((slope + slope_of(prior, model.coef_))[~held], 0.0, atol=1e-6)
    assert (np.abs(slope)[held] <= l1[held] + 1e-6).all()
    np.testing.assert_allclose(slope_b, 0.0, atol=1e-6)
    assert model.intercept_.sum() == pytest.approx(0.0, abs=1e-9)
    assert held.any() or name in (*SMOOTH, "laplace", "by_word", "elastic_net")


def test_newton_refuses_a_prior_with_a_kink(plain):
    X, y = plain.make_data()
    with pytest.raises(ValueError, match="needs a prior that is smooth"):
        fit(X, y, "laplace", inference="newton")


def test_signs_are_kept_and_the_rest_is_optimal_given_them(plain):
    X, y = plain.make_data()
    sign = np.zeros((4, 6))
    free = fit(X, y, "gaussian", 1.0)
    sign[:, 0] = -np.sign(free.coef_[:, 0])  # all of them against their will
    model = fit(X, y, "gaussian", 1.0, sign=sign)
    assert (sign * model.coef_ >= 0.0).all()
    rise = plain.gradient(model.coef_, model.intercept_, X, y)[0] + model.coef_  # of the objective
    held = (sign != 0.0) & (model.coef_ == 0.0)
    assert held.sum() >= 3
    assert (sign * rise)[held].min() > 0.0
    np.testing.assert_allclose(rise[~held], 0.0, atol=1e-6)


def test_an_intercept_with_a_prior_and_none_at_all(plain):
    X, y = plain.make_data()
    model = fit(X, y, "gaussian", 1.0, intercept_scale=0.5, intercept_mean=[0.0, 1.0, 0.0, 0.0], inference="newton")
    slope_b = plain.gradient(model.coef_, model.intercept_, X, y)[1]
    np.testing.assert_allclose(slope_b + (model.intercept_ - [0.0, 1.0, 0.0, 0.0]) / 0.25, 0.0, atol=1e-6)
    for inference in ("newton", "coordinate"):
        bare = fit(X, y, "gaussian", 1.0, fit_intercept=False, inference=inference)
        np.testing.assert_array_equal(bare.intercept_, 0.0)
        slope = plain.gradient(bare.coef_, bare.intercept_, X, y)[0]
        np.testing.assert_allclose(slope + bare.coef_, 0.0, atol=1e-6)


@pytest.mark.parametrize(("prior", "factor"), [("gaussian", np.sqrt(2.0)), ("laplace", 1.0)])
def test_two_classes_have_half_the_weights_of_a_logistic_regression_each(prior, factor, plain):
    X, y = plain.make_data(n_classes=2)
    model = fit(X, y, prior, 0.4)
    binary = BayesLinearClassifier(prior=prior, scale=0.4 * factor, **TIGHT).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.vstack([-binary.coef_, binary.coef_]) / 2.0, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X), binary.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), binary.predict_proba(X), atol=1e-6)


def test_free_words_add_up_to_zero_over_the_classes(plain):
    X, y = plain.make_data(n_docs=400)
    scale = np.array([np.inf, 1.0, 1.0, 1.0, 1.0, 1.0])
    for inference in ("newton", "coordinate"):
        model = fit(X, y, "gaussian", scale, inference=inference)
        assert model.coef_[:, 0].sum() == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(plain.gradient(model.coef_, model.intercept_, X, y)[0][:, 0], 0.0, atol=1e-6)


def test_median_shifts_minimise_the_weighted_distance():
    rng = np.random.default_rng(0)
    offsets, l1 = rng.standard_normal((6, 40)).round(1), rng.integers(1, 4, (6, 40)).astype(float)
    shift = median_shifts(offsets, l1)
    at = np.sum(l1 * np.abs(offsets + shift), axis=0)
    for other in np.linspace(-3.0, 3.0, 61):
        assert (at <= np.sum(l1 * np.abs(offsets + other), axis=0) + 1e-12).all()


def test_both_inferences_agree_on_a_prior_that_is_not_log_concave(plain):
    X, y = plain.make_data(n_docs=300)
    one, other = (fit(X, y, "student_t", 2.0, inference=name) for name in ("newton", "coordinate"))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-5)
    assert one.fit_info_.objective[0] == pytest.approx(other.fit_info_.objective[0], rel=1e-9)
