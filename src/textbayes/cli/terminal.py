"""What goes to a terminal: text, notes, tables and progress; control characters are shown as escapes.

Ids, labels, words and file names come from strangers. Everything that commands show goes through :func:`echo` or
:func:`console`, so that no text can move the cursor, hide other text or write to the clipboard.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from textbayes import data
from textbayes.display import visible

if TYPE_CHECKING:
    from rich.console import Console


def echo(message: str = "", err: bool = False, bold: bool = False, nl: bool = True, wrap: bool = True) -> None:
    """Print a line to standard output, or to standard error; without ``nl`` the line does not end.

    On a terminal a long line is broken between words unless ``wrap`` is false, in a pipe it is left whole.
    """
    shown = visible(message)
    stream = sys.stderr if err else sys.stdout
    if nl and wrap and stream is not None and stream.isatty():
        from textbayes.display import wrapped

        shown = wrapped(shown, shutil.get_terminal_size().columns, "  ")
    if err and _drawn:  # above the bars: click would write into their line
        _drawn[-1].console.print(shown, style="bold" if bold else None, soft_wrap=True)
        return
    click.echo(click.style(shown, bold=True) if bold else shown, err=err, nl=nl)


def read_key(question: str) -> str:
    """The answer to a question: a key on a terminal, the first letter of a line elsewhere, q at the end."""
    echo(question, nl=False)
    if sys.stdin is not None and sys.stdin.isatty():
        key = click.getchar()
        echo(key if key.isprintable() else "")
        return key.lower()
    line = "" if sys.stdin is None else sys.stdin.readline()
    echo(line.strip())
    return line.strip().lower()[:1] if line else "q"


def console(stderr: bool = False) -> Console:
    """The terminal; brackets and colons in labels and texts are shown as they are."""
    from textbayes.cli.safe_console import SafeConsole

    return SafeConsole(markup=False, emoji=False, highlight=False, stderr=stderr)


MOST_USED = "Most used"  # the group of options that a short help shows
F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Settings:
    """Settings of the whole run, whichever command it is."""

    quiet: bool = False
    debug: bool = False


def settings() -> Settings:
    """The settings of the run at hand."""
    context = click.get_current_context(silent=True)
    return Settings() if context is None else context.find_root().ensure_object(Settings)


def common_options(function: F) -> F:
    """Add the options ``--quiet`` and ``--debug`` to a command."""
    for name, text in (
        ("debug", "Show the traceback of an error."),
        ("quiet", "No progress and notes; warnings stay."),
    ):
        option = click.option(f"--{name}", is_flag=True, expose_value=False, is_eager=True, callback=_set, help=text)
        function = option(function)
    return function


def note(message: str) -> None:
    """Say on stderr what was chosen or found, unless the user wants quiet."""
    if not settings().quiet:
        echo(f"textbayes: {' '.join(message.split())}", err=True)


def warn(message: str) -> None:
    """Say on stderr what the user must know, quiet or not."""
    echo(f"textbayes: warning: {' '.join(message.split())}", err=True)


def _set(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and parameter.name:
        setattr(context.find_root().ensure_object(Settings), parameter.name, True)
        if parameter.name == "quiet":
            logging.getLogger("textbayes").setLevel(logging.ERROR)  # what the library has to say by itself


T = TypeVar("T")
Unit = Literal["steps", "bytes", "count", "wait"]
_drawn: list[Any] = []  # bars on the terminal now
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

    return reporting("bytes" if data.CORPORA.get(corpus).downloads else "steps")


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
        _drawn.append(bars)
        try:
            yield bars
        finally:
            _drawn.remove(bars)
