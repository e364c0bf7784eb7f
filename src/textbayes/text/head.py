"""The first line of a text: a headline, a subject, a title."""

from __future__ import annotations

LONGEST_HEAD = 200  # characters: where a first line is no headline, it is cut here


def head(text: str) -> str:
    """The first line of a text that has something in it, or as much of it as a headline could have."""
    return text.lstrip().partition("\n")[0][:LONGEST_HEAD]
