"""Corpora as tasks: texts, labels, and which rows are learnt from and which are answered.

Where a corpus has an official split or folds these are used; otherwise folds are drawn once and for all (seed 0). Texts
that occur word for word more than once are kept once where folds are drawn, and where subject lines repeat.
"""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold

from textbayes.data import Corpus, load_corpus
from textbayes.data.catalogue import search_folders

REVIEWS = ("ACEInhibitors", "AtypicalAntipsychotics", "CalciumChannelBlockers")
N_SENTENCES = 4  # of each review
QUICK_TRAIN, QUICK_TEST, QUICK_PARTS = 500, 300, 2

Part = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Task:
    """Texts with a class each (strings) or labels (tuples of strings), and (training rows, test rows) of each part."""

    texts: list[str]
    labels: Sequence[str] | Sequence[tuple[str, ...]]
    parts: list[Part]

    @property
    def exclusive(self) -> bool:
        """Whether each text has exactly one class."""
        return isinstance(self.labels[0], str)

    def encode(self) -> tuple[np.ndarray, list[str]]:
        """Indicator (n_texts, n_classes) of the classes, also of two, and their names."""
        rows = [(label,) if isinstance(label, str) else label for label in self.labels]
        names = sorted({name for row in rows for name in row})
        position = {name: k for k, name in enumerate(names)}
        Y = np.zeros((len(rows), len(names)), dtype=bool)
        for i, row in enumerate(rows):
            Y[i, [position[name] for name in row]] = True
        return Y, names

    def shortened(self) -> Task:
        """A small random part of it, to see that all runs."""
        rng = np.random.default_rng(0)
        sizes = (QUICK_TRAIN, QUICK_TEST)
        cut = [tuple(rng.permutation(rows)[:n] for rows, n in zip(part, sizes, strict=True)) for part in self.parts]
        return replace(self, parts=cut[:QUICK_PARTS])


def reuters() -> Task:
    """Reuters-21578 ModApte, 90 topics that go together."""
    return _as_split(load_corpus("reuters21578"))


def reuters_single() -> Task:
    """Stories of exactly one of the 90 topics; topics with a story in either part, as R52 is made."""
    corpus = load_corpus("reuters21578")
    one = corpus.take([i for i, labels in enumerate(corpus.labels) if len(labels) == 1])
    both = set(one.train.labels) & set(one.test.labels)
    return _as_split(one.take([i for i, labels in enumerate(one.labels) if labels in both]))


def ohsumed() -> Task:
    """OHSUMED, first 20,000: 23 diseases that go together."""
    return _as_split(load_corpus("ohsumed20000"))


def newsgroups() -> Task:
    """20 Newsgroups by date, without headers, footers and quotes."""
    return _as_split(load_corpus("20newsgroups", remove=("headers", "footers", "quotes")))


def subjects() -> Task:
    """Subject lines of 20 Newsgroups, without "Re:", each once: those of the test posts that no training post has."""
    corpus = load_corpus("20newsgroups")
    found = [re.search(r"^Subject:[ \t]*(?:re:\s*)*(.*)$", text, re.IGNORECASE | re.MULTILINE) for text in corpus.texts]
    lines = [one[1].strip() if one else "" for one in found]
    seen: set[str] = {""}
    rows = []
    for i, line in enumerate(lines):  # training posts come first
        if line.lower() not in seen:
            rows.append(i)
            seen.add(line.lower())
    return _as_split(replace(corpus, texts=lines).take(rows))


def movies() -> Task:
    """Movie reviews, the ten official folds."""
    corpus = load_corpus("movie_reviews")
    fold = np.array(corpus.split, dtype=int)
    return Task(corpus.texts, corpus.targets, _of_folds(np.arange(len(fold)), fold))


def sentences() -> Task:
    """Sentences of movie reviews, some of each, labelled as their review: folds 0 to 7 train, 8 and 9 test."""
    corpus, rng = load_corpus("movie_reviews"), np.random.default_rng(0)
    texts: list[str] = []
    labels: list[str] = []
    test: list[bool] = []
    for text, target, fold in zip(corpus.texts, corpus.targets, corpus.split or [], strict=True):
        lines = [line for line in text.splitlines() if len(line.split()) >= 5]
        for i in rng.permutation(len(lines))[:N_SENTENCES]:
            texts.append(lines[i])
            labels.append(str(target))
            test.append(int(fold) >= 8)
    return Task(texts, labels, [(np.flatnonzero(~np.array(test)), np.flatnonzero(test))])


def openstax() -> Task:
    """Textbook modules of the ten largest domains, five folds."""
    corpus = load_corpus("openstax")
    largest = {labels for labels, _ in Counter(corpus.labels).most_common(10)}
    return _folded(corpus.take([i for i, labels in enumerate(corpus.labels) if labels in largest]), 5)


def bbc() -> Task:
    """BBC news in five topics, five folds."""
    return _folded(load_corpus("bbc"), 5)


def spam() -> Task:
    """SpamAssassin, subjects and bodies, five folds."""
    return _folded(load_corpus("spamassassin"), 5)


def arxiv_titles() -> Task:
    """Titles of the 12 commonest first categories; of 15,000 drawn, in order of time, the last fifth is the test."""
    corpus = load_corpus("arxiv_cs", categories="all")
    first = [labels[0] for labels in corpus.labels]
    largest = {name for name, _ in Counter(first).most_common(12)}
    rows = _drawn([i for i, name in enumerate(first) if name in largest], 15_000)
    titles = [corpus.texts[i].split("\n", 1)[0] for i in rows]
    return Task(titles, [first[i] for i in rows], [_by_time(len(rows), 12_000)])


def arxiv_abstracts() -> Task:
    """Titles and abstracts with 34 categories that go together; of 10,500 drawn the last 3,000 are the test."""
    corpus = load_corpus("arxiv_cs")
    chosen = corpus.take(_drawn(range(len(corpus)), 10_500))
    return Task(chosen.texts, chosen.labels, [_by_time(len(chosen), 7_500)])


def federalist() -> Task:
    """Essays known to be Hamilton's or Madison's, thirteen folds of five."""
    corpus = load_corpus("federalist")
    known = corpus.take([i for i, labels in enumerate(corpus.labels) if labels[0] in ("HAMILTON", "MADISON")])
    return _folded(known, 13)


def reviews() -> Task:
    """Three systematic reviews, included or not by title and abstract: five folds within each."""
    corpus = load_corpus("systematic_reviews").part(*REVIEWS)
    names = np.array(corpus.split)
    targets = np.array(corpus.targets)
    parts: list[Part] = []
    for name in REVIEWS:
        rows = np.flatnonzero(names == name)
        parts += _of_folds(rows, _drawn_folds(targets[rows], 5))
    return Task(corpus.texts, targets.tolist(), parts)


def short_texts(name: str) -> Task:
    """A public corpus of short texts, each with a class, as it is parted: of ``short_texts`` in the data folders."""
    found = [path for folder in search_folders() if (path := folder / "short_texts" / f"{name}.jsonl.xz").is_file()]
    if not found:
        raise FileNotFoundError(f"there is no short_texts/{name}.jsonl.xz in the data folders")
    with lzma.open(found[0], "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    test = np.array([row["test"] for row in rows])
    parts = [(np.flatnonzero(~test), np.flatnonzero(test))]
    return Task([row["text"] for row in rows], [str(row["labels"]) for row in rows], parts)


SHORT_TEXTS: dict[str, Callable[[], Task]] = {
    name: partial(short_texts, name) for name in ("trec", "sentence_polarity", "subjectivity", "tweets")
}

TASKS: dict[str, Callable[[], Task]] = {
    "reuters": reuters,
    "reuters_single": reuters_single,
    "ohsumed": ohsumed,
    "20newsgroups": newsgroups,
    "subjects": subjects,
    "movies": movies,
    "sentences": sentences,
    "openstax": openstax,
    "bbc": bbc,
    "spam": spam,
    "arxiv_titles": arxiv_titles,
    "arxiv_abstracts": arxiv_abstracts,
    "federalist": federalist,
    "reviews": reviews,
}


def _as_split(corpus: Corpus) -> Task:
    split = np.array(corpus.split)
    return Task(corpus.texts, corpus.targets, [(np.flatnonzero(split == "train"), np.flatnonzero(split == "test"))])


def _folded(corpus: Corpus, n_folds: int) -> Task:
    first = {text: i for i, text in reversed(list(enumerate(corpus.texts)))}
    once = corpus.take(sorted(first.values()))
    targets = [str(target) for target in once.targets]
    fold = _drawn_folds(np.array(targets), n_folds)
    return Task(once.texts, targets, _of_folds(np.arange(len(once)), fold))


def _drawn_folds(targets: np.ndarray, n_folds: int) -> np.ndarray:
    fold = np.empty(len(targets), dtype=int)
    for k, (_, rows) in enumerate(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(targets, targets)):
        fold[rows] = k
    return fold


def _of_folds(rows: np.ndarray, fold: np.ndarray) -> list[Part]:
    return [(rows[fold != k], rows[fold == k]) for k in range(int(fold.max()) + 1)]


def _drawn(rows: Sequence[int], n: int) -> list[int]:
    """Some of the rows, in their order."""
    return sorted(np.random.default_rng(0).choice(rows, n, replace=False).tolist())


def _by_time(n: int, n_train: int) -> Part:
    return np.arange(n_train), np.arange(n_train, n)
