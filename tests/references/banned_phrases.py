"""Phrases that no text for users may hold, as ``tests/banned_phrases.txt`` lists them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FILE = Path(__file__).parents[1] / "banned_phrases.txt"


def read_phrases(text: str) -> list[tuple[re.Pattern[str], str]]:
    """Pattern and plain alternative of each line; spaces match any white space, so phrases are found across lines."""
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, arrow, instead = line.partition(" => ")
            assert arrow, f"a line needs ' => ' and what to write instead: {line!r}"
            found.append((re.compile(pattern.strip().replace(" ", r"\s+"), re.IGNORECASE), instead.strip()))
    return found


@cache
def _phrases() -> list[tuple[re.Pattern[str], str]]:
    return read_phrases(FILE.read_text(encoding="utf-8"))


def banned(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The banned phrases of a text, each with what to write instead."""
    for pattern, instead in _phrases():
        for match in pattern.finditer(text):
            yield match, instead
