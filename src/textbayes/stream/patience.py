"""A topic that delivers nothing asks all the same: about the most probable document in a while.

A topic with n deliveries that has had none for n · patience documents looks at the next ``patience`` documents, and
then asks about the first that is at least as probable as all of them. So a topic that would never deliver gets
judgements to learn from, and asks less and less the more it has had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textbayes.core.types import BoolArray, FloatArray, IntArray


class Patience:
    """How long topics have been without a delivery, and the highest probability while they look.

    Attributes
    ----------
    since : array (n_topics,)
        The number of documents seen when the last delivery came.
    best : array (n_topics,)
        The highest probability of the documents that a topic has looked at since; 0 before it looks.
    """

    def __init__(self, delivered: Sequence[int]) -> None:
        self._delivered = np.array(delivered, dtype=np.int64)
        self.since = np.zeros(len(delivered), dtype=np.int64)
        self.best = np.zeros(len(delivered))
        self._patience = 0

    def use(self, patience: int, n_seen: int) -> None:
        """Go on with another patience, 0 for never; time before it was wanted does not count."""
        if patience and not self._patience:
            self.since[:], self.best[:] = n_seen, 0.0
        self._patience = patience

    def overdue(self, probability: FloatArray, n_seen: int) -> BoolArray | None:
        """For which topics a document is to be asked about; None where no topic looks at it."""
        looks = self._looks(n_seen)
        if looks is None:
            return None
        due = n_seen >= self.since + self._patience * (self._delivered + 1)
        return due & (probability >= self.best)

    def records(self, probability: FloatArray, n_seen: int) -> dict[int, float]:
        """The topics that look at a document which is more probable than all before, and its probability."""
        looks = self._looks(n_seen)
        if looks is None:
            return {}
        return {k: float(probability[k]) for k in np.flatnonzero(looks & (probability > self.best)).tolist()}

    def take_note(self, delivered: Sequence[int], records: Mapping[int, float], n_seen: int) -> None:
        """Note for which topics the document was delivered, after which ``n_seen`` have been seen, and its records."""
        for k, probability in records.items():
            self.best[k] = probability
        for k in delivered:
            self._delivered[k] += 1
            self.since[k], self.best[k] = n_seen, 0.0

    def _looks(self, n_seen: int) -> BoolArray | None:
        if not self._patience:
            return None
        looks: BoolArray = n_seen >= self.since + self._patience * self._delivered
        return looks if looks.any() else None

    def to_state(self) -> dict[str, list[Any]]:
        return {"since": self.since.tolist(), "best": self.best.tolist()}

    def restore(self, told: Mapping[str, Any]) -> None:
        """What :meth:`to_state` told; a filter that has never been patient tells nothing."""
        if told:
            since: IntArray = np.array(told["since"], dtype=np.int64)
            best = np.array(told["best"], dtype=np.float64)
            if since.shape != self.since.shape or best.shape != self.best.shape or not np.isfinite(best).all():
                raise ValueError("how long topics have waited does not fit the topics")
            self.since, self.best = since, best
