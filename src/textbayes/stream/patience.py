"""A topic that delivers nothing asks all the same: about the most probable document in a while.

A topic with n deliveries that has had none for n · patience documents looks at the next ``patience`` documents, and
then asks about the first that is at least as probable as all of them. So a topic that would never deliver gets
judgements to learn from, and asks less and less the more it has had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite
from typing import Any

from textbayes.core.types import FloatArray


class Patience:
    """How long topics have been without a delivery, and the highest probability while they look.

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

    def restore(self, told: Mapping[str, Any], delivered: Sequence[int]) -> None:
        """What :meth:`to_state` told of topics with so many deliveries; filters of before told nothing."""
        self._delivered = list(delivered)
        if told:
            self.since, self.best = list(map(int, told["since"])), list(map(float, told["best"]))
            if (
                len(self.since) != len(delivered)
                or len(self.best) != len(delivered)
                or not all(map(isfinite, self.best))
            ):
                raise ValueError("how long topics have waited does not fit the topics")
        self._look_again()
