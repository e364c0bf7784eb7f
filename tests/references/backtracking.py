"""A matcher of regular expressions that goes back as Python's does, and counts its steps."""

from __future__ import annotations

import re._constants as names
import re._parser as parser
from collections.abc import Iterator
from typing import Any

_CATEGORIES = {names.CATEGORY_WORD: lambda char: char.isalnum() or char == "_", names.CATEGORY_SPACE: str.isspace}


class Matcher:
    """A pattern and a text. ``steps`` counts the comparisons and returns of :meth:`found`."""

    def __init__(self, pattern: str, text: str) -> None:
        self._tree, self._text, self.steps = parser.parse(pattern), text, 0
        self._groups: dict[int, tuple[int, int]] = {}

    def found(self) -> tuple[int, int] | None:
        """Where the pattern is first found, as ``re.search`` looks for it."""
        for start in range(len(self._text) + 1):
            for end in self._ends(self._tree, 0, start):
                return start, end
        return None

    def _ends(self, nodes: Any, k: int, place: int) -> Iterator[int]:
        if k == len(nodes):
            yield place
            return
        for middle in self._one(*nodes[k], place):
            yield from self._ends(nodes, k + 1, middle)

    def _one(self, kind: Any, told: Any, place: int) -> Iterator[int]:
        self.steps += 1
        if kind is names.AT:
            if place == (0 if told is names.AT_BEGINNING else len(self._text)):
                yield place
        elif kind is names.MAX_REPEAT:
            least, most, [inner] = told
            n = 0
            while n < most and self._fits(*inner, place + n):
                n += 1
            for length in range(n, least - 1, -1):
                self.steps += 1
                yield place + length
        elif kind is names.SUBPATTERN:
            for end in self._ends(told[3], 0, place):
                self._groups[told[0]] = (place, end)
                yield end
        elif kind is names.BRANCH:
            for one in told[1]:
                yield from self._ends(one, 0, place)
        elif kind in (names.ASSERT, names.ASSERT_NOT):
            direction, inner = told
            start = place if direction > 0 else place - inner.getwidth()[0]
            holds = start >= 0 and any(direction > 0 or end == place for end in self._ends(inner, 0, start))
            if holds == (kind is names.ASSERT):
                yield place
        elif kind is names.GROUPREF:
            begin, end = self._groups[told]
            if self._text.startswith(self._text[begin:end], place):
                yield place + end - begin
        elif self._fits(kind, told, place):
            yield place + 1

    def _fits(self, kind: Any, told: Any, place: int) -> bool:
        self.steps += 1
        if place >= len(self._text):
            return False
        char = self._text[place]
        if kind is names.ANY:
            return char != "\n"
        if kind is names.IN:
            negate = told[0][0] is names.NEGATE
            return any(_is_in(char, *one) for one in told[negate:]) != negate
        assert kind in (names.LITERAL, names.NOT_LITERAL), kind
        return (ord(char) == told) == (kind is names.LITERAL)


def _is_in(char: str, kind: Any, told: Any) -> bool:
    if kind is names.RANGE:
        return bool(told[0] <= ord(char) <= told[1])
    return _CATEGORIES[told](char) if kind is names.CATEGORY else ord(char) == told
