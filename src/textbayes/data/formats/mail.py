"""Mail messages (RFC 822), one per file, in a folder or archive per class; and the readable part of one message.

>>> mail_text("Subject: Tea\\nContent-Type: text/html\\n\\n<p>Leaves <b>only</b></p>")
'Tea\\nLeaves only'
"""

from __future__ import annotations

import email
import email.errors
import email.header
import re
from collections.abc import Iterator
from email.message import Message
from html.parser import HTMLParser

from textbayes.core.validation import check_choice
from textbayes.data.archives import as_container
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats.folder import read_folder
from textbayes.data.formats.plain import read_whole_file
from textbayes.data.records import Record
from textbayes.data.streams import Source

_TAG = re.compile(r"<[^>]*>")
_SPACE = re.compile(r"[ \t\r\f\v]*\n\s*|[ \t\r\f\v]+")


def read_mail(
    source: Source, *, part: str = "text", encoding: str = "latin-1", errors: str = "strict"
) -> Iterator[Record]:
    """Messages in folders named by their class, or one message; ``part="raw"`` keeps the source of a message whole."""
    check_choice("part", part, ("text", "raw"))
    read = read_folder if as_container(source) else read_whole_file
    for record in read(source, encoding=encoding, errors=errors):
        yield record._replace(text=mail_text(record.text)) if part == "text" else record


def mail_text(raw: str) -> str:
    """Subject and body of a message: its plain text parts, or else its HTML parts without the tags.

    Spam breaks every rule of mail: an unknown transfer encoding or character set is read as it stands.
    """
    message = email.message_from_string(raw)
    bodies: dict[str, list[str]] = {"text/plain": [], "text/html": []}
    for leaf in message.walk():
        kind = leaf.get_content_type()
        if not leaf.is_multipart() and kind in bodies and leaf.get_content_disposition() != "attachment":
            bodies[kind].append(_payload(leaf))
    plain = "\n".join(bodies["text/plain"])
    body = plain if plain.strip() else _without_tags("\n".join(bodies["text/html"]))
    return f"{_subject(message)}\n{body}".strip()


def _payload(leaf: Message) -> str:
    text = leaf.get_payload()
    if not isinstance(text, str):
        return ""
    if str(leaf.get("Content-Transfer-Encoding", "")).strip().lower() not in ("base64", "quoted-printable"):
        return text
    data = leaf.get_payload(decode=True)
    assert isinstance(data, bytes)
    return _decode(data, leaf.get_content_charset())


def _subject(message: Message) -> str:
    raw = str(message.get("Subject", ""))
    try:
        parts = email.header.decode_header(raw)
    except (email.errors.HeaderParseError, ValueError):
        return raw
    text = "".join(part if isinstance(part, str) else _decode(part, charset) for part, charset in parts)
    return " ".join(text.split())


def _decode(data: bytes, charset: str | None) -> str:
    for name in (charset, "utf-8"):
        try:
            return data.decode(name or "utf-8")
        except (LookupError, ValueError):
            continue
    return data.decode("latin-1")


class _Stripper(HTMLParser):
    """Collects the text between tags, leaving out scripts and styles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)


def _without_tags(source: str) -> str:
    stripper = _Stripper()
    try:
        stripper.feed(source)
        stripper.close()
        text = " ".join(stripper.parts)
    except AssertionError:  # the standard parser's way of giving up on an unknown <![…]>
        text = _TAG.sub(" ", source)
    return _SPACE.sub(lambda space: "\n" if "\n" in space[0] else " ", text).strip()


FORMATS.register("mail")(
    Format("mail", "mail messages in folders or archives by class", read_mail, (".eml",), takes_folders=True)
)
