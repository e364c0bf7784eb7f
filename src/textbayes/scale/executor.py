"""Executors by address: ``serial``, ``processes:2``, ``local:2`` (Dask, here) and ``tcp://host:port`` (Dask, there)."""

from __future__ import annotations

import contextlib
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from typing import Any, Self, TypeVar
from uuid import uuid4

from textbayes.core.errors import InputError, MissingExtraError, TextBayesError
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
        return DaskExecutor.connected(address)
    if (counted := _COUNTED.fullmatch(address)) is None:
        raise InputError(f"cluster={address!r} is not usable; pass {_FORMS}")
    kind, n_workers = counted[1], int(counted[2])
    if kind == "processes":
        return JoblibExecutor(n_workers)
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


_PATIENCE = 5  # seconds for a scheduler to answer
_WORKERS_PATIENCE = 30  # seconds for its first worker
_REMEMBERED = 4  # shared objects that workers keep for the next call
# What a cluster does to watch itself takes processor time from the work, and a profile of it is not looked at.
_SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.memory.monitor-interval": "500ms",
}
_GROUP = 8  # results that one task combines; each task costs the scheduler some milliseconds
_SMALL = 2**20  # bytes that travel with every task sooner than be shared beforehand, which takes a round of messages


class DaskExecutor:
    """Workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    cluster : LocalCluster, optional
        Closed with the executor.
    """

    def __init__(self, client: Any, cluster: Any = None) -> None:
        self.client, self.cluster = client, cluster
        self._shipped: OrderedDict[int, tuple[Any, Any]] = OrderedDict()

    @classmethod
    def started(cls, n_workers: int) -> DaskExecutor:
        """An executor with a cluster of its own: worker processes of one thread each on this machine."""
        distributed = _installed()
        import dask

        with dask.config.set(_SELDOM):
            cluster = distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )  # fmt: skip
            client = distributed.Client(cluster, set_as_default=False)
        client.amm.stop()  # it takes copies away that no task waits for at the moment; the next would send them again
        return cls(client, cluster)

    @classmethod
    def connected(cls, address: str) -> DaskExecutor:
        """The executor of a scheduler that runs, with a worker at least."""
        distributed = _installed()
        _silence()
        security = distributed.Security()
        if address.startswith("tls://") and not (security.tls_ca_file and security.tls_client_cert):
            # Asked now: a client without them fails when it is made, and once more when Python ends.
            raise InputError(
                f"cluster={address!r} needs certificates, and Dask has none; name them in its configuration "
                "(distributed.comm.tls.ca-file, distributed.comm.tls.client.cert and .key)"
            )
        try:
            client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at cluster={address!r}; start one (dask scheduler) and check host and port"
            ) from error
        try:
            client.wait_for_workers(1, timeout=_WORKERS_PATIENCE)
        except TimeoutError as error:
            client.close()
            raise InputError(
                f"the scheduler at cluster={address!r} has no workers; start some: dask worker {address}"
            ) from error
        return cls(client)

    @property
    def n_workers(self) -> int:
        with _faults_in_a_sentence():
            return max(1, sum(self.client.nthreads().values()))

    def map(self, function: Callable[..., R], items: Iterable[Any], *shared: Any) -> Iterator[R]:
        futures = self._submitted(function, items, shared)
        return self._results(futures)

    def map_reduce(
        self, function: Callable[..., R], combine: Callable[[R, R], R], items: Iterable[Any], *shared: Any
    ) -> R:
        futures = self._submitted(function, items, shared)
        while len(futures) > 1:  # as ``reduce_pairwise`` does, on the workers: groups of 2ⁿ neighbours are parts of it
            groups = [futures[k : k + _GROUP] for k in range(0, len(futures), _GROUP)]
            futures = self._submitted(_combined, groups, (combine,))
        return next(self._results(futures))

    def keep(self, function: Callable[..., Any], items: Iterable[Any], *shared: Any) -> list[Any]:
        return self._submitted(function, items, shared)

    def close(self) -> None:
        self._shipped.clear()
        self.client.close()
        if self.cluster is not None:
            self.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _submitted(self, function: Callable[..., Any], items: Iterable[Any], shared: tuple[Any, ...]) -> list[Any]:
        import dask

        with _faults_in_a_sentence(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            there = [self._ship(one) for one in shared]
            if not isinstance(items, Sized):  # they may take long to come: the first are done meanwhile
                return [self._submit(function, item, *there) for item in items]
            n = len(items)
            keys = [_key(function) for _ in range(n)]
            columns = [[one] * n for one in (function, *there)]
            found: list[Any] = self.client.map(as_worker, columns[0], list(items), *columns[1:], key=keys, pure=False)
            return found

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        return self.client.submit(as_worker, function, *args, key=_key(function), pure=False)

    def _ship(self, value: Any) -> Any:
        """A future of a value that every worker has a copy of, made once while it is among the last that were shared.

        It is a task and no scattered value: those are gone with the workers that held them. The scheduler keeps its
        bytes, which it need not understand. What is small is left as it is.
        """
        known = self._shipped.pop(id(value), None)
        if known is None:
            pickle: Any = import_module("distributed.protocol.pickle")
            message = pickle.dumps(value)
            if len(message) <= _SMALL:
                return value
            future = self._submit(pickle.loads, message)
            self.client.replicate([future])  # else the scheduler would rather wait for the worker that has it
            known = (value, future)
        self._shipped[id(value)] = known  # the value is held, so that its id stays its own
        while len(self._shipped) > _REMEMBERED:
            self._shipped.popitem(last=False)
        return known[1]

    def _results(self, futures: list[Any]) -> Iterator[Any]:
        try:
            while futures:
                with _faults_in_a_sentence():
                    found = futures.pop(0).result()
                yield found
        finally:
            for future in futures:  # not asked for any more
                with contextlib.suppress(*_lost()):
                    future.cancel()


@contextlib.contextmanager
def _faults_in_a_sentence() -> Iterator[None]:
    """Say what is wrong with the cluster, where work fails by no fault of its own."""
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise TextBayesError(
            "workers died again and again at the same piece of work, most likely for lack of memory; give workers "
            "more memory, or use smaller partitions"
        ) from error
    except _lost() as error:
        raise TextBayesError("the connection to the cluster was lost; start it again and repeat the command") from error


def _lost() -> tuple[type[BaseException], ...]:
    """What is raised where the scheduler is gone."""
    from distributed.client import ClosedClientError, FutureCancelledError
    from distributed.comm.core import CommClosedError

    return FutureCancelledError, ClosedClientError, CommClosedError


def _silence() -> None:
    """Have Dask log nothing: what went wrong is said in a sentence.

    Its own configuration gives some of its loggers levels, so that of the package alone does not count for them.
    """
    for name in ("distributed", *(one for one in logging.root.manager.loggerDict if one.startswith("distributed."))):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _combined(group: list[R], combine: Callable[[R, R], R]) -> R:
    return reduce_pairwise(combine, group)


def _key(function: Callable[..., Any]) -> str:
    """A name of its own: equal arguments would otherwise be hashed to find that they are."""
    return f"{getattr(function, '__name__', 'task').strip('<>')}-{uuid4().hex}"


def _installed() -> Any:
    """The package of the scheduler's clients."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("dask", "scale", "spreading work over a cluster") from None
    return distributed
