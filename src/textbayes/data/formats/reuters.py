"""Reuters-21578 SGML: one file, or a folder or archive of ``reut2-NNN.sgm`` files.

The files are not valid SGML for a strict parser (control characters as entities), but each story stands between
``<REUTERS …>`` and ``</REUTERS>`` lines, which is all this reader relies on.

>>> import io
>>> story = '<REUTERS NEWID="9"><TOPICS><D>tea</D></TOPICS><TEXT><TITLE>UP</TITLE><BODY>5 &lt;X></BODY></TEXT>'
>>> list(FORMATS.get("reuters").read(io.StringIO(story + "</REUTERS>")))
[Document(id='9', text='UP\\n5 <X>', labels=('tea',))]
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from textbayes.core.errors import MalformedFileError
from textbayes.data.archives import as_container, iter_members
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.streams import Source, limits_of, read_lines, source_label

_ATTRIBUTE = re.compile(r'\b(\w+)="([^"]*)"')  # \b: a long word is looked at once, not from each of its letters
_AFTER_STORY = re.compile("(?<=</REUTERS>)")  # several may stand in one line
_DATE = re.compile(r"<DATE>\s*(\d{1,2})-([A-Z]{3})-(\d{4})")
_NUMERIC_ENTITY = re.compile(r"&#\d+;?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


def read_reuters(source: Source, *, encoding: str = "latin-1", errors: str = "strict") -> Iterator[Record]:
    """Read stories with title and body as text and TOPICS as labels, in the order stored.

    Text is title and body; the title alone for a ``BRIEF`` story, whose body is a filler; all of ``<TEXT>`` for an
    ``UNPROC`` one, which has neither. ``record.fields`` holds the attributes (``LEWISSPLIT``, ``TOPICS``, ``NEWID``, …)
    and ``date`` as YYYY-MM-DD.
    """
    container = as_container(source)
    if container is not None:
        found = False
        for name, stream in iter_members(container, limits_of(source)):
            if name.lower().endswith((".sgm", ".sgml")):
                found = True
                yield from _stories(stream, encoding, errors)
        if not found:
            raise MalformedFileError(
                container, "holds no .sgm file: give the folder or archive of reut2-000.sgm to 021"
            )
    else:
        yield from _stories(source, encoding, errors)


def _stories(source: Source, encoding: str, errors: str) -> Iterator[Record]:
    label, limits = source_label(source), limits_of(source)
    story: list[str] = []
    start, size, found = 0, 0, False
    lines = read_lines(source, encoding, errors)
    for number, line in ((number, part) for number, whole in lines for part in _AFTER_STORY.split(whole)):
        if "<REUTERS" in line:
            if story:
                raise MalformedFileError(label, f"a story begins before </REUTERS> of the one in line {start}", number)
            start, size = number, 0
        elif "</REUTERS>" in line and not story:
            raise MalformedFileError(label, "</REUTERS> without <REUTERS …>; the file was edited or damaged", number)
        if start:
            story.append(line)
            size += len(line)
            limits.check_record(size, label, start, "story")
        if "</REUTERS>" in line:
            found = True
            yield _parse("".join(story), label, start)
            story, start = [], 0
    if story:
        raise MalformedFileError(label, "the story has no </REUTERS>: the file is cut short; fetch it again", start)
    if not found:
        raise MalformedFileError(label, "no <REUTERS> story: is this a Reuters-21578 .sgm file?")


def _parse(story: str, label: str, line: int) -> Record:
    opening, _, rest = story.partition(">")
    fields: dict[str, Any] = dict(_ATTRIBUTE.findall(opening))
    # Not <TEXTURE>; there is one <TEXT>, with or without attributes.
    text = _element(rest, "<TEXT>", "</TEXT>")
    if text is None and (attributes := _element(rest, "<TEXT ", "</TEXT>")) is not None:
        text = attributes.partition(">")[2]
    if "NEWID" not in fields or text is None:
        lack = "a NEWID attribute" if "NEWID" not in fields else "a <TEXT> element"
        raise MalformedFileError(label, f"the story lacks {lack}; the file was edited or damaged", line)
    title, body = _element(text, "<TITLE>", "</TITLE>"), _element(text, "<BODY>", "</BODY>")
    # a filler such as "Blah blah blah." is all that follows the title where there is no body
    parts = [part for part in (title, body) if part is not None] or [text]
    items = (
        _element("<D>" + item, "<D>", "</D>") for item in (_element(rest, "<TOPICS>", "</TOPICS>") or "").split("<D>")
    )
    labels = tuple(dict.fromkeys(item for item in items if item is not None))
    date = _DATE.search(rest)
    if date and date[2] in _MONTHS:
        fields["date"] = f"{date[3]}-{_MONTHS.index(date[2]) + 1:02d}-{int(date[1]):02d}"
    return Record("\n".join(_clean(part) for part in parts), labels, fields["NEWID"], line, fields)


def _element(text: str, opening: str, closing: str) -> str | None:
    """Text between the first opening tag and its end; None without both."""
    start = text.find(opening)
    end = -1 if start < 0 else text.find(closing, start)
    return None if end < 0 else text[start + len(opening) : end]


def _clean(text: str) -> str:
    # Numeric entities here are all control characters of the wire: &#2; and &#3; begin and end a text.
    return _CONTROL.sub("", html.unescape(_NUMERIC_ENTITY.sub("", text))).strip()


FORMATS.register("reuters")(
    Format(
        "reuters",
        "Reuters-21578 SGML",
        read_reuters,
        (".sgm", ".sgml"),
        lambda head: head.startswith(b"<!DOCTYPE lewis") or b"<REUTERS " in head,
        takes_folders=True,
    )
)
