r"""Check that a token pattern takes time in proportion to the text, whatever the text.

Python's ``re`` tries one way to match after the other and cannot be stopped: ``(a+)+!`` takes hours on 40 letters, and
``\w+@`` the square of a long word's length. A model file travels, so it may only carry a pattern for which neither can
happen. This is a sufficient test, on the automaton that has a state for each place of a character in the pattern
(Glushkov 1961):

1. the next character decides the next place and there is one way to get there (the pattern is strongly one-unambiguous:
   Brüggemann-Klein & Wood 1998), so that a second way to match what has been read never exists;
2. a match may end somewhere on every cycle, so that from every start, m places on at most, either a match has been
   found or there is none: O(m²) steps for each character of the text.

Alternatives at the top are tried one after the other, so each need only be so by itself. ``\b`` and ``^`` may come
first. ``\b`` may come last if it comes first as well, so that starts are at the edges of words, and if

- from where a match may end it may end at every further character: a start without a match then reads no further edge
  of a word, and hence no other start; or
- a match ends with a word character, and characters of other kinds follow only where it may end: a start without a
  match then reads one word and no more.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import BoolArray
from textbayes.text.tokenize import parse_pattern, token_expression

LONGEST_PATTERN = 1_000
_MOST_PLACES = 64
_CODE_POINTS = 0x110000
_CATEGORIES = {"CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}


class _NotLinear(Exception):
    """The pattern is not known to be linear; the message says why."""


class _Part(NamedTuple):
    """Of a part of a pattern: whether it may be empty, and the places it can begin and end with."""

    nullable: bool
    first: frozenset[int]
    last: frozenset[int]


_EMPTY = _Part(True, frozenset(), frozenset())


def why_not_linear(pattern: str) -> str | None:
    r"""Reason why the pattern may take long on some texts, or None if it cannot.

    >>> why_not_linear(r"\w+(?:-\w+)*"), why_not_linear(r"(?:\w+)+")
    (None, 'a text can be matched in two ways')
    """
    if len(pattern) > LONGEST_PATTERN:
        return f"it has more than {LONGEST_PATTERN} characters"
    try:
        if parse_pattern(pattern) is not None:
            return None  # a kernel finds the tokens
        parsed = importlib.import_module("re._parser").parse(token_expression(pattern))
        if parsed.state.flags & ~(re.UNICODE | re.ASCII):
            return "it has flags"
        for branch in _branches(list(parsed)):
            _check_branch(branch, bool(parsed.state.flags & re.ASCII))
    except _NotLinear as error:
        return str(error)
    except (InputError, ImportError, AttributeError) as error:
        return str(error)
    return None


def check_can_be_kept(pattern: str) -> None:
    """Refuse a pattern that no model file may carry."""
    reason = why_not_linear(pattern)
    if reason is not None:
        raise InputError(
            f"token_pattern={pattern[:100]!r} may take for ever on some texts ({reason}), so that a model file cannot "
            r"keep it; use runs of characters such as \w+, [a-z]{3,} or \w+(?:-\w+)*"
        )


def _branches(items: list[Any]) -> list[list[Any]]:
    """The alternatives at the top, without the groups around them."""
    if len(items) == 1 and _name(items[0]) == "SUBPATTERN":
        _, adds, drops, inner = items[0][1]
        if adds or drops:
            raise _NotLinear("it has flags")
        return _branches(list(inner))
    if len(items) == 1 and _name(items[0]) == "BRANCH":
        return [branch for alternative in items[0][1][1] for branch in _branches(list(alternative))]
    return [items]


def _check_branch(items: list[Any], ascii_only: bool) -> None:
    edges = [_edge(item) for item in items]
    n_before = next((i for i, edge in enumerate(edges) if edge is None), len(items))
    starts = edges[:n_before]
    bounded = len(items) > n_before and edges[-1] == "AT_BOUNDARY" and "AT_BOUNDARY" in starts
    automaton = _Automaton(ascii_only)
    whole = automaton.sequence(items[n_before : len(items) - bounded])
    automaton.check(whole)
    if bounded:
        automaton.check_ends_with_word(whole)


class _Automaton:
    """The places of a pattern, the characters each stands for, and which place may follow which."""

    def __init__(self, ascii_only: bool) -> None:
        self._ascii = ascii_only
        self._sets: list[bytes] = []
        self._tables: dict[bytes, BoolArray] = {}
        self._follow: list[set[int]] = []

    def sequence(self, items: Any) -> _Part:
        whole = _EMPTY
        for item in items:
            whole = self._joined(whole, self._part(item))
        return whole

    def check(self, whole: _Part) -> None:
        overlap = self._overlaps()
        for choices in (whole.first, *self._follow):
            places = sorted(choices)
            if any(overlap[i, j] for n, i in enumerate(places) for j in places[n + 1 :]):
                raise _NotLinear("a text can be matched in two ways")
        if self._has_cycle(frozenset(range(len(self._follow))) - whole.last):
            raise _NotLinear("it can read on and on without finding a match")

    def check_ends_with_word(self, whole: _Part) -> None:
        """Check that a ``\\b`` at the end does not fail again and again on one stretch of text."""
        if all(self._follow[place] <= whole.last for place in whole.last):
            return
        word = _category(r"\w", self._ascii)
        inside = [bool((self._tables[key] <= word).all()) for key in self._sets]
        apart = [not (self._tables[key] & word).any() for key in self._sets]
        of_one_kind = all(a or b for a, b in zip(inside, apart, strict=True))
        others_follow_ends = all(
            place in whole.last or all(inside[after] for after in self._follow[place]) for place in range(len(inside))
        )
        if not (of_one_kind and others_follow_ends and all(inside[place] for place in whole.last)):
            raise _NotLinear("the \\b at its end can fail again and again")

    def _part(self, item: Any) -> _Part:
        name, value = _name(item), item[1]
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            return self._place(_table(item, self._ascii))
        if name == "SUBPATTERN":
            _, adds, drops, inner = value
            if adds or drops:
                raise _NotLinear("it has flags")
            return self.sequence(inner)
        if name == "BRANCH":
            parts = [self.sequence(branch) for branch in value[1]]
            if sum(part.nullable for part in parts) > 1:
                raise _NotLinear("two of its alternatives can be empty")
            return _Part(
                any(part.nullable for part in parts),
                frozenset().union(*(part.first for part in parts)),
                frozenset().union(*(part.last for part in parts)),
            )
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._repeated(*value)
        raise _NotLinear("it has \\b, ^ or $ where they may fail late" if name == "AT" else f"it uses {name}")

    def _repeated(self, least: int, most: Any, inner: Any) -> _Part:
        endless = int(most) >= 2**31 - 1
        copies = max(int(least), 1) if endless else int(most)
        if copies > _MOST_PLACES:
            raise _NotLinear(f"it repeats something {copies} times")
        parts: list[_Part] = []
        for _ in range(copies):
            parts.append(self.sequence(inner))
            if parts[-1].nullable:
                raise _NotLinear("something that can be empty is repeated")
            if len(parts) > 1:
                self._link(parts[-2].last, parts[-1].first)
        if not parts:
            return _EMPTY
        if endless:
            self._link(parts[-1].last, parts[-1].first)
        last = frozenset().union(*(part.last for part in parts[max(int(least), 1) - 1 :]))
        return _Part(int(least) == 0, parts[0].first, last)

    def _joined(self, left: _Part, right: _Part) -> _Part:
        self._link(left.last, right.first)
        return _Part(
            left.nullable and right.nullable,
            left.first | right.first if left.nullable else left.first,
            left.last | right.last if right.nullable else right.last,
        )

    def _link(self, last: frozenset[int], first: frozenset[int]) -> None:
        for place in last:
            if self._follow[place] & first:
                raise _NotLinear("a text can be matched in two ways")
            self._follow[place] |= first

    def _place(self, table: BoolArray) -> _Part:
        if len(self._sets) >= _MOST_PLACES:
            raise _NotLinear(f"it has more than {_MOST_PLACES} places for characters")
        key = np.packbits(table).tobytes()
        self._tables[key] = table
        self._sets.append(key)
        self._follow.append(set())
        here = frozenset([len(self._sets) - 1])
        return _Part(False, here, here)

    def _overlaps(self) -> BoolArray:
        """Pairs of places that stand for a common character, a boolean matrix."""
        distinct = list(self._tables)
        common = np.array([[bool((self._tables[a] & self._tables[b]).any()) for b in distinct] for a in distinct])
        number = [distinct.index(key) for key in self._sets]
        return common[np.ix_(number, number)] if number else np.zeros((0, 0), dtype=np.bool_)

    def _has_cycle(self, among: frozenset[int]) -> bool:
        """Whether one can go round in these places: places that none of the others lead to are taken out in turn."""
        left = set(among)
        while True:
            reached = set().union(*(self._follow[place] for place in left)) if left else set()
            kept = left & reached
            if kept == left:
                return bool(left)
            left = kept


def _name(item: Any) -> str:
    return str(item[0])


def _edge(item: Any) -> str | None:
    """The name of an assertion such as ``\\b``; None for anything else."""
    return str(item[1]) if _name(item) == "AT" and str(item[1]) in ("AT_BOUNDARY", "AT_BEGINNING") else None


def _table(item: Any, ascii_only: bool) -> BoolArray:
    """Mask of the characters that one place of a pattern stands for."""
    name, value = _name(item), item[1]
    table = np.zeros(_CODE_POINTS, dtype=np.bool_)
    if name in ("LITERAL", "NOT_LITERAL"):
        table[value] = True
        return table if name == "LITERAL" else ~table
    if name == "ANY":
        table[ord("\n")] = True
        return ~table
    negated = bool(value) and _name(value[0]) == "NEGATE"
    for kind, given in value[negated:]:
        if str(kind) == "LITERAL":
            table[given] = True
        elif str(kind) == "RANGE":
            table[given[0] : given[1] + 1] = True
        elif str(kind) == "CATEGORY" and str(given).replace("NOT_", "") in _CATEGORIES:
            known = _category(_CATEGORIES[str(given).replace("NOT_", "")], ascii_only)
            table |= ~known if "NOT_" in str(given) else known
        else:
            raise _NotLinear(f"it uses {kind}")
    return ~table if negated else table


@lru_cache(maxsize=6)
def _category(escape: str, ascii_only: bool) -> BoolArray:
    table = np.zeros(_CODE_POINTS, dtype=np.bool_)
    everything = "".join(map(chr, range(_CODE_POINTS)))
    for run in re.finditer(f"{escape}+", everything, re.ASCII if ascii_only else 0):
        table[run.start() : run.end()] = True
    return table
