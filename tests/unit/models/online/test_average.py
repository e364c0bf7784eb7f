"""Probabilities of online models: averaged over the posterior by numerical integration, or at its mean by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, sparse, special, stats

from textbayes import BayesOnlineClassifier
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.models.online import PAPER_FLIP, OnlineLikelihood
from textbayes.models.online.process import SparseGPClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
SCORES = X @ RNG.normal(0.0, 2.0, (4, 3)) + RNG.normal(0.0, 0.5, (40, 3))
LABELS = {
    "binary": np.where(SCORES[:, 0] > 0.0, "yes", "no"),
    "multiclass": np.array(["a", "b", "c"])[SCORES.argmax(axis=1)],
    "multilabel": (SCORES > 0.0).astype(int),
}
NEW = RNG.normal(size=(5, 4))
LIKELIHOODS = {
    "logit": (OnlineLikelihood("logit"), special.expit),
    "probit with noise": (OnlineLikelihood("probit", noise=0.5), lambda u: stats.norm.cdf(u / 0.5)),
    "hard threshold, flipped": (PAPER_FLIP, lambda u: np.where(u > 0.0, 0.9, 0.1)),
}


def shared(model, own):
    """Probabilities of all classes from those of each column by itself."""
    if model.label_space_.kind == "binary":
        return np.hstack([1.0 - own, own])
    return own / own.sum(axis=1, keepdims=True) if model.label_space_.kind == "multiclass" else own


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_average_and_plug_in(kind, name):
    likelihood, probability = LIKELIHOODS[name]
    model = BayesOnlineClassifier(likelihood, covariance="full").fit(X[:12], LABELS[kind][:12])
    padded = np.column_stack([np.ones(len(NEW)), NEW])
    averaged = np.empty((len(NEW), len(model.posterior_)))
    plug_in = np.empty_like(averaged)
    for k, one in enumerate(model.posterior_):
        for i, x in enumerate(padded):
            mean, sd = x @ one.mean, np.sqrt(x @ one.cov @ x)
            parts = [
                integrate.quad(lambda u, m=mean, s=sd: probability(u) * stats.norm.pdf(u, m, s), *ends, epsabs=1e-12)[0]
                for ends in ((min(mean - 12.0 * sd, -1e-9), 0.0), (0.0, max(mean + 12.0 * sd, 1e-9)))
            ]
            averaged[i, k], plug_in[i, k] = sum(parts), probability(mean)
    np.testing.assert_allclose(model.predict_proba(NEW), shared(model, averaged), rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(NEW, posterior_predictive=False), shared(model, plug_in), rtol=1e-9)
    assert np.abs(averaged - plug_in).max() > 0.01


def test_a_text_without_words_says_nothing_at_a_hard_threshold():
    model = BayesOnlineClassifier(PAPER_FLIP, intercept_scale=0.0).fit(X, LABELS["binary"])
    for averaged in (True, False):
        np.testing.assert_allclose(model.predict_proba(np.zeros((1, 4)), posterior_predictive=averaged), 0.5)


def test_a_process_at_its_mean():
    model = SparseGPClassifier(noise=0.5).fit(X, LABELS["binary"])
    mean, _ = model.linear_predictor(NEW)
    expected = stats.norm.cdf(mean[:, 0] / 0.5)
    np.testing.assert_allclose(model.predict_proba(NEW, posterior_predictive=False)[:, 1], expected, rtol=1e-9)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_ends_of_intervals_are_probabilities_at_quantiles_of_the_predictor(name):
    likelihood, probability = LIKELIHOODS[name]
    model = BayesOnlineClassifier(likelihood, covariance="full").fit(X, LABELS["multilabel"])
    features = Features(sparse.csr_matrix(NEW), sparse.csr_matrix(NEW), np.ones(len(NEW)))
    fitted = model.with_labels(LabelSpace(np.arange(3), "multilabel"))
    mean, var = model.linear_predictor(NEW)
    low, high = fitted.probability_interval(features, 0.8)
    np.testing.assert_allclose(low, probability(stats.norm.ppf(0.1, mean, np.sqrt(var))), rtol=1e-9)
    np.testing.assert_allclose(high, probability(stats.norm.ppf(0.9, mean, np.sqrt(var))), rtol=1e-9)


def test_intervals_of_exclusive_classes_are_of_the_probabilities_that_are_shown():
    model = BayesOnlineClassifier(covariance="full").fit(X, LABELS["multiclass"])
    features = Features(sparse.csr_matrix(NEW), sparse.csr_matrix(NEW), np.ones(len(NEW)))
    mean, var = model.linear_predictor(NEW)
    drawn = np.random.default_rng(1).normal(mean, np.sqrt(var), (20_000, *mean.shape))
    own = np.exp(model.likelihood.log_probability(drawn, None))
    shares = own / own.sum(axis=2, keepdims=True)
    low, high = model.probability_interval(features, 0.8)
    inside = ((shares >= low) & (shares <= high)).mean(axis=0)
    np.testing.assert_allclose(inside, 0.8, atol=0.02)
    proba = model.predict_proba(NEW)
    top = np.arange(len(NEW)), proba.argmax(axis=1)
    assert ((low[top] < proba[top]) & (proba[top] < high[top])).all()
