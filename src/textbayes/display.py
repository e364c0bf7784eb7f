"""How things are shown: texts of others in a terminal, HTML pages, drawings and workbooks.

Texts of others are cut and wrapped, with control characters as escapes that can be read. Pages and drawings need no
other file and no network; reports and reproductions share them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from textbayes.core.errors import InputError, MissingExtraError, plural
from textbayes.core.lazy import LazyModule
from textbayes.core.tables import flat, is_formula

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


_PACKAGES = ("jinja2", "matplotlib")


def check_pages_extra(purpose: str) -> None:
    """Refuse at once, rather than after minutes of work, if the packages that pages and drawings need are missing."""
    for package in _PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(package, "demo", purpose)


def render_page(
    template: Path, style: Path, filters: Mapping[str, Callable[..., str]] | None = None, **content: Any
) -> str:
    """Fill a template of this package; all text of the content is escaped, the style is a file of this package.

    Control characters and those that turn the direction of writing round are shown as escapes, whoever wrote them.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        finalize=lambda value: visible(value, unseen=True) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= dict(filters or {})
    page = environment.get_template(template.name)
    return page.render(style=Markup(style.read_text(encoding="utf-8")), **content)


_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "svg.hashsalt": "textbayes",  # the same drawing gives the same bytes
    "font.family": "DejaVu Sans",  # ships with matplotlib
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class Colours(NamedTuple):
    """Colours of what is written, of the marks along the axes, and of the axes themselves."""

    ink: str
    ticks: str
    axes: str


@contextmanager
def blank_figure(width: float, height: float, colours: Colours) -> Iterator[Any]:
    """An empty matplotlib figure, in inches, without pyplot: no backend is chosen and nothing left in global state."""
    import matplotlib
    from matplotlib.figure import Figure

    settings = {
        **_SETTINGS,
        "axes.edgecolor": colours.axes,
        "axes.labelcolor": colours.ink,
        "text.color": colours.ink,
        "xtick.color": colours.ticks,
        "ytick.color": colours.ticks,
    }
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]
        yield Figure(figsize=(width, height), layout="constrained")


def figure_svg(figure: Any, background: str | None = None) -> str:
    """The figure as an SVG document, transparent without a background colour.

    To be called inside :func:`blank_figure`, whose settings it needs.
    """
    stream = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # else a block of web addresses and the time of day
    figure.savefig(
        stream, format="svg", transparent=background is None, facecolor=background or "none", metadata=nothing
    )
    return stream.getvalue()


_MOST_ROWS, _MOST_COLUMNS, _LONGEST = 1_048_576, 16_384, 32_767  # of a sheet and of a cell, by Excel's specification
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ERRORS = re.compile("#[A-Z0-9/!?]+")  # what openpyxl would take for the error of a formula


@contextlib.contextmanager
def workbook(
    stream: BinaryIO, keep_formulas: bool = False, warn: Callable[[str], None] | None = None
) -> Iterator[Sheet]:
    """A sheet to write rows to; the workbook goes to the stream when the block ends well.

    Parameters
    ----------
    stream : binary stream
        Which allows seeking.
    keep_formulas : bool
        Whether text that a spreadsheet would compute stays a formula.
    warn : callable, optional
        Is called where texts had to be cut.
    """
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtraError("openpyxl", "xlsx", "writing XLSX files") from None
    book = Workbook(write_only=True)
    sheet = Sheet(book.create_sheet("textbayes"), keep_formulas)
    try:
        yield sheet
    except BaseException:
        sheet.close()  # else lxml complains when the sheet is thrown away half-written
        raise
    book.save(stream)
    if sheet.n_cut and warn is not None:
        warn(f"{plural(sheet.n_cut, 'text is', 'texts are')} longer than an XLSX cell can be, and cut; .csv keeps all")


class Sheet:
    """Rows under a header that stays in view; texts are texts, whatever they begin with.

    ``n_cut`` counts the texts that were too long for a cell and are cut.
    """

    def __init__(self, sheet: Any, keep_formulas: bool) -> None:
        self._sheet, self._keep_formulas, self._rows, self.n_cut = sheet, keep_formulas, 0, 0
        sheet.freeze_panes = "A2"

    def write(self, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], header: bool = True) -> None:
        """Write further rows, with the names of the columns above them unless ``header`` is false."""
        if header:
            if len(columns) > _MOST_COLUMNS:
                raise InputError(
                    f"{len(columns):,} columns are more than the {_MOST_COLUMNS:,} of an XLSX sheet; write .csv, or "
                    "only the most probable labels as JSON lines (top=5)"
                )
            self._append(columns)
        for row in rows:
            self._append(row.get(name) for name in columns)

    def close(self) -> None:
        """End the sheet; no more rows can be written."""
        self._sheet.close()

    def _append(self, values: Iterable[Any]) -> None:
        self._rows += 1
        if self._rows > _MOST_ROWS:
            raise InputError(f"an XLSX sheet has {_MOST_ROWS:,} rows and there are more documents; write .csv instead")
        self._sheet.append([self._cell(flat(value)) for value in values])

    def _cell(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        number = _number(value)
        if number is not None:
            return number
        text = self._fit(_NOT_XML.sub(_escape, value))
        if self._keep_formulas or not (is_formula(text) or text.startswith("=") or _ERRORS.match(text)):
            return text
        from openpyxl.cell import WriteOnlyCell

        cell = WriteOnlyCell(self._sheet, value=text)
        cell.data_type = "s"
        cell.quotePrefix = True  # the apostrophe of one who types it: it stays text when edited
        return cell

    def _fit(self, text: str) -> str:
        """The text, cut where it is too long for a cell; characters beyond the basic plane count twice."""
        if len(text) <= _LONGEST // 2:
            return text
        units = text.encode("utf-16-le")
        if len(units) <= 2 * _LONGEST:
            return text
        self.n_cut += 1
        return units[: 2 * (_LONGEST - 1)].decode("utf-16-le", "ignore") + "…"


def _escape(found: re.Match[str]) -> str:
    shown = visible(found[0])
    return shown if shown != found[0] else ascii(found[0])[1:-1]


def _number(text: str) -> int | float | None:
    """The number that is written so and not otherwise: 007 and 1.10 are texts, and so is what has too many digits."""
    if not re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text) or len(text) > 16:
        return None
    value = float(text) if "." in text else int(text)
    return value if str(value) == text else None
