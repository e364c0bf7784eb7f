"""What every registered count model must do: statistics that add up exactly, scores that are finite, classes alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.models.counts import BayesCountClassifier, count_models, make_count_model
from textbayes.models.counts.base import CountSums
from textbayes.models.counts.hierarchy import Sampling
from textbayes.models.counts.text_model import restore_classifier, state_of_classifier

NAMES = count_models.names()
VARIANTS = [(name, {}) for name in NAMES] + [
    ("multinomial", {"weighting": "tfidf", "length_correction": True}),
    ("bernoulli", {"length_correction": True}),
    ("bernoulli", {"weighting": "tfidf"}),
    ("negative_binomial", {"method": "likelihood"}),
    ("negative_binomial", {"method": "likelihood", "shared": False}),
    ("dirichlet_poisson", {"beta": "evidence"}),
    ("dirichlet_poisson", {"basis": "ratio"}),
    ("dirichlet_poisson", {"sampling": Sampling(n_draws=20, thin=1, warmup=30, integrate=True)}),
    ("dirichlet_negative_binomial", {"beta": (3.0, 2.0, 5.0, 1.0, 2.0), "basis": "ratio"}),
    ("dirichlet_negative_binomial", {"sampling": Sampling(n_draws=20, thin=1, warmup=30, integrate=True)}),
]
IDS = [name + "".join(f"-{key}" for key in settings) for name, settings in VARIANTS]
each_variant = pytest.mark.parametrize(("name", "settings"), VARIANTS, ids=IDS)


def documents(n_docs=40, n_words=12, n_classes=3, seed=0, fractions=False):
    rng = np.random.default_rng(seed)
    omega = rng.uniform(0.1, 3.0, n_docs)
    code = rng.integers(0, n_classes, n_docs)
    rates = rng.gamma(0.6, 3.0, (n_classes, n_words))
    counts = rng.poisson(omega[:, None] * rates[code] * rng.gamma(2.0, 0.5, (n_docs, n_words))).astype(float)
    counts[:, -1] = 0.0  # a word that no document has
    counts[code == 0, -2] = 0.0  # one that a class never has
    Y = np.eye(n_classes)[code]
    if fractions:
        counts, Y = counts * rng.uniform(0.3, 1.0, counts.shape), Y * rng.uniform(0.1, 2.0, (n_docs, 1))
    return sparse.csr_matrix(counts), Y, omega


def same(first, second):
    pairs = zip(first, second, strict=True)
    return all(
        (abs(a - b)).nnz == 0 and a.shape == b.shape if sparse.issparse(a) else np.array_equal(a, b) for a, b in pairs
    )


@pytest.mark.parametrize("fractions", [False, True], ids=["counts", "fractions"])
@each_variant
def test_statistics_are_a_monoid_to_the_bit(name, settings, fractions):
    model = make_count_model(name, **settings)
    X, Y, omega = documents(fractions=fractions)
    first, second, third = (
        model.statistics(X[rows], Y[rows], omega[rows]) for rows in (slice(0, 13), slice(13, 20), slice(20, 40))
    )
    whole = model.statistics(X, Y, omega)
    left = model.combine(model.combine(first, second), third)
    assert same(left, model.combine(first, model.combine(second, third)))
    assert same(left, whole)
    empty = model.empty(3, X.shape[1])
    assert same(model.combine(empty, whole), whole)
    assert same(model.combine(whole, empty), whole)
    assert same(model.combine(first, model.statistics(X[13:], Y[13:], omega[13:])), whole)
    if isinstance(whole, CountSums):  # sums do not know the order either
        assert same(model.combine(third, model.combine(second, first)), whole)


@each_variant
def test_scores_are_finite_for_unseen_words_and_empty_documents(name, settings):
    model = make_count_model(name, **settings)
    X, Y, omega = documents()
    estimate = model.estimate(model.statistics(X, Y, omega))
    odd = sparse.csr_matrix(np.vstack([np.zeros(12), np.eye(12)[-1], np.eye(12)[-2] * 30.0, np.full(12, 200.0)]))
    scores = model.class_scores(odd, np.array([1.0, 0.5, 2.0, 3.0]), estimate)
    assert scores.shape == (4, 3)
    assert np.isfinite(scores).all()


@each_variant
def test_a_word_that_no_document_has_tells_little(name, settings):
    """It may tell the amounts of text apart, but less than one occurrence more or less would."""
    model = make_count_model(name, **settings)
    X, Y, omega = documents()
    estimate = model.estimate(model.statistics(X, Y, omega))
    base = sparse.csr_matrix(np.zeros((1, 12)))
    more = sparse.csr_matrix(np.eye(12)[-1:])
    told = model.class_scores(more, np.ones(1), estimate) - model.class_scores(base, np.ones(1), estimate)
    weight = np.log(41.0) if settings.get("weighting") == "tfidf" else 1.0  # which the rarest words have most of
    assert np.ptp(told) < 1.2 * weight


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_classes_does_not_matter(name):
    model = make_count_model(name)
    X, Y, omega = documents()
    order = np.array([2, 0, 1])
    plain = model.class_scores(X, omega, model.estimate(model.statistics(X, Y, omega)))
    turned = model.class_scores(X, omega, model.estimate(model.statistics(X, Y[:, order], omega)))
    np.testing.assert_allclose(turned, plain[:, order], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_documents_with_weight_two_are_documents_learnt_twice(name):
    model = make_count_model(name)
    X, Y, omega = documents()
    twice = np.repeat(np.arange(40), 1 + np.arange(40) % 2)
    weighted = model.estimate(model.statistics(X, Y * (1.0 + np.arange(40) % 2)[:, None], omega))
    repeated = model.estimate(model.statistics(X[twice], Y[twice], omega[twice]))
    for one, other in zip(weighted, repeated, strict=True):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-6)


@each_variant
def test_an_empty_text_says_nothing_of_words(name, settings):
    """One empty text among others is learnt for its class alone, and told by the shares of the classes alone."""
    X, Y, omega = documents()
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    model = make_count_model(name, **settings)
    without = BayesCountClassifier(model).fit(X, y, lengths=omega)
    empty = sparse.csr_matrix((1, X.shape[1]))
    all_texts, lengths = sparse.vstack([X, empty]).tocsr(), np.append(omega, 0.0)
    classifier = BayesCountClassifier(model).fit(all_texts, np.append(y, "a"), lengths=lengths)
    for one, other in zip(classifier.estimate_, without.estimate_, strict=True):
        np.testing.assert_array_equal(one, other)
    shares = np.array([(np.append(y, "a") == c).mean() for c in "abc"])
    np.testing.assert_allclose(np.exp(classifier.class_log_prior_), shares)
    np.testing.assert_allclose(classifier.predict_proba(empty, [0.0])[0], shares)


@each_variant
def test_decision_function_ranks_as_the_probabilities_do(name, settings):
    X, Y, omega = documents()
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    classifier = BayesCountClassifier(make_count_model(name, **settings)).fit(X, y, lengths=omega)
    scores = classifier.decision_function(X, omega)
    np.testing.assert_allclose(np.exp(scores), classifier.predict_proba(X, omega), rtol=1e-9)
    two = classifier.fit(X[y != "c"], y[y != "c"], lengths=omega[y != "c"])
    p = two.predict_proba(X, omega)
    np.testing.assert_allclose(two.decision_function(X, omega), np.log(p[:, 1]) - np.log(p[:, 0]), rtol=1e-6, atol=1e-9)


@each_variant
def test_a_stored_classifier_predicts_and_learns_on_identically(name, settings):
    X, Y, omega = documents()
    y = np.array(["a", "b", "c"])[Y.argmax(axis=1)]
    classifier = BayesCountClassifier(make_count_model(name, **settings)).fit(X[:30], y[:30], lengths=omega[:30])
    meta, arrays = state_of_classifier(classifier, statistics=True)
    restored = restore_classifier(BayesCountClassifier, meta, arrays)
    np.testing.assert_array_equal(restored.predict_proba(X, omega), classifier.predict_proba(X, omega))
    for one in (classifier, restored):
        one.partial_fit(X[30:], y[30:], lengths=omega[30:])
    np.testing.assert_array_equal(restored.predict_proba(X, omega), classifier.predict_proba(X, omega))
    other = BayesCountClassifier(make_count_model(name, **settings)).fit(X, y, lengths=omega)
    np.testing.assert_array_equal(other.predict_proba(X, omega), classifier.predict_proba(X, omega))
