"""Token patterns that are known to be linear, and those that are not."""

from __future__ import annotations

import re
import time

import pytest

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


def test_the_evil_ones_are_evil():
    start = time.process_time()
    re.findall(r"\ba(?:a-a)*\b", "aa-" * 1_500 + "aa")
    short = time.process_time() - start
    re.findall(r"\ba(?:a-a)*\b", "aa-" * 6_000 + "aa")
    assert time.process_time() - start - short > 8 * short  # 16 times as long for 4 times the text


@pytest.mark.parametrize("pattern", LINEAR)
def test_the_linear_ones_are_fast_on_long_texts(pattern):
    # 300,000 characters: the square of that, or of a tenth, would be minutes.
    long = ["a" * 300_000, "aa-" * 100_000, "a" * 300_000 + "9é", "-" * 300_000, "a'" * 150_000, "1," * 150_000]
    start = time.process_time()
    for text in [*long, "a-" * 150_000 + "9", "12,345" * 50_000, "é" * 300_000 + "!"]:
        re.findall(pattern, text)
    assert time.process_time() - start < 5.0
