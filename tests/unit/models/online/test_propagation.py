"""Expectation propagation against integration over a grid and against its own fixed-point conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.models.online import PAPER_LOGIT, PAPER_PROBIT, FullPosterior, OnlineLikelihood, propagate


def problem(n_docs, n_words, noise, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_docs, n_words))
    p = special.ndtr((X @ rng.normal(size=n_words) - 0.3) / noise)
    return X, np.where(rng.random(n_docs) < p, 1.0, -1.0)


def test_one_document_is_exact():
    X, y = problem(1, 3, 0.5, 0)
    once, _ = FullPosterior.start(range(3)).learn(X, y, PAPER_PROBIT)
    again, info = propagate(FullPosterior.start(range(3)), X, y, PAPER_PROBIT)
    np.testing.assert_allclose(again.cov, once.cov)
    assert info.converged
    assert info.n_passes == 2


def test_moments_of_the_exact_posterior():
    """Bias and one word, integrated over a grid."""
    X, y = problem(25, 1, PAPER_LOGIT.noise, 1)
    posterior, info = propagate(FullPosterior.start([0]), X, y, PAPER_LOGIT)
    axis = np.linspace(-6.0, 6.0, 601)
    bias, weight = np.meshgrid(axis, axis, indexing="ij")
    log_p = -0.5 * (bias**2 + weight**2)
    for x, outcome in zip(X[:, 0], y, strict=True):
        log_p += special.log_ndtr(outcome * (bias + weight * x) / PAPER_LOGIT.noise)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    mean = np.array([(p * bias).sum(), (p * weight).sum()])
    centred = np.stack([bias - mean[0], weight - mean[1]])
    cov = np.einsum("aij,bij,ij->ab", centred, centred, p)
    assert info.converged
    scale = np.sqrt(np.diag(cov))
    np.testing.assert_allclose(posterior.mean / scale, mean / scale, atol=0.005)
    np.testing.assert_allclose(posterior.cov / np.outer(scale, scale), cov / np.outer(scale, scale), atol=0.01)


@pytest.mark.parametrize("likelihood", [PAPER_PROBIT, OnlineLikelihood("flip:rate=0.02,base=probit", 0.5)])
def test_fixed_point(likelihood):
    """The posterior is prior times sites, and each document's tilted moments are those of the posterior."""
    X, y = problem(40, 4, 0.5, 2)
    posterior, info = propagate(FullPosterior.start(range(4)), X, y, likelihood, tol=1e-9)
    assert info.converged
    design = np.hstack([np.ones((40, 1)), X])
    precision, shift = info.sites.T
    total = np.eye(5) + (design.T * precision) @ design
    np.testing.assert_allclose(posterior.cov, np.linalg.inv(total), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(posterior.mean, np.linalg.solve(total, design.T @ shift), rtol=1e-7, atol=1e-8)
    mean, var = (part[:, 0] for part in posterior.predict(X))
    cavity_var = 1.0 / (1.0 / var - precision)
    cavity_mean = cavity_var * (mean / var - shift)
    _, d1, d2 = likelihood.moments(cavity_mean, cavity_var, y)
    np.testing.assert_allclose(cavity_mean + cavity_var * d1, mean, atol=1e-7)
    np.testing.assert_allclose(cavity_var + cavity_var**2 * d2, var, rtol=1e-7)


def test_order_does_not_matter_and_sites_can_be_taken_up_again():
    X, y = problem(50, 4, 0.5, 3)
    prior = FullPosterior.start(range(4))
    first, info = propagate(prior, X, y, PAPER_PROBIT, tol=1e-9)
    second, _ = propagate(prior, X[::-1], y[::-1], PAPER_PROBIT, tol=1e-9)
    np.testing.assert_allclose(first.mean, second.mean, atol=1e-7)
    short, stopped = propagate(prior, X, y, PAPER_PROBIT, max_passes=2)
    assert not stopped.converged
    resumed, more = propagate(short, X, y, PAPER_PROBIT, tol=1e-9, sites=stopped.sites)
    np.testing.assert_allclose(resumed.mean, first.mean, atol=1e-7)
    assert stopped.n_passes + more.n_passes == info.n_passes


def test_refusals():
    X, y = problem(5, 2, 0.5, 0)
    prior = FullPosterior.start(range(2))
    with pytest.raises(NotSupportedError, match="probit"):
        propagate(prior, X, y, OnlineLikelihood("logit"))
    with pytest.raises(InputError, match="one row of two"):
        propagate(prior, X, y, PAPER_PROBIT, sites=np.zeros((3, 2)))
