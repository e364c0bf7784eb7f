"""Text on its way to a terminal: characters that would steer it, rather than be read, are shown as escapes.

Ids, labels, words and file names come from strangers. Everything that commands show goes through :func:`echo` or
:func:`console`, so that no text can move the cursor, hide other text or write to the clipboard.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import click

from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from rich.console import Console


def echo(message: str = "", err: bool = False, bold: bool = False, nl: bool = True, wrap: bool = True) -> None:
    """Print a line to standard output, or to standard error; without ``nl`` the line does not end.

    On a terminal a long line is broken between words unless ``wrap`` is false, in a pipe it is left whole.
    """
    shown = visible(message)
    stream = sys.stderr if err else sys.stdout
    if nl and wrap and stream is not None and stream.isatty():
        from textbayes.display.lines import wrapped

        shown = wrapped(shown, shutil.get_terminal_size().columns, "  ")
    click.echo(click.style(shown, bold=True) if bold else shown, err=err, nl=nl)


def console(stderr: bool = False) -> Console:
    """The terminal; brackets and colons in labels and texts are shown as they are."""
    from textbayes.cli.safe_console import SafeConsole

    return SafeConsole(markup=False, emoji=False, highlight=False, stderr=stderr)
