"""The texts inside a mail message and its subject, in time linear in its length.

The standard library reads headers and decodes bodies. Its parser of whole messages is not used: it calls itself for
every level of nesting, and each level looks at every line.
"""

from __future__ import annotations

import email.errors
import email.header
import email.parser
import re
from collections.abc import Iterator
from email.message import Message
from typing import NamedTuple

_BLANK_LINE = re.compile(r"(?:\A|\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
_DEEPEST = 20  # parts in parts; what lies deeper is not looked into
_MOST_PARTS = 10_000  # of one message; what comes after them is not looked at
_LONGEST_HEADER = 8_192  # characters of a header's value: the standard library splits parameters in quadratic time
_PIECE = 1_000  # characters of a header that are decoded at a time, also in quadratic time
_NO_TEXT_CODECS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")  # slow, or no charsets


class Leaf(NamedTuple):
    """A part without parts: its content type and its text."""

    kind: str
    text: str


def split_message(raw: str) -> tuple[Message, str]:
    """The headers of a message and its body."""
    blank = _BLANK_LINE.search(raw)
    head = raw if blank is None else raw[: blank.start()]
    headers = email.parser.HeaderParser().parsestr(head)
    # A line that is no header ends the headers, and belongs to the body.
    early = headers.get_payload()
    if early:
        return headers, str(early) + ("" if blank is None else raw[blank.start() :])
    return headers, "" if blank is None else raw[blank.end() :]


def leaves(headers: Message, body: str) -> Iterator[Leaf]:
    """The parts of a message that are texts and no attachments, in order."""
    return _leaves(headers, body, iter(range(_MOST_PARTS)))


def _leaves(
    headers: Message, body: str, left: Iterator[int], depth: int = 0, default: str = "text/plain"
) -> Iterator[Leaf]:
    """As long as ``left`` has numbers for parts."""
    part = _Part(headers, default)
    if depth >= _DEEPEST:
        return
    if part.kind.startswith("multipart/"):
        default = "message/rfc822" if part.kind == "multipart/digest" else "text/plain"
        for inner in _between(body, part.boundary):
            if next(left, None) is None:
                return
            yield from _leaves(*split_message(inner), left, depth + 1, default)
    elif part.kind == "message/rfc822":
        yield from _leaves(*split_message(body), left, depth + 1)
    elif part.kind.startswith("text/") and part.disposition != "attachment":
        yield Leaf(part.kind, _decoded(headers, body, part.charset))


def header_text(headers: Message, name: str) -> str:
    """A header as one line of text, its encoded words decoded."""
    raw = str(headers.get(name, ""))
    return " ".join("".join(_decoded_words(piece) for piece in _pieces(raw)).split())


class _Part:
    """Headers of a part, as far as they can be understood."""

    def __init__(self, headers: Message, default: str) -> None:
        bounded = Message()
        for name in ("Content-Type", "Content-Disposition"):
            if name in headers:
                bounded[name] = str(headers[name])[:_LONGEST_HEADER].replace("\r", " ").replace("\n", " ")
        bounded.set_default_type(default)
        self.kind, self.disposition, self.boundary, self.charset = default, None, "", None
        try:
            self.kind = bounded.get_content_type()
            self.disposition = bounded.get_content_disposition()
            self.charset = bounded.get_content_charset()
            self.boundary = bounded.get_boundary("")
        except ValueError:  # a number of 5,000 digits, a character set that is none
            pass


def _between(body: str, boundary: str) -> Iterator[str]:
    """The texts between the lines that begin with a boundary."""
    if not boundary:
        return
    sign = re.compile(
        rf"(?:\A|(?P<before>\r\n|\n|\r))--{re.escape(boundary)}(?P<end>--)?[ \t]*(?P<after>\r\n|\n|\r|\Z)"
    )
    start, place = None, 0
    while (found := sign.search(body, place)) is not None:
        if start is not None:
            yield body[start : max(found.start(), start)]
        if found["end"]:
            return
        start = found.end()
        # The line end after one boundary may be the one before the next.
        place = max(found.start("after"), found.start() + 1)
    if start is not None:
        yield body[start:]


def _decoded(headers: Message, body: str, charset: str | None) -> str:
    encoding = str(headers.get("Content-Transfer-Encoding", ""))[:_LONGEST_HEADER].strip().lower()
    if encoding not in ("base64", "quoted-printable"):
        return body
    part = Message()
    part["Content-Transfer-Encoding"] = encoding
    part.set_payload(body)
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)
    return _in_charset(data, charset)


def _pieces(raw: str) -> Iterator[str]:
    """A header in pieces of bounded length, cut at spaces: decoding takes quadratic time."""
    start = 0
    while start < len(raw):
        end = start + _PIECE
        if end < len(raw):
            end = raw.rfind(" ", start + 1, end) + 1 or end
        yield raw[start:end]
        start = end


def _decoded_words(raw: str) -> str:
    try:
        parts = email.header.decode_header(raw)
    except (email.errors.HeaderParseError, ValueError):
        return raw
    return "".join(part if isinstance(part, str) else _in_charset(part, charset) for part, charset in parts)


def _in_charset(data: bytes, charset: str | None) -> str:
    for name in (charset, "utf-8"):
        try:
            if name and name.lower().replace("-", "_") not in _NO_TEXT_CODECS:
                # UTF-7 can spell half a surrogate pair, which could never be written again.
                return data.decode(name).encode("utf-8", "replace").decode()
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")
