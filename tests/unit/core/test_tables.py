from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import textbayes
from textbayes.cli.output import Output
from textbayes.core.tables import CsvForm, csv_text, escape_formula, is_formula, tsv_text, unescape_formula
from textbayes.knowledge import WordPrior, WordPriors

FORMULAS = ['=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "--"]
FORMULAS += ["\0=1+1", " =1+1", "\x0b=1", "\u2028=1", "\ufeff=1", "\n\n=1", "\x85@SUM(A1)"]
PLAIN = ["-3.5", "+49", "-1,234.5", "1e-5", "-1e-5", "-12%", "-", "=", "a=b", "'x", "", " -3.5", " a", "\u2028a"]
# What some program or other takes for the end of a line, of a cell or of a text.
ENDS = ["\r", "\n", "\r\n", "\t", ",", ";", '"', '",', "\0", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85"]
ENDS += ["\u2028", "\u2029", '"\r', '\r"']
INJECTED = [f"Tea{end}=cmd|' /C calc'!A0" for end in ENDS]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_become_text(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", PLAIN)
def test_numbers_and_ordinary_text_stay_as_they_are(text):
    assert escape_formula(text) == text
    assert unescape_formula(text) == text


@given(st.text(alphabet="=+-@a1' \t\0", max_size=6))
def test_what_was_escaped_comes_back(text):
    assert unescape_formula(escape_formula(text)) == text


def test_a_prior_file_holds_no_formula_and_reads_back_the_same(tmp_path):
    table = WordPriors([WordPrior("corn", "=cmd()", mean=-1.5, sign=-1), WordPrior("wheat", "@x", mean=2.0)])
    path = tmp_path / "priors.csv"
    path.write_text(table.to_csv(), encoding="utf-8")
    assert "corn,'=cmd(),-1.5," in table.to_csv()
    assert list(WordPriors.read(path)) == list(table)


# -- whole tables ---------------------------------------------------------------------------------------------------
def spreadsheet_rows(text, ends="\r\n|\r|\n"):
    """The cells that a spreadsheet makes of CSV: quotation marks hold where they begin a cell."""
    rows, row, place = [], [], 0
    cell = re.compile(f'(?:"((?:[^"]|"")*)")?(.*?)(,|{ends}|$)', re.DOTALL)
    while place < len(text):
        found = cell.match(text, place)
        row.append((found[1] or "").replace('""', '"') + found[2])
        place = found.end()
        if found[3] != ",":
            rows.append(row)
            row = []
    return rows


def written_by(where, table):
    """A table as each place that writes CSV writes it."""
    header, *rows = table
    if where == "room":
        pytest.importorskip("starlette", reason="extra 'app' is not installed")
        from textbayes.app.exports import csv_of

        return csv_of([dict(zip(header, row, strict=True)) for row in rows]).decode("utf-8-sig")
    if where == "command":
        return Output("csv").text([dict(zip(header, row, strict=True)) for row in rows], header)
    return csv_text(table)


@pytest.mark.parametrize("where", ["room", "command", "core"])
@pytest.mark.parametrize("text", [*INJECTED, *FORMULAS])
def test_a_value_is_one_cell_and_no_formula(where, text):
    """In values as in names of columns, for Python's reader, for a spreadsheet, and where any end of a line counts."""
    table = [["id", text], [text, "b"], ["a", text]]
    written = written_by(where, table)
    cells = [[escape_formula(cell) for cell in row] for row in table]
    assert list(csv.reader(io.StringIO(written, newline=""), strict=True)) == cells
    for ends in ("\r\n|\r|\n", "\r\n|[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029\0]"):
        assert spreadsheet_rows(written, ends) == cells
    assert not any(is_formula(cell) for row in cells for cell in row)


@pytest.mark.parametrize("text", INJECTED)
def test_a_prior_file_has_one_cell_a_value(text):
    table = WordPriors([WordPrior("corn", text, mean=1.0), WordPrior("wheat", "b", mean=-2.0, source=text)])
    header, *rows = spreadsheet_rows(table.to_csv())
    assert [len(row) for row in rows] == [len(header)] * 2
    assert (rows[0][1], rows[1][-1]) == (text, text)


@pytest.mark.parametrize("text", [*INJECTED, *FORMULAS])
def test_a_value_of_tsv_is_one_cell_and_no_formula(text):
    for written in (tsv_text([["id", text], [text, "b"]]), Output("tsv").text([{"id": text, text: "b"}], ["id", text])):
        rows = [line.split("\t") for line in written.removesuffix("\n").split("\n")]
        assert [len(row) for row in rows] == [2, 2]
        assert len(written.splitlines()) == 2  # which counts all ends of lines that there are
        assert not any(is_formula(cell) for row in rows for cell in row)


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), min_size=1, max_size=3))
@example([["\r", "\r\n"]])
@example([["", ""]])
def test_any_text_comes_back(rows):
    cells = [[escape_formula(cell) for cell in row] for row in rows]
    assert list(csv.reader(io.StringIO(csv_text(rows), newline=""), strict=True)) == cells
    assert spreadsheet_rows(csv_text(rows)) == cells
    assert csv_text(rows, keep_formulas=True) == csv_text(rows) or cells != rows


def test_a_column_of_nothing_has_its_rows():
    assert list(csv.reader(io.StringIO(csv_text([["a"], [""], [None], [0], [-0.5]])))) == [
        ["a"],
        [""],
        [""],
        ["0"],
        ["-0.5"],
    ]


def test_nothing_else_writes_csv():
    """What is to write a table takes ``core.spreadsheet``: others' quoting differs between versions of Python."""
    package = Path(textbayes.__file__).parent
    writers = re.compile(r"csv\.(writer|DictWriter)\b|from csv import|\.to_csv\([^)]|lineterminator")
    found = [path.name for path in package.rglob("*.py") if writers.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_the_form_of_a_german_spreadsheet():
    form = CsvForm(delimiter=";", line_end="\r\n", decimal=",")
    shown = csv_text([["a;b", 'say "x"', "c,d"], [0.25, 3, "1.5"]], form=form)
    assert shown == '"a;b";"say ""x""";c,d\r\n0,25;3;1.5\r\n'  # a text stays as it is, whatever it looks like
    assert next(csv.reader(io.StringIO(shown), delimiter=";")) == ["a;b", 'say "x"', "c,d"]


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", "^", "]"])
def test_any_delimiter_is_read_back(delimiter):
    rows = [["a,b", "a;b", "a|b"], ["a\tb", "^", "]\n["]]
    shown = csv_text(rows, form=CsvForm(delimiter=delimiter))
    assert list(csv.reader(io.StringIO(shown), delimiter=delimiter)) == rows
