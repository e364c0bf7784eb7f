"""Collections in the SMART format, whose fields begin with a line such as ``.W``: OHSUMED and RCV1-v2 (LYRL2004).

OHSUMED is read as the TREC-9 filtering track distributes it: MEDLINE records, topics and relevance judgements. RCV1-v2
is read as distributed with Lewis, Yang, Rose & Li (JMLR 5, 2004): token files, vector files, topic judgements.

>>> import io
>>> record = ".I 1\\n.U\\n87049087\\n.M\\nHuman; Heart/*SU.\\n.T\\nOn hearts.\\n.W\\nThey beat.\\n"
>>> list(FORMATS.get("ohsumed").read(io.StringIO(record)))
[Document(id='87049087', text='On hearts.\\nThey beat.', labels=('Human', 'Heart'))]
>>> list(FORMATS.get("lyrl2004").read(io.StringIO(".I 2286\\n.W\\nrecov recov\\nexpect\\n\\n")))
[Document(id='2286', text='recov recov\\nexpect', labels=())]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.formats.svmlight import read_svmlight
from textbayes.data.streams import Source, limits_of, read_lines, read_text, source_label

_MARK = re.compile(r"\.([A-Z])\s*$")
_START = re.compile(r"\.I\s+(\S+)\s*$")


class DottedRecord(NamedTuple):
    """The number after ``.I``, the line it stands in, and the text under each letter."""

    id: str
    line: int
    fields: dict[str, str]


def read_dotted(source: Source, letters: str, encoding: str, errors: str) -> Iterator[DottedRecord]:
    """Records in turn; only the ``letters`` given open a field, any other line belongs to the field above it."""
    label, limits = source_label(source), limits_of(source)
    size = 0
    start: tuple[str, int] | None = None
    fields: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in read_lines(source, encoding, errors):
        if opening := _START.match(line):
            if start is not None:
                yield _finish(start, fields)
            start, fields, current, size = (opening[1], number), {}, None, 0
        elif start is None:
            if not line.isspace():
                raise MalformedFileError(label, "text before the first '.I number' line; is it the right file?", number)
        elif (mark := _MARK.match(line)) and mark[1] in letters:
            if mark[1] in fields:
                raise MalformedFileError(label, f"field .{mark[1]} twice in record {start[0]}", number)
            current = fields.setdefault(mark[1], [])
        elif current is not None:
            current.append(line.strip())
            size += len(line)
            limits.check_record(size, label, start[1], "record")
        elif not line.isspace():
            raise MalformedFileError(label, f"text in record {start[0]} before a field such as .{letters[0]}", number)
    if start is None:
        raise MalformedFileError(label, "no record: each begins with a line '.I number'")
    yield _finish(start, fields)


def _finish(start: tuple[str, int], fields: dict[str, list[str]]) -> DottedRecord:
    return DottedRecord(*start, {letter: "\n".join(filter(None, lines)) for letter, lines in fields.items()})


_LETTERS = "USMTPWA"
_GRADE = re.compile(r"-?[0-9]{1,9}")


class TrecTopic(NamedTuple):
    """A filtering topic: its number (``OHSU1``), the patient (title) and the information need (description)."""

    number: str
    title: str
    description: str


class RelevanceJudgement(NamedTuple):
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


def read_topics(source: Source) -> list[TrecTopic]:
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
        topics.append(TrecTopic(name, " ".join(title.split()), " ".join(described.split())))
    if not topics:
        raise MalformedFileError(label, "no <top> element: is this a TREC topics file?")
    return topics


def read_qrels(source: Source) -> Iterator[RelevanceJudgement]:
    """Judgements, one a line: topic, document, grade; TREC's four columns (topic, 0, document, grade) too."""
    label = source_label(source)
    for number, line in read_lines(source):
        columns = line.split()
        if not columns:
            continue
        if len(columns) not in (3, 4) or not _GRADE.fullmatch(columns[-1]):
            raise MalformedFileError(label, "a judgement is 'topic document grade', the grade a whole number", number)
        yield RelevanceJudgement(columns[0], columns[-2], int(columns[-1]))


FORMATS.register("ohsumed")(
    Format(
        "ohsumed",
        "OHSUMED records of TREC-9 (.I .U .S .M .T .P .W .A)",
        read_ohsumed,
        (".87", ".88-91"),
        lambda head: head.startswith(b".I ") and b"\n.U" in head,
    )
)


N_FEATURES = 47_236


def read_tokens(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read documents of ``lyrl2004_tokens_*.dat``: stemmed, stopped words, several lines a document, without labels."""
    label = source_label(source)
    for identity, line, fields in read_dotted(source, "W", encoding, errors):
        if "W" not in fields:
            raise MalformedFileError(label, f"document {identity} has no .W field (its words)", line)
        yield Record(fields["W"], id=identity, line=line)


def read_vectors(source: Source) -> tuple[Any, list[str]]:
    """Matrix (n_docs, 47236) and document ids of ``lyrl2004_vectors_*.dat``, lines of ``id  term:weight …``."""
    X, labels = read_svmlight(source, n_features=N_FEATURES, zero_based=False)
    return X, [ids[0] for ids in labels]


def read_topic_labels(source: Source) -> dict[str, tuple[str, ...]]:
    """Topics of each document id from ``rcv1-v2.topics.qrels``, lines of ``topic id 1``."""
    labels: dict[str, list[str]] = {}
    for topic, document, grade in read_qrels(source):
        if grade > 0:
            labels.setdefault(document, []).append(topic)
    return {document: tuple(sorted(topics)) for document, topics in labels.items()}


FORMATS.register("lyrl2004")(
    Format(
        "lyrl2004",
        "RCV1-v2 token files (.I .W)",
        read_tokens,
        (".dat",),
        lambda head: head.startswith(b".I ") and b"\n.W" in head and b"\n.U" not in head,
    )
)
