"""Both solvers reach the optimum that other libraries reach, from whatever they start."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from textbayes.screen import solver as solvers
from textbayes.screen.solver import GramSolver, RowSolver, make_solver

N = 60


@pytest.fixture(scope="module")
def task():
    random = np.random.default_rng(0)
    X = sparse.random(N, 40, density=0.3, random_state=1, format="csr")
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.power(2).sum(axis=1))))
    y = np.where(X[:, :5].sum(axis=1).A1 + 0.3 * random.normal(size=N) > 0.5, 1.0, -1.0)
    return X, y


def reference(X, y, judged, weights, mean):
    """Predictors of scikit-learn's logistic regression with a column of ones, around prior means."""
    ones = sparse.hstack([X, np.ones((N, 1))]).tocsr()
    # A prior mean is an offset; scikit-learn has none, so the optimum is found by Newton's method on its own gradient.
    if mean is None:
        model = LogisticRegression(fit_intercept=False, C=1.0, tol=1e-12, max_iter=10_000)
        model.fit(ones[judged], y[judged], sample_weight=np.where(y[judged] > 0, *weights))
        return ones @ model.coef_[0]
    A, c, w = ones[judged].toarray(), np.where(y[judged] > 0, *weights), np.append(mean, 0.0)
    centre = w.copy()
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-A @ w))
        gradient = A.T @ (c * (p - (y[judged] > 0))) + w - centre
        w = w - np.linalg.solve(A.T @ (A * (c * p * (1 - p))[:, None]) + np.eye(len(w)), gradient)
    return ones @ w


@pytest.mark.parametrize("follows", [False, True])
def test_the_optimum_of_logistic_regression(task, follows):
    X, y = task
    mean = np.random.default_rng(3).normal(size=X.shape[1]) if follows else None
    offset = X @ mean if follows else np.zeros(N)
    gram = GramSolver(X, tol=1e-12)
    for n, weights in ((10, (4.0, 0.5)), (11, (4.2, 0.52)), (30, (9.0, 1.1))):  # each starts from the one before
        judged = np.arange(n)
        gram.fit(judged, y[judged], weights, offset)
        found = gram.predictors(offset)
        np.testing.assert_allclose(found, reference(X, y, judged, weights, mean), atol=1e-5)
        np.testing.assert_allclose(gram.predictors_of(np.array([3, 50]), offset), found[[3, 50]])
        weights_found = gram.weights()
        np.testing.assert_allclose(offset + X @ weights_found[:-1] + weights_found[-1], found, atol=1e-5)


def test_both_solvers_agree(task, monkeypatch):
    X, y = task
    monkeypatch.setattr(solvers, "_TOLERANCE", 1e-10)
    offset = np.linspace(-1.0, 1.0, N)
    gram, rows = GramSolver(X, tol=1e-10), RowSolver(X)
    for n in (5, 6, 20):
        for solver in (gram, rows):
            solver.fit(np.arange(n), y[:n], (3.0, 0.6), offset)
        np.testing.assert_allclose(rows.predictors(offset), gram.predictors(offset), atol=1e-3)


@pytest.mark.parametrize("kind", [GramSolver, RowSolver])
def test_words_with_a_wider_prior(task, kind, monkeypatch):
    X, y = task
    monkeypatch.setattr(solvers, "_TOLERANCE", 1e-10)
    variances, offset, judged = np.ones(X.shape[1]), np.linspace(-1.0, 1.0, N), np.arange(20)
    variances[[2, 7]] = 30.0, 4.0
    solver = kind(X, tol=1e-12) if kind is GramSolver else kind(X)
    solver.fit(judged, y[:20], (3.0, 0.6), offset)
    solver.restart(variances)
    solver.fit(judged, y[:20], (3.0, 0.6), np.zeros(N))
    ones = sparse.hstack([X @ sparse.diags(np.sqrt(variances)), np.ones((N, 1))]).tocsr()
    peer = LogisticRegression(fit_intercept=False, C=1.0, tol=1e-12, max_iter=10_000)
    peer.fit(ones[judged], y[:20], sample_weight=np.where(y[:20] > 0, 3.0, 0.6))
    np.testing.assert_allclose(solver.predictors(np.zeros(N)), ones @ peer.coef_[0], atol=1e-4)
    weights = solver.weights()
    np.testing.assert_allclose(weights[:-1], np.sqrt(variances) * peer.coef_[0][:-1], atol=1e-4)


def test_rows_and_columns_give_one_predictor_to_the_last_bit(task):
    X, y = task
    solver, offset = RowSolver(X), np.linspace(-1.0, 1.0, N)
    solver.fit(np.arange(15), y[:15], (3.0, 0.6), offset)
    rows = np.array([3, 20, 59])
    np.testing.assert_array_equal(solver.predictors_of(rows, offset), solver.predictors(offset)[rows])


@pytest.mark.parametrize("kind", [GramSolver, RowSolver])
def test_a_share_counts_like_a_smaller_weight_and_may_shrink(task, kind, monkeypatch):
    X, y = task
    monkeypatch.setattr(solvers, "_TOLERANCE", 1e-10)
    solver = kind(X, tol=1e-12) if kind is GramSolver else kind(X)
    judged, first = np.arange(20), int(np.flatnonzero(y[:20] > 0)[0])
    for share in (1.0, 0.3, 0.05):
        shares = np.ones(20)
        shares[first] = share
        solver.fit(judged, y[:20], (3.0, 0.6), np.zeros(N), shares)
        ones = sparse.hstack([X, np.ones((N, 1))]).tocsr()
        peer = LogisticRegression(fit_intercept=False, C=1.0, tol=1e-12, max_iter=10_000)
        peer.fit(ones[judged], y[:20], sample_weight=np.where(y[:20] > 0, 3.0, 0.6) * shares)
        np.testing.assert_allclose(solver.predictors(np.zeros(N)), ones @ peer.coef_[0], atol=1e-4)


def test_an_answer_that_was_withdrawn_or_changed_leaves_no_trace(task):
    X, y = task
    gram = GramSolver(X, tol=1e-12)
    gram.fit(np.arange(20), y[:20], (3.0, 0.6), np.zeros(N))
    turned = y.copy()
    turned[4] *= -1.0
    judged = np.delete(np.arange(20), 7)
    gram.fit(judged, turned[judged], (3.0, 0.6), np.zeros(N))
    np.testing.assert_allclose(gram.predictors(np.zeros(N)), reference(X, turned, judged, (3.0, 0.6), None), atol=1e-5)


def test_the_optimum_of_a_support_vector_machine(task):
    X, y = task
    gram = GramSolver(X, squared_hinge=True, tol=1e-9)
    for n in (15, 16, 40):
        weights = np.where(y[:n] > 0, 2.0, 0.7)
        peer = LinearSVC(C=0.11, tol=1e-10, max_iter=100_000, dual=True, random_state=0)
        peer.fit(X[:n], y[:n], sample_weight=weights)
        gram.fit(np.arange(n), y[:n], (0.22, 0.077), np.zeros(N))
        np.testing.assert_allclose(gram.predictors(np.zeros(N)), peer.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kind", [GramSolver, RowSolver])
def test_a_restored_solver_goes_on_to_the_last_bit(task, kind):
    X, y = task
    one, other = kind(X), kind(X)
    one.fit(np.arange(12), y[:12], (3.0, 0.6), np.zeros(N))
    other.restore({name: array.copy() for name, array in one.to_arrays().items()})
    np.testing.assert_array_equal(other.predictors(np.zeros(N)), one.predictors(np.zeros(N)))
    for solver in (one, other):
        solver.fit(np.arange(13), y[:13], (3.1, 0.61), np.zeros(N))
    np.testing.assert_array_equal(other.predictors(np.zeros(N)), one.predictors(np.zeros(N)))


def test_the_size_chooses_the_solver(task, monkeypatch):
    X, _ = task
    assert isinstance(make_solver(X), GramSolver)
    monkeypatch.setattr(solvers, "_LARGEST_GRAM", N - 1)
    assert isinstance(make_solver(X), RowSolver)
