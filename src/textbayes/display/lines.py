"""Lines that fit a terminal: broken between words, by the width that characters have on the screen."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, chop_cells, set_cell_size


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
    if cell_len(line) <= width and len(text) <= 8 * width:
        return line
    cut = next(iter(chop_cells(line, max(width - 1, 1))), "")
    between = cut if line[len(cut) : len(cut) + 1] == " " else cut.rpartition(" ")[0]
    return f"{(between if cell_len(between) >= 0.3 * width else cut).rstrip()}…"


def padded(text: str, width: int) -> str:
    """A text on one line of exactly ``width`` columns, shortened or with spaces behind it."""
    return set_cell_size(shortened(text, width), width)


def cell_width(text: str) -> int:
    """Columns that a text takes on a terminal: two for each character of Chinese or Japanese."""
    return cell_len(text)


def _lines(paragraph: str, width: int, indent: str, lead: str) -> list[str]:
    if cell_len(lead + paragraph) <= width:
        return [lead + paragraph]
    lines, line, empty = [], lead + paragraph[: len(paragraph) - len(paragraph.lstrip(" "))], True
    for word in _pieces(paragraph, width - cell_len(indent)):
        longer = f"{line}{word}" if empty else f"{line} {word}"
        if not empty and cell_len(longer) > width:
            lines.append(line)
            longer = f"{indent}{word}"
        line, empty = longer, False
    return [*lines, line]


def _pieces(paragraph: str, width: int) -> Iterator[str]:
    """Words; long ones of wide characters (Chinese, Japanese), which stand without spaces, in several pieces."""
    for word in filter(None, paragraph.split(" ")):
        yield from chop_cells(word, max(width, 2)) if cell_len(word) > max(width, len(word)) else [word]
