"""OHSUMED as the TREC-9 filtering track distributes it: MEDLINE records, topics and relevance judgements.

>>> import io
>>> record = ".I 1\\n.U\\n87049087\\n.M\\nHuman; Heart/*SU.\\n.T\\nOn hearts.\\n.W\\nThey beat.\\n"
>>> list(FORMATS.get("ohsumed").read(io.StringIO(record)))
[Document(id='87049087', text='On hearts.\\nThey beat.', labels=('Human', 'Heart'))]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format
from textbayes.data.formats._dotted import read_dotted
from textbayes.data.records import Record
from textbayes.data.streams import Source, read_lines, read_text, source_label

_LETTERS = "USMTPWA"
_GRADE = re.compile(r"-?[0-9]{1,9}")


class Topic(NamedTuple):
    """A filtering topic: its number (``OHSU1``), the patient (title) and the information need (description)."""

    number: str
    title: str
    description: str


class Judgement(NamedTuple):
    """A document judged for a topic; OHSUMED's grades are 1 (possibly) and 2 (definitely relevant)."""

    topic: str
    document: str
    grade: int


def read_ohsumed(source: Source, *, encoding: str = "latin-1", errors: str = "strict") -> Iterator[Record]:
    """Read records of ``ohsumed.87`` or ``ohsumed.88-91``: title and abstract as text, MeSH headings as labels.

    The id is the MEDLINE number (``.U``), which the judgements use. ``record.fields`` holds all fields by letter:
    U number, S source, M headings, T title, P publication type, W abstract, A authors; and ``sequence``, the ``.I``.
    """
    label = source_label(source)
    for sequence, line, fields in read_dotted(source, _LETTERS, encoding, errors):
        if not fields.get("U"):
            raise MalformedFileError(label, f"record {sequence} has no .U field (the MEDLINE number)", line)
        text = "\n".join(part for part in (fields.get("T"), fields.get("W")) if part)
        headings = (item.partition("/")[0].strip(" .\n") for item in fields.get("M", "").split(";"))
        labels = tuple(dict.fromkeys(filter(None, headings)))
        yield Record(text, labels, fields["U"], line, {**fields, "sequence": sequence})


def read_topics(source: Source) -> list[Topic]:
    """Topics of ``query.ohsu.1-63``: ``<top> <num> Number: … <title> … <desc> Description: … </top>``."""
    label, text = source_label(source), read_text(source, "latin-1")
    topics = []
    blocks = text.split("<top>")
    for number, block in enumerate(blocks[1:], start=1):
        inside, end, _ = block.partition("</top>")
        head, has_description, description = inside.partition("<desc>")
        head, has_title, title = head.partition("<title>")
        _, has_number, name = head.partition("<num>")
        name = name.strip().removeprefix("Number:").strip()
        if not (end and has_number and has_title and has_description and name and not name.split()[1:]):
            line = "<top>".join(blocks[:number]).count("\n") + 1
            raise MalformedFileError(label, "a topic needs <num>, <title>, <desc> and </top>, in this order", line)
        described = description.strip().removeprefix("Description:")
        topics.append(Topic(name, " ".join(title.split()), " ".join(described.split())))
    if not topics:
        raise MalformedFileError(label, "no <top> element: is this a TREC topics file?")
    return topics


def read_qrels(source: Source) -> Iterator[Judgement]:
    """Judgements, one a line: topic, document, grade; TREC's four columns (topic, 0, document, grade) too."""
    label = source_label(source)
    for number, line in read_lines(source):
        columns = line.split()
        if not columns:
            continue
        if len(columns) not in (3, 4) or not _GRADE.fullmatch(columns[-1]):
            raise MalformedFileError(label, "a judgement is 'topic document grade', the grade a whole number", number)
        yield Judgement(columns[0], columns[-2], int(columns[-1]))


FORMATS.register("ohsumed")(
    Format(
        "ohsumed",
        "OHSUMED records of TREC-9 (.I .U .S .M .T .P .W .A)",
        read_ohsumed,
        (".87", ".88-91"),
        lambda head: head.startswith(b".I ") and b"\n.U" in head,
    )
)
