"""From scores to deliveries: relevant, asked for learning, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.stream.compiled import filter_kernels
from textbayes.stream.topic import Topic
from textbayes.stream.words import Lexicon, Rows

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


def strongest_words(topic: Topic, rows: Rows, position: AnyArray, lexicon: Lexicon, top: int) -> dict[str, float]:
    """The words of one document that move the mean of its linear predictor most: value · mean weight, rounded."""
    columns, parts = np.empty(top, dtype=np.int64), np.empty(top)
    n = filter_kernels().strongest_parts(rows.indices, rows.data, position, topic.mean, columns, parts)
    found = zip(lexicon.names(columns[:n]), parts[:n].tolist(), strict=True)
    return {name: round(part, 4) + 0.0 for name, part in found}
