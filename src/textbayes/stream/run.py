"""The loop: documents in, deliveries out, judgements learnt between documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from textbayes.core.types import Document
from textbayes.stream.decide import Delivery, Scores
from textbayes.stream.filter import AdaptiveFilter, Seen
from textbayes.stream.judgements import Verdict
from textbayes.stream.words import Bags

_MOST_AHEAD = 256  # documents scored at once


class Keeper(Protocol):
    """A filter, or something that keeps a record of what one does."""

    @property
    def filter(self) -> AdaptiveFilter: ...
    def see(self, document: Document, time: float, bags: Bags, i: int, scores: Scores) -> Seen: ...
    def judge(self, document: str, topic: str, relevant: bool) -> Verdict: ...


def run(
    keeper: Keeper,
    batches: Iterable[Sequence[Document]],
    *,
    by_labels: bool = False,
    before_each: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.time,
) -> Iterator[Delivery]:
    """Deliveries as documents come.

    Parameters
    ----------
    batches : iterable of sequences of Document
        Documents read together are scored ahead; what has become wrong through a judgement is scored again, so the
        result does not depend on the batches. Of one document each where documents come slowly.
    by_labels : bool
        Judge every delivered document at once, by its own labels: to try settings out on a labelled stream.
    before_each : callable, optional
        Called before each decision, to learn judgements that have come in.
    """
    for chunk in batches:
        ahead = _Ahead(keeper.filter, [document.text for document in chunk])
        for i, document in enumerate(chunk):
            if before_each is not None:
                before_each()
            seen = keeper.see(document, clock(), ahead.bags, i, ahead.scores(i))
            for delivery in seen.deliveries:
                yield delivery
                if by_labels:
                    keeper.judge(delivery.id, delivery.topic, delivery.topic in document.labels)


def simulate(filter: AdaptiveFilter, documents: Iterable[Document], batch: int = _MOST_AHEAD) -> Iterator[Delivery]:
    """Filter a labelled stream with every delivered document judged at once by its labels, as in TREC-9.

    The filter learns; pass one that may. Documents have no time: budgets by time see one moment.
    """
    documents = iter(documents)
    batches = iter(lambda: list(islice(documents, batch)), [])
    return run(_InMemory(filter), batches, by_labels=True, clock=lambda: 0.0)


class _InMemory:
    """A filter of which no record is kept."""

    def __init__(self, filter: AdaptiveFilter) -> None:
        self.filter = filter

    def see(self, *what: Any) -> Seen:
        return self.filter.see(*what)

    def judge(self, document: str, topic: str, relevant: bool) -> Verdict:
        return self.filter.judge(document, topic, relevant)


class _Ahead:
    """Scores of the next documents: more at a time while nothing is learnt, one after something was."""

    def __init__(self, filter: AdaptiveFilter, texts: list[str]) -> None:
        self._filter, self.bags = filter, filter.read(texts)
        self._start = self._stop = 0
        self._scores: Scores | None = None
        self._version, self._n_words = filter.version, len(filter.lexicon)

    def scores(self, i: int) -> Scores:
        """The scores of one document, by what the filter knows now."""
        stale = self._version != self._filter.version
        if self._scores is None or stale or i >= self._stop:
            size = 1 if stale else min(max(2 * (self._stop - self._start), 1), _MOST_AHEAD)
            self._start, self._stop = i, min(i + size, len(self.bags))
            self._scores = self._filter.score(self.bags, self._start, self._stop)
            self._version, self._n_words = self._filter.version, len(self._filter.lexicon)
        elif self._has_new_words(i):
            return self._filter.score(self.bags, i, i + 1)
        row = i - self._start
        return Scores(*(part[row : row + 1] for part in self._scores))

    def _has_new_words(self, i: int) -> bool:
        """Whether words of the document have got columns since it was scored: others weigh less beside them."""
        if len(self._filter.lexicon) == self._n_words:
            return False
        columns = self.bags.columns(self._filter.lexicon)
        return bool((columns[self.bags.words_of(i)] >= self._n_words).any())
