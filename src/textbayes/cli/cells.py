"""Cells of tables for spreadsheets: one value each, and no text that a spreadsheet would take for a formula.

>>> as_cell(["grain", "ship"]), as_cell(-0.5), as_cell("-0.5"), as_cell('=HYPERLINK("http://x")')
('grain|ship', -0.5, '-0.5', '\\'=HYPERLINK("http://x")')
"""

from __future__ import annotations

import re
from typing import Any

SEPARATOR = "|"  # between several values in one cell
# What spreadsheets compute, in any of their locales; one such character by itself is text to all of them.
_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠].", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?%?")


def flat(value: Any) -> Any:
    """The value, several of them joined."""
    return SEPARATOR.join(map(str, value)) if isinstance(value, list | tuple) else value


def is_formula(value: Any) -> bool:
    """Whether a spreadsheet would compute it; numbers are numbers, with or without a sign."""
    return isinstance(value, str) and _FORMULA.match(value) is not None and _NUMBER.fullmatch(value) is None


def as_cell(value: Any, keep_formulas: bool = False) -> Any:
    """A value as a cell of a CSV file; an apostrophe before a formula makes it text, as it does when typed in."""
    value = flat(value)
    return f"'{value}" if not keep_formulas and is_formula(value) else value
