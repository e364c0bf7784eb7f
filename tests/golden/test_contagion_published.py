"""What we typed in of the contagion paper is what it prints."""

from __future__ import annotations

import re

import pytest

from textbayes.reproduce.results import published_figures

PUBLISHED = published_figures("contagion")
_NAME = "003_fd46248dd6f97848.txt"


@pytest.fixture(scope="module")
def text(seed_text) -> str:
    return seed_text(_NAME)


def cells(line: str) -> list[float | None]:
    """Per cents of a line; an empty cell is None, a star marks TF-IDF."""
    return [float(cell.strip(" *%")) if cell.strip() else None for cell in line.split("\t")]


def test_table_1(text):
    for pool, typed in PUBLISHED["table 1"].items():
        (line,) = re.findall(rf"^{re.escape(pool)}\t(.*)$", text, re.M)
        assert [tuple(map(int, found)) for found in re.findall(r"(\d+) \((\d+)\)", line)] == list(typed)


def test_table_2(text):
    for name, typed in PUBLISHED["table 2"].items():
        (line,) = re.findall(rf"^{name}\t\d\tInfo. Gain\t(.*)$", text, re.M)
        assert cells(line) == list(typed)
        assert line.startswith("*") == (name in PUBLISHED["better_with_tfidf"])


def test_table_3(text):
    lines = text[text.index("Dataset\tClass\tSelection") : text.index("Table 3: ")].strip().split("\n")[1:]
    assert len(lines) == len(PUBLISHED["table 3"])
    for line, (row, typed) in zip(lines, PUBLISHED["table 3"].items(), strict=True):
        name, _, selection = row.rpartition(", ")
        first, _, kind, rest = line.split("\t", 3)
        assert first.replace("’", "'") in (name, "")
        assert kind.replace("Δ^2", "Δ²") == selection
        found = cells(rest)
        assert found + [None] * (4 - len(found)) == list(typed)


def test_the_constants_are_those_of_the_text(text):
    assert "\\beta = (2, 1)" in text
    assert "internal five-fold cross-validation" in text
