"""Excel workbooks (.xlsx), one row a document under a header row, through openpyxl (extra ``xlsx``).

for document in FORMATS.get("xlsx").read("survey.xlsx", sheet="2024", text_field="answer"): ...

Cells become text as a CSV export would write them: 12345.0 is ``12345``, a date ``2024-05-01`` (with a time of day,
``2024-05-01 13:30:00``), yes and no ``TRUE`` and ``FALSE``, an empty cell and an error such as ``#N/A`` nothing. A
formula is the value it had when the workbook was saved. Of merged cells the first has the value, the others are empty.
Hidden rows and columns are read like others; a column without a name is left out.
"""

from __future__ import annotations

import datetime
import io
import itertools
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from textbayes.core.errors import InputError, MalformedFileError, MissingExtraError
from textbayes.data.decoding import ZIP_HEAD
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._fields import ColumnOptions, FieldReader, checked_header
from textbayes.data.limits import Limits, Meter
from textbayes.data.records import Record
from textbayes.data.streams import Source, limits_of, open_input, read_bytes, source_label

_LARGEST = 1 << 29  # bytes of a workbook, which is read into memory: 512 MiB
_MOST_ROWS = 1 << 20  # Excel's own limit; a damaged file can claim any number
_BLOCK = 256  # rows taken at a time
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")


def read_xlsx(
    source: Source,
    *,
    header: Sequence[str] | None = None,
    sheet: str | int | None = None,
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the rows of one sheet of a workbook: the first, or the one that ``sheet`` names (or numbers, from 1).

    Parameters
    ----------
    source : path, "-" or stream
    header : sequence of str, optional
        Names the columns of a sheet that has no header row.
    sheet : str or int, optional
    **columns : ColumnOptions
        Which columns are the text, the labels and the id, and which are kept.
    """
    label = source_label(source)
    fields = FieldReader(label, **columns)
    names = None if header is None else list(header)
    for number, cells in enumerate(_rows(source, label, sheet), start=1):
        row = [_as_text(cell) for cell in cells]
        while row and not row[-1]:
            row.pop()
        if not row:
            continue
        if names is None:
            names = row
            fields.choose(checked_header([name for name in names if name], label, number), number)
        else:
            row += [""] * (len(names) - len(row))
            # What stands in a column without a name, or right of the header, is a note.
            yield fields.record({name: cell for name, cell in zip(names, row, strict=False) if name}, number)
    if names is None:
        raise MalformedFileError(label, "the sheet is empty: a header row is needed, such as id, text, label")


def _rows(source: Source, label: str, sheet: str | int | None) -> Iterator[Sequence[Any]]:
    try:
        # With defusedxml openpyxl refuses entities, with which XML files become bombs.
        import defusedxml  # noqa: F401
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("openpyxl", "xlsx", "reading Excel workbooks") from None
    with open_input(source) as stream:
        data = io.BytesIO(read_bytes(stream, _LARGEST))
    _check_size(data, label, limits_of(source))
    with _Guard(label):
        book = load_workbook(data, read_only=True, data_only=True, keep_links=False)
    try:
        page = _sheet(book, sheet, label)
        with _Guard(label):
            page.reset_dimensions()  # what the file claims of its size may be wrong
            rows = page.iter_rows(values_only=True)
        number = 0
        while True:
            with _Guard(label, number + 1):
                block = list(itertools.islice(rows, _BLOCK))
            if not block:
                return
            number += len(block)
            if number > _MOST_ROWS:
                raise MalformedFileError(label, f"more than {_MOST_ROWS:,} rows, which no workbook has; save it anew")
            yield from block
    finally:
        book.close()


def _sheet(book: Any, wanted: str | int | None, label: str) -> Any:
    pages = {page.title: page for page in book.worksheets}
    if not pages:
        raise MalformedFileError(label, "the workbook has no sheet of cells; save it anew")
    if wanted is None:
        return next(iter(pages.values()))
    if isinstance(wanted, int) and str(wanted) not in pages and 1 <= wanted <= len(pages):
        return list(pages.values())[wanted - 1]
    if str(wanted) not in pages:
        raise InputError(f"{label} has no sheet {wanted!r}; its sheets are {', '.join(map(repr, list(pages)[:20]))}")
    return pages[str(wanted)]


def _check_size(data: io.BytesIO, label: str, limits: Limits) -> None:
    """Refuse a workbook that unpacks to too much; no more is unpacked than a member declares."""
    try:
        with zipfile.ZipFile(data) as archive:
            Meter(limits, label, data.getbuffer().nbytes).check(sum(member.file_size for member in archive.infolist()))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        if isinstance(error, InputError):
            raise
        raise _unreadable(label, error) from error


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
        if isinstance(error, Exception) and not isinstance(error, (InputError, MemoryError)):
            raise _unreadable(self._label, error, self._line) from error


def _unreadable(label: str, error: Exception, line: int | None = None) -> MalformedFileError:
    reason = (str(error).splitlines() or [""])[0][:200] or type(error).__name__
    return MalformedFileError(
        label, f"not a readable Excel workbook ({reason}): save it anew as .xlsx, or as CSV", line
    )


def _as_text(value: Any) -> str:
    """A cell as text.

    >>> [_as_text(value) for value in (12345.0, 0.1, True, None, datetime.datetime(2024, 5, 1), "#N/A")]
    ['12345', '0.1', 'TRUE', '', '2024-05-01', '']
    """
    if isinstance(value, str):
        return "" if value in _ERRORS else value
    if value is None:
        return ""
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
