"""The methods of others: each as a plain computation, or scikit-learn asked another way, gives it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from textbayes.reproduce.sparse import systems
from textbayes.reproduce.sparse.systems import CountCollection


@pytest.fixture(scope="module")
def collection() -> CountCollection:
    rng = np.random.default_rng(3)
    Y = rng.random((400, 3)) < (0.5, 0.3, 0.2)
    counts = sparse.csr_matrix(rng.poisson(0.2 + 1.2 * (Y @ (rng.random((3, 40)) < 0.15))))
    return CountCollection(counts[:250], counts[250:], Y[:250], Y[250:], ("a", "b", "c"))


@pytest.fixture(scope="module")
def unit_length(collection):
    made = systems.Rankings(collection)
    return made._train, made._test


def test_naive_bayes_reads_the_presence_of_words(collection):
    found = systems.Decisions(collection, n_words=40).outcome("naive Bayes").f1(None)
    present = [X.toarray() > 0 for X in (collection.train, collection.test)]
    for topic, y in enumerate(collection.Y_train.T):
        decided = MultinomialNB().fit(present[0], y).predict(present[1])
        assert found[topic] == pytest.approx(100.0 * f1_score(collection.Y_test[:, topic], decided))


@pytest.mark.parametrize("method", ["naive Bayes", "logistic regression", "SVM"])
def test_words_that_tell_nothing_are_left_out(collection, method):
    """Ten copies of a word that every document has change no decision: they are not among the 40."""
    padded = [sparse.hstack([X, np.ones((X.shape[0], 10))]).tocsr() for X in collection[:2]]
    alone = systems.Decisions(collection, n_words=40).outcome(method)
    beside = systems.Decisions(CountCollection(*padded, *collection[2:]), n_words=40).outcome(method)
    np.testing.assert_array_equal(alone.decisions, beside.decisions)


def test_neighbours_are_those_of_scikit_learn(collection, unit_length):
    train, test = unit_length
    found = systems.nearest_neighbours(train, collection.Y_train, test, k=7)
    peer = KNeighborsClassifier(7, weights=lambda far: 1.0 - far, metric="cosine").fit(train, collection.Y_train)
    for topic, proba in enumerate(peer.predict_proba(test)):
        np.testing.assert_allclose(found[:, topic], proba[:, 1], atol=1e-12)


def test_fewer_documents_than_neighbours(collection, unit_length):
    train, test = unit_length
    found = systems.nearest_neighbours(train[:5], collection.Y_train[:5], test[:2])
    similar = (test[:2] @ train[:5].T).toarray()
    np.testing.assert_allclose(found, similar @ collection.Y_train[:5] / similar.sum(axis=1, keepdims=True))


def test_rocchio_is_a_cosine_to_a_prototype(collection, unit_length):
    train, test = (X.toarray() for X in unit_length)
    found = systems.rocchio(*(sparse.csr_matrix(train), collection.Y_train, sparse.csr_matrix(test)))
    for topic, y in enumerate(collection.Y_train.T):
        prototype = np.maximum(16.0 * train[y].mean(axis=0) - 4.0 * train[~y].mean(axis=0), 0.0)
        np.testing.assert_allclose(found[:, topic], test @ prototype / np.linalg.norm(prototype))


@pytest.mark.parametrize("method", ["SVM", "kNN", "Rocchio"])
def test_rankings_are_cut_without_the_test_documents(collection, method):
    """Other answers for the test documents change what is measured, not what is decided."""
    found = systems.Rankings(collection).outcome(method)
    other = systems.Rankings(collection._replace(Y_test=~collection.Y_test)).outcome(method)
    assert found.f1("micro") > 60.0
    np.testing.assert_array_equal(found.decisions.tp + found.decisions.fp, other.decisions.tp + other.decisions.fp)


@pytest.mark.parametrize("method", ["SVM", "kNN", "Rocchio"])
def test_documents_that_are_all_alike(method):
    """Similarities of documents with the same words are 1 up to rounding, on either side."""
    alike = sparse.csr_matrix(np.tile(np.arange(1, 8), (200, 1)))
    Y = np.ones((200, 1), dtype=bool)
    Y[::3] = False
    collection = CountCollection(alike[:100], alike[100:], Y[:100], Y[100:], ("a",))
    assert systems.Rankings(collection).outcome(method).f1("micro") > 50.0, "two thirds have the topic"


def test_thresholds_of_topics_that_are_not_found():
    """The first topic is told apart above 0.5; of the second 1 of 30 is found: by no score that was seen."""
    scores = np.column_stack([np.linspace(0.0, 0.9, 30), np.linspace(0.9, 0.0, 30)])
    Y = np.column_stack([np.arange(30) >= 20, np.arange(30) == 29])
    new = np.array([[0.2, 0.0], [0.8, 0.9], [0.8, 0.95]])
    assert systems.scut_fbr(scores, Y, new).tolist() == [[False, False], [True, False], [True, True]]


def test_a_topic_without_an_answer_of_both_kinds_has_no_svm(unit_length):
    train, test = unit_length
    none = np.zeros((train.shape[0], 1), dtype=bool)
    np.testing.assert_array_equal(systems.svm(train, none, test), np.zeros((test.shape[0], 1)))
