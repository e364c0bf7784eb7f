r"""Tables as CSV and TSV: one value a cell, for every reader alike, and no text that a spreadsheet would compute.

All CSV that textbayes writes is written here.

>>> escape_formula("=1+1"), escape_formula("-0.5"), unescape_formula("'=1+1")
("'=1+1", '-0.5', '=1+1')
>>> as_cell(["grain", "ship"]), as_cell(-0.5), as_cell('=HYPERLINK("http://x")')
('grain|ship', -0.5, '\'=HYPERLINK("http://x")')
>>> print(csv_text([["id", "text"], [7, "good, not bad"]]), end="")
id,text
7,"good, not bad"
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textbayes.core.errors import MissingExtraError

# What begins a formula in any locale, after what a spreadsheet may drop; one such character by itself is text to all.
_FORMULA = re.compile("(?:[\\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2060\ufeff]*[=+\\-@＝＋－＠]|[\t\r\n]).", re.DOTALL)
SEPARATOR = "|"  # between several values in one cell
_NUMBER = re.compile(r" *[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?%? *")
# Python's csv leaves a carriage return bare before 3.13: a new row to spreadsheets. Others end lines for some readers.
_ENDS = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_ENDING = re.compile(f"[{_ENDS}]+")

_SMALL = 1e-15  # numbers below it have an exponent
_EMPTY = '""'  # one cell with nothing in it: a blank line would be passed over


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute it; numbers are numbers, with or without a sign."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def escape_formula(text: str) -> str:
    """The text, with an apostrophe before a formula: it makes text of it, as it does when typed in."""
    return f"'{text}" if is_formula(text.lstrip("'")) else text


def unescape_formula(text: str) -> str:
    """Undo :func:`escape_formula`."""
    return text[1:] if text.startswith("'") and is_formula(text.lstrip("'")) else text


def flat(value: Any) -> Any:
    """The value, several of them joined."""
    return SEPARATOR.join(map(str, value)) if isinstance(value, list | tuple) else value


def as_cell(value: Any, keep_formulas: bool = False) -> Any:
    """A value as a cell of a CSV file; formulas become text unless they are allowed."""
    value = flat(value)
    return escape_formula(value) if isinstance(value, str) and not keep_formulas else value


@dataclass(frozen=True)
class CsvForm:
    """Form of a CSV file; that of a German Excel has ``;`` between its cells and ``,`` in its numbers.

    >>> print(csv_text([["a;b", 0.5]], form=CsvForm(delimiter=";", decimal=",")), end="")
    "a;b";0,5
    """

    delimiter: str = ","
    line_end: str = "\n"
    decimal: str = "."


PLAIN = CsvForm()


def csv_text(rows: Iterable[Iterable[Any]], keep_formulas: bool = False, form: CsvForm = PLAIN) -> str:
    """Rows of values as CSV, which every reader of CSV reads back as so many rows of so many cells.

    Parameters
    ----------
    rows : iterable of iterables
        The names of the columns too, if there are to be any.
    keep_formulas : bool
        Whether text that a spreadsheet would compute is left as it is.
    form : CsvForm
    """
    mark = re.compile(f'["{re.escape(form.delimiter)}{_ENDS}]')
    written = _written(rows, keep_formulas, form.decimal)
    lines = (form.delimiter.join(_quoted(cell, mark) for cell in row) for row in written)
    return "".join(f"{line or _EMPTY}{form.line_end}" for line in lines)


def tsv_text(rows: Iterable[Iterable[Any]], keep_formulas: bool = False) -> str:
    """Rows of values as TSV, whose readers know no quotation marks: tabs and ends of lines in a value become spaces.

    Parameters
    ----------
    rows : iterable of iterables
    keep_formulas : bool
    """
    return "".join("\t".join(_ENDING.sub(" ", cell) for cell in row) + "\n" for row in _written(rows, keep_formulas))


def _written(rows: Iterable[Iterable[Any]], keep_formulas: bool, decimal: str = ".") -> Iterable[list[str]]:
    for row in rows:
        cells = (as_cell(value, keep_formulas) for value in row)
        yield ["" if cell is None else _number(cell, decimal) for cell in cells]


def _number(cell: Any, decimal: str) -> str:
    text = str(cell)
    if not isinstance(cell, float):
        return text
    if "e-" in text and abs(cell) >= _SMALL:  # 0.00007 rather than 7e-05, which people misread
        text = f"{Decimal(text):f}"
    return text.replace(".", decimal)


def _quoted(cell: str, mark: re.Pattern[str]) -> str:
    if not cell or not mark.search(cell):
        return cell
    return '"' + cell.replace('"', '""') + '"'


def make_frame(rows: Iterable[Sequence[Any]], columns: Sequence[str]) -> Any:
    """A ``DataFrame`` of rows; pandas is imported here and nowhere else."""
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise MissingExtraError("pandas", "pandas", "a DataFrame") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
