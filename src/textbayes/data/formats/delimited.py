"""CSV and TSV with a header row.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> list(FORMATS.get("csv").read(io.BytesIO(b"id,text,label\\n7,good film,pos\\n")))
[Document(id='7', text='good film', labels=('pos',))]
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Unpack

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.decoding import check_encoding
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats._fields import (
    ColumnOptions,
    FieldReader,
    NoFieldError,
    check_header_row,
    checked_header,
    has_usual_names,
)
from textbayes.data.streams import Input, Limits, Source, layout_of, open_input, peek_head, read_lines

_DELIMITERS = ",;\t|"
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # which Excel reads and writes above the header
_LOOKED_AT = 20  # lines among which a header is looked for
# The csv module refuses fields over 128 kB by default; a document may be far longer. The limit is one per process.
_LONGEST_FIELD = 2**31 - 1


def read_csv(
    source: Source,
    *,
    header: Sequence[str] | None = None,
    header_row: int | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the rows of a CSV file, quoted as spreadsheets do; the delimiter is read off the header unless given.

    Parameters
    ----------
    source : path, "-" or stream
    header : sequence of str, optional
        Names the columns of a file that has no header row.
    header_row : int, optional
        The line of the header, from 1 on: what is above it is passed over. If not given it is the first line, or else
        the first with a usual name of a text.
    delimiter : str, optional
        One character.
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit the encoding.
    **columns : ColumnOptions
        Which columns are the text, the labels and the id, and which are kept.
    """
    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"delimiter={delimiter!r} must be one character, such as ',' or ';'")
    return _read(source, _TableForm("csv", header, header_row, delimiter), encoding, errors, columns)


def read_tsv(
    source: Source,
    *,
    header: Sequence[str] | None = None,
    header_row: int | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the rows of a TSV file: one line a row, quotation marks are ordinary characters (else read it as csv).

    Parameters
    ----------
    source : path, "-" or stream
    header, header_row, encoding, errors, **columns
        As for :func:`read_csv`.
    """
    return _read(source, _TableForm("tsv", header, header_row, "\t"), encoding, errors, columns)


class _TableForm(NamedTuple):
    """Form of a table, as far as it is known."""

    format: str
    header: Sequence[str] | None
    header_row: int | None
    delimiter: str | None

    @property
    def quoting(self) -> Literal[0, 3]:
        return csv.QUOTE_NONE if self.format == "tsv" else csv.QUOTE_MINIMAL


def _read(source: Source, table: _TableForm, encoding: str, errors: str, columns: ColumnOptions) -> Iterator[Record]:
    check_header_row(table.header_row, table.header)
    with open_input(source) as stream, contextlib.closing(read_lines(stream, encoding, errors)) as numbered:
        layout = layout_of(stream)
        fields = FieldReader(stream.label, layout, **columns)
        check_encoding(encoding, errors)
        marked = codecs.lookup(encoding).name == "utf-8" and peek_head(stream).startswith(codecs.BOM_UTF8)
        lines = _Lines(numbered, stream.label, stream.limits)
        end = "\r\n" if lines.peek().endswith("\r\n") else "\n"
        layout.add(format=table.format, encoding="utf-8-sig" if marked else encoding, line_end=end)
        yield from _rows(stream, lines, fields, table)


def _rows(stream: Input, lines: _Lines, fields: FieldReader, table: _TableForm) -> Iterator[Record]:
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    label, layout = stream.label, layout_of(stream)
    delimiter, names = table.delimiter, None if table.header is None else list(table.header)
    if table.header_row is not None:
        lines.skip(table.header_row - 1)
    elif names is None and (said := _SEPARATOR_LINE.fullmatch(lines.peek())) and table.format == "csv":
        delimiter = delimiter or said[1]
        lines.skip(1)
    unusual = layout.expected.delimiter if layout.expected is not None else None
    if names is None and table.header_row is None:
        _skip_title(lines, fields, delimiter, unusual)
    if delimiter is None:
        delimiter = _delimiter(lines.peek(), unusual)
    layout.add(delimiter=delimiter)
    rows = csv.reader(lines, delimiter=delimiter, quoting=table.quoting, strict=True)
    start = lines.begin_row()
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            cause = f"not valid CSV ({error}): check the quotation marks of the row that begins here"
            layout.refuse(MalformedFileError(label, cause, start))
            start = lines.begin_row()
            continue
        if row is None:
            break
        if names is None:
            names = checked_header(row, label, start)
            layout.add(header_row=start)
            try:
                fields.choose(names, start)
            except NoFieldError as error:
                with contextlib.suppress(csv.Error, MalformedFileError):  # what follows is not what is wrong
                    error.show(rows, names)
                raise
        elif any(row) or len(row) == 1:  # spreadsheets write rows of empty cells, also below the last
            if len(row) == len(names):
                yield fields.record(dict(zip(names, row, strict=True)), start)
            else:
                hint = "read it as csv if fields are quoted" if table.format == "tsv" else "quote fields that hold it"
                cause = f"{len(row)} fields where the header has {len(names)} (delimiter {delimiter!r}): {hint}"
                layout.refuse(MalformedFileError(label, cause, start))
        start = lines.begin_row()
    if names is None:
        raise MalformedFileError(label, "the file is empty: a header row is needed, such as id,text,label")


def _delimiter(line: str, unusual: str | None = None) -> str:
    """The delimiter that a line has most of; ``unusual`` is one of an earlier file."""
    choices = _DELIMITERS + (unusual if unusual is not None and unusual not in _DELIMITERS else "")
    return max(choices, key=line.count)


def _skip_title(lines: _Lines, fields: FieldReader, delimiter: str | None, unusual: str | None) -> None:
    """Pass over lines above the header: a title, where the first line does not name the text."""
    if not fields.fits(_split(lines.peek(), delimiter, unusual)) and (ahead := lines.ahead(_LOOKED_AT)):
        lines.skip(fields.find_header([_split(line, delimiter, unusual) for line in ahead]))


def _split(line: str, delimiter: str | None, unusual: str | None) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=delimiter or _delimiter(line, unusual)), [])
    except csv.Error:  # reading the rows says what is wrong, and where
        return []


class _Lines:
    """Lines for the csv module, with a look at the first and the number of the last one given.

    Only the first is read ahead: rows from a pipe must not wait for the row after them.
    """

    def __init__(self, numbered: Iterator[tuple[int, str]], label: str, limits: Limits) -> None:
        self._numbered, self.number = numbered, 0
        self._waiting: list[tuple[int, str]] = []
        self.ahead(1)
        self._label, self._limits = label, limits
        self._start, self._size = 1, 0

    def begin_row(self) -> int:
        """The line that a new row begins in."""
        self._start, self._size = self.number + 1, 0
        return self._start

    def peek(self) -> str:
        return self._waiting[0][1] if self._waiting else ""

    def ahead(self, most: int) -> list[str]:
        """The next lines, without taking them."""
        self._waiting += itertools.islice(self._numbered, max(0, most - len(self._waiting)))
        return [line for _, line in self._waiting]

    def skip(self, count: int) -> None:
        """Pass over lines."""
        for _ in range(count):
            next(self, None)
            self.begin_row()
        self.ahead(1)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._waiting:
            self.number, line = self._waiting.pop(0)
        else:
            self.number, line = next(self._numbered)
        self._size += len(line)
        if self._size > self._limits.max_record:
            self._limits.check_record(self._size, self._label, self._start, "row")
        return line


def _has_known_columns(head: bytes, delimiters: str) -> bool:
    first = head.split(b"\n")[0].decode("utf-8-sig", "replace").strip()
    return any(has_usual_names(name.strip().strip('"') for name in first.split(mark)) for mark in delimiters)


FORMATS.register("csv")(
    Format("csv", "comma-separated values", read_csv, (".csv",), lambda head: _has_known_columns(head, ",;|"))
)
FORMATS.register("tsv")(
    Format("tsv", "tab-separated values", read_tsv, (".tsv", ".tab"), lambda head: _has_known_columns(head, "\t"))
)
