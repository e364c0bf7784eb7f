"""The sparse online Gaussian process against its published form, against the perceptron and against exact algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from references.gaussian_process import ReferenceGP
from references.online import learn_document
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_PROBIT,
    RBF,
    Bank,
    FullPosterior,
    GaussianProcess,
    OnlineLikelihood,
    Polynomial,
    propagate,
)


def rbf(A, B):
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


KERNELS = {
    "linear": (Polynomial(1), lambda A, B: A @ B.T + 1.0),
    "quadratic": (Polynomial(2), lambda A, B: (A @ B.T + 1.0) ** 2),
    "rbf": (RBF(), rbf),
    "of the user": (lambda A, B: (A @ B.T).toarray() + 0.3, lambda A, B: A @ B.T + 0.3),
}


def documents(n_docs=150, n_words=12, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    X = sparse.random(n_docs, n_words, density=density, random_state=rng, format="csr")
    y = np.where(X @ rng.normal(0.0, 2.0, n_words) + rng.normal(0.0, 0.4, n_docs) > 0.1, 1.0, -1.0)
    y[::11] = 0.0
    return X, y


def by_reference(X, y, likelihood, kernel, budget, tolerance, jitter, passes=1, forgetting_factor=1.0):
    gp, log_prob = ReferenceGP.start(kernel, X.shape[1], budget, tolerance, jitter), np.zeros(len(y))
    for _ in range(passes):
        for i, x in enumerate(X.toarray()):
            gp.alpha, gp.C = forgetting_factor * gp.alpha, forgetting_factor**2 * gp.C
            if y[i]:
                log_prob[i] = gp.learn(x, y[i], i, likelihood)
    return gp, log_prob


def assert_same(process, info, reference, log_prob, tolerance=1e-7):
    X, _ = documents(seed=99)
    wanted = np.array([reference.predict(x)[:2] for x in X.toarray()])
    np.testing.assert_allclose(np.hstack(process.predict(X)), wanted, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(info.log_prob[:, 0], log_prob, rtol=tolerance, atol=tolerance)
    assert process.n_basis == len(reference.numbers) == process.basis.shape[0]
    by_row = [np.lexsort(part.toarray().T) for part in (process.basis, sparse.csr_matrix(reference.basis))]
    np.testing.assert_allclose(process.basis.toarray()[by_row[0]], reference.basis[by_row[1]])


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("budget", [1, 6, 40])
@pytest.mark.parametrize("passes", [1, 3])
def test_equals_the_published_algorithm(name, budget, passes):
    """150 documents are more than a chunk; in later passes documents meet their own jitter."""
    ours, dense = KERNELS[name]
    X, y = documents()
    process, info = GaussianProcess.start(range(12), ours, budget, 1e-3).learn(X, y, PAPER_PROBIT, passes)
    assert_same(process, info, *by_reference(X, y, PAPER_PROBIT, dense, budget, 1e-3, 1e-4, passes))


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize(
    "likelihood", [PAPER_FLIP, OnlineLikelihood("logit", 0.6)], ids=["compiled flip", "general logit"]
)
def test_other_likelihoods(likelihood, tolerance):
    X, y = documents(60)
    start = GaussianProcess.start(range(12), RBF(), 15, tolerance, 1e-2)
    process, info = start.learn(X, y, likelihood, passes=2)
    assert_same(process, info, *by_reference(X, y, likelihood, rbf, 15, tolerance, 1e-2, 2))


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_drift(link):
    X, y = documents(40)
    likelihood = OnlineLikelihood(link, 0.5)
    start = GaussianProcess.start(range(12), RBF(), 10, 1e-3)
    process, info = start.learn(X, y, likelihood, forgetting_factor=0.9)
    assert_same(process, info, *by_reference(X, y, likelihood, rbf, 10, 1e-3, 1e-4, forgetting_factor=0.9))
    forgotten = process.drift(1e-9)
    np.testing.assert_allclose(np.hstack(forgotten.predict(X)), np.hstack(start.predict(X)), atol=1e-7)


@pytest.mark.parametrize("likelihood", [PAPER_PROBIT, PAPER_FLIP], ids=["probit", "flip"])
def test_linear_kernel_with_enough_documents_is_the_perceptron(likelihood):
    """No jitter, and a basis that spans the words: the projection loses nothing."""
    X, y = documents(400, 10, density=0.5)
    process, gp_info = GaussianProcess.start(range(10), Polynomial(1), 11, 0.0, 0.0).learn(X, y, likelihood, passes=3)
    perceptron, info = FullPosterior.start(range(10)).learn(X, y, likelihood, passes=3)
    T, _ = documents(50, 10, seed=1)
    np.testing.assert_allclose(np.hstack(process.predict(T)), np.hstack(perceptron.predict(T)), atol=1e-6)
    np.testing.assert_allclose(gp_info.log_evidence, info.log_evidence, atol=1e-6)


def test_without_a_budget_it_is_the_gaussian_process_itself():
    """f at all documents, old and new, as one Gaussian vector: a document is learnt as a unit vector."""
    X, y = documents(25)
    T, _ = documents(8, seed=3)
    both = np.vstack([X.toarray(), T.toarray()])
    mean, cov = np.zeros(33), rbf(both, both) + 1e-4 * np.eye(33)
    for i in range(25):
        if y[i]:
            mean, cov, _ = learn_document(mean, cov, np.eye(33)[i], y[i], PAPER_PROBIT)
    process, _ = GaussianProcess.start(range(12), RBF(), 25, 0.0).learn(X, y, PAPER_PROBIT)
    assert process.n_basis == np.count_nonzero(y)
    found = process.predict(T)
    np.testing.assert_allclose(found.mean[:, 0], mean[25:], atol=1e-9)
    np.testing.assert_allclose(found.var[:, 0], np.diag(cov)[25:], atol=1e-9)


def test_taking_a_document_out_keeps_the_process_at_the_others():
    X, y = documents(20)
    gp, _ = by_reference(X, y, PAPER_PROBIT, rbf, 50, 0.0, 1e-4)
    rest = np.array(gp.numbers) != 4
    before = [gp.predict(x, number)[:2] for x, number in zip(gp.basis[rest], np.array(gp.numbers)[rest], strict=True)]
    gp.remove(gp.numbers.index(4))
    after = [gp.predict(x, number)[:2] for x, number in zip(gp.basis, gp.numbers, strict=True)]
    np.testing.assert_allclose(after, before, atol=1e-8)


def test_the_inverse_holds_through_many_changes_of_the_basis():
    X, y = documents(1500, 40, seed=5)
    process, _ = GaussianProcess.start(range(40), Polynomial(2), 30, 1e-4).learn(X, y, PAPER_PROBIT, passes=2)
    inverse = np.tril(process.inverse) + np.tril(process.inverse, -1).T
    K = Polynomial(2)(process.basis, process.basis) + 1e-4 * np.eye(30)
    np.testing.assert_allclose(inverse @ K, np.eye(30), atol=1e-6)
    covariance = np.tril(process.covariance) + np.tril(process.covariance, -1).T
    assert np.linalg.eigvalsh(K @ covariance @ K)[0] > 0.0
    assert (process.predict(X).var > 0.0).all()


def test_one_call_or_many_in_place_or_not():
    X, y = documents()
    start = GaussianProcess.start(range(12), RBF(), 20)
    together, info = start.learn(X, y, PAPER_PROBIT)
    assert start.n_basis == 0
    alone = start.copy()
    log_prob = [alone.learn(X[i], y[i : i + 1], PAPER_PROBIT, in_place=True)[1].log_prob[0, 0] for i in range(len(y))]
    np.testing.assert_allclose(log_prob, info.log_prob[:, 0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.hstack(alone.predict(X)), np.hstack(together.predict(X)), rtol=1e-8, atol=1e-10)


def test_words_of_its_own_and_words_that_join_later():
    X, y = documents()
    words = [7, 2, 11]
    ours, _ = GaussianProcess.start(words, RBF(), 10).learn(X, y, PAPER_PROBIT)
    other, _ = GaussianProcess.start(range(3), RBF(), 10).learn(X[:, words], y, PAPER_PROBIT)
    np.testing.assert_allclose(ours.predict(X), other.predict(X[:, words]))
    wider = ours.grow([2, 5])
    np.testing.assert_array_equal(wider.words, [7, 2, 11, 5])
    without = X.multiply(np.arange(12) != 5)
    np.testing.assert_allclose(wider.predict(without), ours.predict(without))
    learnt, _ = wider.learn(X, y, PAPER_PROBIT)
    assert learnt.basis.shape[1] == 4


def test_a_bank_of_processes_with_any_number_of_threads():
    X, y = documents()
    Y = np.column_stack([y, -y, np.roll(y, 1)])
    start = [GaussianProcess.start(range(k + 3), RBF(), 10 + k) for k in range(3)]
    banks = [Bank(start, n_jobs).learn(X, Y, PAPER_PROBIT, passes=2)[0] for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*(np.concatenate(bank.predict(X)) for bank in banks))
    alone, _ = start[2].learn(X, Y[:, 2], PAPER_PROBIT, passes=2)
    np.testing.assert_array_equal(alone.predict(X).mean[:, 0], banks[0].predict(X).mean[:, 2])


def test_empty_documents_one_side_and_nothing_at_all():
    X = sparse.csr_matrix(np.vstack([np.zeros((4, 3)), np.eye(3)]))
    for kernel in (Polynomial(1), RBF()):
        start = GaussianProcess.start(range(3), kernel, 3)
        process, info = start.learn(X, -np.ones(7), PAPER_PROBIT, passes=10)
        assert (PAPER_PROBIT.predictive(*process.predict(X)) < 0.5).all()
        assert np.isfinite(info.log_evidence).all()
    same, _ = process.learn(X[:0], np.empty(0), PAPER_PROBIT)
    np.testing.assert_array_equal(same.predict(X), process.predict(X))
    assert same.predict(X[:0]).mean.shape == (0, 1)


def test_refusals():
    X, y = documents()
    process = GaussianProcess.start(range(12))
    for call, message in [
        (lambda: GaussianProcess.start([0], budget=0), "budget=0"),
        (lambda: GaussianProcess.start([0], tolerance=-1.0), "must not be negative"),
        (lambda: GaussianProcess.start([0], jitter=np.nan), "must not be negative"),
        (lambda: process.learn(X[:, :3], y, PAPER_PROBIT), "uses column 11"),
        (lambda: process.learn(X, y[:3], PAPER_PROBIT), "one outcome per document"),
        (lambda: Polynomial(0), "degree=0"),
        (lambda: RBF(0.0), "length=0.0"),
    ]:
        with pytest.raises(InputError, match=message):
            call()
    with pytest.raises(NotSupportedError, match="FullPosterior"):
        propagate(process, X, y, PAPER_PROBIT)
