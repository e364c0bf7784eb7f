"""Executors by address: ``serial``, ``processes:2``, ``local:2`` (Dask, here) and ``tcp://host:port`` (Dask, there)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Self, TypeVar

from textbayes.core.errors import InputError, TextBayesError
from textbayes.core.executor import Executor, as_worker, reduce_pairwise

_COUNTED = re.compile(r"(processes|local):([1-9]\d{0,3})")
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")
_FORMS = (
    "local:2 for two Dask workers here, tcp://host:port for a Dask scheduler, or processes:2 for two plain processes"
)


def make_executor(address: str) -> Executor:
    """The executor that an address stands for.

    Workers of a cluster run what they are sent: give the address of a scheduler that you trust, and nobody else's.

    Parameters
    ----------
    address : str
        ``"serial"``: this process. ``"processes:2"``: two processes of joblib. ``"local:2"``: a Dask cluster of two
        worker processes on this machine. ``"tcp://host:port"`` or ``"tls://host:port"``: a Dask scheduler that runs.

    Examples
    --------
    >>> with make_executor("serial") as executor:
    ...     list(executor.map(pow, [2, 3], 2))
    [4, 9]
    """
    if address == "serial":
        return JoblibExecutor(1)
    if _ADDRESS.fullmatch(address):
        from textbayes.scale.dask_executor import DaskExecutor

        return DaskExecutor.connected(address)
    if (counted := _COUNTED.fullmatch(address)) is None:
        raise InputError(f"cluster={address!r} is not usable; pass {_FORMS}")
    kind, n_workers = counted[1], int(counted[2])
    if kind == "processes":
        return JoblibExecutor(n_workers)
    from textbayes.scale.dask_executor import DaskExecutor

    return DaskExecutor.started(n_workers)


R = TypeVar("R")


class JoblibExecutor:
    """One process, which is this one, or several of joblib's, which share large arrays by memory mapping.

    Parameters
    ----------
    n_workers : int
    """

    def __init__(self, n_workers: int = 1) -> None:
        self._n_workers = n_workers

    @property
    def n_workers(self) -> int:
        return self._n_workers

    def map(self, function: Callable[..., R], items: Iterable[Any], *shared: Any) -> Iterator[R]:
        if self._n_workers == 1:
            return (function(item, *shared) for item in items)
        return self._in_processes(function, items, shared)

    def map_reduce(
        self, function: Callable[..., R], combine: Callable[[R, R], R], items: Iterable[Any], *shared: Any
    ) -> R:
        return reduce_pairwise(combine, list(self.map(function, items, *shared)))

    def keep(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        return list(self.map(function, items, *shared))

    def close(self) -> None:
        pass  # joblib's processes end by themselves when they are idle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _in_processes(self, function: Callable[..., R], items: Iterable[Any], shared: tuple[Any, ...]) -> Iterator[R]:
        from joblib import Parallel, delayed  # commands without processes start without it

        # Pages are copied where a worker writes, as kernels may into what they were given.
        work = Parallel(n_jobs=self._n_workers, backend="loky", return_as="generator", mmap_mode="c")
        try:
            # A list: items may themselves come from work in processes, which must not wait for those of this call.
            yield from work([delayed(as_worker)(function, item, *shared) for item in items])
        except BrokenProcessPool as error:
            raise TextBayesError(
                "a worker process ended before its work was done, most likely for lack of memory; use fewer processes, "
                "or a cluster (local:2), which does again what was lost"
            ) from error
