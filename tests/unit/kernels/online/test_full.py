"""The blocked full-covariance kernel against dense algebra, for every size at which its loops change their course."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from references.online import learn_document
from textbayes.kernels.online.document import restrict_rows
from textbayes.kernels.online.full import MOST, learn_full, look_full, predict_deferred, take_full
from textbayes.models.online import PAPER_PROBIT, OnlineLikelihood
from textbayes.models.online.full import NOTHING_WAITS

NO_SITES = np.empty((0, 2))


def documents(n_docs, n_words, density, seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(n_docs, n_words, density=density, random_state=rng, format="csr")
    return X, rng.choice([-1.0, 1.0], n_docs)


def arrays(X):
    return X.indptr.astype(np.int64), (X.indices + 1).astype(np.int32), X.data


def by_reference(X, y, mean, cov, likelihood):
    log_z = []
    for x, outcome in zip(X.toarray(), y, strict=True):
        if outcome:
            mean, cov, value = learn_document(mean, cov, np.concatenate([[1.0], x]), outcome, likelihood)
        log_z.append(value if outcome else 0.0)
    return mean, cov, np.array(log_z)


@pytest.mark.parametrize("n_words", [0, 1, 3, 40, 110])
@pytest.mark.parametrize("n_docs", [0, 1, 11, 12, 13, MOST, 2 * MOST + 3])
def test_equals_one_document_at_a_time(n_words, n_docs):
    X, y = documents(n_docs, n_words, 0.2, n_words + n_docs)
    y[::7] = 0.0
    mean, cov, log_z = np.zeros(n_words + 1), np.eye(n_words + 1), np.empty(n_docs)
    wanted = by_reference(X, y, mean, cov, PAPER_PROBIT)
    learn_full(*arrays(X), y, mean, cov, *PAPER_PROBIT.closed_form, NO_SITES, log_z)
    for found, exact in zip((mean, cov, log_z), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-10, atol=1e-12)
    assert (cov == cov.T).all()


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_runs_of_documents_without_words(rate):
    """They share one direction; mixed with others and at both ends of a block."""
    X, y = documents(90, 30, 0.1, 3)
    X = sparse.csr_matrix(X.multiply(np.random.default_rng(4).random((90, 1)) < 0.3))
    likelihood = OnlineLikelihood(f"flip:rate={rate},base=probit", 0.5)
    mean, cov, log_z = np.zeros(31), np.diag(np.linspace(0.5, 2.0, 31)), np.empty(90)
    wanted = by_reference(X, y, mean, cov, likelihood)
    learn_full(*arrays(X), y, mean, cov, 0.25, rate, NO_SITES, log_z)
    for found, exact in zip((mean, cov, log_z), wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


def test_looking_taking_and_predicting():
    X, _ = documents(1, 9, 0.5, 5)
    mean, root = np.arange(10.0), np.random.default_rng(1).normal(size=(10, 10))
    cov = root @ root.T
    cov = np.tril(cov) + np.tril(cov, -1).T
    x = np.concatenate([[1.0], X.toarray()[0]])
    _, indices, data = arrays(X)
    center, spread, direction = look_full(indices, data, mean, cov)
    np.testing.assert_allclose(direction, cov @ x)
    assert (center, spread) == pytest.approx((x @ mean, x @ cov @ x))
    np.testing.assert_allclose(np.ravel(predict_deferred(*arrays(X), mean, cov, *NOTHING_WAITS)), [center, spread])
    wanted = mean + 0.3 * direction, cov - 0.01 * np.outer(direction, direction)
    take_full(mean, cov, direction, 0.3, -0.01)
    np.testing.assert_allclose(mean, wanted[0])
    np.testing.assert_allclose(cov, wanted[1], atol=1e-12)


def test_rows_keep_the_words_of_a_label():
    X, _ = documents(20, 12, 0.3, 6)
    words = np.array([7, 2, 9])
    position = np.full(12, -1, dtype=np.int32)
    position[words] = [1, 2, 3]
    indptr, indices, data = restrict_rows(X.indptr.astype(np.int64), X.indices, X.data, position)
    found = sparse.csr_matrix((data, indices, indptr), shape=(20, 4)).toarray()
    np.testing.assert_array_equal(found[:, 1:], X.toarray()[:, words])
    assert not found[:, 0].any()


def test_a_document_known_beyond_rounding_teaches_nothing():
    """Two words of variance 1 whose sum is known exactly, as far as floating point can say."""
    cov = np.array([[1e-30, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, -1.0, 1.0]])
    cov[1, 1] += 1e-15
    mean, log_z, before = np.zeros(3), np.empty(1), cov.copy()
    learn_full(
        np.array([0, 2]), np.array([1, 2], np.int32), np.ones(2), np.ones(1), mean, cov, 0.0, 0.1, NO_SITES, log_z
    )
    np.testing.assert_array_equal(cov, before)
    assert not mean.any()
    assert np.isfinite(log_z).all()
    assert not look_full(np.array([1, 2], np.int32), np.ones(2), mean, cov)[2].any()
