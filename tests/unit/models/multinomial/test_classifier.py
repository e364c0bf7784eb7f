"""BayesMultinomialClassifier: labels, weights, settings, standard errors, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from textbayes import BayesMultinomialClassifier
from textbayes.core.errors import InputError, NotSupportedError

TIGHT = {"tol": 1e-10, "max_iter": 2000}
NAMES = np.array(["art", "law", "oil", "sea"])


def test_what_it_predicts_follows_from_its_weights(plain):
    X, y = plain.make_data()
    model = BayesMultinomialClassifier(scale=2.0).fit(X, NAMES[y])
    eta = X @ model.coef_.T + model.intercept_
    assert model.coef_.shape == (4, 6)
    assert model.classes_.tolist() == NAMES.tolist()
    np.testing.assert_allclose(model.linear_predictor(X), eta, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), eta, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), softmax(eta, axis=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), NAMES[eta.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X, posterior_predictive=False))


@pytest.mark.parametrize(("prior", "inference"), [("laplace", "coordinate"), ("gaussian", "newton")])
def test_weights_are_repetitions_and_weight_0_is_absence(prior, inference, plain):
    X, y = plain.make_data()
    weight = np.random.default_rng(2).integers(0, 4, 60)
    weight[:4] = 1
    model = BayesMultinomialClassifier(prior, inference=inference, **TIGHT)
    weighted = model.fit(X, y, weight).coef_
    np.testing.assert_allclose(weighted, model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_, atol=1e-6)


def test_balanced_classes_have_the_same_weight_in_sum(plain):
    X, y = plain.make_data()
    model = BayesMultinomialClassifier("gaussian", inference="newton", **TIGHT)
    counts = np.bincount(y)
    by_hand = model.fit(X, y, (len(y) / (4.0 * counts))[y]).coef_
    np.testing.assert_allclose(model.set_params(class_weight="balanced").fit(X, y).coef_, by_hand, atol=1e-8)


def test_a_row_of_scales_and_means_per_class_reaches_that_class(plain):
    X, y = plain.make_data()
    scale, mean = np.ones((4, 6)), np.zeros((4, 6))
    scale[2, 1], mean[2, 1] = 1e-2, 5.0
    model = BayesMultinomialClassifier("gaussian", scale, mean, inference="newton", **TIGHT).fit(X, y)
    assert model.coef_[2, 1] == pytest.approx(5.0, abs=1e-2)
    assert np.abs(model.coef_[[0, 1, 3], 1] - 5.0).min() > 0.1


def test_a_warm_start_at_the_mode_is_the_mode(plain):
    X, y = plain.make_data()
    model = BayesMultinomialClassifier(warm_start=True, tol=1e-6, max_iter=500).fit(X, y)
    first, steps = model.coef_.copy(), model.n_iter_
    model.set_params(tol=1e-5).fit(X, y)
    np.testing.assert_allclose(model.coef_, first, atol=1e-4)
    assert model.n_iter_ < steps


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_standard_errors_are_those_of_the_curvature_at_the_mode(prior, plain):
    X, y = plain.make_data(n_docs=200, n_classes=3)  # of three classes a Laplace prior holds one: no weight is open
    model = BayesMultinomialClassifier(prior, 0.5, intervals=True, fit_intercept=False, **TIGHT).fit(X, y)
    active = np.flatnonzero(model.coef_.ravel())

    def slope(w):
        coef = np.zeros(18)
        coef[active] = w
        return plain.gradient(coef.reshape(3, 6), np.zeros(3), X, y)[0].ravel()[active]

    precision = optimize.approx_fprime(model.coef_.ravel()[active], slope, 1e-6)
    if prior == "gaussian":
        precision += 4.0 * np.eye(len(active))
    errors = model.standard_errors_.ravel()
    np.testing.assert_allclose(errors[active], np.sqrt(np.diag(np.linalg.inv(precision))), rtol=1e-3)
    assert np.isnan(np.delete(errors, active)).all()


def test_errors_with_free_intercepts_are_those_of_intercepts_that_add_up_to_zero(plain):
    """Free intercepts b = (−b₁ − b₂, b₁, b₂), written out; the words' prior is Gaussian."""
    X, y = plain.make_data(n_docs=200, n_classes=3)
    model = BayesMultinomialClassifier("gaussian", 0.5, inference="newton", intervals=True, **TIGHT).fit(X, y)
    spread = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])

    def slope(w):
        of_words, of_intercepts = plain.gradient(w[:18].reshape(3, 6), spread @ w[18:], X, y)
        return np.append(of_words.ravel() + 4.0 * w[:18], spread.T @ of_intercepts)

    mode = np.append(model.coef_.ravel(), model.intercept_[1:])
    covariance = np.linalg.inv(optimize.approx_fprime(mode, slope, 1e-6))
    np.testing.assert_allclose(model.standard_errors_.ravel(), np.sqrt(np.diag(covariance))[:18], rtol=1e-3)
    of_intercepts = np.sqrt(np.diag(spread @ covariance[18:, 18:] @ spread.T))
    np.testing.assert_allclose(model.intercept_errors_, of_intercepts, rtol=1e-3)


def test_errors_of_many_weights_are_those_given_the_other_classes(plain, monkeypatch):
    X, y = plain.make_data(n_docs=200)
    model = BayesMultinomialClassifier("gaussian", 0.5, intervals=True, fit_intercept=False, **TIGHT)
    joint = model.fit(X, y).standard_errors_
    monkeypatch.setattr("textbayes.models.multinomial.mode.LARGEST", 1)
    given_others = model.fit(X, y).standard_errors_
    proba = model.predict_proba(X)
    for c in range(4):
        precision = (X * (proba[:, c] * (1.0 - proba[:, c]))[:, None]).T @ X + 4.0 * np.eye(6)
        np.testing.assert_allclose(given_others[c], np.sqrt(np.diag(np.linalg.inv(precision))), rtol=1e-8)
    assert (given_others < joint).all()


@pytest.mark.parametrize(
    "labels", [[["a", "b"], ["a"], ["b"], []] * 15, np.eye(4, dtype=int)[np.arange(60) % 4]], ids=["lists", "matrix"]
)
def test_labels_that_may_apply_together_are_refused(labels, plain):
    X, _ = plain.make_data()
    with pytest.raises(NotSupportedError, match=r"exclude each other.*BayesLinearClassifier"):
        BayesMultinomialClassifier().fit(X, labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inference": "clg"}, "inference='clg' is not usable; pass one of coordinate, newton, gibbs"),
        ({"tol": 0.0}, "tol=0.0 is not usable"),
        ({"scale": np.ones((3, 6))}, "prior scale has 3 rows, but there are 4 classes"),
        ({"scale": np.ones(5)}, "prior scale has shape"),
        ({"intercept_scale": [1.0, 2.0]}, "intercept_scale has shape"),
        ({"class_weight": {9: 1.0}}, "class_weight names 9"),
        ({"sign": 1, "prior": "gaussian", "inference": "newton"}, "cannot hold weights to a sign"),
    ],
)
def test_settings_that_cannot_be_used(settings, message, plain):
    X, y = plain.make_data()
    with pytest.raises(ValueError, match=message):
        BayesMultinomialClassifier(**settings).fit(X, y)


def test_a_class_without_weight_needs_an_intercept_with_a_prior(plain):
    X, y = plain.make_data()
    weight = (y != 2).astype(float)
    with pytest.raises(InputError, match="class '2' has no document of positive weight"):
        BayesMultinomialClassifier().fit(X, y, weight)
    model = BayesMultinomialClassifier("gaussian", intercept_scale=2.0, inference="newton", **TIGHT).fit(X, y, weight)
    assert model.predict_proba(X)[:, 2].max() < 0.5
    with pytest.raises(InputError, match="only one class has documents of positive weight"):
        BayesMultinomialClassifier(intercept_scale=2.0).fit(X, y, (y == 1).astype(float))


def test_a_fit_that_stops_early_says_so(plain):
    X, y = plain.make_data()
    with pytest.warns(ConvergenceWarning, match="1 of 1 fits stopped at a relative violation of"):
        model = BayesMultinomialClassifier(scale=10.0, tol=1e-9, max_iter=1).fit(X, y)
    assert not model.fit_info_.converged[0]
