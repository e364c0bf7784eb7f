"""Where a fit stops does not depend on how long columns are: at the default tolerance it is near the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

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
