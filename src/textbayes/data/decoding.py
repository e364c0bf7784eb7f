"""Bytes and HTML as text; what is no text, or in another encoding, is refused with its line and what to do about it.

HTML is read in time linear in its length. libxml2 (through lxml) reports tags and texts as it meets them and no tree is
built. Trees of hostile HTML take quadratic time and memory by the rules of HTML5 itself, and the standard library's
parser takes quadratic time over unfinished tags.
"""

from __future__ import annotations

import codecs
import functools
import re
from typing import Any

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice

ZIP_HEAD, OLE_HEAD, PDF_HEAD = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"%PDF"
_NOT_TEXT = {
    PDF_HEAD: "a PDF document, not text: save its text as a .txt file",
    ZIP_HEAD: "a zip archive (or an office document), not text: read a workbook with format='xlsx', "
    "name an archive .zip, save a document as text",
    OLE_HEAD: "a document of an older Microsoft Office, not text: save a workbook as .xlsx or CSV, a document as text",
    b"{\\rtf": "a rich text document (RTF), not text: save it as a .txt file",
    b"PAR1": "a Parquet file, not text: read it with format='parquet'",
    b"\x89PNG": "a PNG image, not text: give a text file",
    b"\xff\xd8\xff": "a JPEG image, not text: give a text file",
    b"SQLite format 3\x00": "an SQLite database, not text: export a table as CSV",
    b"\x7fELF": "a program, not text: give a text file",
}
# The longer marks first: that of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def decode(data: bytes, label: str, encoding: str = "utf-8", errors: str = "strict", first_line: int = 1) -> str:
    """Decode bytes as text; binary data and bytes that do not fit the encoding are refused with their line.

    Parameters
    ----------
    data : bytes
    label : str
        The name of the source in messages.
    encoding : str
    errors : {"strict", "replace", "ignore"}
        What becomes of bytes that do not fit.
    first_line : int
        The number of the first line, for messages.

    Examples
    --------
    >>> decode(b"fine \\x97 mostly", "notes.txt")
    Traceback (most recent call last):
    ...
    textbayes.core.errors.MalformedFileError: notes.txt, line 1: byte 0x97 in column 6 is not valid UTF-8: ...
    """
    if first_line == 1:
        _check_start(data, label, encoding)
        if data.startswith(codecs.BOM_UTF8) and codecs.lookup(encoding).name == "utf-8":
            data = data[len(codecs.BOM_UTF8) :]
    if b"\0" in data and not is_wide(encoding):
        line = first_line + data.count(b"\n", 0, data.index(b"\0"))
        wide = _wide_without_mark(data)
        cause = (
            "NUL bytes: this is binary data, not text; give a text file"
            if wide is None
            else f"this is UTF-16 text without a byte order mark: read it with encoding='{wide}'"
        )
        raise MalformedFileError(label, cause, line)
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError as error:
        # Multi-byte codecs of East Asia may report a place after the end.
        start = min(error.start, len(data) - 1)
        line = first_line + data.count(b"\n", 0, start)
        column = start - data.rfind(b"\n", 0, start)
        cause = (
            f"byte 0x{data[start]:02x} in column {column} is not valid {encoding.upper()}: "
            f"name the file's encoding, for example {_likely_encoding(data)}, or pass errors='replace'"
        )
        raise MalformedFileError(label, cause, line) from error
    except UnicodeError as error:
        cause = f"not valid {encoding.upper()} ({error}): name the file's encoding"
        raise MalformedFileError(label, cause, first_line) from error


def check_encoding(encoding: str, errors: str) -> None:
    """Refuse an encoding Python does not know and an unknown way of treating invalid bytes."""
    check_choice("errors", errors, ("strict", "replace", "ignore"))
    try:
        b" ".decode(encoding, "ignore")
    except (LookupError, ValueError):  # unknown, or not of texts such as 'zlib'; a NUL in its name
        raise InputError(
            f"encoding {encoding!r} is not known; try 'utf-8' or 'cp1252' (files from Excel on Windows)"
        ) from None


@functools.cache
def is_wide(encoding: str) -> bool:
    """Whether a line end is not the single byte 0x0a in an encoding, and NUL bytes are ordinary."""
    return codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))


def _check_start(data: bytes, label: str, encoding: str) -> None:
    for start, what in _NOT_TEXT.items():
        if data.startswith(start):
            raise MalformedFileError(label, f"this is {what}", 1)
    if not is_wide(encoding):
        for mark, name in _MARKS.items():
            if data.startswith(mark):
                raise MalformedFileError(label, f"this is {name.upper()} text: read it with encoding='{name}'", 1)


def guess_encoding(data: bytes) -> str:
    """The encoding of a text of which nothing is known: UTF-8 if it can be, else what people's programs save in.

    Parameters
    ----------
    data : bytes
        All of it; of what is no text the answer means nothing.

    Examples
    --------
    >>> guess_encoding("thé".encode()), guess_encoding("thé".encode("latin-1")), guess_encoding("thé".encode("utf-16"))
    ('utf-8', 'latin-1', 'utf-16')
    """
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            return name
    if b"\0" in data:
        return _wide_without_mark(data.split(b"\n", 1)[0]) or "utf-8"
    try:
        data.decode()
    except UnicodeDecodeError:
        return _of_single_bytes(data)
    return "utf-8"


def _likely_encoding(data: bytes) -> str:
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:  # five bytes are nothing in it
        return "encoding='latin-1'"
    return "encoding='cp1252' (files from Excel on Windows)"


def _of_single_bytes(data: bytes) -> str:
    # Between 0x80 and 0x9f Latin-1 has control characters that no text holds, Windows its dashes and quotation marks.
    return "cp1252" if any(data.translate(None, _ALL_BUT_C1)) else "latin-1"


_ALL_BUT_C1 = bytes(byte for byte in range(256) if not 0x80 <= byte < 0xA0)


def _wide_without_mark(data: bytes) -> str | None:
    """The encoding of text that has a NUL in every other place, as Western text in UTF-16 has."""
    for name, first in (("utf-16-le", 1), ("utf-16-be", 0)):
        nuls, letters = data[first:400:2], data[1 - first : 400 : 2].rstrip(b"\n\0")
        if len(letters) > 1 and not any(nuls) and letters.isascii() and 0 not in letters:
            return name
    return None


_SILENT = ("script", "style", "iframe")
_FALLBACK = ("noscript", "noframes", "noembed")  # what mail readers show; the parser, like a browser, takes it for text
_SPACE = re.compile(r"[ \t\r\f\v]*\n\s*|[ \t\r\f\v]+")
_PIECE = 1 << 14  # characters given to the parser at a time
_DEEPEST = 1_000  # open tags; browsers stop at 512


def html_text(source: str) -> str:
    """The words of an HTML document; scripts and styles are left out, a tag separates words.

    >>> html_text("<p>Tea &amp; <b>caf&eacute;</b><script>x()</script>")
    'Tea & café'
    """
    text, fallback = _parsed(source)
    if fallback:
        text = f"{text} {_parsed(fallback)[0]}"
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", text).strip()


def _parsed(source: str) -> tuple[str, str]:
    """The text of a document, and the HTML in its elements for readers that run no scripts."""
    target = _Text()
    parser = _parser(target)
    start = 0
    while start < len(source):
        end = start + _PIECE
        if end < len(source):
            end = max(source.rfind("<", start + 1, end), 0) or end
        parser.feed(source[start:end].encode("utf-8", "replace").replace(b"\0", b" "))
        start = end
        if target.depth > _DEEPEST and start < len(source):
            # Every end tag is looked for among all that are open: begin anew, at a tag.
            parser.close()
            target.depth = 0
            parser = _parser(target)
    if source:
        parser.close()
    return "".join(target.parts), "".join(target.fallback)


def _parser(target: _Text) -> Any:
    from lxml import etree  # when needed: most mail is plain text

    return etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)


class _Text:
    """Collects the text between tags, in the form that lxml calls a target."""

    def __init__(self) -> None:
        self.depth = 0
        self.parts: list[str] = []
        self.fallback: list[str] = []
        self._inside = ""

    def start(self, tag: str, attributes: object) -> None:
        self.depth += 1
        self._inside = tag
        self.parts.append(" ")

    def end(self, tag: str) -> None:
        self.depth -= 1
        self._inside = ""
        self.parts.append(" ")

    def data(self, data: str) -> None:
        if self._inside in _FALLBACK:
            self.fallback.append(data)
        elif self._inside not in _SILENT:
            self.parts.append(data)

    def comment(self, text: str) -> None:
        self.parts.append(" ")

    def close(self) -> None:
        pass
