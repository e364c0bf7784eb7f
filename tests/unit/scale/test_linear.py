"""Linear models fitted by gradients of parts reach the optimum of all documents."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from scipy import sparse, special, stats
from threadpoolctl import threadpool_info, threadpool_limits

from textbayes import BayesLinearClassifier
from textbayes.core.errors import NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.models.weights import as_columns
from textbayes.scale.linear import Lbfgs, ProximalNewton, WorkerDocuments, fit_in_parts, minimise

SPACE = LabelSpace(np.arange(3), "multilabel")


@pytest.fixture(scope="module")
def data():
    """Three hundred documents of 60 words, 3 labels, and weights of the documents."""
    rng = np.random.default_rng(2)
    X = sparse.random(300, 60, 0.1, "csr", random_state=2)
    eta = X @ rng.normal(scale=4.0, size=(60, 3)) + np.array([-1.0, 0.5, -2.0])
    return X, eta + rng.logistic(size=eta.shape) > 0.0, rng.integers(1, 4, 300).astype(float)


def parts_of(X, Y, weight=None, ends=(40, 170)):
    rows = np.split(np.arange(len(Y)), ends)
    return [
        WorkerDocuments(as_columns(X[row]), np.where(Y[row], 1.0, -1.0), None if weight is None else weight[row])
        for row in rows
    ]


def objective(X, Y, coef, intercept, link, penalty, weight=1.0):
    """−log posterior of each label up to a constant, by SciPy alone."""
    eta = (X @ coef.T + intercept) * np.where(Y, 1.0, -1.0)
    log_p = special.log_expit(eta) if link == "logit" else stats.norm.logcdf(eta)
    return -(np.multiply(np.reshape(weight, (-1, 1)), log_p)).sum(axis=0) + penalty(coef).sum(axis=1)


PENALTIES = {
    "laplace": (0.7, lambda w: np.abs(w) / 0.7),
    "gaussian": (1.5, lambda w: 0.5 * w**2 / 1.5**2),
}


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("prior", PENALTIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_optimum_is_that_of_all_documents(executors, data, link, prior, weighted):
    X, Y, weight = data
    given = weight if weighted else None
    scale, penalty = PENALTIES[prior]
    settings = {"link": link, "prior": prior, "scale": scale}
    exact = BayesLinearClassifier(**settings, tol=1e-9, max_iter=500).fit(X, Y, sample_weight=given)
    found = fit_in_parts(executors("serial"), parts_of(X, Y, given), BayesLinearClassifier(**settings), SPACE, 60)
    best, reached = (
        objective(X, Y, one.coef_, one.intercept_, link, penalty, 1.0 if given is None else given)
        for one in (exact, found)
    )
    np.testing.assert_allclose(reached, best, rtol=1e-5)
    np.testing.assert_allclose(found.fit_info_.objective, reached, rtol=1e-9)
    assert found.fit_info_.converged.all()
    if prior == "laplace":  # sparse, and with the same words
        strong = np.abs(exact.coef_) > 0.05
        assert (found.coef_[strong] != 0.0).all()
        assert (found.coef_[exact.coef_ == 0.0] == 0.0).mean() > 0.9


def test_prior_means_scales_by_word_and_a_prior_of_the_intercept_are_kept_to(executors, data):
    X, Y, _ = data
    rng = np.random.default_rng(0)
    settings = {
        "prior": "gaussian", "scale": rng.uniform(0.5, 2.0, (3, 60)), "mean": rng.normal(size=60),
        "intercept_scale": 0.3, "intercept_mean": 1.0,
    }  # fmt: skip
    exact = BayesLinearClassifier(**settings, tol=1e-10, max_iter=500).fit(X, Y)
    found = fit_in_parts(executors("serial"), parts_of(X, Y), BayesLinearClassifier(**settings), SPACE, 60)
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=5e-3)
    np.testing.assert_allclose(found.intercept_, exact.intercept_, atol=5e-3)


def test_a_model_without_an_intercept_has_none(executors, data):
    X, Y, _ = data
    one = BayesLinearClassifier(prior="gaussian", fit_intercept=False)
    found = fit_in_parts(executors("serial"), parts_of(X, Y), one, SPACE, 60)
    exact = BayesLinearClassifier(prior="gaussian", fit_intercept=False, tol=1e-9).fit(X, Y)
    assert not found.intercept_.any()
    np.testing.assert_allclose(found.coef_, exact.coef_, atol=5e-3)


def test_a_label_that_all_documents_or_none_have_keeps_its_words_at_their_means(executors, data):
    X, Y, _ = data
    Y = Y.copy()
    Y[:, 0], Y[:, 1] = True, False
    found = fit_in_parts(executors("serial"), parts_of(X, Y), BayesLinearClassifier(), SPACE, 60)
    exact = BayesLinearClassifier().fit(X, sparse.csr_matrix(Y))
    assert not found.coef_[:2].any()
    np.testing.assert_allclose(found.intercept_[:2], exact.intercept_[:2], rtol=1e-6)
    # Half a document on either side: 300.5 against 0.5.
    np.testing.assert_allclose(found.intercept_[:2], np.log([300.5 / 0.5, 0.5 / 300.5]), rtol=1e-5)


def test_partitions_and_executors_do_not_matter(cluster, executors, data):
    X, Y, _ = data
    one = BayesLinearClassifier(prior="gaussian", scale=0.7)
    here = fit_in_parts(executors("serial"), parts_of(X, Y), one, SPACE, 60)
    there = fit_in_parts(cluster, parts_of(X, Y), one, SPACE, 60)
    np.testing.assert_array_equal(there.coef_, here.coef_)
    other = fit_in_parts(executors("serial"), parts_of(X, Y, ends=(0, 100, 100, 299)), one, SPACE, 60)  # two are empty
    np.testing.assert_allclose(other.fit_info_.objective, here.fit_info_.objective, rtol=1e-6)


def test_a_start_near_the_optimum_takes_fewer_iterations(executors, data):
    X, Y, _ = data
    one, parts = BayesLinearClassifier(prior="gaussian"), parts_of(X, Y)
    cold = fit_in_parts(executors("serial"), parts, one, SPACE, 60)
    warm = fit_in_parts(executors("serial"), parts_of(X[:280], Y[:280]), one, SPACE, 60, start=cold)
    alone = fit_in_parts(executors("serial"), parts_of(X[:280], Y[:280]), one, SPACE, 60)
    np.testing.assert_allclose(warm.fit_info_.objective, alone.fit_info_.objective, rtol=1e-5)
    assert warm.fit_info_.n_iter.sum() < alone.fit_info_.n_iter.sum()


def test_a_worker_killed_midway_changes_nothing(cluster, data):
    X, Y, _ = data
    whole = parts_of(X, Y)
    one = BayesLinearClassifier(prior="gaussian", scale=0.7)

    def read(number):  # as a partition is read: by the worker, whenever it is needed
        return whole[number]

    parts = cluster.keep(read, range(3))
    undisturbed = fit_in_parts(cluster, parts, one, SPACE, 60)
    victim = max(cluster.map(lambda _: os.getpid(), range(20)))
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killer.start()
    disturbed = fit_in_parts(cluster, parts, one, SPACE, 60)
    killer.join()
    assert victim not in set(cluster.map(lambda _: os.getpid(), range(20)))
    np.testing.assert_array_equal(disturbed.coef_, undisturbed.coef_)
    np.testing.assert_array_equal(disturbed.intercept_, undisturbed.intercept_)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"prior": "horseshoe"}, "no single optimum"),
        ({"link": "student_t:df=4"}, "no single optimum"),
        ({"sign": 1}, "asks for signs"),
        ({"inference": "gibbs"}, "needs all documents in each chain"),
        ({"intervals": True}, "intervals needs all documents in one place"),
        ({"word_scales": "ratio"}, "word_scales needs all documents"),
    ],
)
def test_what_gradients_do_not_tell_is_refused(executors, data, settings, said):
    X, Y, _ = data
    with pytest.raises(NotSupportedError, match=said):
        fit_in_parts(executors("serial"), parts_of(X, Y), BayesLinearClassifier(**settings), SPACE, 60)


@pytest.mark.parametrize("kink", [True, False])
def test_quadratics_are_minimised(kink):
    """Where H is diagonal, the minimum of ½ (u − a)'H(u − a) + l1 |u| + ½ l2 u² is known for each coordinate."""
    rng = np.random.default_rng(1)
    a, h, l1, l2 = rng.normal(size=(4, 2, 300))
    h, l1, l2 = np.exp(2.0 * h), np.abs(l1) * kink, np.exp(l2)
    l1[:, -1] = 0.0  # the intercept's

    def evaluate(labels, points):
        away = points - a[labels]
        return 0.5 * (h[labels] * away**2).sum(axis=1), h[labels] * away

    def second(labels, points, columns):
        return [np.diag(h[label][own]) for label, own in zip(labels, columns, strict=True)]

    search = ProximalNewton if kink else Lbfgs
    found = minimise(
        [search(np.ones(300), l1[k], l2[k], np.ones(300), 1e-16, 1000) for k in range(2)], evaluate, second
    )
    expected = np.sign(a) * np.maximum(h * np.abs(a) - l1, 0.0) / (h + l2)
    np.testing.assert_allclose(found.point, expected, atol=1e-5)
    assert ((found.point == 0.0) == (expected == 0.0)).all()
    assert found.converged.all()


def test_steps_are_taken_on_one_thread_of_the_linear_algebra_library():
    """Several threads of it spend most of their time waiting for each other: 61 s of CPU instead of 8 were seen."""

    def threads():
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    seen = set()

    def evaluate(labels, points):
        seen.update(threads())
        return 0.5 * (points**2).sum(axis=1), points

    with threadpool_limits(2, "blas"):
        minimise([Lbfgs(np.ones(3), np.zeros(3), np.ones(3), np.ones(3), 1e-9, 10)], evaluate, None)
        assert threads() == {2}
    assert seen == {1}


def test_a_working_set_that_is_too_small_is_worked_off_in_turns(monkeypatch, executors, data):
    monkeypatch.setattr("textbayes.scale.linear._MOST", 10)
    X, Y, _ = data
    found = fit_in_parts(executors("serial"), parts_of(X, Y), BayesLinearClassifier(scale=0.7), SPACE, 60)
    exact = BayesLinearClassifier(scale=0.7, tol=1e-9, max_iter=500).fit(X, Y)
    np.testing.assert_allclose(found.fit_info_.objective, exact.fit_info_.objective, rtol=1e-5)
