"""The seam between work and whoever does it: one process, several, or the machines of a cluster.

What can be done side by side asks :func:`spread`, which does it here unless an executor is in use. Executors are in
``textbayes.scale``; processes that work for one use none themselves, so that work is spread once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

R = TypeVar("R")
T = TypeVar("T")


@runtime_checkable
class Executor(Protocol):
    """Worker processes, here or elsewhere.

    Functions are called as ``function(item, *shared)``. What is shared, if it is large, reaches each worker once,
    however many items it is given; it must not be changed afterwards. Results do not depend on the executor or on the
    number of workers.
    """

    @property
    def n_workers(self) -> int:
        """Number of items that can be at work at a time."""
        ...

    def map(self, function: Callable[..., R], items: Iterable[Any], *shared: Any) -> Iterator[R]:
        """The function of every item, in the order of the items."""
        ...

    def map_reduce(
        self, function: Callable[..., R], combine: Callable[[R, R], R], items: Iterable[Any], *shared: Any
    ) -> R:
        """The results for all items, combined two by two as :func:`reduce_pairwise` does."""
        ...

    def keep(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        """As ``map``, but results stay with the workers that made them: what is returned stands for them as items."""
        ...

    def close(self) -> None:
        """Let go of the workers."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


_in_use: ContextVar[Executor | None] = ContextVar("executor", default=None)
_at_work: ContextVar[bool] = ContextVar("worker", default=False)


@contextmanager
def using(executor: Executor | None) -> Iterator[None]:
    """Have an executor do what the block spreads; None leaves it to this process."""
    token = _in_use.set(executor)
    try:
        yield
    finally:
        _in_use.reset(token)


def as_worker(function: Callable[..., R], *args: Any) -> R:
    """A function's value in a worker, whose work is one thread: its processes are as many as there are cores."""
    token = _at_work.set(True)
    try:
        return function(*args)
    finally:
        _at_work.reset(token)


def executor_in_use() -> Executor | None:
    """The executor that :func:`spread` would ask, None where there is none."""
    return _in_use.get()


def spread(function: Callable[..., R], items: Iterable[Any], *shared: Any) -> Iterator[R]:
    """``function(item, *shared)`` of every item, by the executor in use; without one here, when it is asked for.

    >>> list(spread(pow, [2, 3], 2))
    [4, 9]
    """
    executor = _in_use.get()
    if executor is None:
        return (function(item, *shared) for item in items)
    return executor.map(function, items, *shared)


def in_parallel(function: Callable[[T], R], items: Sequence[T], n_jobs: int) -> Iterator[R]:
    """The function of every item, in the order of the items: by the executor in use, else on ``n_jobs`` threads.

    What the function closes over is shared: it reaches each worker once.

    >>> list(in_parallel(abs, [-2, 3], n_jobs=2))
    [2, 3]
    """
    if _in_use.get() is not None and len(items) > 1:
        yield from spread(_called, items, function)
        return
    if n_jobs == 1 or len(items) < 2 or _at_work.get():  # a thread for each of thousands of small fits takes time
        yield from map(function, items)
        return
    with ThreadPoolExecutor(max_workers=n_jobs) as pool:
        yield from pool.map(function, items)


def _called(item: T, function: Callable[[T], R]) -> R:
    return function(item)


def reduce_pairwise(combine: Callable[[R, R], R], values: Sequence[R]) -> R:
    """Combine neighbours, then neighbours of what came of it, until one is left: sums do not depend on who is first.

    >>> reduce_pairwise(lambda a, b: f"({a}{b})", ["a", "b", "c", "d", "e"])
    '(((ab)(cd))e)'
    """
    values = list(values)
    while len(values) > 1:
        pairs = [combine(values[k], values[k + 1]) for k in range(0, len(values) - 1, 2)]
        values = pairs + values[len(values) - len(values) % 2 :]
    return values[0]
