"""Reuters-21578 as the paper has it, and the systems of its Table 1, trained on every topic of ModApte's 90."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.svm import SVC

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.data import Corpus, load_corpus
from textbayes.decide import ExpectedF1, MaxF1
from textbayes.evaluate import average_log_evidence, contingency, f_measure
from textbayes.models.online import (
    PAPER_FLIP,
    PAPER_LOGIT,
    PAPER_PROBIT,
    RBF,
    FullPosterior,
    GaussianProcess,
    OnlineLikelihood,
    OnlinePosterior,
    Polynomial,
)
from textbayes.models.online.gp import KernelFunction
from textbayes.reproduce.experiment import Systems, TextRules
from textbayes.select import scores
from textbayes.select.selectors import select_per_label
from textbayes.text import TermWeighting

SVMS = ("SVMa-1", "SVMa-2", "SVMa-R1", "SVMb-1", "SVMb-2", "SVMb-R1")
BAYESIAN = ("Perceptron", "GP-1", "GP-2", "GP-R1")
SYSTEMS = (*SVMS, *BAYESIAN)
RULES = ("0.5", "MaxF1", "ExpectedF1")
LEAST_RATIO, MOST_WORDS = 12.13, 300
_COMMON = 3  # documents that have a word of SVMa


class TopicCollection(NamedTuple):
    """Weights (n_docs, n_words) and topics (n_docs, n_topics) of training and test documents.

    ``words`` are the columns of each topic's own words, ``common`` those that SVMa sees for every topic.
    """

    train: Any
    test: Any
    Y_train: BoolArray
    Y_test: BoolArray
    words: tuple[IntArray, ...]
    common: IntArray

    def of_topics(self, topics: IntArray) -> TopicCollection:
        """The same documents with these topics alone."""
        return self._replace(
            Y_train=self.Y_train[:, topics],
            Y_test=self.Y_test[:, topics],
            words=tuple(self.words[topic] for topic in topics),
        )


class OnlineReading(NamedTuple):
    """Choices that the paper leaves open: § 2.2 says that words were tokenised, stemmed and stopped, and no more.

    It says as well that unlabelled documents were removed, and counts 9,603 and 3,299, with which they are not.
    """

    text: TextRules = TextRules(stemmer="porter")
    labelled_only: bool = False


def r90(reading: OnlineReading | None = None) -> TopicCollection:
    """The 9,603 training and 3,299 test stories, or only those that carry one of the 90 topics: 7,770 and 3,019."""
    reading = reading or OnlineReading()
    unlabelled = "drop" if reading.labelled_only else "keep"
    return collection(load_corpus("reuters21578", topics="r90", unlabelled=unlabelled), reading)


def held_out(corpus: Corpus | None = None, share: float = 1 / 3) -> TopicCollection:
    """The training stories alone, the later share of them in place of the test stories.

    Words and weights are those of the earlier ones: nothing of what is held out is seen.
    """
    stories = (corpus or load_corpus("reuters21578", topics="r90", unlabelled="keep")).train
    n_earlier = len(stories) - round(share * len(stories))
    parts = ["train"] * n_earlier + ["test"] * (len(stories) - n_earlier)
    return collection(replace(stories, split=parts), OnlineReading())


def collection(corpus: Corpus, reading: OnlineReading) -> TopicCollection:
    """Stemmed, stopped words (§ 2.2) with ltc weights; per topic at most 300 with −2 ln λ > 12.13 (§ 2.3, 4.1.1)."""
    train, test = reading.text.counts(corpus.train, corpus.test)
    Y_train, Y_test = (np.asarray(part.encode()[0], dtype=np.bool_) for part in (corpus.train, corpus.test))
    chosen = select_per_label(scores.get("likelihood_ratio")(train, Y_train), threshold=LEAST_RATIO, k=MOST_WORDS)
    common = np.flatnonzero(np.bincount(train.indices, minlength=train.shape[1]) >= _COMMON)
    weighting = TermWeighting("ltc").fit(train)
    words = tuple(np.flatnonzero(row) for row in chosen)
    return TopicCollection(weighting.transform(train), weighting.transform(test), Y_train, Y_test, words, common)


LIKELIHOODS: dict[str, OnlineLikelihood] = {"Logit": PAPER_LOGIT, "Probit": PAPER_PROBIT, "Flip": PAPER_FLIP}
PASSES = 3
TOLERANCE = 1e-3  # of a Gaussian process: the paper does not name its ε
KERNELS: dict[str, KernelFunction] = {"GP-1": Polynomial(1), "GP-2": Polynomial(2), "GP-R1": RBF()}
_SVM_KERNELS: dict[str, dict[str, Any]] = {
    "1": {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 1.0},
    "2": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "R1": {"kernel": "rbf", "gamma": 0.5},
}


class TopicProbabilities(NamedTuple):
    """Probabilities (n_docs, n_topics) of training and test documents.

    Of an SVM, which has none, they are its decision values through the logistic function, so that 0 becomes 0.5.
    """

    collection: TopicCollection
    train: FloatArray
    test: FloatArray
    is_svm: bool = False

    def decide(self, rule: str) -> BoolArray:
        """Decisions on the test documents by one of the three rules of § 4.1.2."""
        if rule == "0.5":
            return self.test > 0.5
        if rule == "ExpectedF1":
            return ExpectedF1(method="lewis").decide(self.test)
        return self._max_f1().decide(self.test)

    def _max_f1(self) -> MaxF1:
        # Thresholds lie half-way between two training documents: of an SVM on the scale of its decision values.
        return MaxF1(scale="logit" if self.is_svm else "probability").fit(self.train, self.collection.Y_train)

    def f1(self, rule: str) -> tuple[float, float]:
        """Micro- and macro-average F1 × 100."""
        return averages(self.collection.Y_test, self.decide(rule))

    def at_places(self) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Decisions with MaxF1 thresholds half-way, at the next training document below, and at the next above.

        All decide the training documents alike: the paper does not say which one it took.
        """
        middle = self._max_f1().thresholds_
        below = np.where(self.train <= middle, self.train, 0.0).max(axis=0)
        above = np.where(self.train > middle, self.train, 1.0).min(axis=0)
        return self.decide("MaxF1"), self.test > below, self.test >= above

    def f1_at_ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Averages with MaxF1 thresholds at the next training document below, and at the next above."""
        _, below, above = self.at_places()
        truth = self.collection.Y_test
        return averages(truth, below), averages(truth, above)

    @property
    def train_evidence(self) -> float:
        """Average log-evidence as § A.1 defines it: Σ ln⟨p(y_t | x_t)⟩ over training documents, mean over topics."""
        return average_log_evidence(self.collection.Y_train, self.train, "label")

    @property
    def test_evidence(self) -> float:
        """The same sum over the test documents: what Tables 6 and 7 print."""
        return average_log_evidence(self.collection.Y_test, self.test, "label")


def averages(truth: BoolArray, decisions: BoolArray) -> tuple[float, float]:
    """Micro- and macro-average F1 × 100 of decisions."""
    table = contingency(truth, decisions)
    return 100.0 * float(f_measure(table, "micro")), 100.0 * float(f_measure(table, "macro"))


class OnlineSystem(NamedTuple):
    """A system of Table 2, or the perceptron of a likelihood, after so many passes over the training documents."""

    name: str
    passes: int = PASSES


def system_named(name: str) -> OnlineSystem:
    """Return the system of a row of Table 2: its perceptron is the one of Table 6 with the probit likelihood."""
    return OnlineSystem("Probit" if name == "Perceptron" else name)


Probabilities: TypeAlias = tuple[FloatArray, FloatArray]


class TopicSystems(Systems[OnlineSystem, int, list[Probabilities], list[TopicProbabilities]]):
    """Train systems on every topic of a collection; a perceptron has an outcome after each pass, others have one."""

    def __init__(self, collection: TopicCollection) -> None:
        # Topics with most words first, so that no thread is left with them.
        super().__init__(sorted(range(len(collection.words)), key=lambda topic: -len(collection.words[topic])))
        self.collection = collection
        self.parts = collection.train, collection.test
        self._shared: tuple[Any, ...] = ()  # kernel values of the words that all topics share

    def prepare(self, system: OnlineSystem) -> None:
        """Compute the kernel of SVMa, which sees the same words for every topic, once."""
        kind, _, kernel = system.name.partition("-")
        if kind == "SVMa":
            common = [X[:, self.collection.common] for X in self.parts]
            self._shared = tuple(KERNELS[f"GP-{kernel}"](X, common[0]) for X in common)

    def fit(self, system: OnlineSystem, unit: int) -> list[Probabilities]:
        """Probabilities of the training and of the test documents of a topic."""
        words = self.collection.words[unit]
        if system.name in LIKELIHOODS:
            posterior = FullPosterior.start(words)
            return [self._learn(posterior, unit, LIKELIHOODS[system.name], 1) for _ in range(system.passes)]
        if system.name in KERNELS:
            # As many basis vectors as words (A.4).
            process = GaussianProcess.start(words, KERNELS[system.name], max(len(words), 1), TOLERANCE, jitter=1e-4)
            return [self._learn(process, unit, PAPER_PROBIT, system.passes)]
        return [self._machine(system.name, unit)]

    def collect(self, system: OnlineSystem, parts: list[list[Probabilities]]) -> list[TopicProbabilities]:
        """Topics side by side."""
        self._shared = ()
        by_topic = [after for _, after in sorted(zip(self.units, parts, strict=True), key=lambda pair: pair[0])]
        outcomes = []
        for after in zip(*by_topic, strict=True):
            train, test = (np.stack(side, axis=1) for side in zip(*after, strict=True))
            outcomes.append(TopicProbabilities(self.collection, train, test, system.name.startswith("SVM")))
        return outcomes

    def _learn(
        self, posterior: OnlinePosterior, topic: int, likelihood: OnlineLikelihood, passes: int
    ) -> Probabilities:
        """Learn a topic in place."""
        y = np.where(self.collection.Y_train[:, topic], 1.0, -1.0)
        posterior.learn(self.collection.train, y, likelihood, passes, in_place=True)
        train, test = (likelihood.predictive(*posterior.predict(X))[:, 0] for X in self.parts)
        return train, test

    def _machine(self, system: str, topic: int) -> Probabilities:
        """SVMa sees all common words, SVMb the topic's own (§ 4.1.1)."""
        kind, _, kernel = system.partition("-")
        of_all = kind == "SVMa"
        own = [X[:, self.collection.common if of_all else self.collection.words[topic]] for X in self.parts]
        settings = {"kernel": "precomputed"} if of_all else _SVM_KERNELS[kernel]
        train, test = self._shared if of_all else own
        machine = SVC(**settings, C=svm_light_cost(own[0], kernel), cache_size=500)
        machine.fit(train, self.collection.Y_train[:, topic])
        return expit(machine.decision_function(train)), expit(machine.decision_function(test))


def svm_light_cost(X: Any, kernel: str) -> float:
    """Default C of SVMlight: 1/r², r the mean distance of a document from the empty one in feature space.

    Joachims (1999), Making large-scale SVM learning practical. The squared distance is K(x, x) − 2 K(x, 0) + K(0, 0).
    """
    square = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    distance = {
        "1": square,
        "2": (square + 1.0) ** 2 - 1.0,
        "R1": 2.0 - 2.0 * np.exp(-0.5 * square),
    }[kernel]
    return float(np.sqrt(distance).mean() ** -2)
