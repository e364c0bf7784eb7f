"""A pass over the arXiv abstracts for 34 topics: the adaptive filter beside HashingVectorizer and 34 SGDClassifiers.

The filter goes from texts to decisions: words are counted and weighed, and for every topic come the probability of
relevance, the expected information gain of a judgement, and the decision; what is delivered is kept, so that it can be
judged. It is the very loop of ``textbayes filter``, in memory and with nobody judging. The peer only predicts: 34
linear models on hashed counts, as scikit-learn has them by default. Both learn the same labelled documents beforehand,
which is not timed, and both read the same lists of texts. The words behind each delivery, which the peer does not tell
either, are left out; the figure with them is printed as well.

The filter's decisions are compared, bit for bit, with those of the reference: one document at a time, one topic after
the other.

Usage: python benchmarks/bench_filter_throughput.py [--documents N] [--runs 1]. Exits 1 when below 2×.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

from _common import close
from textbayes.core.types import Document
from textbayes.data import load_corpus
from textbayes.stream import AdaptiveFilter, Delivery, simulate
from textbayes.stream.scoring import EachTopic

BAR = 2.0
EVERY = 40  # one document in so many is labelled
N_COMPARED = 2_000


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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, help="the last so many abstracts only")
    parser.add_argument("--runs", type=int, default=1, help="runs of each, of which the best counts (default 1)")
    arguments = parser.parse_args()

    corpus = load_corpus("arxiv_cs")
    topics = corpus.label_names
    labelled = [Document(corpus.ids[i], corpus.texts[i], corpus.labels[i]) for i in range(0, len(corpus), EVERY)]
    texts = list(corpus.texts[-arguments.documents :] if arguments.documents else corpus.texts)
    ids = [str(i) for i in range(len(texts))]
    del corpus

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
    best: dict[str, float] = {}
    for _ in range(arguments.runs):
        begin = time.perf_counter()
        n_yes = peer_pass(vectorizer, models, texts)
        middle = time.perf_counter()
        best["peer"] = min(best.get("peer", float("inf")), middle - begin)
        for name, explain in (("filter", False), ("with words", True)):
            desk = start()
            begin = time.perf_counter()
            n_delivered = sum(1 for _ in simulate(desk, documents(ids, texts), judged=False, explain=explain))
            best[name] = min(best.get(name, float("inf")), time.perf_counter() - begin)
    print(f"{len(labelled):,} labelled documents, then {len(texts):,} for {len(topics)} topics")
    print(f"HashingVectorizer + SGDClassifiers  {best['peer']:7.1f} s  {len(texts) / best['peer']:8,.0f} documents/s")
    print(f"  {n_yes:,} times yes")
    print(
        f"AdaptiveFilter                      {best['filter']:7.1f} s  {len(texts) / best['filter']:8,.0f} documents/s"
    )
    print(f"  {n_delivered:,} deliveries, {len(desk.lexicon):,} words")
    with_words = f"{best['with words']:7.1f} s  {len(texts) / best['with words']:8,.0f} documents/s"
    print(f"  with the words behind deliveries  {with_words}: {best['peer'] / best['with words']:.2f}x")
    ratio = best["peer"] / best["filter"]
    close("filter throughput", same and ratio >= BAR, f"{ratio:.2f}x the peer's documents a second (bar {BAR:g}x)")


if __name__ == "__main__":
    main()
