"""Cross-validation: the folds of the documents, and one driver for whatever is computed fold by fold.

:class:`Folds` says which documents are held out together. :func:`over_folds` calls a function for every task and fold,
in this process, on threads or by the executor in use, reports progress and recalls folds from a checkpoint.
:func:`out_of_fold` puts the results together: predictions of each document by a model that was not trained on it.
"""

from __future__ import annotations

import numbers
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np

from textbayes.core.errors import InputError, is_interrupt
from textbayes.core.executor import in_parallel, spread
from textbayes.core.folds import group_codes, stratified_folds
from textbayes.core.progress import Progress, silent
from textbayes.core.types import AnyArray, BoolArray, IntArray

R = TypeVar("R")
T = TypeVar("T")


class FoldCheckpoint(Protocol):
    """Results of finished folds by name, so that an interrupted cross-validation can be resumed."""

    def recall(self, fold: str) -> AnyArray | None:
        """Result of a fold that was finished before, None if there is none."""
        ...

    def finish(self, fold: str, result: AnyArray) -> None:
        """Store the result of a fold."""
        ...


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a cross-validation.

    Parameters
    ----------
    number : array (n_docs,)
        The fold that each document is held out in, from 0 on; −1 for documents that are only used for training.
    n_cut : int
        Folds that the documents were cut into, at least as many as are held out.
    training : sequence of boolean arrays (n_docs,), optional
        Training documents of each fold, where these are not all documents outside of it.

    Examples
    --------
    >>> folds = Folds.stratified([[1], [1], [0], [0]], 2)
    >>> train, test = folds.split(0)
    >>> folds.n, int(train.sum()), int(test.sum())
    (2, 2, 2)
    """

    number: IntArray
    n_cut: int
    training: Sequence[BoolArray] | None = None

    @classmethod
    def stratified(
        cls,
        indicator: Any,
        n_folds: float,
        random_state: int | np.random.Generator | None = 0,
        groups: Iterable[Hashable] | None = None,
        copies: IntArray | None = None,
        n_held_out: int | None = None,
    ) -> Folds:
        """Folds that spread the positives of every label evenly, see :func:`textbayes.core.folds.stratified_folds`.

        There are fewer folds than ``n_folds`` where there are fewer documents, groups or different texts.

        Parameters
        ----------
        indicator : boolean array (n_docs, n_labels)
        n_folds : int, or a share
            A share between 0 and 1 of the documents is held out once: a validation set.
        random_state : int, Generator or None
        groups : sequence of n_docs values, optional
            Documents of one group share a fold.
        copies : array (n_docs,), optional
            The place of the first document that each is a copy of.
        n_held_out : int, optional
            Folds that are held out; documents of the others are only used for training. All by default.
        """
        if 0.0 < n_folds < 1.0:  # of so many folds some are held out together
            share = Fraction(n_folds).limit_denominator(_MOST_PARTS)
            share = min(max(share, Fraction(1, _MOST_PARTS)), Fraction(_MOST_PARTS - 1, _MOST_PARTS))
            cut = cls.stratified(indicator, share.denominator, random_state, groups, copies)
            return replace(cut, number=np.where(cut.number < share.numerator, 0, -1))
        number = stratified_folds(indicator, min(int(n_folds), len(indicator)), random_state, groups, copies)
        folds = cls(number, int(number.max()) + 1)
        return folds if n_held_out is None else folds.holding_out(n_held_out)

    @classmethod
    def of(
        cls,
        cv: Any,
        indicator: BoolArray,
        random_state: int | None = 0,
        groups: Iterable[Hashable] | None = None,
        counted: BoolArray | None = None,
        X: Any = None,
        y: Any = None,
    ) -> Folds:
        """Folds from whatever scikit-learn takes as ``cv``, or from the fold of each document.

        Parameters
        ----------
        cv : int, share, array (n_docs,) of fold numbers, splitter, iterable of (train, test) or Folds
            Test parts must not overlap. A share between 0 and 1 is that of a validation set.
        indicator : boolean array (n_docs, n_labels)
        random_state : int or None
            For a number of folds, or a share.
        groups : sequence of n_docs values, optional
            Documents of one group share a fold; a splitter is given them.
        counted : boolean array (n_docs,), optional
            For a number of folds: the other documents, of weight 0, are in none.
        X, y : optional
            Documents and target for a splitter; by default the documents' numbers and their (first) label.
        """
        if isinstance(cv, cls):
            return cv
        n_docs = len(indicator)
        codes = None if groups is None else group_codes(groups, n_docs)
        if isinstance(cv, numbers.Real) and not isinstance(cv, bool):
            if not (0.0 < float(cv) < 1.0 or (isinstance(cv, numbers.Integral) and int(cv) >= 2)):
                raise InputError(f"cv={cv} is not usable; pass 2 folds or more, or the share of a validation set")
            rows = np.arange(n_docs) if counted is None else np.flatnonzero(counted)
            folds = cls.stratified(indicator[rows], float(cv), random_state, None if codes is None else codes[rows])
            number = np.full(n_docs, -1)
            number[rows] = folds.number
            return replace(folds, number=number)
        if isinstance(cv, np.ndarray) and cv.ndim == 1 and cv.dtype.kind in "iu":
            return cls._numbered(cv, n_docs)
        from sklearn.model_selection import check_cv

        if y is None:
            y = indicator.argmax(axis=1) if indicator.shape[1] > 1 else indicator[:, 0]
        splitter = check_cv(cv, y, classifier=True)
        return cls._of_pairs(splitter.split(np.arange(n_docs) if X is None else X, y, codes), n_docs)

    @classmethod
    def _numbered(cls, number: AnyArray, n_docs: int) -> Folds:
        if len(number) != n_docs:
            raise InputError(f"cv holds {len(number)} fold numbers for {n_docs} documents; pass one for each")
        used, place = np.unique(number[number >= 0], return_inverse=True)
        if not len(used):
            raise InputError(_OVERLAP)
        renumbered = np.full(n_docs, -1)
        renumbered[number >= 0] = place
        return cls(renumbered, len(used))

    @classmethod
    def _of_pairs(cls, pairs: Iterable[tuple[AnyArray, AnyArray]], n_docs: int) -> Folds:
        number, training, tested = np.full(n_docs, -1), [], 0
        for k, (train, test) in enumerate(pairs):
            mask = np.zeros(n_docs, dtype=np.bool_)
            mask[train] = True
            if mask.sum() != len(train):
                raise InputError("a training part of cv has a document twice; pass each once, with sample weights")
            number[test] = k
            training.append(mask)
            tested += len(test)
        if not tested or (number >= 0).sum() != tested or len(np.unique(number[number >= 0])) != len(training):
            raise InputError(_OVERLAP)
        rest = all((mask == (number != k)).all() for k, mask in enumerate(training))
        return cls(number, len(training), None if rest else training)

    @property
    def n(self) -> int:
        """Folds that are held out in turn."""
        return int(self.number.max()) + 1

    @property
    def held_out(self) -> BoolArray:
        """Documents that are held out in some fold, (n_docs,)."""
        return self.number >= 0

    def split(self, k: int) -> tuple[BoolArray, BoolArray]:
        """Training and test documents of a fold, two boolean arrays (n_docs,)."""
        test = self.number == k
        return (~test if self.training is None else self.training[k]), test

    def holding_out(self, n: int) -> Folds:
        """The first n folds; documents of the others are only used for training."""
        return replace(self, number=np.where(self.number < n, self.number, -1))

    def name(self, k: int, task: Any = None) -> str:
        """Name of a fold in a checkpoint: "fold 2 of 5", after the name of the task if there is one."""
        own = f"fold {k + 1} of {self.n}"
        name = getattr(task, "name", task)
        return own if name is None else f"{name}, {own}"


_MOST_PARTS = 20  # that a validation set is cut of: shares are multiples of 1/20, or of a smaller number
_OVERLAP = "every document may be tested once: the test parts of cv overlap or are empty; use k folds"


def over_folds(
    function: Callable[..., R],
    folds: Folds,
    tasks: Iterable[T] = (None,),  # type: ignore[assignment]
    shared: Sequence[Any] = (),
    *,
    n_jobs: int | None = None,
    report: Progress = silent,
    stage: str = "cross-validation",
    checkpoint: FoldCheckpoint | None = None,
    in_turn: bool = False,
    total: int | None = None,
) -> Iterator[tuple[T, int, R]]:
    """``(task, k, function(task, k, *shared))`` for every task and every fold that is held out, in order.

    Parameters
    ----------
    function : callable
        Called with a task, the number of a fold and what is shared.
    folds : Folds
    tasks : iterable
        May be lazy: the folds of a task begin as soon as the task is known.
    shared : sequence
        Reaches each worker of an executor once.
    n_jobs : int, optional
        Threads to use where no executor is in use; folds run one after the other without it.
    report : Progress
        Called before the first fold and after each.
    stage : str
        What is reported.
    checkpoint : FoldCheckpoint, optional
        Folds that it knows are not computed again; the name of a fold is that of :meth:`Folds.name`.
    in_turn : bool
        Compute folds in this thread one after the other, whatever executor is in use: what they do inside may be
        spread instead.
    total : int, optional
        Number of tasks times folds, to be reported; known where tasks have a length.
    """
    if total is None and isinstance(tasks, Sized):
        total = len(tasks) * folds.n
    due: deque[tuple[T, int, Any]] = deque()  # folds that were begun or recalled, in order

    def missing() -> Iterator[tuple[T, int]]:
        for task in tasks:
            for k in range(folds.n):
                known = None if checkpoint is None else checkpoint.recall(folds.name(k, task))
                due.append((task, k, known))
                if known is None:
                    yield task, k

    def results() -> Iterator[tuple[T, int, R]]:
        for found in _computed(function, missing(), shared, n_jobs, in_turn):
            while due[0][2] is not None:
                yield due.popleft()
            task, k, _ = due.popleft()
            if checkpoint is not None:
                checkpoint.finish(folds.name(k, task), found)  # type: ignore[arg-type]
            yield task, k, found
        yield from due

    report(stage, 0, total)
    for done, result in enumerate(results(), start=1):
        report(stage, done, total)
        yield result


def _computed(
    function: Callable[..., R], items: Iterator[tuple[T, int]], shared: Sequence[Any], n_jobs: int | None, in_turn: bool
) -> Iterator[R]:
    if in_turn:
        return (function(*item, *shared) for item in items)
    if n_jobs is None:
        return spread(_of_fold, items, function, *shared)
    return in_parallel(lambda item: function(*item, *shared), list(items), n_jobs)


def _of_fold(item: tuple[Any, int], function: Callable[..., R], *shared: Any) -> R:
    return function(*item, *shared)


def out_of_fold(
    function: Callable[..., AnyArray],
    folds: Folds,
    tasks: Iterable[T] = (None,),  # type: ignore[assignment]
    shared: Sequence[Any] = (),
    *,
    allocate: Callable[[tuple[int, ...], Any], AnyArray] = np.empty,
    keep_partial: bool = False,
    **how: Any,
) -> list[tuple[T, AnyArray]]:
    """Results of all held-out documents for each task: an array (…, n_held_out, n_columns), documents in their order.

    Parameters
    ----------
    function : callable
        Gives an array (…, n_test, n_columns) for a task and a fold; see :func:`over_folds`.
    folds, tasks, shared
        As for :func:`over_folds`.
    allocate : callable
        Makes an array of a shape and dtype, in memory or in a file.
    keep_partial : bool
        Whether Ctrl-C ends it with the tasks that are complete, if there are any; otherwise it is raised.
    **how
        Further arguments of :func:`over_folds`.

    Examples
    --------
    >>> folds, x = Folds(np.array([0, 1, 0, -1]), 3), np.array([1.0, 2.0, 3.0, 4.0])
    >>> def mean_of_others(task, k):
    ...     train, test = folds.split(k)
    ...     return np.full((test.sum(), 1), x[train].mean())
    >>> [(_, found)] = out_of_fold(mean_of_others, folds)
    >>> found[:, 0].round(2).tolist()
    [3.0, 2.67, 3.0]
    """
    number = folds.number[folds.held_out]
    complete: list[tuple[T, AnyArray]] = []
    try:
        for task, k, found in over_folds(function, folds, tasks, shared, **how):
            if k == 0:
                whole = allocate((*found.shape[:-2], len(number), found.shape[-1]), found.dtype)
            whole[..., number == k, :] = found
            if k == folds.n - 1:
                complete.append((task, whole))
    except (KeyboardInterrupt, SystemError) as error:
        if not (keep_partial and complete and is_interrupt(error)):
            raise
    return complete
