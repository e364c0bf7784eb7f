"""Mail: messages (RFC 822), one per file in a folder or archive per class, and mailboxes in the mbox format.

The standard library reads headers and decodes bodies. Its parser of whole messages is not used: it calls itself for
every level of nesting, and each level looks at every line; here a message takes time linear in its length.

>>> mail_text("Subject: Tea\\nContent-Type: text/html\\n\\n<p>Leaves <b>only</b></p>")
'Tea\\nLeaves only'
>>> import io
>>> from textbayes.data.formats import FORMATS
>>> box = b"From a Mon\\nSubject: Tea\\n\\nLeaves\\n\\nFrom b Tue\\nMessage-ID: <7@b>\\nSubject: Rye\\n\\n>From here\\n"
>>> [(doc.id, doc.text) for doc in FORMATS.get("mbox").read(io.BytesIO(box))]
[('1', 'Tea\\nLeaves'), ('7@b', 'Rye\\nFrom here')]
"""

from __future__ import annotations

import email.errors
import email.header
import email.parser
import re
from collections.abc import Iterator
from email.message import Message
from typing import NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.archives import as_container
from textbayes.data.decoding import html_text
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats.text_files import read_folder, read_whole_file
from textbayes.data.streams import Source, limits_of, read_lines, source_label

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
    part = _PartHeaders(headers, default)
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


class _PartHeaders:
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


def read_mail(
    source: Source, *, part: str = "text", encoding: str = "latin-1", errors: str = "strict"
) -> Iterator[Record]:
    """Read messages in folders named by their class, or one message; ``part="raw"`` keeps its source whole."""
    check_choice("part", part, ("text", "raw"))
    read = read_folder if as_container(source) else read_whole_file
    for record in read(source, encoding=encoding, errors=errors):
        yield record._replace(text=mail_text(record.text)) if part == "text" else record


def mail_text(raw: str) -> str:
    """Subject and body of a message: its plain text parts, or else its HTML parts without the tags.

    Spam breaks every rule of mail: an unknown transfer encoding or character set is read as it stands.
    """
    headers, body = split_message(raw)
    parts = list(leaves(headers, body))
    text = "\n".join(part.text for part in parts if part.kind == "text/plain")
    if not text.strip():
        text = html_text("\n".join(part.text for part in parts if part.kind == "text/html"))
    return f"{header_text(headers, 'Subject')}\n{text}".strip()


FORMATS.register("mail")(
    Format("mail", "mail messages in folders or archives by class", read_mail, (".eml",), takes_folders=True)
)


_QUOTED = re.compile(r">+From ")


def read_mbox(
    source: Source, *, part: str = "text", encoding: str = "latin-1", errors: str = "strict"
) -> Iterator[Record]:
    """Read the messages of a mailbox, one at a time, called by their Message-ID or else by number.

    ``part="raw"`` keeps the source of a message whole. ``>From`` at the beginning of a line is read as ``From``
    (mboxrd). A message ends where the next begins, so the last of a pipe is known at its end.
    """
    check_choice("part", part, ("text", "raw"))
    label, limits = source_label(source), limits_of(source)
    message: list[str] = []
    size = 0
    number, first_line, after_blank = 0, 0, True
    for line_number, line in read_lines(source, encoding, errors):
        if after_blank and line.startswith("From "):
            if number:
                yield _record(message, number, first_line, part)
            message, number, first_line, size = [], number + 1, line_number, 0
        elif number:
            message.append(line[1:] if _QUOTED.match(line) else line)
            size += len(line)
            limits.check_record(size, label, first_line, "message")
        elif not line.isspace():
            cause = "a mailbox begins with a line 'From …': give an mbox file, or name its format"
            raise MalformedFileError(label, cause, line_number)
        after_blank = line.isspace()
    if number:
        yield _record(message, number, first_line, part)


def _record(message: list[str], number: int, line: int, part: str) -> Record:
    raw = "".join(message)
    headers, _ = split_message(raw)
    identity = str(headers.get("Message-ID", "")).strip().strip("<>") or str(number)
    return Record(raw if part == "raw" else mail_text(raw), id=identity, line=line)


def _sniff(head: bytes) -> bool:
    return head.startswith(b"From ") and b"\n" in head and re.search(rb"\n[!-9;-~]+:", head) is not None


FORMATS.register("mbox")(Format("mbox", "mailboxes, messages one after the other", read_mbox, (".mbox",), _sniff))
