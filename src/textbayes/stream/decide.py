"""From scores to deliveries: relevant, asked for learning, or drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.kernels.online import filter_scores
from textbayes.stream.topic import Topic
from textbayes.stream.words import FilterLexicon, WeighedRows

Reason = Literal["relevant", "asked", "random"]
_BLOCK = 512  # documents that random numbers are drawn for at once


class Delivery(NamedTuple):
    """A document delivered for one topic, and why.

    ``words`` are those that moved the linear predictor most, with their part of its mean.
    """

    id: str
    topic: str
    probability: float
    reason: Reason
    information_gain: float
    words: dict[str, float]


class Spent(NamedTuple):
    """How many questions of the budget's present stretch have been asked."""

    window: int = 0
    used: int = 0

    def at(self, window: int) -> Spent:
        """What is spent in a stretch: nothing at the beginning of another."""
        return self if window == self.window else Spent(window)


def draws(seed: int, n_seen: int, n_topics: int) -> FloatArray:
    """Uniform numbers for the document after ``n_seen`` others: of a counter-based generator, with no other state."""
    block, row = divmod(n_seen, _BLOCK)
    return _drawn(seed, block, n_topics)[row]


@lru_cache(maxsize=4)
def _drawn(seed: int, block: int, n_topics: int) -> FloatArray:
    generator = np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, block]))
    return generator.random((_BLOCK, n_topics))


def decide(
    probability: FloatArray,
    gain: FloatArray,
    threshold: float,
    ask_at: FloatArray,
    chance: FloatArray | None,
    explore_at: FloatArray,
    questions_left: float,
    overdue: Sequence[int] = (),
) -> list[tuple[int, Reason]]:
    """For which topics a document is delivered, and the reason.

    A document with p > threshold is relevant. Any other is asked about if its expected information gain reaches
    ``ask_at``, the schedule's θ for what was delivered for the topic so far, or the topic is ``overdue`` with a
    question, or drawn if ``chance`` falls below ``explore_at``; all cost one of the questions that are left.
    """
    relevant, asked = probability > threshold, gain >= ask_at
    for k in overdue:
        asked[k] |= ask_at[k] < np.inf
    wanted = relevant | asked if chance is None else relevant | asked | (chance < explore_at)
    chosen: list[tuple[int, Reason]] = []
    for k in wanted.nonzero()[0].tolist():
        if not relevant[k]:
            if questions_left < 1:
                continue
            questions_left -= 1
        chosen.append((k, "relevant" if relevant[k] else "asked" if asked[k] else "random"))
    return chosen


def strongest_words(
    topic: Topic, rows: WeighedRows, position: AnyArray, lexicon: FilterLexicon, top: int
) -> dict[str, float]:
    """The words of one document that move the mean of its linear predictor most: value · mean weight, rounded."""
    columns, parts = np.empty(top, dtype=np.int64), np.empty(top)
    n = filter_scores.strongest_parts(rows.indices, rows.data, position, topic.mean, columns, parts)
    found = zip(lexicon.names(columns[:n]), parts[:n].tolist(), strict=True)
    return {name: round(part, 4) + 0.0 for name, part in found}


class Patience:
    """How long topics have been without a delivery, and the highest probability while they look.

    A topic that delivers nothing asks all the same. With n deliveries and none for n · patience documents, it looks at
    the next ``patience`` documents, and then asks about the first that is at least as probable as all of them. So a
    topic that would never deliver gets judgements to learn from, and asks less and less the more it has had.

    Most documents come while no topic looks, or one or two, so that only these are thought of.

    Attributes
    ----------
    since : list of int
        The number of documents seen when the last delivery of each topic came.
    best : list of float
        The highest probability of the documents that a topic has looked at since; 0 before it looks.
    """

    def __init__(self, delivered: Sequence[int]) -> None:
        self._delivered = list(delivered)
        self.since = [0] * len(delivered)
        self.best = [0.0] * len(delivered)
        self._patience = 0
        self._look_again()

    def use(self, patience: int, n_seen: int) -> None:
        """Go on with another patience, 0 for never; time before it was wanted does not count."""
        if patience and not self._patience:
            self.since, self.best = [n_seen] * len(self.since), [0.0] * len(self.best)
        self._patience = patience
        self._look_again()

    def overdue(self, probability: FloatArray, n_seen: int) -> list[int]:
        """The topics for which a document is to be asked about."""
        return [
            k
            for k in self._looking_at(n_seen)
            if n_seen >= self.since[k] + self._patience * (self._delivered[k] + 1) and probability[k] >= self.best[k]
        ]

    def records(self, probability: FloatArray, n_seen: int) -> dict[int, float]:
        """The topics that look at a document which is more probable than all before, and its probability."""
        return {k: float(probability[k]) for k in self._looking_at(n_seen) if probability[k] > self.best[k]}

    def take_note(self, delivered: Sequence[int], records: Mapping[int, float], n_seen: int) -> None:
        """Note for which topics the document was delivered, after which ``n_seen`` have been seen, and its records."""
        for k, probability in records.items():
            self.best[k] = probability
        for k in delivered:
            self._delivered[k] += 1
            self.since[k], self.best[k] = n_seen, 0.0
            if k in self._looking or self._begins(k) < self._next:
                self._look_again()

    def _begins(self, k: int) -> int:
        """How many documents have been seen when a topic begins to look."""
        return self.since[k] + self._patience * self._delivered[k]

    def _look_again(self) -> None:
        self._looking: list[int] = []
        self._next: float = 0.0 if self._patience else inf  # when a topic more begins to look

    def _looking_at(self, n_seen: int) -> list[int]:
        """The topics that look at the document after ``n_seen`` others."""
        if n_seen >= self._next:
            topics = range(len(self.since))
            self._looking = [k for k in topics if self._begins(k) <= n_seen]
            self._next = min((self._begins(k) for k in topics if self._begins(k) > n_seen), default=inf)
        return self._looking

    def to_state(self) -> dict[str, list[Any]]:
        return {"since": self.since, "best": self.best}

    def restore(self, saved: Mapping[str, Any], delivered: Sequence[int]) -> None:
        """Undo :meth:`to_state`, for topics with so many deliveries."""
        self._delivered = list(delivered)
        self.since, self.best = list(map(int, saved["since"])), list(map(float, saved["best"]))
        self._look_again()
