"""What we typed in of the sparse paper is what it prints, but for the misprints that are listed as such."""

from __future__ import annotations

import re

import numpy as np
import pytest

from textbayes.reproduce.results import published_figures

_NAME = "000_985a81dd955fb017.txt"
_PUBLISHED = published_figures("sparse")
TOPICS, AVERAGES, CORRECTED, F1, SIZES, RCV1 = (
    _PUBLISHED[name] for name in ("topics", "averages", "corrected", "f1", "sizes", "rcv1")
)
_LAPLACE = [f"Laplace γ = {gamma:g}" for gamma in _PUBLISHED["gammas"]]
_TABLES = {
    "1": [F1[name] for name in ("Naive Bayes", "Log. Reg.", "SVM", "Laplace γ = 10")],
    "2": [F1[name] for name in ("Jeffreys raw TF", "Jeffreys", "Laplace γ = 10 raw TF", "Laplace γ = 10")],
    "3": [F1[name] for name in ("Jeffreys", *_LAPLACE)],
    "4": [SIZES[name] for name in ("Jeffreys", *_LAPLACE)],
    "5": [F1[name] for name in ("Jeffreys", "Jeffreys 1,000", "Laplace γ = 10", "Laplace γ = 10, 1,000")],
    "6": [F1[name] for name in ("Probit Gaussian", "Laplace γ = 10", "Logistic Gaussian", "Logistic Laplace")],
}
_MISPRINTS = {
    ("2", "crude", 0): "Table 2, crude, Jeffreys raw TF",
    ("3", "corn", 4): "Table 3, corn, Laplace γ = 3",
    ("4", "money-fx", 1): "Table 4, money-fx, Laplace γ = 0.1",
}


@pytest.fixture(scope="module")
def text(seed_text) -> str:
    return seed_text(_NAME)


def printed_rows(text: str, number: str) -> dict[str, list[str]]:
    """The rows of a table as printed: those before its caption, back to the caption of the one before it."""
    before, _, _ = text.partition(f"\nTable {number}:")
    start = before.rfind(f"\nTable {int(number) - 1}:") if number != "1" else 0
    found = re.findall(rf"^({'|'.join((*TOPICS, *AVERAGES))})\s+([\d. ]+)$", before[start:], re.MULTILINE)
    return {name: cells.split() for name, cells in found}


@pytest.mark.parametrize("number", list(_TABLES))
def test_every_table_is_typed_in_as_printed(text, number):
    rows = printed_rows(text, number)
    names = TOPICS if number == "4" else (*TOPICS, *AVERAGES)
    assert list(rows) == list(names)
    for i, name in enumerate(names):
        typed = [column[i] for column in _TABLES[number]]
        for j, cell in enumerate(rows[name]):
            if (number, name, j) in _MISPRINTS:
                assert CORRECTED[_MISPRINTS[number, name, j]] == (cell, typed[j])
            else:
                assert float(cell) == typed[j], f"Table {number}, {name}, column {j}"
        assert len(rows[name]) == len(typed)


def test_the_averages_of_rcv1_are_typed_in_as_printed(text):
    of_table_7 = [RCV1[name] for name in ("SVM", "kNN", "Rocchio", "probit Jeffreys", "probit Laplace")]
    of_table_7.append(RCV1["logistic Laplace 3,000"])
    of_table_8 = list(RCV1.values())[3:]
    for table in (of_table_7, of_table_8):
        macro, micro = (" ".join(map(str, side)) for side in zip(*table, strict=True))
        found = text.replace("|", "").replace("A7.7", "47.7").replace("  ", " ")
        assert f"Macro-average {macro}" in found
        assert f"Micro-average {micro}" in found
    assert CORRECTED["Table 8, macro-average, probit Laplace"] == ("A7.7", RCV1["probit Laplace"][0])


def test_every_correction_is_of_something_printed(text):
    for printed, _ in CORRECTED.values():
        assert re.search(rf"\s{re.escape(printed)}\s", text)


@pytest.mark.parametrize("number", [name for name in _TABLES if name != "4"])
def test_macro_averages_are_the_means_of_the_topics(number):
    # All figures are rounded to 0.05.
    for column in _TABLES[number]:
        assert np.mean(column[: len(TOPICS)]) == pytest.approx(column[len(TOPICS)], abs=0.1001)


def test_fewer_parameters_are_left_as_gamma_grows():
    # This is how the misread cell of Table 4 is known to be one.
    sizes = np.array([SIZES[name] for name in _LAPLACE])
    assert (np.diff(sizes, axis=0) <= 0).all()


def test_what_the_text_says_of_table_4(text):
    # "anywhere from 27% (earn) to 86% (wheat) of the estimated regression co-efficients are zero"
    assert "27% (earn) to 86% (wheat)" in text
    zero = {topic: (301 - size) / 301 for topic, size in zip(TOPICS, SIZES["Laplace γ = 10"], strict=True)}
    assert round(100 * zero["earn"]) == 27
    assert round(100 * zero["wheat"]) == 86
