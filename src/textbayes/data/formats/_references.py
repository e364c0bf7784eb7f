"""Bibliographic references as rows of named fields: the same names whatever the file was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

from textbayes.data.formats import Format
from textbayes.data.formats._fields import ColumnOptions, FieldReader
from textbayes.data.records import Record
from textbayes.data.streams import Source, read_lines, source_label

Row = tuple[int | None, dict[str, str]]  # the line that a reference begins in, where it is known, and its fields
FIELDS = ("title", "abstract", "authors", "year", "journal", "doi", "pmid", "keywords", "url")


def reference_format(
    name: str, title: str, suffixes: tuple[str, ...], begins: re.Pattern[bytes], rows: Callable[..., Iterator[Row]]
) -> Format:
    """A format of references whose text is title and abstract.

    Parameters
    ----------
    name, title : str
        The name users write, and whose references these are.
    suffixes : tuple of str
    begins : pattern
        That a head of such a file matches, and of no other.
    rows : callable
        ``rows(source, encoding, errors)``: references, one after the other.
    """

    def read(
        source: Source, *, encoding: str = "utf-8", errors: str = "strict", **columns: Unpack[ColumnOptions]
    ) -> Iterator[Record]:
        """Read references; the text is title and abstract.

        Parameters
        ----------
        source : path, "-" or stream
        encoding : str
        errors : {"strict", "replace", "ignore"}
            What becomes of bytes that do not fit the encoding.
        **columns : ColumnOptions
            Which fields are text and id, and which are kept.
        """
        fields = FieldReader(source_label(source), **columns)
        for line, row in rows(source, encoding, errors):
            yield fields.record(row, line)

    def sniff(head: bytes) -> bool:
        return begins.match(head) is not None

    return Format(name, f"references, {title}", read, suffixes, sniff)


def reference_lines(source: Source, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; carriage returns end lines too, as they did on old machines.

    >>> import io
    >>> list(reference_lines(io.BytesIO(b"TY  - JOUR\\rTI  - Tea\\r\\n more"), "utf-8", "strict"))
    [(1, 'TY  - JOUR\\n'), (2, 'TI  - Tea\\n'), (3, ' more\\n')]
    """
    n = 0
    for _, text in read_lines(source, encoding, errors):
        line = text.replace("\r\n", "\n").removesuffix("\n")
        for part in line.split("\r") if "\r" in line else (line,):
            n += 1
            yield n, part + "\n"


def reference_row(**given: str | Iterable[Any] | None) -> dict[str, str]:
    """The fields of a reference, all of ``FIELDS``; lists are joined by "; ", and white space is tidied.

    >>> row = reference_row(title=" Tea\\n and us", authors=["Ann", "Bo"])
    >>> row["title"], row["authors"], row["doi"]
    ('Tea and us', 'Ann; Bo', '')
    """
    return {name: _text(given.get(name)) for name in FIELDS}


def _text(value: str | Iterable[Any] | None) -> str:
    parts = [value] if isinstance(value, str) else [str(part) for part in value or ()]
    return "; ".join(" ".join(part.split()) for part in parts if part.strip())
