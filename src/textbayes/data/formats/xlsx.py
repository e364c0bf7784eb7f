"""Excel workbooks (.xlsx), one row a document under a header row, through openpyxl (extra ``xlsx``).

for document in FORMATS.get("xlsx").read("survey.xlsx", sheet="2024", text_field="answer"): ...

Cells become text as a CSV export would write them: 12345.0 is ``12345``, a date ``2024-05-01`` (with a time of day,
``2024-05-01 13:30:00``), yes and no ``TRUE`` and ``FALSE``, an empty cell and an error such as ``#N/A`` nothing. A
formula is the value it had when the workbook was saved. Of merged cells the first has the value, the others are empty.
Hidden rows and columns are read like others; a column without a name is left out.
"""

from __future__ import annotations

import contextlib
import datetime
import io
import itertools
import re
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Unpack

from textbayes.core.errors import InputError, MalformedFileError, MissingExtraError, did_you_mean, plural
from textbayes.data.decoding import ZIP_HEAD
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import (
    ColumnOptions,
    FieldReader,
    NoFieldError,
    check_header_row,
    checked_header,
)
from textbayes.data.layout import Layout
from textbayes.data.streams import Limits, Meter, Source, layout_of, limits_of, open_input, read_bytes, source_label

_LARGEST = 1 << 29  # bytes of a workbook, which is read into memory: 512 MiB
_MOST_ROWS = 1 << 20  # Excel's own limit; a damaged file can claim any number
_BLOCK = 256  # rows taken at a time
_LOOKED_AT = 20  # rows among which a header is looked for
_MOST_LISTED = 20  # sheets that a message names
_FEW_TAGS, _MOST_TAGS = 1 << 18, 1 << 21  # a row of Excel's 16,384 cells has some 150,000 tags and attributes
_TAGS_A_BYTE = 2  # that many may a part have for each byte of the workbook: short texts, each once, have one or two
_HEAD = 4096
_SHEET = re.compile(rb"<(?:\w+:)?worksheet\b")
_NO_SIZE = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData/></worksheet>'
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")


def read_xlsx(
    source: Source,
    *,
    header: Sequence[str] | None = None,
    header_row: int | None = None,
    sheet: str | int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the rows of one sheet of a workbook: the one that ``sheet`` names (or numbers, from 1).

    Without it, the first sheet that has the columns, or else the first.

    Parameters
    ----------
    source : path, "-" or stream
    header : sequence of str, optional
        Names the columns of a sheet that has no header row.
    header_row : int, optional
        The row of the header, from 1 on: what is above it is passed over. If not given it is the first row with a
        value, or else, where that is a title, the first with the column of the text or with several values.
    sheet : str or int, optional
    **columns : ColumnOptions
        Which columns are the text, the labels and the id, and which are kept.
    """
    check_header_row(header_row, header)
    label, layout = source_label(source), layout_of(source)
    fields = FieldReader(label, layout, **columns)
    layout.add(format="xlsx")
    with _workbook(source, label) as book:
        pages = {page.title: page for page in book.worksheets}
        if not pages:
            raise MalformedFileError(label, "the workbook has no sheet of cells; save it anew")
        claimed = {title: page.max_row for title, page in pages.items()}
        page = _sheet(pages, sheet, label)
        chosen = page or _likely(pages, layout, fields, label, header, header_row)
        layout.add(sheet=chosen.title)
        if page is None and len(pages) > 1:
            listed = _listed(pages, label, claimed)
            layout.say(f"{label} has {len(pages)} sheets: {listed}; {chosen.title!r} is read, sheet=NAME reads another")
        try:
            yield from _documents(_numbered(chosen, label), fields, layout, header, header_row, label)
        except NoFieldError as error:
            if len(pages) > 1:
                error.add_note(f"sheets: {_listed(pages, label, claimed)}; choose one with sheet=NAME")
                error.sheet = None if page is not None else _larger(pages, chosen.title, claimed, label)
            raise


def _documents(
    rows: Iterator[tuple[int, list[str]]],
    fields: FieldReader,
    layout: Layout,
    header: Sequence[str] | None,
    header_row: int | None,
    label: str,
) -> Iterator[Record]:
    if header is None:
        names, rows = _header(rows, fields, header_row, label)
        layout.add(header_row=names[0])
        named = list(names[1])
        try:
            fields.choose(checked_header([name for name in named if name], label, names[0]), names[0])
        except NoFieldError as error:
            error.show((row for _, row in rows), named)
            raise
    else:
        named = list(header)
    for number, row in rows:
        row += [""] * (len(named) - len(row))
        # What stands in a column without a name, or right of the header, is a note.
        yield fields.record({name: cell for name, cell in zip(named, row, strict=False) if name}, number)


def _header(
    rows: Iterator[tuple[int, list[str]]], fields: FieldReader, header_row: int | None, label: str
) -> tuple[tuple[int, list[str]], Iterator[tuple[int, list[str]]]]:
    """The header with its row, and the rows below it."""
    if header_row is not None:
        found = next((one for one in rows if one[0] >= header_row), None)
        if found is None or found[0] > header_row:
            raise MalformedFileError(label, f"row {header_row:,} is empty; header_row names the row of the header")
        return found, rows
    seen = list(itertools.islice(rows, 1))
    if not seen:
        raise MalformedFileError(label, "the sheet is empty: a header row is needed, such as id, text, label")
    if not fields.fits([name for name in seen[0][1] if name]):  # a title, perhaps
        seen += itertools.islice(rows, _LOOKED_AT - 1)
        seen = seen[fields.find_header([row for _, row in seen]) :]
    return seen[0], itertools.chain(seen[1:], rows)


@contextlib.contextmanager
def _workbook(source: Source, label: str) -> Iterator[Any]:
    try:
        # With defusedxml openpyxl refuses entities, with which XML files become bombs.
        import defusedxml  # noqa: F401
        from openpyxl.reader.excel import ExcelReader
    except ImportError:
        raise MissingExtraError("openpyxl", "xlsx", "reading Excel workbooks") from None
    with open_input(source) as stream:
        data = io.BytesIO(read_bytes(stream, _LARGEST))
    _check_size(data, label, limits_of(source))
    with _Guard(label):
        reader = ExcelReader(data, read_only=True, data_only=True, keep_links=False)
        reader.archive = _Archive(data, label)
        reader.read()
        reader.archive.loading = False
    try:
        yield reader.wb
    finally:
        reader.archive.close()


def _numbered(page: Any, label: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, as texts, with their numbers."""
    with _Guard(label):
        page.reset_dimensions()  # what the file claims of its size may be wrong
        rows = page.iter_rows(values_only=True)
    number = 0
    while True:
        block = []
        with _Guard(label, number + 1):
            for cells in itertools.islice(rows, _BLOCK):
                page.parent._archive.row_ended()
                block.append(cells)
        if not block:
            return
        if number + len(block) > _MOST_ROWS:
            raise MalformedFileError(label, f"more than {_MOST_ROWS:,} rows, which no workbook has; save it anew")
        for cells in block:
            number += 1
            row = ["" if cell is None else _as_text(cell) for cell in cells]
            while row and not row[-1]:
                row.pop()
            if row:
                yield number, row


def _sheet(pages: Mapping[str, Any], wanted: str | int | None, label: str) -> Any:
    """The sheet that the user named or numbered, None if none."""
    if wanted is None or str(wanted) in pages:
        return pages.get(str(wanted))
    close = [title for title in pages if title.strip().casefold() == str(wanted).strip().casefold()]
    if len(close) == 1:
        return pages[close[0]]
    if str(wanted).isdecimal() and 1 <= int(wanted) <= len(pages):
        return list(pages.values())[int(wanted) - 1]
    raise InputError(
        f"{label} has no sheet {wanted!r}; its sheets are {_listed(pages, label)}{did_you_mean(str(wanted), pages)}"
    )


def _likely(
    pages: Mapping[str, Any],
    layout: Layout,
    fields: FieldReader,
    label: str,
    header: Sequence[str] | None,
    header_row: int | None,
) -> Any:
    """The sheet of an earlier workbook, or the first that has the columns, or else the first."""
    first = next(iter(pages.values()))
    expected = None if layout.expected is None else layout.expected.sheet
    if expected is not None and expected in pages:
        return pages[expected]
    if len(pages) == 1 or header is not None:
        return first
    for page in pages.values():
        rows = itertools.islice(_numbered(page, label), _LOOKED_AT)
        with contextlib.suppress(MalformedFileError):
            (_, names), _ = _header(rows, fields, header_row, label)
            if fields.fits([name for name in names if name]):
                return page
    return first


def _listed(pages: Mapping[str, Any], label: str, claimed: Mapping[str, int | None] | None = None) -> str:
    """The sheets with their numbers of rows; they are counted where the file does not say."""
    shown = []
    for title, page in list(pages.items())[:_MOST_LISTED]:
        shown.append(f"{title!r} ({plural(_n_rows(page, label, claimed), 'row')})")
    return ", ".join(shown) + (" and more" if len(pages) > len(shown) else "")


def _n_rows(page: Any, label: str, claimed: Mapping[str, int | None] | None) -> int:
    rows = (claimed or {}).get(page.title, page.max_row)
    return sum(1 for _ in _numbered(page, label)) if rows is None else int(rows)


def _larger(pages: Mapping[str, Any], chosen: str, claimed: Mapping[str, int | None], label: str) -> str | None:
    """The sheet with the most rows, None if the chosen one has as many."""
    rows = {title: _n_rows(page, label, claimed) for title, page in list(pages.items())[:_MOST_LISTED]}
    largest = max(rows, key=rows.__getitem__)
    return largest if rows[largest] > rows.get(chosen, 0) else None


def _check_size(data: io.BytesIO, label: str, limits: Limits) -> None:
    """Refuse a workbook that unpacks to too much; no more is unpacked than a member declares."""
    try:
        with zipfile.ZipFile(data) as archive:
            Meter(limits, label, data.getbuffer().nbytes).check(sum(member.file_size for member in archive.infolist()))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(label, error) from error


class _Archive(zipfile.ZipFile):
    """The parts of a workbook, with a bound on the tags of each, since openpyxl makes trees; each row counts anew."""

    def __init__(self, data: io.BytesIO, label: str) -> None:
        super().__init__(data)
        self._label, self._size = label, data.getbuffer().nbytes
        self._tags, self.loading = 0, True

    def open(self, *args: Any, **options: Any) -> Any:
        part: Any = super().open(*args, **options)
        head = part.peek(_HEAD)[:_HEAD]
        self.row_ended()
        if self.loading and _SHEET.search(head) and b"dimension" not in head:
            return io.BytesIO(_NO_SIZE)  # openpyxl would read all rows to look for the size
        return _CountedPart(part, self)

    def row_ended(self) -> None:
        """Forget the tags of what openpyxl has thrown away."""
        self._tags = 0

    def count(self, piece: bytes) -> None:
        """Count the tags of what is read; the texts of a large workbook, each once, are one part with many."""
        self._tags += piece.count(b"<") + piece.count(b"=")
        most = max(_FEW_TAGS, _TAGS_A_BYTE * self._size)
        if self._tags > (most if self.loading else min(most, _MOST_TAGS)):
            cause = f"a row or a part of the workbook has {self._tags:,} tags and attributes, which no table needs"
            raise MalformedFileError(self._label, f"{cause}: save it anew as .xlsx, or as CSV")


class _CountedPart(io.RawIOBase):
    """A part of a workbook whose tags are counted as it is read."""

    def __init__(self, part: Any, archive: _Archive) -> None:
        self._part, self._archive = part, archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._part.readinto(buffer)
        self._archive.count(bytes(buffer[:size]))
        return size

    def close(self) -> None:
        self._part.close()
        super().close()


class _Guard:
    """Turns whatever openpyxl meets in a damaged workbook into a refusal, and keeps its warnings to itself."""

    def __init__(self, label: str, line: int | None = None) -> None:
        self._label, self._line = label, line
        self._warnings = warnings.catch_warnings()

    def __enter__(self) -> None:
        self._warnings.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._warnings.__exit__(kind, error, trace)
        if error is not None and isinstance(error.__cause__, InputError):
            raise error.__cause__  # openpyxl speaks of a part of the file where this says what is wrong with it
        if isinstance(error, Exception) and not isinstance(error, (InputError, MemoryError)):
            raise _unreadable(self._label, error, self._line) from error


def _unreadable(label: str, error: Exception, line: int | None = None) -> MalformedFileError:
    reason = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
    return MalformedFileError(
        label, f"not a readable Excel workbook ({reason}): save it anew as .xlsx, or as CSV", line
    )


def _as_text(value: Any) -> str:
    """A cell as text.

    >>> [_as_text(value) for value in (12345.0, 0.1, True, datetime.datetime(2024, 5, 1), "#N/A")]
    ['12345', '0.1', 'TRUE', '2024-05-01', '']
    """
    if isinstance(value, str):
        return "" if value in _ERRORS else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "seconds")
    return str(value)


def _sniff(head: bytes) -> bool:
    return head.startswith(ZIP_HEAD) and (b"xl/" in head or b"spreadsheetml" in head)


FORMATS.register("xlsx")(Format("xlsx", "Excel workbook, one row a document", read_xlsx, (".xlsx", ".xlsm"), _sniff))
