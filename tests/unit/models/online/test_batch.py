"""From batch to online and back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import InputError
from textbayes.links import make_link
from textbayes.models.online import (
    PAPER_PROBIT,
    Bank,
    DiagonalPosterior,
    FullPosterior,
    LowRankPosterior,
    OnlineLikelihood,
    as_prior,
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


def test_an_online_posterior_becomes_the_prior_of_a_batch_fit():
    X, y = documents()
    posterior, _ = FullPosterior.start([6, 2, 3]).learn(X, y, PAPER_PROBIT)
    prior = as_prior(posterior, 8, PAPER_PROBIT.noise)
    np.testing.assert_allclose(prior.mean[0, [6, 2, 3]], posterior.mean[1:] / 0.5)
    np.testing.assert_allclose(prior.scale[0, [6, 2, 3]], np.sqrt(np.diag(posterior.cov)[1:]) / 0.5)
    np.testing.assert_array_equal(np.flatnonzero(prior.words[0]), [2, 3, 6])
    assert prior.intercept_mean[0] == posterior.mean[0] / 0.5
    # Documents without a word say nothing of the words: the fit stays at the prior's means.
    fit = BayesLinearClassifier("probit", "gaussian", prior.scale, prior.mean, tol=1e-8)
    fit.fit(np.zeros((4, 8)), [1, -1, 1, -1], words=prior.words)
    np.testing.assert_allclose(fit.coef_, prior.mean, atol=1e-8)


def test_all_kinds_of_posterior_become_priors():
    X, y = documents()
    Y = np.column_stack([y, -y])
    diagonal, _ = DiagonalPosterior.start(8, 2).learn(X, Y, PAPER_PROBIT)
    prior = as_prior(diagonal, 8)
    np.testing.assert_array_equal(prior.mean, diagonal.mean[1:].T)
    np.testing.assert_allclose(prior.scale**2, diagonal.var[1:].T)
    bank, _ = Bank([LowRankPosterior.start(range(8)), LowRankPosterior.start([1])]).learn(X, Y, PAPER_PROBIT)
    prior = as_prior(bank, 8)
    np.testing.assert_allclose(prior.scale[0] ** 2, np.diag(bank[0].cov)[1:])
    assert prior.words.sum(axis=1).tolist() == [8, 1]
    assert prior.mean[1, 0] == 0.0
    assert prior.scale[1, 0] == 1.0


def test_round_trip():
    X, y = documents()
    diagonal, _ = DiagonalPosterior.start(8).learn(X, y, PAPER_PROBIT)
    prior = as_prior(diagonal, 8, 0.5)
    back = diagonal_from_batch(
        prior.mean, prior.intercept_mean, prior.scale**2, prior.intercept_scale**2, PAPER_PROBIT.noise
    )
    np.testing.assert_allclose(back.mean, diagonal.mean)
    np.testing.assert_allclose(back.var, diagonal.var)


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


def test_an_online_posterior_is_the_prior_of_a_batch_fit():
    """With nothing to learn from, the batch fit stays where the online posterior is, the intercept too."""
    X, y = documents()
    diagonal, _ = DiagonalPosterior.start(8, 2).learn(X, np.column_stack([y, -y]), PAPER_PROBIT)
    prior = as_prior(diagonal, 8, PAPER_PROBIT.noise)
    Y = np.column_stack([y, -y]) > 0.0
    model = BayesLinearClassifier("probit", "gaussian", **prior.settings(), tol=1e-7)
    model.fit(X, Y, sample_weight=np.full(len(y), 1e-7), words=prior.words)
    np.testing.assert_allclose(model.linear_predictor(X), diagonal.predict(X).mean / PAPER_PROBIT.noise, atol=1e-4)
    # Documents that come once more move it to the mode, which the gradient of the whole tells.
    model.fit(X, Y, words=prior.words)
    slope = _slopes(model, X, Y)
    offset = np.column_stack([model.intercept_ - prior.intercept_mean, model.coef_ - prior.mean])
    scale = np.column_stack([prior.intercept_scale, prior.scale])
    np.testing.assert_allclose(slope, offset / scale**2, atol=1e-5)


def _slopes(model, X, Y):
    """d log-likelihood / d (intercept, weights) of every label."""
    score = make_link("probit").score(model.linear_predictor(X), np.where(Y, 1.0, -1.0))
    return np.column_stack([score.sum(axis=0), (X.T @ score).T])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: diagonal_from_batch([[1.0]], 0.0, [[np.inf]], 1.0), "large variance"),
        (lambda: diagonal_from_batch([[np.nan]], 0.0, [[1.0]], 1.0), "must be finite"),
        (lambda: full_from_batch([1.0], 0.0, np.eye(3), [0]), "as many weights"),
        (lambda: full_from_batch([1.0], 0.0, [[1.0, 0.5], [0.1, 1.0]], [0]), "not symmetric"),
        (lambda: as_prior(DiagonalPosterior.start(3), 4), "knows 3 words"),
        (lambda: as_prior(FullPosterior.start([5]), 4), "uses column 5"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()
