"""Texts of others as they are shown: cut and wrapped for a terminal, control characters as escapes that can be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from textbayes.core.lazy import LazyModule

cells = LazyModule("rich.cells")  # scoring shows no table


def wrapped(text: str, width: int, indent: str = "", lead: str = "") -> str:
    """Paragraphs of a text in lines of at most ``width`` columns; a word that is longer has a line of its own.

    Parameters
    ----------
    text : str
    width : int
    indent : str
        Before all lines of a paragraph but the first, which keeps the indentation that it has.
        No line ends at a no-break space.
    lead : str
        Before the first line: a label, say, and the space behind it.

    Examples
    --------
    >>> print(wrapped("one two three", 8, "  "))
    one two
      three
    """
    return "\n".join(line for paragraph in text.split("\n") for line in _lines(paragraph, width, indent, lead))


def shortened(text: str, width: int) -> str:
    """A text on one line, white space as single spaces, with … where more than ``width`` columns are left out.

    It is cut between words, except where a word takes up most of the line.

    >>> shortened("The Lib Dems are set for their best ever result", 20)
    'The Lib Dems are…'
    >>> shortened("https://example.org/a/long/path", 12)
    'https://exa…'
    """
    line = " ".join(text[: 8 * width].split())  # no more than could be shown is looked at
    if cells.cell_len(line) <= width and len(text) <= 8 * width:
        return line
    cut = next(iter(cells.chop_cells(line, max(width - 1, 1))), "")
    between = cut if line[len(cut) : len(cut) + 1] == " " else cut.rpartition(" ")[0]
    return f"{(between if cells.cell_len(between) >= 0.3 * width else cut).rstrip()}…"


def padded(text: str, width: int) -> str:
    """A text on one line of exactly ``width`` columns, shortened or with spaces behind it."""
    return cells.set_cell_size(shortened(text, width), width)


def cell_width(text: str) -> int:
    """Columns that a text takes on a terminal: two for each character of Chinese or Japanese."""
    return cells.cell_len(text)


def _lines(paragraph: str, width: int, indent: str, lead: str) -> list[str]:
    if cells.cell_len(lead + paragraph) <= width:
        return [lead + paragraph]
    lines, line, empty = [], lead + paragraph[: len(paragraph) - len(paragraph.lstrip(" "))], True
    for word in _pieces(paragraph, width - cells.cell_len(indent)):
        longer = f"{line}{word}" if empty else f"{line} {word}"
        if not empty and cells.cell_len(longer) > width:
            lines.append(line)
            longer = f"{indent}{word}"
        line, empty = longer, False
    return [*lines, line]


def _pieces(paragraph: str, width: int) -> Iterator[str]:
    """Words; long ones of wide characters (Chinese, Japanese), which stand without spaces, in several pieces."""
    for word in filter(None, paragraph.split(" ")):
        yield from cells.chop_cells(word, max(width, 2)) if cells.cell_len(word) > max(width, len(word)) else [word]


# C0 controls but for tab and line end, DEL, C1 controls, and what reverses the direction of the text that follows.
_STEERING = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
# Marks of direction, separators of lines, byte order marks, and halves of a character, which have no bytes in UTF-8.
_UNSEEN = "\u061c\u200e\u200f\u2028\u2029\ufeff\ud800-\udfff"
_CONTROLS, _ALL = (re.compile(f"[{codes}]|\r(?!\n)") for codes in (_STEERING, _STEERING + _UNSEEN))


def visible(text: str, unseen: bool = False) -> str:
    r"""The text with control characters written as escapes; tabs and line ends stay.

    With ``unseen`` so are others that cannot be seen: a label must not look like another.

    >>> print(visible("a\x1b[2Jb\u202ec"))
    a\x1b[2Jb\u202ec
    """
    return (_ALL if unseen else _CONTROLS).sub(lambda found: ascii(found[0])[1:-1], text)


def snippet(text: str, most: int) -> str:
    """The beginning of a text on one line, at most so many characters, cut at the end of a word where it has one.

    >>> snippet("corn\\n  and wheat", 10)
    'corn and …'
    """
    line = " ".join(text[: 20 * most].split())  # not all of a long text, which may be spaces
    if len(line) <= most and len(text) <= 20 * most:
        return line
    start = line[: most - 1]
    return f"{start.rpartition(' ')[0]} …" if " " in start else f"{start}…"
