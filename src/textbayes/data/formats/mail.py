"""Mail messages (RFC 822), one per file, in a folder or archive per class; and the readable part of one message.

>>> mail_text("Subject: Tea\\nContent-Type: text/html\\n\\n<p>Leaves <b>only</b></p>")
'Tea\\nLeaves only'
"""

from __future__ import annotations

from collections.abc import Iterator

from textbayes.core.validation import check_choice
from textbayes.data.archives import as_container
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._html import html_text
from textbayes.data.formats._mime import header_text, leaves, split_message
from textbayes.data.formats.folder import read_folder
from textbayes.data.formats.plain import read_whole_file
from textbayes.data.records import Record
from textbayes.data.streams import Source


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
