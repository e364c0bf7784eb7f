"""A full covariance for streams of single judgements: it is passed over once for many of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.models.online.base import Rows
from textbayes.models.online.full import FullPosterior
from textbayes.models.online.likelihood import ClosedForm
from textbayes.models.online.words import WordsPosterior, new_words

MOST = 32  # directions that wait; a multiple of 4. More cost more in every prediction than they save in learning


class Waiting:
    """Room for directions and factors. Posteriors share it: each knows how many are its own, and adds after those."""

    def __init__(self, width: int) -> None:
        self.directions, self.removed = np.zeros((MOST, width)), np.zeros(MOST)
        self.n = 0

    def followed_by(self, n: int, direction: FloatArray, removed: float) -> Waiting:
        """The first ``n`` and one more: here, unless another posterior has put something there."""
        room = self
        if n < self.n:
            room = Waiting(self.directions.shape[1])
            room.directions[:n], room.removed[:n] = self.directions[:n], self.removed[:n]
        room.directions[n, : len(direction)], room.removed[n] = direction, removed
        room.n = n + 1
        return room


@dataclass(eq=False)
class DeferredPosterior(WordsPosterior):
    """What :class:`FullPosterior` is, up to rounding; learning one document costs no pass over the covariance.

    The covariance is ``base`` less the latest updates, at most 32, which are kept as directions and factors. ``base``
    is never changed, so copies share it: bringing it up to date makes another. It has room for words to come, where it
    is their prior, so that a word joins at no cost.

    Attributes
    ----------
    words, mean
        As in :class:`FullPosterior`; the prior is N(0, variance) for every weight.
    base : array (n, n), n ≥ 1 + n_words
    waiting : Waiting
    n_waiting : int
        The covariance is base − Σ_k removed_k · directions_k directions_k' over the first so many of ``waiting``.
    """

    words: IntArray
    mean: FloatArray
    base: FloatArray
    waiting: Waiting
    n_waiting: int
    variance: float

    @classmethod
    def of(cls, full: FullPosterior, variance: float) -> Self:
        """The same posterior, with nothing that waits."""
        return cls.restore(full.words, full.mean, full.cov, np.zeros((0, len(full.mean))), np.zeros(0), variance)

    @classmethod
    def restore(
        cls,
        words: IntArray,
        mean: FloatArray,
        base: FloatArray,
        directions: FloatArray,
        removed: FloatArray,
        variance: float,
    ) -> Self:
        """A posterior from arrays without room, as a file has them."""
        n, size = directions.shape
        if base.shape != (size, size) or mean.shape != (size,) or removed.shape != (n,) or n >= MOST:
            raise ValueError("mean, covariance and directions of a posterior do not fit together")
        made = cls(words, mean, base, Waiting(size), 0, variance)
        for direction, factor in zip(directions, removed.tolist(), strict=True):
            made.waiting, made.n_waiting = (
                made.waiting.followed_by(made.n_waiting, direction, factor),
                made.n_waiting + 1,
            )
        return made

    @property
    def directions(self) -> FloatArray:
        return self.waiting.directions[: self.n_waiting, : len(self.mean)]

    @property
    def removed(self) -> FloatArray:
        return self.waiting.removed[: self.n_waiting]

    @property
    def cov(self) -> FloatArray:
        """The covariance, computed anew; O(words² · what waits)."""
        size = len(self.mean)
        return np.ascontiguousarray(self._up_to_date()[:size, :size])

    @property
    def n_weights(self) -> int:
        return len(self.mean)

    def copy(self) -> Self:
        return type(self)(self.words, self.mean.copy(), self.base, self.waiting, self.n_waiting, self.variance)

    def _predict_rows(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        from textbayes.kernels.online.deferred import predict_deferred

        mean, var = predict_deferred(*rows, *self._state())
        return mean, var

    def grow(self, words: Any, variance: float = 1.0) -> Self:
        """The same posterior with more words, of mean 0 and the prior variance; what waits says nothing of them."""
        if variance != self.variance:
            raise InputError(f"variance={variance} is given, but the posterior has room for words of {self.variance}")
        added = new_words(words, self.words)
        mean = np.concatenate([self.mean, np.zeros(len(added))])
        base, waiting = self.base, self.waiting
        if len(mean) > len(base):
            room = len(mean) + len(mean) // 16 + 32
            base, waiting = np.zeros((room, room)), Waiting(room)
            base[: len(self.base), : len(self.base)] = self.base
            base[range(len(self.base), room), range(len(self.base), room)] = variance
            waiting.directions[: self.n_waiting, : len(self.mean)] = self.directions
            waiting.removed[: self.n_waiting], waiting.n = self.removed, self.n_waiting
        words = np.concatenate([self.words, added])
        return type(self)(words, mean, base, waiting, self.n_waiting, variance)

    def _state(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, int]:
        return self.mean, self.base, self.waiting.directions, self.waiting.removed, self.n_waiting

    def _learn_rows(self, rows: Rows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        from textbayes.kernels.online.outcome import outcome

        log_prob[:] = 0.0
        for i in np.flatnonzero(y).tolist():
            mean, var, direction = self._predict_one(rows, i)
            log_prob[i], first, second = outcome(mean[0], var[0], y[i], *closed)
            self._update_one(rows, i, direction, np.array([first]), np.array([second]))

    def _predict_one(self, rows: Rows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        from textbayes.kernels.online.deferred import look_deferred

        mean, var, direction = look_deferred(*rows.document(i), *self._state())
        return np.array([mean]), np.array([var]), direction

    def _update_one(self, rows: Rows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        if not memo.any():
            return
        self.mean += d1[0] * memo
        self.waiting = self.waiting.followed_by(self.n_waiting, memo, -d2[0])
        self.n_waiting += 1
        if self.n_waiting == MOST:
            self._use(self._up_to_date())

    def _up_to_date(self) -> FloatArray:
        """``base`` with what waits brought in."""
        from textbayes.kernels.online.deferred import fold

        base, whole = self.base.copy(), (self.n_waiting + 3) // 4 * 4
        if self.n_waiting:
            removed = self.waiting.removed[:whole].copy()
            removed[self.n_waiting :] = 0.0  # of others, which share the room
            fold(base, len(self.mean), self.waiting.directions[:whole], removed)
        return base

    def _use(self, base: FloatArray) -> None:
        self.base, self.waiting, self.n_waiting = base, Waiting(len(base)), 0

    def _drift_in_place(self, retention: float) -> None:
        kept, base, size = retention**2, self._up_to_date(), len(self.mean)
        self.mean *= retention
        base[:size, :size] *= kept
        base.ravel()[: size * (len(base) + 1) : len(base) + 1] += (1.0 - kept) * self.variance
        self._use(base)
