"""Bytes and lines of a file, a stream or standard input, decompressed and decoded, or refused in a sentence.

>>> import io
>>> list(read_lines(io.BytesIO(b"one\\r\\ntwo")))
[(1, 'one\\r\\n'), (2, 'two')]
"""

from __future__ import annotations

import bz2
import codecs
import functools
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice

Source: TypeAlias = "str | os.PathLike[str] | IO[bytes] | IO[str]"

DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
"""What the standard library raises on reading a truncated or damaged file."""

_DECOMPRESSORS: dict[re.Pattern[bytes], Callable[[Any], Any]] = {
    re.compile(rb"\x1f\x8b"): lambda stream: gzip.GzipFile(fileobj=stream),
    re.compile(rb"\xfd7zXZ\x00"): lzma.LZMAFile,
    re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"): bz2.BZ2File,  # a text may well begin with BZh
}
_NOT_TEXT = {
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a zip archive (or an office document)",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x7fELF": "a program",
}


class Labelled(io.BufferedReader):
    """Bytes with ``peek`` and a ``label`` that messages call them by."""

    def __init__(self, raw: Any, label: str) -> None:
        super().__init__(raw, 1 << 16)
        self.label = label


class Input(Labelled):
    """Bytes that :func:`open_input` has opened: decompressed already."""


def source_label(source: Source) -> str:
    """What messages call a source: its path, ``standard input`` or the stream's name."""
    if isinstance(source, Labelled):
        return source.label
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return {"<stdin>": "standard input"}.get(name, name) if isinstance(name, str) else "the stream"


@contextmanager
def open_input(source: Source) -> Iterator[Input]:
    """Open a path, ``"-"`` (standard input) or a stream for reading; gzip, xz and bzip2 are seen by their first bytes.

    Paths are closed at the end, streams are left open.
    """
    if isinstance(source, Input):
        yield source
        return
    label = source_label(source)
    with _open_raw(source) as raw:
        stored = Input(raw, label)
        try:
            head = _guarded_peek(stored)
            unpack = next((unpack for magic, unpack in _DECOMPRESSORS.items() if magic.match(head)), None)
            if unpack is None:
                yield stored
            else:
                with Input(unpack(stored), label) as stream:
                    yield stream
        finally:
            # A reader closes what it wraps when it is collected; standard input must stay open.
            if not stored.closed:
                stored.detach()


def peek_head(stream: Input, size: int = 4096) -> bytes:
    """The first bytes of an input, without consuming them."""
    return _guarded_peek(stream)[:size]


def read_lines(source: Source, encoding: str = "utf-8", errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Line numbers (from 1) and lines with their line ends; memory holds one line at a time."""
    check_encoding(encoding, errors)
    with open_input(source) as stream:
        if _is_wide(encoding):
            yield from _wide_lines(stream, encoding, errors)
            return
        number = 0
        try:
            for number, raw in enumerate(stream, start=1):
                yield number, decode(raw, stream.label, encoding, errors, first_line=number)
        except DAMAGE as error:
            raise damaged(stream.label, error, number + 1) from error


def read_text(source: Source, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The whole of a source as one string."""
    check_encoding(encoding, errors)
    with open_input(source) as stream:
        try:
            data = stream.read()
        except DAMAGE as error:
            raise damaged(stream.label, error) from error
        return decode(data, stream.label, encoding, errors)


def decode(data: bytes, label: str, encoding: str = "utf-8", errors: str = "strict", first_line: int = 1) -> str:
    """Bytes as text; binary data and bytes that do not fit the encoding are refused with their line."""
    if first_line == 1:
        for start, what in _NOT_TEXT.items():
            if data.startswith(start):
                raise MalformedFileError(label, f"this is {what}, not text: give a text file, or name its format", 1)
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not _is_wide(encoding):
            raise MalformedFileError(label, "this is UTF-16 text: read it with encoding='utf-16'", 1)
        if data.startswith(codecs.BOM_UTF8) and codecs.lookup(encoding).name == "utf-8":
            data = data[len(codecs.BOM_UTF8) :]
    if not _is_wide(encoding) and b"\0" in data:
        line = first_line + data.count(b"\n", 0, data.index(b"\0"))
        raise MalformedFileError(label, "NUL bytes: this is binary data, not text; give a text file", line)
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        column = error.start - data.rfind(b"\n", 0, error.start)
        cause = (
            f"byte 0x{data[error.start]:02x} in column {column} is not valid {encoding.upper()}: "
            "name the file's encoding, for example encoding='latin-1', or pass errors='replace'"
        )
        raise MalformedFileError(label, cause, line) from error


def damaged(label: str, error: BaseException, line: int | None = None) -> MalformedFileError:
    """The refusal of a file whose bytes cannot be read to the end."""
    cause = f"cannot be read ({error or type(error).__name__}): the file is cut short or damaged; fetch it again"
    return MalformedFileError(label, cause, line)


def check_encoding(encoding: str, errors: str) -> None:
    """Refuse an encoding Python does not know and an unknown way of treating invalid bytes."""
    check_choice("errors", errors, ("strict", "replace", "ignore"))
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"encoding {encoding!r} is not known; try 'utf-8', 'latin-1' or 'cp1252'") from None


def open_file(path: Path) -> io.FileIO:
    """A file opened for reading bytes, or a refusal that says why it cannot be."""
    try:
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder where a file is needed; name a file in it") from None
    except PermissionError:
        raise InputError(f"{path} may not be read; check its permissions") from None


@contextmanager
def _open_raw(source: Source) -> Iterator[Any]:
    if source == "-":
        # Without the buffer, which waits for 64 KiB: documents of a slow pipe are wanted as they come.
        yield getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    elif isinstance(source, (str, os.PathLike)):
        with open_file(Path(source)) as stream:
            yield stream
    elif isinstance(source, io.StringIO):
        yield io.BytesIO(source.read().encode())
    else:
        yield getattr(source, "buffer", source)


def _guarded_peek(stream: Input) -> bytes:
    try:
        return stream.peek()
    except DAMAGE as error:
        raise damaged(stream.label, error) from error


@functools.cache
def _is_wide(encoding: str) -> bool:
    # In these encodings a line end is not the single byte 0x0a and NUL bytes are ordinary.
    return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def _wide_lines(stream: Input, encoding: str, errors: str) -> Iterator[tuple[int, str]]:
    number = 0
    text = io.TextIOWrapper(stream, encoding, errors, newline="")
    try:
        for number, line in enumerate(text, start=1):
            yield number, line
    except UnicodeError as error:
        cause = f"not valid {encoding.upper()} here or in the lines after: name the file's encoding"
        raise MalformedFileError(stream.label, cause, number + 1) from error
    finally:
        text.detach()
