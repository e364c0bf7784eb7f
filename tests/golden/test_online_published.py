"""What we typed in of the online paper's tables is what it prints."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from textbayes.reproduce.online.filtering_tables import ROWS
from textbayes.reproduce.online.systems import SYSTEMS
from textbayes.reproduce.online.tables import PUBLISHED, sign_test_symbols
from textbayes.reproduce.results import Misprint

F1, LIKELIHOODS, PASSES = (PUBLISHED[f"table {number}"] for number in (2, 6, 7))
TABLE_4, TABLE_5 = PUBLISHED["table 4"], PUBLISHED["table 5"]
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
        typed = ["{:.2f} / {:.2f}".format(*pair) for pair in F1[system]]
        assert [cell for cell in cells if cell] == typed, system


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
    assert list(rows) == [name.partition(" pass")[0] for name in typed]
    for cells, (micro, macro, evidence) in zip(rows.values(), typed.values(), strict=True):
        assert cells[0] == f"{micro:.2f} / {macro:.2f}"
        assert float(cells[1]) == evidence


def test_what_two_tables_share():
    assert LIKELIHOODS["Probit"] == PASSES["3 passes"]
    assert F1["Perceptron"][1] == PASSES["3 passes"][:2]


def test_table_4(text):
    _, _, after = text.partition("Table 4: ")
    header, *lines = after.partition("\n\n")[2].split("\n\n")[0].split("\n")
    systems = [re.sub(r"<sup>.*?</sup>", "", name).strip() for name in header.split("\t")[1:]]
    assert systems == list(TABLE_4)
    assert len(lines) == len(ROWS)
    for place, (row, line) in enumerate(zip(ROWS, lines, strict=True)):
        name, *cells = (re.sub(r"</?b>", "", cell).strip() for cell in line.split("\t"))
        assert name.lower() == row.lower()
        for system, cell in zip(systems, cells, strict=True):
            typed = TABLE_4[system][place]
            assert isinstance(typed, Misprint) == ((row, system) == ("Total retrieved", "Pptron"))
            assert cell == getattr(typed, "printed", None) or float(cell) == typed, f"{row}, {system}"


def test_the_misprint_is_impossible_and_what_is_meant_follows_from_the_others():
    """Utility is 2 for a relevant document less 1 for any other: Σ = 3·relevant − total over 63 topics."""
    for total, relevant, *_, utility, _, _, _ in TABLE_4.values():
        assert (3.0 * relevant - total) / 63.0 == pytest.approx(utility, abs=0.0006)
    total, relevant, *_, utility, _, _, _ = TABLE_4["Pptron"]
    assert (3.0 * relevant - float(total.printed)) / 63.0 != pytest.approx(utility, abs=0.05)


def test_table_5(text):
    _, _, after = text.partition("Table 5: ")
    lines = [line.split("\t")[1:] for line in after.partition("\n\n")[2].split("\n\n")[0].split("\n")[1:]]
    assert len(lines) == 3
    for place, cells in enumerate(lines):
        pairs = [re.fullmatch(r"(\d+) \((\d+)\)", cell.strip()).groups() for cell in cells]
        assert [float(pair[0]) for pair in pairs] == list(TABLE_5["Pptron+ig"][place])
        assert [float(pair[1]) for pair in pairs] == list(TABLE_5["Pptron+rnd"][place])


def test_tables_4_and_5_agree():
    for system, rows in TABLE_5.items():
        assert rows[2][2] == TABLE_4[system][0]
        assert rows[2][0] == TABLE_4[system][1]
