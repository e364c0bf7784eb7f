"""Cells of tables: one value each, and no text that a spreadsheet would take for a formula.

>>> as_cell(["grain", "ship"]), as_cell(-0.5), as_cell('=HYPERLINK("http://x")')
('grain|ship', -0.5, '\\'=HYPERLINK("http://x")')
"""

from __future__ import annotations

from typing import Any

from textbayes.core.spreadsheet import escape_formula

SEPARATOR = "|"  # between several values in one cell


def flat(value: Any) -> Any:
    """The value, several of them joined."""
    return SEPARATOR.join(map(str, value)) if isinstance(value, list | tuple) else value


def as_cell(value: Any, keep_formulas: bool = False) -> Any:
    """A value as a cell of a CSV file; formulas become text unless they are to be kept."""
    value = flat(value)
    return escape_formula(value) if isinstance(value, str) and not keep_formulas else value
