"""What we typed in of the sparse paper is what it prints, misprints too, and each misprint is one."""

from __future__ import annotations

import re

import numpy as np
import pytest

from textbayes.reproduce.results import Misprint, published_figures

_NAME = "000_985a81dd955fb017.txt"
_PUBLISHED = published_figures("sparse")
TOPICS, AVERAGES, F1, SIZES, RCV1 = (_PUBLISHED[name] for name in ("topics", "averages", "f1", "sizes", "rcv1"))
_LAPLACE = [f"Laplace γ = {gamma:g}" for gamma in _PUBLISHED["gammas"]]
_TABLES = {
    "1": [F1[name] for name in ("Naive Bayes", "Log. Reg.", "SVM", "Laplace γ = 10")],
    "2": [F1[name] for name in ("Jeffreys raw TF", "Jeffreys", "Laplace γ = 10 raw TF", "Laplace γ = 10")],
    "3": [F1[name] for name in ("Jeffreys", *_LAPLACE)],
    "4": [SIZES[name] for name in ("Jeffreys", *_LAPLACE)],
    "5": [F1[name] for name in ("Jeffreys", "Jeffreys 1,000", "Laplace γ = 10", "Laplace γ = 10, 1,000")],
    "6": [F1[name] for name in ("Probit Gaussian", "Laplace γ = 10", "Logistic Gaussian", "Logistic Laplace")],
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
            shown = typed[j].printed if isinstance(typed[j], Misprint) else typed[j]
            assert cell == shown or float(cell) == shown, f"Table {number}, {name}, column {j}"
        assert len(rows[name]) == len(typed)


def test_the_averages_of_rcv1_are_typed_in_as_printed(text):
    """Lines of averages as the two tables have them: Table 7, then Table 8."""
    seven = ("SVM", "kNN", "Rocchio", "probit Jeffreys", "probit Laplace", "logistic Laplace 3,000")
    eight = {**RCV1, **_PUBLISHED["rcv1, table 8"]}
    lines = [line.split()[1:] for line in text.replace("|", " ").splitlines() if re.match(r"M[ai]cro-average ", line)]
    shown = [
        [getattr(value, "printed", f"{value}") for value in side]
        for side in (*zip(*(RCV1[name] for name in seven), strict=True), *zip(*list(eight.values())[3:], strict=True))
    ]
    assert [line for line in lines if len(line) == 6][-4:] == shown


def test_every_misprint_is_impossible():
    """The mean of the topics is not the macro-average with what is printed, and is with what is meant."""
    found = {
        (name, place): value
        for columns in (F1, SIZES, _PUBLISHED["rcv1, table 8"])
        for name, column in columns.items()
        for place, value in enumerate(column)
        if isinstance(value, Misprint)
    }
    assert {key: value.printed for key, value in found.items()} == {
        ("Jeffreys raw TF", 4): "7.7",
        ("Laplace γ = 3", 9): "914",
        ("Laplace γ = 0.1", 2): "200",
        ("probit Laplace", 0): "A7.7",
    }
    for name, place in (("Jeffreys raw TF", 4), ("Laplace γ = 3", 9)):
        values = list(map(float, F1[name][: len(TOPICS)]))
        assert np.mean(values) == pytest.approx(F1[name][10], abs=0.1001)
        values[place] = float(found[name, place].printed)
        assert abs(np.mean(values) - F1[name][10]) > 5.0
    assert found["probit Laplace", 0] == RCV1["probit Laplace"][0], "as Table 7 has it"
    assert SIZES["Laplace γ = 0.3"][2] > 200, "fewer parameters are left as γ grows"


@pytest.mark.parametrize("number", [name for name in _TABLES if name != "4"])
def test_macro_averages_are_the_means_of_the_topics(number):
    # All figures are rounded to 0.05.
    for column in _TABLES[number]:
        assert np.mean(column[: len(TOPICS)]) == pytest.approx(column[len(TOPICS)], abs=0.1001)


def test_fewer_parameters_are_left_as_gamma_grows():
    sizes = np.array([SIZES[name] for name in _LAPLACE])
    assert np.isnan(sizes).sum() == 1, "the misprint"
    assert (np.diff(sizes, axis=0) <= 0)[~np.isnan(np.diff(sizes, axis=0))].all()


def test_what_the_text_says_of_table_4(text):
    # "anywhere from 27% (earn) to 86% (wheat) of the estimated regression co-efficients are zero"
    assert "27% (earn) to 86% (wheat)" in text
    zero = {topic: (301 - size) / 301 for topic, size in zip(TOPICS, SIZES["Laplace γ = 10"], strict=True)}
    assert round(100 * zero["earn"]) == 27
    assert round(100 * zero["wheat"]) == 86
