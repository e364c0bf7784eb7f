"""CSV and TSV with a header row.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> list(FORMATS.get("csv").read(io.BytesIO(b"id,text,label\\n7,good film,pos\\n")))
[Document(id='7', text='good film', labels=('pos',))]
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Unpack

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._fields import LABEL_NAMES, TEXT_PARTS, ColumnOptions, FieldReader, checked_header
from textbayes.data.limits import Limits
from textbayes.data.records import Record
from textbayes.data.streams import Source, limits_of, read_lines, source_label

_DELIMITERS = ",;\t|"
# The csv module refuses fields over 128 kB by default; a document may be far longer. The limit is one per process.
_LONGEST_FIELD = 2**31 - 1


def read_csv(
    source: Source,
    *,
    header: Sequence[str] | None = None,
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
    delimiter : str, optional
        One character.
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit the encoding.
    **columns : ColumnOptions
        Which columns are the text, the labels and the id, and which are kept.
    """
    fields = FieldReader(source_label(source), **columns)
    return _rows(source, fields, header, delimiter, csv.QUOTE_MINIMAL, encoding, errors)


def read_tsv(
    source: Source,
    *,
    header: Sequence[str] | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    **columns: Unpack[ColumnOptions],
) -> Iterator[Record]:
    """Read the rows of a TSV file: one line a row, quotation marks are ordinary characters (else read it as csv).

    Parameters
    ----------
    source : path, "-" or stream
    header, encoding, errors, **columns
        As for :func:`read_csv`.
    """
    fields = FieldReader(source_label(source), **columns)
    return _rows(source, fields, header, "\t", csv.QUOTE_NONE, encoding, errors)


def _rows(
    source: Source,
    fields: FieldReader,
    header: Sequence[str] | None,
    delimiter: str | None,
    quoting: int,
    encoding: str,
    errors: str,
) -> Iterator[Record]:
    label = source_label(source)
    lines = _Lines(read_lines(source, encoding, errors), label, limits_of(source))
    if delimiter is None:
        first = lines.peek()
        delimiter = max(_DELIMITERS, key=first.count)
    elif len(delimiter) != 1:
        raise InputError(f"delimiter={delimiter!r} must be one character, such as ',' or ';'")
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_FIELD))
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)  # type: ignore[arg-type]
    names = list(header) if header is not None else None
    start = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            cause = f"not valid CSV ({error}): check the quotation marks of the row that begins here"
            raise MalformedFileError(label, cause, start) from error
        if row is None:
            break
        if names is None:
            names = checked_header(row, label, start)
            fields.choose(names, start)
        elif row:
            if len(row) != len(names):
                hint = (
                    "read it as csv if fields are quoted" if quoting == csv.QUOTE_NONE else "quote fields that hold it"
                )
                cause = f"{len(row)} fields where the header has {len(names)} (delimiter {delimiter!r}): {hint}"
                raise MalformedFileError(label, cause, start)
            yield fields.record(dict(zip(names, row, strict=True)), start)
        start = lines.begin_row()
    if names is None:
        raise MalformedFileError(label, "the file is empty: a header row is needed, such as id,text,label")


class _Lines:
    """Lines for the csv module, with a look at the first and the number of the last one given.

    Only the first is read ahead: rows from a pipe must not wait for the row after them.
    """

    def __init__(self, numbered: Iterator[tuple[int, str]], label: str, limits: Limits) -> None:
        self._first = next(numbered, None)
        self._numbered, self.number = numbered, 0
        self._label, self._limits = label, limits
        self._start, self._size = 1, 0

    def begin_row(self) -> int:
        """The line that a new row begins in."""
        self._start, self._size = self.number + 1, 0
        return self._start

    def peek(self) -> str:
        return self._first[1] if self._first else ""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._first is not None:
            (self.number, line), self._first = self._first, None
        else:
            self.number, line = next(self._numbered)
        self._size += len(line)
        if self._size > self._limits.max_record:
            self._limits.check_record(self._size, self._label, self._start, "row")
        return line


def _has_known_columns(head: bytes, delimiters: str) -> bool:
    first = head.split(b"\n")[0].decode("utf-8-sig", "replace").strip().lower()
    for delimiter in delimiters:
        names = {name.strip().strip('"') for name in first.split(delimiter)}
        if len(names) > 1 and names & {"text", *TEXT_PARTS} and names & {"id", *LABEL_NAMES, *TEXT_PARTS}:
            return True
    return False


FORMATS.register("csv")(
    Format("csv", "comma-separated values", read_csv, (".csv",), lambda head: _has_known_columns(head, ",;|"))
)
FORMATS.register("tsv")(
    Format("tsv", "tab-separated values", read_tsv, (".tsv", ".tab"), lambda head: _has_known_columns(head, "\t"))
)
