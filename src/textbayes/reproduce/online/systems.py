"""The systems of the paper's Table 1, trained on every topic, and their decisions on the test documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from textbayes.core.types import BoolArray, FloatArray
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
from textbayes.models.online.gp_kernels import KernelFunction
from textbayes.reproduce.online.r90 import Collection

Advance = Callable[[], None]

LIKELIHOODS: dict[str, OnlineLikelihood] = {"Logit": PAPER_LOGIT, "Probit": PAPER_PROBIT, "Flip": PAPER_FLIP}
PASSES = 3
TOLERANCE = 1e-3  # of a Gaussian process: the paper does not name its ε
_KERNELS: dict[str, KernelFunction] = {"GP-1": Polynomial(1), "GP-2": Polynomial(2), "GP-R1": RBF()}
_SVM_KERNELS: dict[str, dict[str, Any]] = {
    "1": {"kernel": "poly", "degree": 1, "gamma": 1.0, "coef0": 1.0},
    "2": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "R1": {"kernel": "rbf", "gamma": 0.5},
}


class Outcome(NamedTuple):
    """Probabilities (n_docs, n_topics) of training and test documents.

    Of an SVM, which has none, they are its decision values through the logistic function, so that 0 becomes 0.5.
    """

    collection: Collection
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
        return self._averages(self.decide(rule))

    def _averages(self, decisions: BoolArray) -> tuple[float, float]:
        table = contingency(self.collection.Y_test, decisions)
        return 100.0 * float(f_measure(table, "micro")), 100.0 * float(f_measure(table, "macro"))

    def f1_at_ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Averages with MaxF1 thresholds at the next training document below, and at the next above.

        Both decide the training documents as the threshold half-way does: the paper does not say which one it took.
        """
        middle = self._max_f1().thresholds_
        below = np.where(self.train <= middle, self.train, 0.0).max(axis=0)
        above = np.where(self.train > middle, self.train, 1.0).min(axis=0)
        return self._averages(self.test > below), self._averages(self.test >= above)

    @property
    def train_evidence(self) -> float:
        """Average log-evidence as § A.1 defines it: Σ ln⟨p(y_t | x_t)⟩ over training documents, mean over topics."""
        return average_log_evidence(self.collection.Y_train, self.train, "label")

    @property
    def test_evidence(self) -> float:
        """The same sum over the test documents: what Tables 6 and 7 print."""
        return average_log_evidence(self.collection.Y_test, self.test, "label")


class Experiment:
    """Trains systems on a collection and remembers what they say, for several tables share them.

    ``advance`` is called for each topic done.
    """

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._outcomes: dict[tuple[str, int], Outcome] = {}

    def knows(self, system: str) -> bool:
        """Whether the system of Table 2 was trained already."""
        return ("Probit" if system == "Perceptron" else system, PASSES) in self._outcomes

    def outcome(self, system: str, advance: Advance = lambda: None) -> Outcome:
        """A system by its name in Table 2, after three passes if it is Bayesian."""
        if system == "Perceptron":
            return self.perceptron("Probit", [PASSES], advance)[0]
        if not self.knows(system):
            run = self._process if system in _KERNELS else self._svm
            self._outcomes[system, PASSES] = run(system, advance)
        return self._outcomes[system, PASSES]

    def perceptron(self, likelihood: str, passes: Sequence[int], advance: Advance = lambda: None) -> list[Outcome]:
        """The perceptron of a likelihood after each of these numbers of passes."""
        if not all((likelihood, number) in self._outcomes for number in passes):
            self._learn_perceptron(likelihood, max(passes), advance)
        return [self._outcomes[likelihood, number] for number in passes]

    def _learn_perceptron(self, likelihood: str, passes: int, advance: Advance) -> None:
        def one(topic: int) -> list[tuple[FloatArray, FloatArray]]:
            posterior = FullPosterior.start(self.collection.words[topic])
            after = [self._learn(posterior, topic, LIKELIHOODS[likelihood], 1) for _ in range(passes)]
            advance()
            return after

        by_topic = self.in_threads(one)
        for number in range(passes):
            train, test = _columns([after[number] for after in by_topic])
            self._outcomes[likelihood, number + 1] = Outcome(self.collection, train, test)

    def _process(self, system: str, advance: Advance) -> Outcome:
        def one(topic: int) -> tuple[FloatArray, FloatArray]:
            words = self.collection.words[topic]
            # As many basis vectors as words (A.4).
            process = GaussianProcess.start(words, _KERNELS[system], max(len(words), 1), TOLERANCE, jitter=1e-4)
            found = self._learn(process, topic, PAPER_PROBIT, PASSES)
            advance()
            return found

        return Outcome(self.collection, *_columns(self.in_threads(one)))

    def _learn(
        self, posterior: OnlinePosterior, topic: int, likelihood: OnlineLikelihood, passes: int
    ) -> tuple[FloatArray, FloatArray]:
        """Learn a topic in place; probabilities of the training and of the test documents."""
        y = np.where(self.collection.Y_train[:, topic], 1.0, -1.0)
        posterior.learn(self.collection.train, y, likelihood, passes, in_place=True)
        proba = [
            likelihood.predictive(*posterior.predict(X))[:, 0] for X in (self.collection.train, self.collection.test)
        ]
        return proba[0], proba[1]

    def _svm(self, system: str, advance: Advance) -> Outcome:
        """SVMa sees all common words, SVMb the topic's own (§ 4.1.1)."""
        kind, _, kernel = system.partition("-")
        common = [X[:, self.collection.common] for X in (self.collection.train, self.collection.test)]
        # All topics see these words, so that kernel values can be computed once for all.
        shared = [_KERNELS[f"GP-{kernel}"](X, common[0]) for X in common] if kind == "SVMa" else None

        def one(topic: int) -> tuple[FloatArray, FloatArray]:
            words = self.collection.words[topic]
            own = [X[:, words] for X in (self.collection.train, self.collection.test)]
            cost = svm_light_cost((own if shared is None else common)[0], kernel)
            settings = _SVM_KERNELS[kernel] if shared is None else {"kernel": "precomputed"}
            train, test = own if shared is None else shared
            machine = SVC(**settings, C=cost, cache_size=500).fit(train, self.collection.Y_train[:, topic])
            found = [expit(machine.decision_function(X)) for X in (train, test)]
            advance()
            return found[0], found[1]

        return Outcome(self.collection, *_columns(self.in_threads(one)), is_svm=True)

    def in_threads(self, one: Callable[[int], Any]) -> list[Any]:
        """``one`` of every topic, in order; those with most words first, so that no thread is left with them."""
        order = sorted(range(self.collection.n_topics), key=lambda topic: -len(self.collection.words[topic]))
        # Threads are for topics: those of the linear algebra would wait for each other.
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            done = dict(zip(order, pool.map(one, order), strict=True))
        return [done[topic] for topic in range(self.collection.n_topics)]


def svm_light_cost(X: Any, kernel: str) -> float:
    """C of SVMlight unless told otherwise: 1/r², r the mean distance of a document from the empty one in feature space.

    Joachims (1999), Making large-scale SVM learning practical. The squared distance is K(x, x) − 2 K(x, 0) + K(0, 0).
    """
    square = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    distance = {
        "1": square,
        "2": (square + 1.0) ** 2 - 1.0,
        "R1": 2.0 - 2.0 * np.exp(-0.5 * square),
    }[kernel]
    return float(np.sqrt(distance).mean() ** -2)


def _columns(by_topic: Sequence[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray]:
    train, test = (np.stack(side, axis=1) for side in zip(*by_topic, strict=True))
    return train, test
