"""Text that a spreadsheet would compute, made plain text and back.

>>> escape_formula("=1+1"), escape_formula("-0.5"), unescape_formula("'=1+1")
("'=1+1", '-0.5', '=1+1')
"""

from __future__ import annotations

import re

# What begins a formula in any locale; one such character by itself is text to all spreadsheets.
_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠].", re.DOTALL)
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
