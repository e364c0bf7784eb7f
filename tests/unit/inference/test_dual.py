"""``dual`` finds what a general optimiser finds, to the accuracy it states, whatever the prior says of words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse, special

from textbayes.core.errors import NotSupportedError
from textbayes.inference import inferences
from textbayes.kernels.linear.dual import ascend
from textbayes.models.linear.classifier import BayesLinearClassifier


@pytest.fixture(scope="module")
def texts():
    """More words than documents, some in most documents, rows of unit length, a frequent and two rare labels."""
    rng = np.random.default_rng(0)
    n, p = 80, 120
    rate = np.minimum(3.0 / np.arange(1, p + 1), 0.6)
    X = sparse.csr_matrix((rng.random((n, p)) < rate + 0.004) * rng.gamma(2.0, 1.0, (n, p)))
    X = sparse.diags(1.0 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel() + 1e-12)) @ X
    eta = X @ rng.normal(0, 4, (p, 3))
    Y = eta - np.quantile(eta, [0.6, 0.95, 0.985], axis=0).diagonal() + rng.logistic(0, 0.3, (n, 3)) > 0.0
    return sparse.csr_matrix(X), Y


def _optimum(X, y, scale, mean, weight, intercept):
    """The least objective, up to the prior's constant, by a trust-region method on the dense problem."""
    M, y = np.hstack([X.toarray(), np.ones((X.shape[0], 1))]), np.where(y, 1.0, -1.0)
    precision, center = 1.0 / np.append(scale, intercept[0]) ** 2, np.append(mean, intercept[1])

    def value(v):
        return -(weight * special.log_expit(y * (M @ v))).sum() + 0.5 * (precision * (v - center) ** 2).sum()

    def slope(v):
        return -M.T @ (weight * y * special.expit(-y * (M @ v))) + precision * (v - center)

    def hessian(v):
        p = special.expit(M @ v)
        return (M.T * (weight * p * (1.0 - p))) @ M + np.diag(precision)

    options = {"gtol": 1e-7, "maxiter": 500}
    return optimize.minimize(value, center, method="trust-exact", jac=slope, hess=hessian, options=options).fun


def _cases():
    rng = np.random.default_rng(1)
    by_word = rng.gamma(2.0, 1.5, 120)
    return {
        "scalar": {"scale": 5.5},
        "by word": {"scale": by_word, "mean": rng.normal(0, 0.3, 120)},
        "by label and word": {"scale": rng.gamma(2.0, 1.5, (3, 120)), "mean": rng.normal(0, 0.3, (3, 120))},
        "narrow intercept": {"scale": 3.0, "intercept_scale": 0.3, "intercept_mean": -1.0},
        "wide intercept": {"scale": 3.0, "intercept_scale": 50.0, "intercept_mean": 2.0},
    }


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", _cases())
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-6])
def test_objective_is_within_the_tolerance_of_the_optimum(texts, case, weighted, tol):
    """By no more than tol², which from 1e-4 on is the rule it stops by, and to 1e-9 where ``newton`` ends the fit."""
    X, Y = texts
    settings = _cases()[case]
    weight = np.random.default_rng(2).choice([0.0, 1.0, 2.5], len(Y)) if weighted else None
    model = BayesLinearClassifier(prior="gaussian", inference="dual", tol=tol, **settings)
    info = model.fit(X, Y, sample_weight=weight).fit_info_
    assert info.converged.all()
    assert (info.violation <= tol).all()
    scale = np.broadcast_to(settings["scale"], (3, 120))
    mean = np.broadcast_to(settings.get("mean", 0.0), (3, 120))
    intercept = settings.get("intercept_scale", np.inf), settings.get("intercept_mean", 0.0)
    for k in range(3):
        best = _optimum(X, Y[:, k], scale[k], mean[k], np.ones(len(Y)) if weight is None else weight, intercept)
        assert info.objective[k] >= best * (1.0 - 1e-9)
        assert info.objective[k] <= best * (1.0 + max(tol**2, 1e-9))


def test_threads_have_no_say(texts):
    X, Y = texts
    Y = np.hstack([Y, Y[::-1], ~Y])
    one, two = (BayesLinearClassifier(prior="gaussian", inference="dual", n_jobs=n).fit(X, Y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


def test_length_of_a_column_has_no_say(texts):
    """A column a thousand times as long under a prior a thousand times as narrow is the same model."""
    X, Y = texts
    factor = np.where(np.arange(120) % 7 == 0, 1e3, 1.0)
    settings = {"prior": "gaussian", "inference": "dual", "tol": 1e-3}
    plain = BayesLinearClassifier(**settings, scale=np.full(120, 2.0)).fit(X, Y)
    longer = BayesLinearClassifier(**settings, scale=2.0 / factor).fit(X @ sparse.diags(factor), Y)
    np.testing.assert_allclose(longer.coef_ * factor, plain.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(longer.fit_info_.n_iter, plain.fit_info_.n_iter)


def test_a_wild_start_does_no_harm(texts):
    X, Y = texts
    model = BayesLinearClassifier(prior="gaussian", inference="dual", scale=5.5, warm_start=True, tol=1e-3).fit(X, Y)
    cold = model.fit_info_.objective.copy()
    model.coef_, model.intercept_ = np.random.default_rng(3).normal(0, 300, (3, 120)), np.full(3, 40.0)
    np.testing.assert_allclose(model.fit(X, Y).fit_info_.objective, cold, rtol=2e-6)


def test_an_ascent_that_ends_above_its_start_keeps_the_start(texts, monkeypatch):
    """The dual may gain what the primal shows only later: weights, objective and what is left are the start's."""
    X, Y = texts
    model = BayesLinearClassifier(prior="gaussian", inference="dual", scale=5.5, warm_start=True, tol=0.1).fit(X, Y)
    coef, objective = model.coef_.copy(), model.fit_info_.objective.copy()

    def worse(*args):
        u, b, eta, _, n_sweeps = ascend(*args)
        return 1.2 * u, b, eta, 1e-4, n_sweeps

    monkeypatch.setattr("textbayes.inference.dual.ascend", worse)
    info = model.fit(X, Y).fit_info_
    np.testing.assert_array_equal(model.coef_, coef)
    np.testing.assert_allclose(info.objective, objective)
    assert (info.violation > 0.01).all()  # of the lower objective it is a larger share
    assert info.converged.all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"link": "probit"}, "dual of the logistic link.*use link 'logit'"),
        ({"prior": "laplace"}, "prior that is smooth"),
    ],
)
def test_what_has_no_such_dual_is_refused(texts, settings, message):
    X, Y = texts
    with pytest.raises(NotSupportedError, match=message):
        BayesLinearClassifier(**{"prior": "gaussian", "inference": "dual"} | settings).fit(X, Y)


def test_it_is_found_by_name():
    assert "dual" in inferences.names()
