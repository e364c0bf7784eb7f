"""Progress of long work on stderr: bars and counts on a terminal, nothing elsewhere or with ``--quiet``."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeVar

from textbayes.cli.settings import settings
from textbayes.cli.terminal import console

T = TypeVar("T")
Unit = Literal["steps", "bytes", "count", "wait"]
_EVERY = 64  # documents between two updates of the count


def shown() -> bool:
    """Whether anyone is there to look at it."""
    return not settings().quiet and sys.stderr is not None and sys.stderr.isatty()


@contextlib.contextmanager
def reporting(unit: Unit = "steps") -> Iterator[Callable[[str, int, int | None], None]]:
    """A function ``(what, done, total)`` that draws a bar for each ``what``; the bars vanish at the end."""
    with _bars(unit) as bars:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int | None) -> None:
            if bars is not None:
                if what not in tasks:
                    tasks[what] = bars.add_task(what, total=total)
                bars.update(tasks[what], completed=done, total=total)

        yield report


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Say what is being done, and for how long, while the block runs: for work that cannot be counted.

    Parameters
    ----------
    what : str
        A few words, such as ``fitting clusters``.
    """
    with reporting("wait") as progress:
        progress(what, 0, None)
        yield


def downloading(corpus: str) -> contextlib.AbstractContextManager[Callable[[str, int, int | None], None]]:
    """Bars for a corpus on its way: bytes of its files, or files where it is built from many."""
    from textbayes.data import CORPORA

    return reporting("bytes" if CORPORA.get(corpus).downloads else "steps")


def counting(items: Iterable[T], what: str) -> Iterator[T]:
    """The items, with a running count beside ``what`` while they come."""
    with _bars("count") as bars:
        if bars is None:
            yield from items
            return
        task = bars.add_task(what, total=None)
        for number, item in enumerate(items, start=1):
            if number % _EVERY == 0:
                bars.update(task, completed=number)
            yield item


@contextlib.contextmanager
def _bars(unit: Unit) -> Iterator[Any]:
    if not shown():
        yield None
        return
    from rich import progress as rich

    kinds: dict[Unit, list[rich.ProgressColumn]] = {
        "wait": [],
        "steps": [rich.BarColumn(), rich.MofNCompleteColumn()],
        "bytes": [rich.BarColumn(), rich.DownloadColumn(), rich.TransferSpeedColumn()],
        "count": [rich.TextColumn("{task.completed:,.0f} documents")],
    }
    columns = [
        rich.SpinnerColumn(),
        rich.TextColumn("{task.description}", markup=False),
        *kinds[unit],
        rich.TimeElapsedColumn(),
    ]
    # stdout is left alone: it carries results, and rich would print them on stderr.
    with rich.Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bars:
        yield bars
