"""Numbers of things in messages: 1 label, 2 labels."""

from __future__ import annotations


def plural(number: int, noun: str, several: str | None = None) -> str:
    """A number and what it counts; ``several`` is what more than one are called, with an s if not given.

    >>> plural(1, "label"), plural(0, "label"), plural(1200, "story", "stories")
    ('1 label', '0 labels', '1,200 stories')
    """
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
