"""Numbers of things in messages (1 label, 2 labels), and the names that misspelt ones may mean."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def plural(number: int, noun: str, several: str | None = None) -> str:
    """A number and what it counts; ``several`` is what more than one are called, with an s if not given.

    >>> plural(1, "label"), plural(0, "label"), plural(1200, "story", "stories")
    ('1 label', '0 labels', '1,200 stories')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message on a name that is not known: the closest one that is, or nothing where none is close.

    >>> did_you_mean("Buchaltung", ["Buchhaltung", "Vertrieb"]), did_you_mean("x", ["Vertrieb"])
    ("; did you mean 'Buchhaltung'?", '')
    """
    names = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else ""
