"""Text on its way to a terminal: characters that would steer it, rather than be read, are shown as escapes.

Ids, labels, words and file names come from strangers. Everything that commands show goes through :func:`echo` or
:func:`console`, so that no text can move the cursor, hide other text or write to the clipboard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

# C0 controls but for tab and line end, DEL, C1 controls, and what reverses the direction of the text that follows.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def visible(text: str) -> str:
    r"""The text with control characters written as escapes; tabs and line ends stay.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


def echo(message: str = "", err: bool = False, bold: bool = False, nl: bool = True) -> None:
    """A line to standard output, or to standard error; without ``nl`` the line does not end."""
    click.echo(click.style(visible(message), bold=True) if bold else visible(message), err=err, nl=nl)


def console(stderr: bool = False) -> Console:
    """The terminal; brackets and colons in labels and texts are shown as they are."""
    from textbayes.cli.safe_console import SafeConsole

    return SafeConsole(markup=False, emoji=False, highlight=False, stderr=stderr)
