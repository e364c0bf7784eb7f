"""A matcher of regular expressions that goes back as Python's does, and counts its steps."""

from __future__ import annotations

import re._constants as names
import re._parser as parser
from collections.abc import Iterator
from typing import Any


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CATEGORIES = {
    names.CATEGORY_WORD: _is_word,
    names.CATEGORY_NOT_WORD: lambda char: not _is_word(char),
    names.CATEGORY_SPACE: str.isspace,
    names.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    names.CATEGORY_DIGIT: str.isdecimal,
}
_SINGLE = (names.ANY, names.IN, names.LITERAL, names.NOT_LITERAL)
_REPEATS = (names.MAX_REPEAT, names.MIN_REPEAT)


def steps_are_in_proportion(pattern: str, unit: str, ending: str = "") -> bool:
    """Whether four times the text takes at most five times the steps; the square would be sixteen times."""
    few, many = Matcher(pattern, unit * 50 + ending), Matcher(pattern, unit * 200 + ending)
    few.all_found()
    many.all_found()
    return many.steps <= 5 * few.steps


class Matcher:
    """A pattern and a text. ``steps`` counts the comparisons and returns of :meth:`found` and :meth:`all_found`."""

    def __init__(self, pattern: str, text: str) -> None:
        self._tree, self._text, self.steps = parser.parse(pattern), text, 0
        self._groups: dict[int | None, tuple[int, int]] = {}

    def found(self, first: int = 0) -> tuple[int, int] | None:
        """Where the pattern is first found, as ``re.search`` looks for it."""
        for start in range(first, len(self._text) + 1):
            for end in self._ends(self._tree, 0, start):
                return start, end
        return None

    def all_found(self) -> list[str]:
        """What the pattern finds one after the other, as ``re.finditer`` does, without empty matches."""
        texts, place = [], 0
        while (span := self.found(place)) is not None:
            start, end = span
            texts.append(self._text[start:end])
            place = max(end, start + 1)
        return [text for text in texts if text]

    def _ends(self, nodes: Any, k: int, place: int) -> Iterator[int]:
        if k == len(nodes):
            yield place
            return
        for middle in self._one(*nodes[k], place):
            yield from self._ends(nodes, k + 1, middle)

    def _one(self, kind: Any, told: Any, place: int) -> Iterator[int]:
        self.steps += 1
        if kind is names.AT:
            if self._stands(told, place):
                yield place
        elif kind in _REPEATS and len(told[2]) == 1 and told[2][0][0] in _SINGLE:
            least, most, [inner] = told
            n = 0
            while n < most and self._fits(*inner, place + n):
                n += 1
            lengths = range(least, n + 1)
            for length in lengths if kind is names.MIN_REPEAT else reversed(lengths):
                self.steps += 1
                yield place + length
        elif kind is names.MAX_REPEAT:
            yield from self._repeated(*told, place)
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

    def _stands(self, told: Any, place: int) -> bool:
        if told is names.AT_BOUNDARY:
            before, after = self._text[place - 1 : place] if place else "", self._text[place : place + 1]
            return (bool(before) and _is_word(before)) != (bool(after) and _is_word(after))
        return place == (0 if told is names.AT_BEGINNING else len(self._text))

    def _repeated(self, least: int, most: int, nodes: Any, place: int) -> Iterator[int]:
        """The ends after as many repetitions as there can be, then after fewer; the depth is kept in a list."""
        ways, places = [self._ends(nodes, 0, place) if most else iter(())], [place]
        while ways:
            self.steps += 1
            end = next(ways[-1], None)
            if end is not None and end > places[-1]:
                places.append(end)
                ways.append(self._ends(nodes, 0, end) if len(ways) < most else iter(()))
            elif end is None:
                ways.pop()
                end = places.pop()
                if len(places) >= least:
                    yield end

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
