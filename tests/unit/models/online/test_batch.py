"""From batch to online and back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError
from textbayes.models.online import (
    OnlineLikelihood,
    diagonal_from_batch,
    full_from_batch,
    low_rank_from_batch,
)


def documents(seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(120, 8, density=0.4, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(0.0, 3.0, 8) + rng.normal(0.0, 0.5, 120) > 0.0, 1, -1)
    return X, y


def test_a_batch_fit_goes_on_learning():
    """Weights of a sparse batch fit as the start: predictions are its own, and learning moves on from there."""
    X, y = documents()
    fit = BayesLinearClassifier(link="probit", prior="laplace", scale=1.0).fit(X, y)
    for noise in (1.0, 0.5):
        start = diagonal_from_batch(fit.coef_, fit.intercept_, np.full(fit.coef_.shape, 1e-9), 1e-9, noise)
        likelihood = OnlineLikelihood("probit", noise)
        proba = likelihood.predictive(*start.predict(X))[:, 0]
        np.testing.assert_allclose(proba, fit.predict_proba(X)[:, 1], atol=1e-6)
    wide = diagonal_from_batch(fit.coef_, fit.intercept_, np.full(fit.coef_.shape, 0.3), 0.1)
    learnt, _ = wide.learn(X, y, OnlineLikelihood("probit"))
    assert (learnt.var < wide.var).all()
    np.testing.assert_array_equal(wide.mean[1:, 0], fit.coef_[0])


def test_words_that_a_kink_held_can_be_learnt_again():
    """A sparse fit leaves most words at 0 without a variance; given the prior's, they take part again."""
    X, y = documents()
    fit = BayesLinearClassifier(link="probit", prior="laplace", scale=0.05).fit(X, y)
    held = fit.coef_ == 0.0
    assert held.any()
    var = np.where(held, 0.0, 0.02)
    fixed, _ = diagonal_from_batch(fit.coef_, fit.intercept_, var, 0.1).learn(X, y, OnlineLikelihood("probit"))
    free = diagonal_from_batch(fit.coef_, fit.intercept_, var, 0.1, held_var=2 * 0.05**2)
    np.testing.assert_allclose(free.var[1:, 0], np.where(held, 0.005, 0.02)[0])
    learnt, _ = free.learn(X, y, OnlineLikelihood("probit"))
    assert (fixed.mean[1:, 0][held[0]] == 0.0).all()
    assert (learnt.mean[1:, 0][held[0]] != 0.0).all()


def test_the_start_with_correlations():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(4, 4))
    cov, coef = root @ root.T, rng.normal(size=3)
    start = full_from_batch(coef, 0.7, cov, [5, 1, 2], noise=0.5)
    X = rng.normal(size=(6, 8))
    mean, var = start.predict(X)
    design = np.hstack([np.ones((6, 1)), X[:, [5, 1, 2]]])
    np.testing.assert_allclose(mean[:, 0] / 0.5, 0.7 + X[:, [5, 1, 2]] @ coef)
    np.testing.assert_allclose(var[:, 0] / 0.25, np.einsum("ij,jk,ik->i", design, cov, design))
    assert (start.cov == start.cov.T).all()


def test_few_directions_keep_the_precision_of_every_weight():
    rng = np.random.default_rng(3)
    root = rng.normal(size=(6, 9))
    precision = root @ root.T + np.diag(rng.uniform(0.5, 2.0, 6))
    cov, coef = np.linalg.inv(precision), rng.normal(size=7)
    known, variances = np.array([0, 2, 3, 4, 6]), np.full(7, 0.3)
    for rank in range(1, 8):
        posterior = low_rank_from_batch(coef, -0.4, variances, (known, cov), rank, noise=0.5)
        np.testing.assert_allclose(posterior.mean, 0.5 * np.concatenate([[-0.4], coef]))
        kept = np.linalg.inv(posterior.cov) * 0.25
        at = np.concatenate([[0], 1 + known])
        np.testing.assert_allclose(np.diag(kept)[at], np.diag(precision), rtol=1e-10)
        np.testing.assert_allclose(np.diag(kept)[[2, 6]], 1.0 / 0.3)
        if rank >= 5:  # all directions but the widest, which the diagonal holds
            np.testing.assert_allclose(kept[np.ix_(at, at)], precision, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diagonal_from_batch([[1.0]], 0.0, [[np.inf]], 1.0), "large variance"),
        (lambda: diagonal_from_batch([[np.nan]], 0.0, [[1.0]], 1.0), "must be finite"),
        (lambda: full_from_batch([1.0], 0.0, np.eye(3), [0]), "as many weights"),
        (lambda: full_from_batch([1.0], 0.0, [[1.0, 0.5], [0.1, 1.0]], [0]), "not symmetric"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()
