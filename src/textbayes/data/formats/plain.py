"""Plain text without labels: one document per line, or one per file.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> [doc.text for doc in FORMATS.get("lines").read(io.BytesIO(b"first\\r\\n\\r\\nthird\\n"))]
['first', '', 'third']
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from textbayes.data.formats import FORMATS, Format
from textbayes.data.records import Record
from textbayes.data.streams import Source, read_lines, read_text


def read_document_lines(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Every line is a document, blank ones too, so that output and input agree line by line."""
    for number, line in read_lines(source, encoding, errors):
        yield Record(line.rstrip("\r\n"), line=number)


def read_whole_file(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """The file is one document, called by the file's name."""
    identity = Path(source).name if isinstance(source, (str, os.PathLike)) and source != "-" else None
    yield Record(read_text(source, encoding, errors), id=identity)


FORMATS.register("lines")(Format("lines", "plain text, one document per line", read_document_lines, (".lines",)))
FORMATS.register("text")(Format("text", "plain text, one document per file", read_whole_file, (".txt", ".text", ".md")))
