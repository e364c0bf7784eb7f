"""Mailboxes in the mbox format: messages one after the other, each after a line that begins with ``From``.

>>> import io
>>> from textbayes.data.formats import FORMATS
>>> box = b"From a Mon\\nSubject: Tea\\n\\nLeaves\\n\\nFrom b Tue\\nMessage-ID: <7@b>\\nSubject: Rye\\n\\n>From here\\n"
>>> [(doc.id, doc.text) for doc in FORMATS.get("mbox").read(io.BytesIO(box))]
[('1', 'Tea\\nLeaves'), ('7@b', 'Rye\\nFrom here')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from textbayes.core.errors import MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._mime import split_message
from textbayes.data.formats.mail import mail_text
from textbayes.data.records import Record
from textbayes.data.streams import Source, limits_of, read_lines, source_label

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
