"""What we typed in of the online paper's tables on Reuters-21578 is what it prints."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from textbayes.reproduce.online.published import F1, LIKELIHOODS, PASSES, SYSTEMS, sign_test_symbols

_NAME = "001_3fa91ee9eac70bea.txt"
_MIRROR = {"≫": "≪", ">": "<", "~": "~", "<": ">", "≪": "≫"}


@pytest.fixture(scope="module")
def text(seed_text) -> str:
    return re.sub(r" *</?sub> *", "", seed_text(_NAME))


def printed_rows(text: str, number: int) -> dict[str, list[str]]:
    """The rows of a table as printed, below its caption: cells are separated by tabs."""
    _, _, after = text.partition(f"Table {number}: ")
    lines = re.split(r"\n\n(?![\t])", after.partition("\n\n")[2])[0].split("\n")
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines[1:]]
    return {name: cells for name, *cells in rows}


def test_table_2(text):
    rows = printed_rows(text, 2)
    assert tuple(rows) == SYSTEMS
    for system, cells in rows.items():
        typed = ["" if pair is None else "{:.2f} / {:.2f}".format(*pair) for pair in F1[system]]
        assert cells == typed[: len(cells)], system


def test_table_3(text):
    rows, symbols = printed_rows(text, 3), sign_test_symbols()
    assert tuple(rows) == SYSTEMS
    for first, cells in rows.items():
        for second, cell in zip(SYSTEMS, cells, strict=True):
            s, S = symbols[first, second] if first != second else ("", "")
            typed = f"{s} / {S}".replace("≫", ">>").replace("≪", "<<") if s else ""
            assert cell == typed, f"{first} against {second}"


def test_each_sign_test_says_the_same_from_both_sides():
    symbols = sign_test_symbols()
    assert set(symbols) == set(permutations(SYSTEMS, 2))
    for (first, second), pair in symbols.items():
        assert tuple(_MIRROR[symbol] for symbol in pair) == symbols[second, first]


@pytest.mark.parametrize(("number", "typed"), [(6, LIKELIHOODS), (7, PASSES)], ids=["table 6", "table 7"])
def test_tables_6_and_7(text, number, typed):
    rows = printed_rows(text, number)
    assert list(rows) == [str(name) for name in typed]
    for name, (micro, macro, evidence) in typed.items():
        assert rows[str(name)][0] == f"{micro:.2f} / {macro:.2f}"
        assert float(rows[str(name)][1]) == evidence


def test_what_two_tables_share():
    assert LIKELIHOODS["Probit"] == PASSES[3]
    assert F1["Perceptron"][1] == PASSES[3][:2]
