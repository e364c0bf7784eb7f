"""Filtering: the documents of each topic, first labelled ones, then a stream, and the systems that filter them.

TREC-9 has rare topics: of 293,856 test documents 51 are relevant to a topic of OHSUMED in the mean. The categories of
the arXiv stream are hundreds of times more common, so relevance is rationed: a topic is shown a few documents of its
category and none of the others. Documents of other categories are its irrelevant ones.

Systems are perceptrons with and without rehearsal, asking and random looks, an SVM, and a process. All topics are
simulated apart, each with its own documents. Every delivered document is judged at once, as in TREC-9.

Table 4c is adaptive routing, documents retrieved and judged in groups of ten (§ 5, after Drucker et al. 2001). After
the batch phase a topic is shown the ten documents of the stream that rank highest, learns which of them are relevant,
and is shown the ten next best of those that are left. The paper asks how Bayesian classifiers do here that keep few
documents: a perceptron learns a document once and keeps none, or the relevant ones for rehearsal; an SVM keeps all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from textbayes.categorizer.presets import default_vectorizer
from textbayes.core.types import AnyArray, BoolArray, Document, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.data import Corpus, corpus_path, load_corpus
from textbayes.data.corpora.ohsumed import load_statements
from textbayes.evaluate import ContingencyTable, t9p
from textbayes.reproduce.experiment import PaperRun, Systems
from textbayes.reproduce.results import Table, mean_interval
from textbayes.stream import AdaptiveFilter, FilterSettings
from textbayes.stream.run import ScoreCache
from textbayes.stream.settings import PAPER
from textbayes.stream.words import Bags, FilterLexicon, WeighedRows
from textbayes.text import TermWeighting

Ration = Literal["random", "narrow", "none"]
TEST_FROM = "2011-01-01"  # the batch phase has the years to 2010, the stream 2011 to 2019
TRAIN_RATION, TEST_RATION = 10, 51  # relevant documents of a topic; in the stream as many as in TREC-9
STATEMENTS = {
    "cs.AR": "Hardware Architecture",
    "cs.CC": "Computational Complexity",
    "cs.CE": "Computational Engineering, Finance, and Science",
    "cs.CG": "Computational Geometry",
    "cs.CR": "Cryptography and Security",
    "cs.CY": "Computers and Society",
    "cs.DB": "Databases",
    "cs.DC": "Distributed, Parallel, and Cluster Computing",
    "cs.DL": "Digital Libraries",
    "cs.DM": "Discrete Mathematics",
    "cs.ET": "Emerging Technologies",
    "cs.FL": "Formal Languages and Automata Theory",
    "cs.GL": "General Literature",
    "cs.GR": "Graphics",
    "cs.GT": "Computer Science and Game Theory",
    "cs.HC": "Human-Computer Interaction",
    "cs.IR": "Information Retrieval",
    "cs.LO": "Logic in Computer Science",
    "cs.MA": "Multiagent Systems",
    "cs.MM": "Multimedia",
    "cs.MS": "Mathematical Software",
    "cs.NA": "Numerical Analysis",
    "cs.NE": "Neural and Evolutionary Computing",
    "cs.NI": "Networking and Internet Architecture",
    "cs.OH": "Other Computer Science",
    "cs.OS": "Operating Systems",
    "cs.PF": "Performance",
    "cs.PL": "Programming Languages",
    "cs.RO": "Robotics",
    "cs.SC": "Symbolic Computation",
    "cs.SD": "Sound",
    "cs.SE": "Software Engineering",
    "cs.SI": "Social and Information Networks",
    "cs.SY": "Systems and Control",
}


class FilteringTask(NamedTuple):
    """One topic: its statement, and which of the documents it is shown, by number, in order of time."""

    topic: str
    statement: str
    train: IntArray
    train_relevant: BoolArray
    test: IntArray
    test_relevant: BoolArray


class FilteringCollection(NamedTuple):
    """The documents that topics are shown some of, and the topics."""

    name: str
    texts: Sequence[str]
    ids: Sequence[str]
    tasks: tuple[FilteringTask, ...]

    def labelled(self, task: FilteringTask) -> list[Document]:
        """The batch phase of a topic."""
        shown = zip(task.train.tolist(), task.train_relevant.tolist(), strict=True)
        return [Document(self.ids[i], self.texts[i], (task.topic,) if relevant else ()) for i, relevant in shown]


def arxiv(
    thinned: int = 8,
    ration: Ration = "random",
    train_ration: int = TRAIN_RATION,
    random_state: int = 0,
    only: int | None = None,
    path: str | Path | None = None,
) -> FilteringCollection:
    """The arXiv stream, topics its 34 complete categories, irrelevant documents one in ``thinned``.

    Parameters
    ----------
    ration : {"random", "narrow", "none"}
        Which relevant documents a topic is shown: some at random, from all over the category; those most like one of
        them, drawn at random, by the cosine of ltc weights, as documents that answer a query are; or all of those in
        the thinned stream.
    only : int
        So many topics, evenly spread over the names, for a quick look.
    """
    check_choice("ration", ration, ("random", "narrow", "none"))
    corpus = _arxiv_corpus(path)
    assert corpus.dates is not None
    names = corpus.label_names
    chosen = range(len(names)) if only is None else np.linspace(0, len(names) - 1, only).astype(int).tolist()
    is_test = np.array([date >= TEST_FROM for date in corpus.dates])
    background = np.zeros(len(corpus), dtype=np.bool_)
    background[random_state % thinned :: thinned] = True
    shown, used = {}, background.copy()
    for k in chosen:
        relevant = np.array([names[k] in labels for labels in corpus.labels])
        mask = background.copy()
        if ration != "none":
            rng = np.random.default_rng([random_state, k])
            mask &= ~relevant
            own = np.flatnonzero(relevant)
            order = rng.permutation(len(own)) if ration == "random" else _by_likeness(corpus.texts, own, is_test, rng)
            for part, most in ((~is_test, train_ration), (is_test, TEST_RATION)):
                mask[[i for i in own[order].tolist() if part[i]][:most]] = True
        shown[names[k]] = mask, relevant
        used |= mask
    number = np.cumsum(used) - 1
    tasks = []
    for name, (mask, relevant) in shown.items():
        train, test = (np.flatnonzero(mask & part) for part in (~is_test, is_test))
        tasks.append(
            FilteringTask(name, STATEMENTS[name], number[train], relevant[train], number[test], relevant[test])
        )
    rows = np.flatnonzero(used).tolist()
    return FilteringCollection("arXiv", [corpus.texts[i] for i in rows], [corpus.ids[i] for i in rows], tuple(tasks))


@lru_cache(maxsize=1)
def _arxiv_corpus(path: str | Path | None) -> Corpus:
    """Several tables ask for it, and reading it takes a while."""
    return load_corpus("arxiv_cs", path=path, test_from=TEST_FROM)


def _by_likeness(texts: Sequence[str], own: IntArray, is_test: BoolArray, rng: np.random.Generator) -> IntArray:
    """The order of documents by their likeness to one of the batch phase, drawn at random, which comes first."""
    counts = default_vectorizer().fit_transform([texts[i] for i in own])
    X = TermWeighting("ltc").fit_transform(counts)
    first = rng.choice(np.flatnonzero(~is_test[own]))
    return np.argsort(-np.asarray((X @ X[[first]].T).todense()).ravel(), kind="stable")


def ohsumed(path: str | Path | None = None, only: int | None = None) -> FilteringCollection:
    """OHSUMED as TREC-9 had it: 63 topics, batch phase 1987, stream 1988 to 1991; every topic is shown everything."""
    corpus = load_corpus("ohsumed_trec9", path=path, sections="TWAS")
    found = Path(path) if path is not None else corpus_path("ohsumed_trec9")
    assert found is not None
    assert corpus.split is not None
    is_test = np.array([part == "test" for part in corpus.split])
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    tasks = []
    for topic, statement in list(load_statements(found).items())[:only]:
        relevant = np.array([topic in labels for labels in corpus.labels])
        tasks.append(FilteringTask(topic, statement, train, relevant[train], test, relevant[test]))
    return FilteringCollection("OHSUMED", corpus.texts, corpus.ids, tuple(tasks))


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


class FilteringOutcome(NamedTuple):
    """Deliveries of every system for each topic of a collection."""

    collection: FilteringCollection
    deliveries: dict[str, list[Deliveries]]

    def t9p(self, system: str) -> FloatArray:
        """T9P of each topic."""
        return t9p(table_of(self.deliveries[system]))


class FilteringSimulation(Systems[tuple[str, ...], FilteringTask, dict[str, Deliveries], FilteringOutcome]):
    """Filter a collection, topic by topic, with several systems together; the stream is counted once for all of them.

    The perceptrons of a topic share its batch phase, so what is run and remembered is a tuple of systems.
    """

    threads = False

    def __init__(self, collection: FilteringCollection, settings: FilterSettings | None = None) -> None:
        super().__init__(collection.tasks)
        self.collection = collection
        self.settings = settings or FilterSettings(most_words=100_000, start_words=100_000, **PAPER)
        self.bags = Bags.read(collection.texts, self.settings.text)

    def fit(self, system: tuple[str, ...], unit: FilteringTask) -> dict[str, Deliveries]:
        """One topic filtered by several systems."""
        perceptron = self.start(unit)
        found = {}
        for name in system:
            if name in PERCEPTRONS:
                found[name] = self.filter(perceptron.copy(**self._strategy(name, unit)), unit)
            elif name == PROCESS:
                found[name] = self.filter(self.start(unit, process_settings(self.settings)), unit)
            else:
                found[name] = self._machine(perceptron.lexicon, unit)
        return found

    def collect(self, system: tuple[str, ...], parts: list[dict[str, Deliveries]]) -> FilteringOutcome:
        """The deliveries of each system, topic by topic."""
        return FilteringOutcome(self.collection, {name: [part[name] for part in parts] for name in system})

    def start(self, task: FilteringTask, settings: FilterSettings | None = None) -> AdaptiveFilter:
        """The perceptron of a topic after its batch phase, or what other settings make of it."""
        statement = Document(task.topic, task.statement, (task.topic,))
        return AdaptiveFilter.start(
            self.collection.labelled(task), [statement], settings or self.settings, [task.topic]
        )

    def _strategy(self, system: str, task: FilteringTask) -> dict[str, Any]:
        changes = {"explore": "never", **PERCEPTRONS[system]}
        if changes["explore"] == "paper":
            changes["explore"] = f"paper:documents={len(task.test)}"
        return changes

    def filter(self, learner: AdaptiveFilter, task: FilteringTask) -> Deliveries:
        ahead = ScoreCache(learner, self.bags)
        relevant, queried, features = [], [], [len(learner.topics[0].words)]
        for i, is_relevant in zip(task.test.tolist(), task.test_relevant.tolist(), strict=True):
            document = Document(self.collection.ids[i], "")
            for delivery in learner.see(document, 0.0, self.bags, i, ahead.scores(i), explain=False).deliveries:
                learner.judge(delivery.id, delivery.topic, is_relevant)
                relevant.append(is_relevant)
                queried.append(delivery.reason != "relevant")
                if is_relevant:
                    features.append(len(learner.topics[0].words))
        return _deliveries(relevant, queried, features, task)

    def _machine(self, lexicon: FilterLexicon, task: FilteringTask) -> Deliveries:
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

    def machine(self, lexicon: FilterLexicon, task: FilteringTask) -> FilteringMachine:
        """The SVM of a topic, its documents weighed."""
        X = matrix(lexicon.weigh(self.bags, 0, len(self.bags)), len(lexicon))
        statement = matrix(lexicon.weigh(Bags.read([task.statement], self.settings.text), 0, 1), len(lexicon))
        train = sparse.vstack([statement, X[task.train]], format="csr")
        return FilteringMachine(train, np.concatenate([[True], task.train_relevant]), X[task.test], task.test_relevant)


class FilteringMachine(NamedTuple):
    """A linear SVM on all words of the batch phase, which keeps every document that it was shown.

    Both classes weigh the same: with ten documents among thousands it would deliver nothing otherwise.
    """

    train: Any
    train_relevant: AnyArray
    test: Any
    test_relevant: AnyArray

    def scores(self, judged: Sequence[int]) -> FloatArray:
        """Distances of all documents of the stream from the plane, after the batch phase and those judged since."""
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


def matrix(rows: WeighedRows, n_words: int) -> Any:
    """Weighed documents as a sparse matrix."""
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.n_docs, n_words))


def _deliveries(relevant: Any, queried: Any, features: list[int], task: FilteringTask) -> Deliveries:
    flags = np.array(relevant, dtype=np.bool_), np.array(queried, dtype=np.bool_)
    return Deliveries(*flags, tuple(features), int(task.test_relevant.sum()), len(task.test))


GROUP: Final = 10
GROUPS: Final = 10
_SHOWN: Final = (10, 20, 50, 100)
NOT_JUDGED: Final = "Pptron, not judged"
ROUTED_PERCEPTRONS: Mapping[str, Mapping[str, Any]] = {
    NOT_JUDGED: {"rehearse": False},
    "Pptron": {"rehearse": False},
    "Pptron+rel": {"rehearse": True},
}
ROUTED_SYSTEMS: Final = (*ROUTED_PERCEPTRONS, MACHINE)


class Routed(NamedTuple):
    """Relevance of the documents that one topic was shown, in their order, and how many documents were kept for it."""

    relevant: BoolArray
    n_kept: int


def in_groups(
    scores: Callable[[list[int]], FloatArray], relevant: BoolArray, group: int = GROUP, groups: int = GROUPS
) -> list[int]:
    """Show documents in groups, each the best of those that are left; returns their numbers in order.

    Parameters
    ----------
    scores : callable
        Scores of all documents, given the numbers of those judged so far; called once before each group.
    relevant : array of bool, shape (n_docs,)
        As long as the stream.
    group, groups : int
        How many documents a group has, and how many groups there are.

    >>> in_groups(lambda judged: np.array([1.0, 3.0, 2.0, 3.0]), np.ones(4, dtype=bool), group=2, groups=2)
    [1, 3, 2, 0]
    """
    judged: list[int] = []
    for _ in range(groups):
        left = np.setdiff1d(np.arange(len(relevant)), judged)
        best = np.argsort(-scores(judged)[left], kind="stable")[:group]
        judged += left[best].tolist()
    return judged


class Routing(Systems[str, FilteringTask, Routed, list[Routed]]):
    """Route the documents of a simulation's collection to its topics."""

    threads = False

    def __init__(self, simulation: FilteringSimulation) -> None:
        super().__init__(simulation.units)
        self._simulation = simulation

    def fit(self, system: str, unit: FilteringTask) -> Routed:
        """One topic."""
        start = self._simulation.start(unit)
        if system == MACHINE:
            judged = in_groups(self._simulation.machine(start.lexicon, unit).scores, unit.test_relevant)
            return Routed(unit.test_relevant[judged], 1 + len(unit.train) + len(judged))
        learner = start.copy(ask="never", explore="never", **ROUTED_PERCEPTRONS[system])
        judged = in_groups(self._perceptron(learner, unit, learns=system != NOT_JUDGED), unit.test_relevant)
        return Routed(unit.test_relevant[judged], len(learner.topics[0].examples) if learner.settings.rehearse else 0)

    def _perceptron(
        self, learner: AdaptiveFilter, task: FilteringTask, learns: bool
    ) -> Callable[[list[int]], FloatArray]:
        bags, ids, first = self._simulation.bags, self._simulation.collection.ids, int(task.test[0])
        places: IntArray = task.test - first

        def scores(judged: list[int]) -> FloatArray:
            for i in judged[-GROUP:] if learns else ():
                number = int(task.test[i])
                learner.judge(ids[number], task.topic, bool(task.test_relevant[i]), bags.bag(number))
            found = learner.score(bags, first, int(task.test[-1]) + 1).probability
            return np.asarray(found[places, 0], dtype=np.float64)

        return scores


def table_4c(run: PaperRun, simulation: FilteringSimulation) -> Table:
    """Table 4c: relevant documents among the first ones shown, and the documents that a system keeps for it."""
    routing = run.load("the stream in groups", lambda: Routing(simulation))
    found = run.outcomes(routing, ROUTED_SYSTEMS, ", routing arXiv")
    n_relevant = np.mean([task.test_relevant.sum() for task in routing.units])
    by_topic = {system: np.array([topic.relevant.sum() for topic in topics]) for system, topics in found.items()}
    more = (
        f"{system} {mean_interval(by_topic[system] - by_topic[other])} more than {other}"
        for other, system in pairwise(ROUTED_SYSTEMS)
    )
    ours = {
        system: [
            *(float(np.mean([topic.relevant[:shown].sum() for topic in topics])) for shown in _SHOWN),
            float(np.mean([topic.n_kept for topic in topics])),
        ]
        for system, topics in found.items()
    }
    return Table.by_row(
        "4c",
        f"Not in the paper (§ 5): adaptive routing in groups of {GROUP} on the arXiv stream. Relevant documents among "
        "the first that a topic is shown, and documents that the system keeps for it, means over topics.",
        (*(f"first {shown}" for shown in _SHOWN), "documents kept"),
        ours,
        digits=2,
        notes=(
            f"{len(routing.units)} topics with {n_relevant:.0f} relevant documents in the mean. All systems begin with "
            f"the same batch phase. {MACHINE} is fitted anew to all documents seen before each group.",
            f"Among all {GROUP * GROUPS}, with 95 % intervals over topics: {'; '.join(more)}.",
        ),
    )
