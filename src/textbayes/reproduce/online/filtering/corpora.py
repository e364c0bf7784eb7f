"""Documents of each topic of a filtering experiment: labelled ones for the batch phase, then a stream.

TREC-9 has rare topics: of 293,856 test documents 51 are relevant to a topic of OHSUMED in the mean. The categories of
the arXiv stream are hundreds of times more common, so relevance is rationed: a topic is shown a few documents of its
category and none of the others. Documents of other categories are its irrelevant ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from textbayes.categorizer.presets import default_vectorizer
from textbayes.core.types import BoolArray, Document, IntArray
from textbayes.core.validation import check_choice
from textbayes.data import Corpus, corpus_path, load_corpus
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


class Task(NamedTuple):
    """One topic: its statement, and which of the documents it is shown, by number, in order of time."""

    topic: str
    statement: str
    train: IntArray
    train_relevant: BoolArray
    test: IntArray
    test_relevant: BoolArray


class Collection(NamedTuple):
    """The documents that topics are shown some of, and the topics."""

    name: str
    texts: Sequence[str]
    ids: Sequence[str]
    tasks: tuple[Task, ...]

    def labelled(self, task: Task) -> list[Document]:
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
) -> Collection:
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
        tasks.append(Task(name, STATEMENTS[name], number[train], relevant[train], number[test], relevant[test]))
    kept = np.flatnonzero(used).tolist()
    return Collection("arXiv", [corpus.texts[i] for i in kept], [corpus.ids[i] for i in kept], tuple(tasks))


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


def ohsumed(path: str | Path | None = None, only: int | None = None) -> Collection:
    """OHSUMED as TREC-9 had it: 63 topics, batch phase 1987, stream 1988 to 1991; every topic is shown everything."""
    from textbayes.data.corpora.ohsumed import load_statements

    corpus = load_corpus("ohsumed_trec9", path=path, sections="TWAS")
    found = Path(path) if path is not None else corpus_path("ohsumed_trec9")
    assert found is not None
    assert corpus.split is not None
    is_test = np.array([part == "test" for part in corpus.split])
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    tasks = []
    for topic, statement in list(load_statements(found).items())[:only]:
        relevant = np.array([topic in labels for labels in corpus.labels])
        tasks.append(Task(topic, statement, train, relevant[train], test, relevant[test]))
    return Collection("OHSUMED", corpus.texts, corpus.ids, tuple(tasks))
