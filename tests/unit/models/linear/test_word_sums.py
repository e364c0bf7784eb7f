"""Naive Bayes as members of the automatic pool, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import ComplementNB, MultinomialNB

from textbayes.models.linear.word_sums import NaiveBayesWeights


def documents(n_classes: int) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(n_classes, size=80)
    X = sparse.csr_matrix(rng.random((80, 30)) * rng.poisson(0.3 + 0.3 * (np.arange(30) % n_classes == truth[:, None])))
    return X, truth, rng.uniform(0.5, 2.0, size=80)


@pytest.mark.parametrize("weighted", [False, True])
def test_each_label_is_held_against_all_texts_without_it(weighted):
    X, truth, weight = documents(3)
    fitted = NaiveBayesWeights().fit(X, truth[:, None] == np.arange(3), weight if weighted else None)
    for k, scores in enumerate((X @ fitted.coef_.T).T):
        peer = MultinomialNB(alpha=0.1, fit_prior=False).fit(X, truth == k, sample_weight=weight if weighted else None)
        np.testing.assert_allclose(scores, np.diff(peer.predict_joint_log_proba(X), axis=1)[:, 0], atol=1e-10)


def test_of_two_classes_the_second_is_scored():
    X, truth, _ = documents(2)
    fitted = NaiveBayesWeights().fit(X, truth[:, None] == 1)
    peer = MultinomialNB(alpha=0.1, fit_prior=False).fit(X, truth)
    np.testing.assert_allclose((X @ fitted.coef_.T)[:, 0], np.diff(peer.predict_joint_log_proba(X), axis=1)[:, 0])


def test_a_word_of_every_text_of_a_label_and_of_no_other_has_a_finite_weight():
    X = sparse.csr_matrix(np.eye(2))
    fitted = NaiveBayesWeights().fit(X, np.array([[False], [True]]))
    np.testing.assert_allclose(fitted.coef_, [[np.log(0.1 / 1.1), np.log(1.1 / 0.1)]])


def test_complement_ranks_classes_as_its_peer_does():
    X, truth, _ = documents(4)
    fitted = NaiveBayesWeights(complement=True).fit(X, truth[:, None] == np.arange(4))
    peer = ComplementNB(alpha=0.1).fit(X, truth).predict_joint_log_proba(X)
    scores = X @ fitted.coef_.T
    np.testing.assert_allclose(scores - scores[:, :1], peer - peer[:, :1], atol=1e-10)
