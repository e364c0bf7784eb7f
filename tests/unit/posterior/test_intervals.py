"""Intervals of a fitted classifier: the settings of its fit, words with intervals, and pools."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError
from textbayes.posterior.intervals import word_intervals

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5)) * (RNG.random((150, 5)) < 0.7)
ETA = X @ [1.0, -1.0, 0.5, 0.0, 0.0]
TWO = np.where(ETA + RNG.logistic(size=150) > 0, "yes", "no")
THREE = np.digitize(ETA + RNG.logistic(size=150), [-1.0, 1.0])
MANY = np.stack([ETA + RNG.logistic(size=150) > 0, RNG.random(150) < 0.3], axis=1).astype(int)


@pytest.mark.parametrize("matrix", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_standard_errors_equal_those_of_unpenalised_regression_where_the_prior_is_wide(matrix):
    model = BayesLinearClassifier(prior="gaussian", scale=1e4, tol=1e-8, intervals=True).fit(matrix(X), TWO)
    proba = 1.0 / (1.0 + np.exp(-model.linear_predictor(X)[:, 0]))
    X1 = np.hstack([X, np.ones((150, 1))])
    exact = np.sqrt(np.diag(np.linalg.inv(X1.T @ ((proba * (1.0 - proba))[:, None] * X1))))
    np.testing.assert_allclose(model.standard_errors_[0], exact[:-1], rtol=1e-6)
    np.testing.assert_allclose(model.approximation_.standard_errors()[1], exact[-1:], rtol=1e-6)


@pytest.mark.parametrize("labels", [TWO, THREE, MANY], ids=["two", "three", "many"])
@pytest.mark.parametrize("link", ["logit", "probit", "skew_t:df=4,skew=2"])
def test_predictions(labels, link):
    model = BayesLinearClassifier(link=link, prior="gaussian", scale=0.8, intervals=True).fit(X, labels)
    kind, proba = model.label_space_.kind, model.predict_proba(X)
    low, high = model.predict_interval(X, level=0.8)
    assert low.shape == high.shape == model.linear_predictor(X).shape
    assert ((low >= 0.0) & (low < high) & (high <= 1.0)).all()
    shown = proba[:, 1:] if kind == "binary" else proba
    assert ((low < shown) & (shown < high)).all()
    if kind != "multilabel":
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    wider = model.predict_interval(X, level=0.95)
    assert ((wider[0] < low) & (wider[1] > high)).all()


def test_settings_of_the_fit_are_those_of_the_approximation():
    weight, words = RNG.uniform(0.5, 2.0, 150), np.array([[True, True, False, True, True]])
    model = BayesLinearClassifier(prior="gaussian", intercept_scale=0.5, tol=1e-8, intervals=True)
    model.fit(X, TWO, sample_weight=weight, words=words)
    assert np.isnan(model.standard_errors_[0]).tolist() == [False, False, True, False, False]
    proba = 1.0 / (1.0 + np.exp(-model.linear_predictor(X)[:, 0]))
    X1 = np.hstack([X[:, words[0]], np.ones((150, 1))])
    precision = X1.T @ ((weight * proba * (1.0 - proba))[:, None] * X1) + np.diag([1.0, 1.0, 1.0, 1.0, 4.0])
    exact = np.sqrt(np.diag(np.linalg.inv(precision)))
    np.testing.assert_allclose(model.standard_errors_[0, words[0]], exact[:-1], rtol=1e-6)
    np.testing.assert_allclose(model.approximation_.standard_errors()[1], exact[-1:], rtol=1e-6)
    model.set_params(fit_intercept=False).fit(X, TWO)
    assert model.approximation_.standard_errors()[1][0] == 0.0


def test_words_with_intervals():
    weights, errors = np.array([0.5, -2.0, 0.0, 1.0]), np.array([0.2, 0.5, np.nan, np.nan])
    found = word_intervals(np.array(["a", "b", "c", "d"]), weights, errors)
    assert [one.word for one in found] == ["b", "d", "a"]
    assert found[0].low == pytest.approx(-2.0 - 1.95996 * 0.5, abs=1e-4)
    assert found[0].high == pytest.approx(-2.0 + 1.95996 * 0.5, abs=1e-4)
    assert np.isnan([found[1].low, found[1].high]).all()
    assert len(word_intervals(np.array(["a", "b", "c", "d"]), weights, errors, top=1)) == 1
    with pytest.raises(InputError, match="between 0 and 1"):
        word_intervals(np.array(["a"]), np.ones(1), np.ones(1), level=90)
