from __future__ import annotations

import io

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS

LINES, TEXT = FORMATS.get("lines"), FORMATS.get("text")


def test_lines_in_every_compression(write_compressed):
    path = write_compressed("a.lines", b"\xef\xbb\xbffirst\r\n\r\nthird")
    assert list(LINES.read(path)) == [Document("1", "first"), Document("2", ""), Document("3", "third")]


def test_whole_file_in_every_compression(write_compressed):
    path = write_compressed("letter.txt", b"Dear all,\nyes.\n")
    assert list(TEXT.read(path)) == [Document(path.name, "Dear all,\nyes.\n")]


def test_empty():
    assert list(LINES.read(io.BytesIO())) == []
    assert list(TEXT.read(io.BytesIO())) == [Document("1", "")]


def test_bytes_that_are_not_text():
    for format in (LINES, TEXT):
        with pytest.raises(MalformedFileError, match="line 2: byte 0xff"):
            list(format.read(io.BytesIO(b"a\n\xff\n")))
        with pytest.raises(MalformedFileError, match="line 1: NUL bytes"):
            list(format.read(io.BytesIO(b"a\0\n")))


def test_a_document_of_50_megabytes_is_read():
    size = 50_000_000
    [document] = LINES.read(io.BytesIO(b"a" * size))
    assert len(document.text) == size
