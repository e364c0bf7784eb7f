"""Many labels with posteriors of their own, that share one reading of the documents and the threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Self, TypeVar

import numpy as np

from textbayes.core.errors import InputError
from textbayes.models.online.base import LearnInfo, LinearPredictor, OnlinePosterior, canonical_rows, check_outcomes
from textbayes.models.online.likelihood import OnlineLikelihood

P = TypeVar("P", bound=OnlinePosterior)
R = TypeVar("R")


class Bank(Generic[P]):
    """Posteriors of single labels side by side: ``learn`` and ``predict`` as for one, with a column per label.

    Each label has its own words, such as the 300 that tell most of it. Labels are independent of each other, so the
    result does not depend on the number of threads.

    Parameters
    ----------
    posteriors : sequence of FullPosterior or LowRankPosterior
    n_jobs : int
        Threads.

    Examples
    --------
    >>> from textbayes.models.online import FullPosterior, PAPER_PROBIT
    >>> bank = Bank([FullPosterior.start([0]), FullPosterior.start([0, 1])])
    >>> bank, info = bank.learn(np.eye(2), np.array([[1, -1], [-1, 1]]), PAPER_PROBIT)
    >>> PAPER_PROBIT.predictive(*bank.predict(np.eye(2))) > 0.5
    array([[ True, False],
           [False,  True]])
    """

    def __init__(self, posteriors: Sequence[P], n_jobs: int = 1) -> None:
        self.posteriors = tuple(posteriors)
        self.n_jobs = n_jobs
        if not self.posteriors or any(one.n_labels != 1 for one in self.posteriors):
            raise InputError("a bank needs posteriors of one label each, at least one of them")

    @property
    def n_labels(self) -> int:
        return len(self.posteriors)

    def __len__(self) -> int:
        return len(self.posteriors)

    def __iter__(self) -> Iterator[P]:
        return iter(self.posteriors)

    def __getitem__(self, label: int) -> P:
        return self.posteriors[label]

    def predict(self, X: Any) -> LinearPredictor:
        """Mean and variance of the linear predictors, (n_docs, n_labels)."""
        rows = canonical_rows(X)
        parts = self._each(lambda label: self.posteriors[label].predict(rows))
        return LinearPredictor(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))

    def learn(
        self,
        X: Any,
        y: Any,
        likelihood: OnlineLikelihood,
        passes: int = 1,
        retention: float = 1.0,
        in_place: bool = False,
    ) -> tuple[Self, LearnInfo]:
        """Learn the documents for every label; y (n_docs, n_labels) of −1, +1 and 0 for no judgement."""
        rows = canonical_rows(X)
        outcomes = check_outcomes(y, rows.shape[0], self.n_labels)

        def learn(label: int) -> tuple[P, LearnInfo]:
            column = np.ascontiguousarray(outcomes[:, label])
            return self.posteriors[label].learn(rows, column, likelihood, passes, retention, in_place)

        learnt, infos = zip(*self._each(learn), strict=True)
        info = LearnInfo(*(np.concatenate(columns, axis=1) for columns in zip(*infos, strict=True)))
        return (self if in_place else type(self)(learnt, self.n_jobs)), info

    def _each(self, function: Callable[[int], R]) -> list[R]:
        """Results per label; the largest first, so that no thread is left with them at the end."""
        if self.n_jobs == 1:
            return [function(label) for label in range(self.n_labels)]
        order = np.argsort([-one.n_weights for one in self.posteriors], kind="stable")
        with ThreadPoolExecutor(max_workers=self.n_jobs) as pool:
            done = dict(zip(order, pool.map(function, order), strict=True))
        return [done[label] for label in range(self.n_labels)]
