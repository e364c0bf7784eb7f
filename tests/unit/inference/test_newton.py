"""Newton directions by conjugate gradients against the linear systems written out, and where their fits end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.inference import newton
from textbayes.inference._label import LabelFit
from textbayes.models.linear.classifier import BayesLinearClassifier

N, P, LABELS = 90, 7, 5


@pytest.mark.parametrize("intercept", [np.inf, 0.5, None])
@pytest.mark.parametrize("some_words", [False, True])
def test_directions_solve_the_systems_written_out(make_problem, intercept, some_words):
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(N, P)) * (rng.random((N, P)) < 0.6)
    words = rng.random((LABELS, P)) < 0.7 if some_words else None
    problem = make_problem(X, rng.random((N, LABELS)) < 0.3, intercept=intercept, words=words)
    fits = [LabelFit(problem, None, label) for label in range(LABELS)]
    for fit in fits:
        fit.eta = rng.normal(size=N)
        fit.refresh()
    slopes = np.array([newton._slope(fit, X.T @ fit.score) for fit in fits])
    direction, eta_step = newton._newton_directions(problem.X, fits, slopes, np.full(LABELS, 1e-6))
    design = np.hstack([X, np.ones((N, 1))])
    for k, fit in enumerate(fits):
        held = slopes[k] == 0.0
        hessian = (design.T * fit.omega) @ design + np.diag(np.append(fit.penalty.l2, fit.intercept_l2))
        hessian[held], hessian[:, held] = 0.0, 0.0
        hessian[held, held] = 1.0
        np.testing.assert_allclose(direction[:, k], np.linalg.solve(hessian, slopes[k]), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(eta_step[:, k], design @ direction[:, k], atol=1e-12)


def test_weights_do_not_depend_on_the_labels_that_share_the_products():
    rng = np.random.default_rng(1)
    X, Y = sparse.random(200, 40, 0.2, format="csc", random_state=1), rng.random((200, 7)) < 0.3
    settings = {"prior": "gaussian", "scale": 2.0, "inference": "newton"}
    together = BayesLinearClassifier(**settings).fit(X, Y)
    for k in range(7):
        alone = BayesLinearClassifier(**settings).fit(X, Y[:, k])
        np.testing.assert_array_equal(alone.coef_[0], together.coef_[k])
