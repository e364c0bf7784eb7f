"""The covariance whose updates wait: it is the full one up to rounding, and copies go their own way."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.models.online import PAPER_FLIP, PAPER_LOGIT, DeferredPosterior, FullPosterior
from textbayes.models.online.full import MOST


def documents(n_docs, n_words=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n_docs, n_words)) * (rng.random((n_docs, n_words)) < 0.4), rng.choice([-1.0, 1.0], n_docs)


def one_by_one(posterior, X, y, likelihood):
    for x, outcome in zip(X, y, strict=True):
        posterior, _ = posterior.learn(x[None], [outcome], likelihood)
    return posterior


@pytest.mark.parametrize("n_docs", [1, 3, MOST - 1, MOST, 2 * MOST + 5])
def test_it_is_the_full_posterior(n_docs):
    X, y = documents(n_docs)
    start = FullPosterior.start(np.arange(12), variance=2.0, bias_variance=2.0)
    full = one_by_one(start, X, y, PAPER_FLIP)
    found = one_by_one(DeferredPosterior.of(start, 2.0), X, y, PAPER_FLIP)
    assert found.n_waiting == n_docs % MOST
    np.testing.assert_allclose(found.mean, full.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.cov, full.cov, rtol=1e-9, atol=1e-12)
    for one, other in zip(found.predict(X), full.predict(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_other_links_and_drift():
    X, y = documents(20)
    start = FullPosterior.start(np.arange(12))
    full, _ = start.learn(X, y, PAPER_LOGIT, forgetting_factor=0.99)
    found, _ = DeferredPosterior.of(start, 1.0).learn(X, y, PAPER_LOGIT, forgetting_factor=0.99)
    np.testing.assert_allclose(found.mean, full.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.cov, full.cov, rtol=1e-9, atol=1e-12)


def test_words_join_as_in_the_full_one():
    X, y = documents(60, n_words=60)
    full = FullPosterior.start(np.arange(8))
    found = DeferredPosterior.of(full, 1.0)
    for i in range(60):
        more = np.arange(8, min(8 + i, 60))  # those that are there are not added again
        full, found = full.grow(more), found.grow(more)
        full, found = (p.learn(X[i : i + 1], y[i : i + 1], PAPER_FLIP)[0] for p in (full, found))
    assert found.words.tolist() == full.words.tolist()
    np.testing.assert_allclose(found.mean, full.mean, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found.cov, full.cov, rtol=1e-8, atol=1e-11)
    with pytest.raises(InputError, match="has room for words of 1"):
        found.grow([70], 3.0)


def test_copies_share_what_waits_and_go_their_own_way():
    X, y = documents(6)
    first = one_by_one(DeferredPosterior.of(FullPosterior.start(np.arange(12)), 1.0), X[:2], y[:2], PAPER_FLIP)
    mean, cov = first.mean.copy(), first.cov
    one = one_by_one(first, X[2:4], y[2:4], PAPER_FLIP)
    other = one_by_one(first, X[4:], y[4:], PAPER_FLIP)
    again = one_by_one(first, X[2:4], y[2:4], PAPER_FLIP)
    np.testing.assert_array_equal(first.mean, mean)
    np.testing.assert_array_equal(first.cov, cov)
    np.testing.assert_array_equal(one.cov, again.cov)
    assert (other.cov != one.cov).any()


def test_arrays_that_do_not_fit_are_refused():
    full = FullPosterior.start(np.arange(3))
    with pytest.raises(ValueError, match="do not fit together"):
        DeferredPosterior.restore(full.words, full.mean, full.cov, np.zeros((2, 4)), np.zeros(1), 1.0)
