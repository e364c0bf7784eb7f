"""Where a fit stops does not depend on how long columns are: at the default tolerance it is near the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import coordinate
from textbayes.models.linear.classifier import BayesLinearClassifier

NEAR = 1e-4


def _columns(kind, n, rng):
    if kind == "ones":
        return np.ones((n, 1))
    if kind == "long ones":
        return np.full((n, 1), 100.0)
    return 10.0 * rng.normal(size=(n, 20))  # like embeddings


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    n, p = 1500, 400
    X = sparse.csr_matrix(
        (rng.random((n, p)) < np.minimum(4.0 / np.arange(1, p + 1), 0.5)) * rng.gamma(2.0, 0.2, (n, p))
    )
    eta = X @ np.where(rng.random((p, 3)) < 0.2, rng.normal(0, 6, (p, 3)), 0.0)
    Y = eta - np.quantile(eta, [0.6, 0.97, 0.99], axis=0).diagonal() + rng.logistic(0, 0.3, (n, 3)) > 0.0
    return X, Y


@pytest.mark.parametrize("kind", ["ones", "long ones", "embeddings", "tiny"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("prior", "inference"), [("laplace", "coordinate"), ("gaussian", "newton"), ("gaussian", "dual")]
)
def test_objective_is_near_the_optimum_whatever_the_columns(texts, kind, fit_intercept, prior, inference):
    X, Y = texts
    if kind == "tiny":
        M = X @ sparse.diags(np.where(np.arange(X.shape[1]) % 2, 1.0, 1e-3))
    else:
        M = sparse.hstack([X, _columns(kind, X.shape[0], np.random.default_rng(1))])
    settings = {"prior": prior, "scale": 5.0, "fit_intercept": fit_intercept}
    found = BayesLinearClassifier(**settings, inference=inference).fit(M, Y).fit_info_
    tight = "coordinate" if prior == "laplace" else "newton"
    best = BayesLinearClassifier(**settings, inference=tight, tol=1e-8, max_iter=1000).fit(M, Y).fit_info_
    assert (found.objective <= best.objective * (1.0 + NEAR)).all()


def _words_as_common_as_in_texts(seed):
    rng = np.random.default_rng(seed)
    n, p, length = 20_000, 5_000, 30
    words = np.minimum(rng.zipf(1.3, size=(n, length)) - 1, p - 1)
    X = sparse.csr_matrix((np.ones(words.size), (np.repeat(np.arange(n), length), words.ravel())), shape=(n, p))
    X.data[:] = 1.0
    X = sparse.diags(1.0 / np.sqrt(np.diff(X.indptr))) @ X
    eta = X @ np.where(rng.random(p) < 0.1, rng.normal(0, 20, p), 0.0)
    return X, eta - np.quantile(eta, 0.9) + rng.logistic(0, 0.5, n) > 0.0


@pytest.mark.slow
def test_an_intercept_that_is_off_does_not_keep_words_from_ending(monkeypatch):
    """Its slope is a sum over all documents: moved by itself, it takes fewer steps of the words to come to rest."""
    steps = {}
    for own in (True, False):
        if not own:
            monkeypatch.setattr(coordinate, "_INTERCEPT", np.inf)
        found = [BayesLinearClassifier(scale=10.0, tol=1e-2).fit(*_words_as_common_as_in_texts(k)) for k in range(4)]
        steps[own] = sum(one.fit_info_.n_iter.sum() for one in found), [one.fit_info_.objective[0] for one in found]
    assert steps[True][0] < 0.9 * steps[False][0]
    np.testing.assert_allclose(*(objectives for _, objectives in steps.values()), rtol=1e-3)
