"""How many documents a second the adaptive filter takes: beside scikit-learn, and the longer its stream becomes.

First, a pass over the arXiv abstracts for 34 topics beside HashingVectorizer and 34 SGDClassifiers.

The filter goes from texts to decisions: words are counted and weighed, and for every topic come the probability of
relevance, the expected information gain of a judgement, and the decision; what is delivered is kept, so that it can be
judged. It is the very loop of ``textbayes filter``, in memory and with nobody judging. The peer only predicts: 34
linear models on hashed counts, as scikit-learn has them by default. Both learn the same labelled documents beforehand,
which is not timed, and both read the same lists of texts. The bar is by the clock: the filter uses all cores, the peer
can use only one. The same ratio by CPU time, that of all threads together, is printed beside it. The words behind each
delivery, which the peer does not tell either, are left out; the figure with them is printed as well.

The filter's decisions are compared, bit for bit, with those of the reference: one document at a time, one topic after
the other.

Then streams of 50,000, 150,000 and 500,000 documents for six topics, in a folder with its log and its snapshots, every
delivery judged by its labels: the loop of ``textbayes filter --judge-by-labels``. Abstracts come in random order, so
that all parts of a stream are alike, and again when they are used up, each time with some of their words altered, so
that words go on to be new. The rate of the last tenth is compared with that of the first, by processor time. A machine
that others use is now faster and now slower by that measure too: so a yardstick, the same documents through a copy of
the filter as it was at the start, is timed twenty times in every tenth, and rates are told in its units as well. These
are held to the bar. What the filter keeps is printed too: memory grows by what is delivered.

Usage: python benchmarks/bench_filter_throughput.py [--documents N] [--runs 1] [--streams N ...] [--part peer|streams].
Exits 1 when below 2×, or when the last tenth of a stream has less than 0.9 times the rate of the first. The log is
written to the folder of temporary files (TMPDIR); every delivery waits for its disk.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from _common import close
from textbayes.core.types import Document
from textbayes.data import Corpus, load_corpus
from textbayes.stream import AdaptiveFilter, Delivery, FilterFolder, simulate
from textbayes.stream.run import run
from textbayes.stream.scoring import EachTopic

BAR = 2.0  # by the clock
EVERY = 40  # one document in so many is labelled
N_COMPARED = 2_000
STREAMS = (50_000, 150_000, 500_000)
STEADY = 0.9  # least rate of the last tenth of a stream, in rates of the first
TOPICS = ("cs.DB", "cs.GT", "cs.HC", "cs.NA", "cs.PL", "cs.SE")


def documents(ids: list[str], texts: list[str]) -> Iterator[Document]:
    return (Document(name, text) for name, text in zip(ids, texts, strict=True))


def peer_pass(vectorizer: Any, models: list[Any], texts: list[str], batch: int = 4096) -> int:
    """How many decisions are yes."""
    n = 0
    for start in range(0, len(texts), batch):
        X = vectorizer.transform(texts[start : start + batch])
        n += sum(int(model.predict(X).sum()) for model in models)
    return n


def one_by_one(desk: AdaptiveFilter, ids: list[str], texts: list[str]) -> list[Delivery]:
    """The reference: no document is read, weighed or scored with another, nor for two topics at once."""
    desk._scorer = EachTopic(desk.topics)
    return [delivery for document in documents(ids, texts) for delivery in desk.see(document, 0.0).deliveries]


class Feed:
    """Batches of documents as the command line reads them; the processor time of making them is told apart."""

    def __init__(self, corpus: Corpus, n_docs: int, batch: int = 1024) -> None:
        self._corpus, self._n_docs, self._batch = corpus, n_docs, batch
        self.seconds = 0.0

    def __iter__(self) -> Iterator[list[Document]]:
        documents = self._documents()
        while True:
            begin = time.process_time()
            batch = list(islice(documents, self._batch))
            self.seconds += time.process_time() - begin
            if not batch:
                return
            yield batch

    def _documents(self) -> Iterator[Document]:
        n = len(self._corpus)
        for start in range(0, self._n_docs, n):
            order = np.random.default_rng(start).permutation(n)[: self._n_docs - start]
            for i, j in enumerate(order.tolist(), start=start):
                text = altered(self._corpus.texts[j], start // n)
                yield Document(str(i), text, self._corpus.labels[j])


def altered(text: str, turn: int) -> str:
    """A text with one long word in forty made another, at each turn but the first."""
    if not turn:
        return text
    end = "x" + "abcdefghij"[turn % 10]
    words = text.split()
    return " ".join(word + end if len(word) > 6 and zlib.crc32(word.encode()) % 40 == 0 else word for word in words)


class Yardstick:
    """Times the same work again and again: documents that a filter judges, beginning as it was at the start."""

    def __init__(self, desk: AdaptiveFilter, documents: list[Document]) -> None:
        self._desk, self._documents = desk, documents
        self.times: list[float] = []
        self.seconds = 0.0  # of all that measuring costs

    def measure(self) -> None:
        start = time.process_time()
        desk = self._desk.copy()
        begin = time.process_time()
        list(simulate(desk, self._documents))
        end = time.process_time()
        self.times.append(end - begin)
        self.seconds += end - start


def judged_stream(desk: AdaptiveFilter, corpus: Corpus, n_docs: int) -> float:
    """The rate of the last tenth of a stream, in rates of the first, both in units of the yardstick."""
    feed = Feed(corpus, n_docs)
    yard = Yardstick(desk, list(islice(Feed(corpus, len(corpus))._documents(), 100)))
    marks: list[float] = []

    def own_time() -> float:
        return time.process_time() - feed.seconds - yard.seconds

    with tempfile.TemporaryDirectory() as name:
        FilterFolder.create(Path(name, "state"), desk)
        with FilterFolder.open(Path(name, "state")) as folder:
            folder.begin("arXiv")

            def before_each() -> None:
                if folder.filter.n_seen % (n_docs // 10) == 0:
                    marks.append(own_time())
                if folder.filter.n_seen % (n_docs // 200) == n_docs // 400:
                    yard.measure()
                folder.take_judgements(print)

            begin = time.perf_counter()
            n_delivered = sum(1 for _ in run(folder, feed, by_labels=True, before_each=before_each))
            marks.append(own_time())
            seconds = time.perf_counter() - begin
            found = folder.filter
    rates = n_docs / 10 / np.diff(marks)
    steady = rates * np.array(yard.times).reshape(10, -1).mean(axis=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{n_docs:,} documents for {len(found.topics)} topics, {n_delivered:,} deliveries judged: {seconds:.0f} s")
    print(f"  documents a second of processor time, by tenths: {' '.join(f'{rate:,.0f}' for rate in rates)}")
    print(f"  in units of the yardstick: {' '.join(f'{rate:.1f}' for rate in steady)}")
    kept = f"{len(found.kept):,} documents and {len(found.lexicon):,} words kept"
    most = max(len(topic.words) for topic in found.topics)
    print(f"  {most:,} words of a topic at most; {kept}; {memory:.1f} GiB", flush=True)
    return float(steady[-1] / steady[0])


def compare_streams(corpus: Corpus, labelled: list[Document], sizes: list[int]) -> list[float]:
    """The ratio of each stream; a short one first, so that everything is compiled."""
    desk = AdaptiveFilter.start(labelled, topics=TOPICS)
    list(simulate(desk.copy(), Feed(corpus, 2_000)._documents()))
    return [judged_stream(desk.copy(), corpus, n_docs) for n_docs in sizes]


class Times(NamedTuple):
    """Seconds by the clock, and of CPU time of all threads; or ratios of these."""

    clock: float
    cpu: float


def beside_peer(labelled: list[Document], topics: Any, texts: list[str], runs: int) -> tuple[bool, Times]:
    """Whether decisions are those of the reference, and the filter's rates in rates of the peer's."""
    ids = [str(i) for i in range(len(texts))]

    def start() -> AdaptiveFilter:
        return AdaptiveFilter.start(labelled, topics=topics)

    n = min(N_COMPARED, len(texts))
    together, alone = start(), start()
    deliveries = list(simulate(together, documents(ids[:n], texts[:n]), judged=False))
    same = deliveries == one_by_one(alone, ids[:n], texts[:n]) and len(together.lexicon) == len(alone.lexicon)
    print(f"{n:,} documents, {len(deliveries):,} deliveries: {'identical' if same else 'NOT the same'} one by one")

    vectorizer = HashingVectorizer()
    X = vectorizer.transform([document.text for document in labelled])
    models = [SGDClassifier(random_state=0).fit(X, [topic in d.labels for d in labelled]) for topic in topics]
    best: dict[str, Times] = {}
    counted: dict[str, int] = {}
    for _ in range(runs):
        for name in ("peer", "filter", "with words"):
            desk = start()  # not timed
            begin = Times(time.perf_counter(), time.process_time())
            if name == "peer":
                counted[name] = peer_pass(vectorizer, models, texts)
            else:
                counted[name] = n_delivered(desk, ids, texts, explain=name == "with words")
            took = Times(time.perf_counter() - begin.clock, time.process_time() - begin.cpu)
            best[name] = min(best.get(name, took), took)
    print(f"{len(labelled):,} labelled documents, then {len(texts):,} for {len(topics)} topics; by the clock")
    for name, shown in (
        ("peer", "HashingVectorizer + SGDClassifiers"),
        ("filter", "AdaptiveFilter"),
        ("with words", "  with the words behind deliveries"),
    ):
        by_clock, by_cpu = best["peer"].clock / best[name].clock, best["peer"].cpu / best[name].cpu
        print(f"{shown:36}{best[name].clock:7.1f} s  {len(texts) / best[name].clock:8,.0f} documents/s, "
              f"{by_clock:.2f}x, by CPU time {by_cpu:.2f}x")  # fmt: skip
    print(f"{counted['peer']:,} times yes, {counted['filter']:,} deliveries")
    return same, Times(best["peer"].clock / best["filter"].clock, best["peer"].cpu / best["filter"].cpu)


def n_delivered(desk: AdaptiveFilter, ids: list[str], texts: list[str], explain: bool) -> int:
    """How many of the documents the filter delivers."""
    return sum(1 for _ in simulate(desk, documents(ids, texts), judged=False, explain=explain))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, help="beside scikit-learn: the last so many abstracts only")
    parser.add_argument("--runs", type=int, default=1, help="runs of each, of which the best counts (default 1)")
    parser.add_argument("--streams", type=int, nargs="*", default=list(STREAMS), help="documents of each judged stream")
    parser.add_argument("--part", choices=["peer", "streams"], help="one of the two parts only")
    arguments = parser.parse_args()

    corpus = load_corpus("arxiv_cs")
    labelled = [Document(corpus.ids[i], corpus.texts[i], corpus.labels[i]) for i in range(0, len(corpus), EVERY)]
    passed, figures = True, []
    if arguments.part != "streams":
        texts = list(corpus.texts[-arguments.documents :] if arguments.documents else corpus.texts)
        same, ratio = beside_peer(labelled, corpus.label_names, texts, arguments.runs)
        passed = same and ratio.clock >= BAR
        figures.append(f"{ratio.clock:.2f}x the peer's documents a second (bar {BAR:g}x), by CPU time {ratio.cpu:.2f}x")
    if arguments.part != "peer":
        ratios = compare_streams(corpus, labelled, arguments.streams)
        passed = passed and min(ratios) >= STEADY
        told = ", ".join(f"{ratio:.2f}x at {n:,}" for n, ratio in zip(arguments.streams, ratios, strict=True))
        figures.append(f"last tenth of a judged stream {told} documents the rate of the first (bar {STEADY:g}x)")
    close("filter throughput", passed, "; ".join(figures))


if __name__ == "__main__":
    main()
