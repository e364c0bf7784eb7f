"""HTML pages, drawings and workbooks that need no other file and no network; shared by reports and reproductions."""

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
from textbayes.core.tables import flat, is_formula
from textbayes.display.lines import visible

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
