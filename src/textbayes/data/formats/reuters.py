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
from textbayes.data.formats import FORMATS, Format
from textbayes.data.records import Record
from textbayes.data.streams import Source, read_lines, source_label

_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_ITEM = re.compile(r"<D>(.*?)</D>", re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
_TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.DOTALL)
_DATE = re.compile(r"<DATE>\s*(\d{1,2})-([A-Z]{3})-(\d{4})")
_NUMERIC_ENTITY = re.compile(r"&#\d+;")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


def read_reuters(source: Source, *, encoding: str = "latin-1", errors: str = "strict") -> Iterator[Record]:
    """Stories with title and body as text and TOPICS as labels, in the order stored.

    Text is title and body; the title alone for a ``BRIEF`` story, whose body is a filler; all of ``<TEXT>`` for an
    ``UNPROC`` one, which has neither. ``record.fields`` holds the attributes (``LEWISSPLIT``, ``TOPICS``, ``NEWID``, …)
    and ``date`` as YYYY-MM-DD.
    """
    container = as_container(source)
    if container is not None:
        found = False
        for name, stream in iter_members(container):
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
    label = source_label(source)
    story: list[str] = []
    start, found = 0, False
    for number, line in read_lines(source, encoding, errors):
        if "<REUTERS" in line:
            if story:
                raise MalformedFileError(label, f"a story begins before </REUTERS> of the one in line {start}", number)
            start = number
        elif "</REUTERS>" in line and not story:
            raise MalformedFileError(label, "</REUTERS> without <REUTERS …>; the file was edited or damaged", number)
        if start:
            story.append(line)
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
    text = _TEXT.search(rest)
    if "NEWID" not in fields or text is None:
        lack = "a NEWID attribute" if "NEWID" not in fields else "a <TEXT> element"
        raise MalformedFileError(label, f"the story lacks {lack}; the file was edited or damaged", line)
    title, body = _TITLE.search(text[1]), _BODY.search(text[1])
    # a filler such as "Blah blah blah." is all that follows the title where there is no body
    parts = [found[1] for found in (title, body) if found] or [text[1]]
    topics = _TOPICS.search(rest)
    labels = tuple(dict.fromkeys(_ITEM.findall(topics[1]))) if topics else ()
    date = _DATE.search(rest)
    if date and date[2] in _MONTHS:
        fields["date"] = f"{date[3]}-{_MONTHS.index(date[2]) + 1:02d}-{int(date[1]):02d}"
    return Record("\n".join(_clean(part) for part in parts), labels, fields["NEWID"], line, fields)


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
