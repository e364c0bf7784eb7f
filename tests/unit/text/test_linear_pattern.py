"""Token patterns that are known to be linear, and those that are not."""

from __future__ import annotations

import re

import pytest

from references.backtracking import Matcher, steps_are_in_proportion
from textbayes.text.linear_pattern import why_not_linear

LINEAR = [
    r"(?u)\b\w\w+\b",
    r"(?u)\b[^\W\d_]{2,}\b",
    r"\w+(?:-\w+)*",
    r"#(\w+)",
    "[^,]+",
    r"\b\w+(?:['’]\w+)*\b",
    r"\b[a-z]+(?:-[a-z]+)*\b",
    r"\b[\w'-]+\b",
    r"\b(?:[a-z]-?)+\b",
    r"\$?\d+(?:\.\d+)?%?|\w+",
    r"\w+|[^\w\s]",
    r"https?://\S+|\w+",
    r"\d{1,3}(?:,\d{3})*",
    r"(?a)\w+-?",
    r"(?:ab?)*",
    r"\w{2,5}?",
]
EVIL = [
    r"(a+)+$",
    r"(a+)+!",
    r"(a|a)*$",
    r"(a|a)*!",
    r"(\w|\d)*!",
    r"(.*a){25}",
    r"(x+x+)+y",
    r"(a*)*b",
    r"(?:a?){30}a{30}",
    r"(?:a|ab)(?:c|bcd)*",
    r"([^\x00-\uffff]|\w)*!",  # two ways for letters beyond the 16-bit ones alone
    r"(\w+)\1",
    r"(?=\w+!)\w+",
    r"\w+@\w+",  # the square of a word's length
    r"[\s\S]*x",
    r"\b(?:[a-z]+)+\b",
    r"\ba(?:a-a)*\b",  # "aa-aa-aa-…": every start reads to the end, where \b fails
    r"(?:a?|b?)(?:c?|d?)(?:e?|f?)z",
    r"a{1000}",
    "(?:" * 300 + "a" + ")" * 300,
    "a{99999999999999999999}",
    "(",
]


@pytest.mark.parametrize("pattern", LINEAR)
def test_patterns_that_people_use(pattern):
    assert why_not_linear(pattern) is None


@pytest.mark.parametrize("pattern", EVIL)
def test_patterns_that_backtrack(pattern):
    assert why_not_linear(pattern)


@pytest.mark.parametrize(
    ("pattern", "unit", "ending"),
    [(r"\ba(?:a-a)*\b", "aa-", "aa"), (r"\w+@\w+", "a", ""), (r"[\s\S]*x", "a", ""), (r"(?=\w+!)\w+", "a", "")],
)
def test_the_evil_ones_are_evil(pattern, unit, ending):
    assert pattern in EVIL
    assert not steps_are_in_proportion(pattern, unit, ending)


LONG = [("a", ""), ("aa-", ""), ("a", "9é"), ("-", ""), ("a'", ""), ("1,", ""), ("a-", "9"), ("12,345", ""), ("é", "!")]


@pytest.mark.parametrize("pattern", LINEAR)
def test_the_steps_of_the_linear_ones_are_in_proportion_to_the_length(pattern):
    for unit, ending in LONG:
        assert steps_are_in_proportion(pattern, unit, ending), unit


@pytest.mark.parametrize("pattern", LINEAR)
def test_the_matcher_finds_what_python_finds(pattern):
    for unit, ending in LONG:
        text = unit * 20 + ending
        if text.isascii() or "(?a)" not in pattern:  # the matcher knows Unicode alone
            assert Matcher(pattern, text).all_found() == [one[0] for one in re.finditer(pattern, text) if one[0]]
