"""Executors by address: ``serial``, ``processes:2``, ``local:2`` (Dask, here) and ``tcp://host:port`` (Dask, there)."""

from __future__ import annotations

import re

from textbayes.core.errors import InputError
from textbayes.core.executor import Executor

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
    from textbayes.scale.joblib_executor import JoblibExecutor

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
