"""Cells of tables: one value each, and no text that a spreadsheet would compute; plain text of it, and back.

>>> escape_formula("=1+1"), escape_formula("-0.5"), unescape_formula("'=1+1")
("'=1+1", '-0.5', '=1+1')
>>> as_cell(["grain", "ship"]), as_cell(-0.5), as_cell('=HYPERLINK("http://x")')
('grain|ship', -0.5, '\\'=HYPERLINK("http://x")')
"""

from __future__ import annotations

import re
from typing import Any

# What begins a formula in any locale; one such character by itself is text to all spreadsheets.
_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠].", re.DOTALL)
SEPARATOR = "|"  # between several values in one cell
_NUMBER = re.compile(r"[+-]?(\d[\d.,]*|\.\d+)([eE][+-]?\d+)?%?")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would compute it; numbers are numbers, with or without a sign."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def escape_formula(text: str) -> str:
    """The text, with an apostrophe before a formula: it makes text of it, as it does when typed in."""
    return f"'{text}" if is_formula(text) else text


def unescape_formula(text: str) -> str:
    """Undo :func:`escape_formula`."""
    return text[1:] if text.startswith("'") and is_formula(text[1:]) else text


def flat(value: Any) -> Any:
    """The value, several of them joined."""
    return SEPARATOR.join(map(str, value)) if isinstance(value, list | tuple) else value


def as_cell(value: Any, keep_formulas: bool = False) -> Any:
    """A value as a cell of a CSV file; formulas become text unless they are to be kept."""
    value = flat(value)
    return escape_formula(value) if isinstance(value, str) and not keep_formulas else value
