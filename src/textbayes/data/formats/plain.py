"""Plain text without labels: one document per line, or one per file.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> [doc.text for doc in FORMATS.get("lines").read(io.BytesIO(b"first\\r\\n\\r\\nthird\\n"))]
['first', '', 'third']
"""

from __future__ import annotations

from collections.abc import Iterator

from textbayes.data.formats import FORMATS, Format
from textbayes.data.records import Record
from textbayes.data.streams import Source, path_of, read_lines, read_text


def read_document_lines(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read every line as a document, blank ones too, so that output and input agree line by line."""
    for number, line in read_lines(source, encoding, errors):
        yield Record(line.rstrip("\r\n"), (), None, number)


def read_whole_file(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read a file as one document, called by the file's name."""
    path = path_of(source)
    yield Record(read_text(source, encoding, errors), id=None if path is None else path.name)


FORMATS.register("lines")(Format("lines", "plain text, one document per line", read_document_lines, (".lines",)))
FORMATS.register("text")(Format("text", "plain text, one document per file", read_whole_file, (".txt", ".text", ".md")))
