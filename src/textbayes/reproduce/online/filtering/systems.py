"""The systems that filter: perceptrons with and without rehearsal, asking and random looks, an SVM, and a process.

All topics are simulated apart, each with its own documents. Every delivered document is judged at once, as in TREC-9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import AnyArray, Document, FloatArray
from textbayes.evaluate import ContingencyTable, t9p
from textbayes.reproduce.experiment import Systems
from textbayes.reproduce.online.filtering.corpora import Collection, Task
from textbayes.stream import AdaptiveFilter, FilterSettings
from textbayes.stream.run import ScoreCache
from textbayes.stream.settings import PAPER
from textbayes.stream.words import Bags, Lexicon, Rows

PERCEPTRONS: Mapping[str, Mapping[str, Any]] = {
    "Pptron+rel+ig": {"ask": "paper", "rehearse": True},
    "Pptron+ig": {"ask": "paper", "rehearse": False},
    "Pptron+rnd": {"ask": "never", "rehearse": False, "explore": "paper"},
    "Pptron+rel": {"ask": "never", "rehearse": True},
    "Pptron": {"ask": "never", "rehearse": False},
}
PROCESS = "GP+rel+ig"
MACHINE = "SVM"
SYSTEMS = (*PERCEPTRONS, PROCESS, MACHINE)
RETRAIN = 10  # judgements between two fits of the SVM


class Deliveries(NamedTuple):
    """Documents that a system delivered for one topic.

    ``relevant`` and ``queried`` say of each delivery whether it was relevant, and whether it was asked for or drawn at
    random; ``features`` how many words the topic had when so many relevant documents had been delivered.
    """

    relevant: AnyArray
    queried: AnyArray
    features: tuple[int, ...]
    n_relevant: int
    n_docs: int


class Outcome(NamedTuple):
    """Deliveries of every system for each topic of a collection."""

    collection: Collection
    deliveries: dict[str, list[Deliveries]]

    def t9p(self, system: str) -> FloatArray:
        """T9P of each topic."""
        return t9p(table_of(self.deliveries[system]))


class Simulation(Systems[tuple[str, ...], Task, dict[str, Deliveries], Outcome]):
    """Filter a collection, topic by topic, with several systems together; the stream is counted once for all of them.

    The perceptrons of a topic share its batch phase, so what is run and remembered is a tuple of systems.
    """

    threads = False

    def __init__(self, collection: Collection, settings: FilterSettings | None = None) -> None:
        super().__init__(collection.tasks)
        self.collection = collection
        self.settings = settings or FilterSettings(most_words=100_000, start_words=100_000, **PAPER)
        self.bags = Bags.read(collection.texts, self.settings.text)

    def fit(self, system: tuple[str, ...], unit: Task) -> dict[str, Deliveries]:
        """One topic filtered by several systems."""
        perceptron = self.start(unit)
        found = {}
        for name in system:
            if name in PERCEPTRONS:
                found[name] = self._filter(perceptron.copy(**self._strategy(name, unit)), unit)
            elif name == PROCESS:
                found[name] = self._filter(self.start(unit, process_settings(self.settings)), unit)
            else:
                found[name] = self._machine(perceptron.lexicon, unit)
        return found

    def collect(self, system: tuple[str, ...], parts: list[dict[str, Deliveries]]) -> Outcome:
        """The deliveries of each system, topic by topic."""
        return Outcome(self.collection, {name: [part[name] for part in parts] for name in system})

    def start(self, task: Task, settings: FilterSettings | None = None) -> AdaptiveFilter:
        """The perceptron of a topic after its batch phase, or what other settings make of it."""
        statement = Document(task.topic, task.statement, (task.topic,))
        return AdaptiveFilter.start(
            self.collection.labelled(task), [statement], settings or self.settings, [task.topic]
        )

    def _strategy(self, system: str, task: Task) -> dict[str, Any]:
        changes = {"explore": "never", **PERCEPTRONS[system]}
        if changes["explore"] == "paper":
            changes["explore"] = f"paper:documents={len(task.test)}"
        return changes

    def _filter(self, desk: AdaptiveFilter, task: Task) -> Deliveries:
        ahead = ScoreCache(desk, self.bags)
        relevant, queried, features = [], [], [len(desk.topics[0].words)]
        for i, is_relevant in zip(task.test.tolist(), task.test_relevant.tolist(), strict=True):
            document = Document(self.collection.ids[i], "")
            for delivery in desk.see(document, 0.0, self.bags, i, ahead.scores(i), explain=False).deliveries:
                desk.judge(delivery.id, delivery.topic, is_relevant)
                relevant.append(is_relevant)
                queried.append(delivery.reason != "relevant")
                if is_relevant:
                    features.append(len(desk.topics[0].words))
        return _deliveries(relevant, queried, features, task)

    def _machine(self, lexicon: Lexicon, task: Task) -> Deliveries:
        """An SVM fitted anew after every ten judgements."""
        machine = self.machine(lexicon, task)
        delivered: list[int] = []
        at, n_fitted = 0, -1
        scores = np.zeros(0)
        while at < len(task.test):
            if len(delivered) // RETRAIN != n_fitted:
                n_fitted = len(delivered) // RETRAIN
                scores = machine.scores(delivered)
            wanted = np.flatnonzero(scores[at:] > 0.0)
            if not len(wanted):
                break
            delivered.append(at + int(wanted[0]))
            at = delivered[-1] + 1
        return _deliveries(
            task.test_relevant[delivered], np.zeros(len(delivered), dtype=np.bool_), [len(lexicon)], task
        )

    def machine(self, lexicon: Lexicon, task: Task) -> Machine:
        """The SVM of a topic, its documents weighed."""
        X = matrix(lexicon.weigh(self.bags, 0, len(self.bags)), len(lexicon))
        statement = matrix(lexicon.weigh(Bags.read([task.statement], self.settings.text), 0, 1), len(lexicon))
        train = sparse.vstack([statement, X[task.train]], format="csr")
        return Machine(train, np.concatenate([[True], task.train_relevant]), X[task.test], task.test_relevant)


class Machine(NamedTuple):
    """A linear SVM on all words of the batch phase, which keeps every document that it was shown.

    Both classes weigh the same: with ten documents among thousands it would deliver nothing otherwise.
    """

    train: Any
    train_relevant: AnyArray
    test: Any
    test_relevant: AnyArray

    def scores(self, judged: Sequence[int]) -> FloatArray:
        """Distances of all documents of the stream from the plane, after the batch phase and those judged since."""
        from sklearn.svm import LinearSVC

        seen = sparse.vstack([self.train, self.test[judged]], format="csr")
        y = np.concatenate([self.train_relevant, self.test_relevant[judged]])
        fitted = LinearSVC(class_weight="balanced", random_state=0).fit(seen, y)
        return np.asarray(fitted.decision_function(self.test), dtype=np.float64)


def process_settings(settings: FilterSettings) -> FilterSettings:
    """The full system with a sparse online Gaussian process, linear kernel, in place of the perceptron."""
    return replace(settings, covariance="gp", kernel="linear", basis=100)


def table_of(deliveries: list[Deliveries]) -> ContingencyTable:
    """Decisions per topic."""
    tp = np.array([of_topic.relevant.sum() for of_topic in deliveries], dtype=np.float64)
    delivered = np.array([len(of_topic.relevant) for of_topic in deliveries], dtype=np.float64)
    n_relevant = np.array([of_topic.n_relevant for of_topic in deliveries], dtype=np.float64)
    n_docs = np.array([of_topic.n_docs for of_topic in deliveries], dtype=np.float64)
    return ContingencyTable(tp, delivered - tp, n_relevant - tp, n_docs - delivered - n_relevant + tp)


def matrix(rows: Rows, n_words: int) -> Any:
    """Weighed documents as a sparse matrix."""
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.n_docs, n_words))


def _deliveries(relevant: Any, queried: Any, features: list[int], task: Task) -> Deliveries:
    told = np.array(relevant, dtype=np.bool_), np.array(queried, dtype=np.bool_)
    return Deliveries(*told, tuple(features), int(task.test_relevant.sum()), len(task.test))
