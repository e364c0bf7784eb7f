"""Collection and systems of the online paper against plain computations of what it describes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from scipy.stats import chi2_contingency, norm
from sklearn.metrics import f1_score
from sklearn.svm import SVC

from references.gaussian_process import ReferenceGP
from references.online import learn_document
from textbayes.data import Corpus
from textbayes.models.online import PAPER_PROBIT
from textbayes.reproduce.experiment import TextRules
from textbayes.reproduce.online import systems
from textbayes.reproduce.online.systems import (
    LIKELIHOODS,
    PASSES,
    TOLERANCE,
    OnlineReading,
    OnlineSystem,
    TopicCollection,
    TopicProbabilities,
    TopicSystems,
    svm_light_cost,
    system_named,
)

_KERNELS = {
    "1": lambda A, B: A @ B.T + 1.0,
    "2": lambda A, B: (A @ B.T + 1.0) ** 2,
    "R1": lambda A, B: np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2)),
}


def make_collection(n_docs: int = 120, n_words: int = 12, n_topics: int = 3, seed: int = 0) -> TopicCollection:
    """Each topic has words of its own that are likely in its documents; rows have length one."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n_docs, n_topics)) < np.linspace(0.5, 0.15, n_topics)
    own = rng.random((n_topics, n_words)) < 0.3
    X = (rng.random((n_docs, n_words)) < 0.15 + 0.6 * (Y @ own > 0)) * rng.uniform(1.0, 3.0, (n_docs, n_words))
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    words = tuple(np.sort(rng.permutation(n_words)[: n_words - 2 * t]) for t in range(n_topics))
    half, rows = n_docs // 2, sparse.csr_matrix(X)
    return TopicCollection(rows[:half], rows[half:], Y[:half], Y[half:], words, np.arange(n_words - 1))


@pytest.fixture(scope="module")
def topics() -> TopicSystems:
    return TopicSystems(make_collection())


@pytest.fixture
def corpus() -> Corpus:
    rng = np.random.default_rng(1)
    vocabulary = ["barrel", "bushel", "cargo", "dollar", "export", "forecast"]
    labels = [(("oil",), ("grain",), ())[i % 3] for i in range(60)]
    share = {"oil": (9, 0, 1, 1, 1, 3), "grain": (0, 9, 1, 1, 1, 0)}
    texts = []
    for row in labels:
        weight = np.array(share[row[0]] if row else np.ones(6))
        texts.append(" ".join(rng.choice(vocabulary, size=5, p=weight / weight.sum())) + " and the")
    texts[0] += " unique"
    split = ["train" if i < 45 else "test" for i in range(60)]
    return Corpus("reuters21578", [str(i) for i in range(60)], labels, texts, ("grain", "oil"), split)


def test_words_weights_and_topics(corpus):
    found = systems.collection(corpus, OnlineReading())
    texts = [[word for word in text.split() if word not in ("and", "the")] for text in corpus.texts]
    vocabulary = sorted({word for text in texts for word in text})
    counts = np.array([[text.count(word) for word in vocabulary] for text in texts])
    train = counts[:45]
    # ltc as printed in § 2.2; the frequencies are those of the training documents.
    n_with = (train > 0).sum(axis=0)
    weight = np.where(counts > 0, (1.0 + np.log2(np.maximum(counts, 1))) * np.log2(45 / n_with), 0.0)
    weight = weight / np.linalg.norm(weight, axis=1, keepdims=True)
    np.testing.assert_allclose(found.train.toarray(), weight[:45], atol=1e-12)
    np.testing.assert_allclose(found.test.toarray(), weight[45:], atol=1e-12)
    y = np.array([[name in row for name in ("grain", "oil")] for row in corpus.labels])
    np.testing.assert_array_equal(np.vstack([found.Y_train, found.Y_test]), y)
    # G² of the 2 × 2 table, by another library
    for topic in range(2):
        ratio = [
            chi2_contingency(
                [[np.sum((column > 0) & (y[:45, topic] == side)), np.sum((column == 0) & (y[:45, topic] == side))]
                 for side in (True, False)],
                correction=False, lambda_="log-likelihood",
            )[0]
            for column in train.T
        ]  # fmt: skip
        assert found.words[topic].tolist() == np.flatnonzero(np.array(ratio) > 12.13).tolist()
        assert len(found.words[topic]), "a topic of this corpus has such words"
    assert found.common.tolist() == np.flatnonzero(n_with >= 3).tolist()
    assert len(found.common) == len(vocabulary) - 1, "one word is in a single document"


def test_stories_without_topics_stay_unless_told(monkeypatch, corpus):
    asked = []

    def load(name, **options):
        asked.append((name, options["topics"], options["unlabelled"]))
        return corpus

    monkeypatch.setattr(systems, "load_corpus", load)
    systems.r90()
    systems.r90(OnlineReading(labelled_only=True))
    assert asked == [("reuters21578", "r90", "keep"), ("reuters21578", "r90", "drop")]


def test_other_readings_of_the_text(corpus):
    texts = [f"Headline{i % 2}\n{text} the 1987" for i, text in enumerate(corpus.texts[:-1])] + ["Alone"]
    corpus = replace(corpus, texts=texts)
    n_words = systems.collection(corpus, OnlineReading()).train.shape[1]
    assert n_words == 6 + 1 + 2 + 1, "the words, a unique one, two headlines and a year"
    assert (
        systems.collection(corpus, OnlineReading(TextRules(stemmer="porter", headline=False))).train.shape[1]
        == n_words - 2
    )
    assert (
        systems.collection(corpus, OnlineReading(TextRules(stemmer="porter", pattern="[a-zA-Z]+"))).train.shape[1]
        == n_words - 1 - 1
    ), "headlines are one"
    assert (
        systems.collection(corpus, OnlineReading(TextRules(stemmer="porter", stop_words=None))).train.shape[1]
        == n_words + 2
    )


@pytest.mark.parametrize("name", list(LIKELIHOODS))
def test_the_perceptron_after_each_pass(topics, name):
    collection, likelihood = topics.collection, LIKELIHOODS[name]
    outcomes = topics.outcome(OnlineSystem(name, 3))[::2]
    for topic, words in enumerate(collection.words):
        train, test = (
            np.hstack([X.toarray()[:, words], np.ones((X.shape[0], 1))]) for X in (collection.train, collection.test)
        )
        mean, cov = np.zeros(len(words) + 1), np.eye(len(words) + 1)
        for number in (1, 2, 3):
            for x, y in zip(train, collection.Y_train[:, topic], strict=True):
                mean, cov, _ = learn_document(mean, cov, x, 1.0 if y else -1.0, likelihood)
            if number == 2:
                continue
            for X, found in ((train, outcomes[number // 3].train), (test, outcomes[number // 3].test)):
                proba = likelihood.predictive(X @ mean, np.einsum("ij,jk,ik->i", X, cov, X))
                np.testing.assert_allclose(found[:, topic], proba, atol=1e-7)


def test_the_likelihoods_are_those_of_table_6():
    mean, var = np.array([-1.3, 0.4]), np.array([0.7, 2.0])
    np.testing.assert_allclose(LIKELIHOODS["Probit"].predictive(mean, var), norm.cdf(mean / np.sqrt(0.25 + var)))
    np.testing.assert_allclose(LIKELIHOODS["Logit"].predictive(mean, var), norm.cdf(mean / np.sqrt(1.6474**2 + var)))
    np.testing.assert_allclose(LIKELIHOODS["Flip"].predictive(mean, var), 0.1 + 0.8 * norm.cdf(mean / np.sqrt(var)))


@pytest.mark.parametrize("name", ["1", "2", "R1"])
def test_gaussian_processes(topics, name):
    collection = topics.collection
    (outcome,) = topics.outcome(OnlineSystem(f"GP-{name}"))
    for topic, words in enumerate(collection.words):
        process = ReferenceGP.start(_KERNELS[name], len(words), len(words), TOLERANCE, 1e-4)
        train, test = collection.train.toarray()[:, words], collection.test.toarray()[:, words]
        for _ in range(PASSES):
            for i, x in enumerate(train):
                process.learn(x, 1.0 if collection.Y_train[i, topic] else -1.0, i, PAPER_PROBIT)
        assert len(process.numbers) <= len(words)
        proba = [PAPER_PROBIT.predictive(*map(np.array, process.predict(x)[:2])) for x in test]
        np.testing.assert_allclose(outcome.test[:, topic], proba, atol=1e-6)


@pytest.mark.parametrize("name", ["1", "2", "R1"])
def test_support_vector_machines(topics, name):
    collection = topics.collection
    for kind in ("SVMa", "SVMb"):
        (outcome,) = topics.outcome(OnlineSystem(f"{kind}-{name}"))
        assert outcome.is_svm
        for topic, own in enumerate(collection.words):
            words = collection.common if kind == "SVMa" else own
            train, test = collection.train.toarray()[:, words], collection.test.toarray()[:, words]
            nothing = np.zeros((1, len(words)))
            squares = [_KERNELS[name](x[None], x[None]) - 2 * _KERNELS[name](x[None], nothing) for x in train]
            length = np.mean(np.sqrt(np.array(squares) + _KERNELS[name](nothing, nothing)))
            assert svm_light_cost(collection.train[:, words], name) == pytest.approx(length**-2)
            machine = SVC(kernel="precomputed", C=length**-2)
            machine.fit(_KERNELS[name](train, train), collection.Y_train[:, topic])
            wanted = machine.decision_function(_KERNELS[name](test, train))
            np.testing.assert_allclose(logit(outcome.test[:, topic]), wanted, atol=5e-3)  # libsvm stops at 1e-3


def outcome_of(train, test, Y_train, Y_test, is_svm=False) -> TopicProbabilities:
    empty = sparse.csr_matrix((len(Y_train), 1))
    return TopicProbabilities(TopicCollection(empty, empty, Y_train, Y_test, (), np.arange(0)), train, test, is_svm)


@pytest.mark.parametrize("is_svm", [False, True])
def test_maxf1_thresholds_lie_half_way_on_the_scale_of_the_system(is_svm):
    train, Y = np.array([[-2.0], [-1.0], [1.0], [3.0]]), np.array([[False], [False], [True], [True]])
    middle = 0.0 if is_svm else float(logit((expit(-1.0) + expit(1.0)) / 2))
    test = np.array([[middle - 1e-6], [middle + 1e-6]])
    outcome = outcome_of(expit(train), expit(test), Y, np.array([[False], [True]]), is_svm)
    assert outcome.decide("MaxF1").ravel().tolist() == [False, True]
    assert outcome.f1("MaxF1") == (100.0, 100.0)


@pytest.mark.parametrize("is_svm", [False, True])
def test_thresholds_at_both_ends_decide_the_training_documents_alike(is_svm):
    rng = np.random.default_rng(4)
    Y = rng.random((60, 3)) < 0.3
    train = np.clip(0.3 * Y + 0.7 * rng.random(Y.shape), 0.01, 0.99)
    outcome = outcome_of(train, train, Y, Y, is_svm)
    assert outcome.f1_at_ends() == (outcome.f1("MaxF1"), outcome.f1("MaxF1"))
    for decided in outcome.at_places():
        np.testing.assert_array_equal(decided, outcome.decide("MaxF1"))
    # A test document in the gap is taken by the end below only.
    gap, y = np.array([[0.1], [0.2], [0.8], [0.9]]), np.array([[False], [False], [True], [True]])
    below, above = outcome_of(gap, np.array([[0.21], [0.79], [0.8]]), y, np.array([[True]] * 3), is_svm).f1_at_ends()
    assert below == (100.0, 100.0)
    assert above == pytest.approx((50.0, 50.0)), "one of three"


def test_decisions_averages_and_evidence():
    rng = np.random.default_rng(2)
    Y_train, Y_test = rng.random((2, 80, 4)) < 0.3
    train, test = (np.clip(0.4 * Y + 0.6 * rng.random(Y.shape), 0.01, 0.99) for Y in (Y_train, Y_test))
    outcome = outcome_of(train, test, Y_train, Y_test)
    np.testing.assert_array_equal(outcome.decide("0.5"), test > 0.5)
    for j in range(4):  # the printed two-case form, for every number of documents
        ranked = np.sort(test[:, j])[::-1]
        expected = [np.prod(1.0 - ranked), *(2 * ranked[:k].sum() / (k + ranked.sum()) for k in range(1, 81))]
        assert outcome.decide("ExpectedF1")[:, j].sum() == int(np.argmax(expected))
        cuts = [f1_score(Y_train[:, j], train[:, j] > cut, zero_division=0) for cut in train[:, j]]
        decided = outcome_of(train, train, Y_train, Y_train).decide("MaxF1")
        assert f1_score(Y_train[:, j], decided[:, j]) >= max(cuts) - 1e-12
    micro, macro = (f1_score(Y_test, test > 0.5, average=how) for how in ("micro", "macro"))
    assert outcome.f1("0.5") == pytest.approx((100 * micro, 100 * macro))
    per_topic = [np.sum(np.log(np.where(Y, p, 1.0 - p)), axis=0) for Y, p in ((Y_train, train), (Y_test, test))]
    assert outcome.train_evidence == pytest.approx(per_topic[0].mean())
    assert outcome.test_evidence == pytest.approx(per_topic[1].mean())


def test_the_perceptron_of_table_2_is_that_of_the_probit_likelihood():
    assert system_named("Perceptron") == OnlineSystem("Probit", PASSES)
    assert system_named("GP-1") == OnlineSystem("GP-1", PASSES)
    topics = TopicSystems(make_collection(n_docs=40))
    three, five = (topics.outcome(OnlineSystem("Probit", passes)) for passes in (3, 5))
    assert (len(three), len(five)) == (3, 5)
    for after, again in zip(three, five, strict=False):
        np.testing.assert_array_equal(after.test, again.test)
