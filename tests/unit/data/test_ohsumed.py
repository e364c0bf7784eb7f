from __future__ import annotations

import io
import itertools

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS
from textbayes.data.formats.smart import RelevanceJudgement, TrecTopic, read_qrels, read_topics

OHSUMED = FORMATS.get("ohsumed")
RECORDS = b""".I 1
.U
87000001
.S
J Tea 8703; 4(6):491-5
.M
Tea/*AE; Human; Heart Rate/DE; Human.
.T
Tea and the heart.
.P
JOURNAL ARTICLE.
.W
We gave tea.
.W is not a field mark inside a line
.A
Leaf A; Pot B.
.I 2
.U
87000002
.T
No abstract here.
"""
TOPICS = b"""<top>
<num> Number: OHSU1
<title> 60 year old drinker of tea
<desc> Description:
effects of tea
on the heart
</top>

<top>
<num> Number: OHSU2
<title> pots
<desc> Description:
pots
</top>
"""


def test_records_in_every_compression(write_compressed):
    path = write_compressed("ohsumed.87", RECORDS)
    assert list(OHSUMED.read(path)) == [
        Document(
            "87000001",
            "Tea and the heart.\nWe gave tea.\n.W is not a field mark inside a line",
            ("Tea", "Human", "Heart Rate"),
        ),
        Document("87000002", "No abstract here.", ()),
    ]


def test_all_fields_are_kept():
    first, second = OHSUMED.records(io.BytesIO(RECORDS.replace(b"\n", b"\r\n")))
    assert first.fields["S"] == "J Tea 8703; 4(6):491-5"
    assert first.fields["A"] == "Leaf A; Pot B."
    assert first.fields["sequence"] == "1"
    assert (first.line, second.line) == (1, 17)


@pytest.mark.parametrize(
    ("data", "line", "cause"),
    [
        (b"", None, "no record: each begins with a line '.I number'"),
        (b"words\n.I 1\n", 1, "text before the first '.I number' line"),
        (b".I 1\nwords\n", 2, "text in record 1 before a field"),
        (b".I 1\n.T\na\n", 1, "record 1 has no .U field"),
        (b".I 1\n.U\n8\n.T\na\n.T\nb\n", 6, "field .T twice in record 1"),
        (b".I 1\n.U\n8\n.I 2\n.U\n8\n", 4, r"id '8' was used before \(line 1\)"),
    ],
)
def test_malformed_records(data, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        list(OHSUMED.read(io.BytesIO(data)))
    assert caught.value.line == line


def test_records_stream(endless):
    stream = endless(b"", b".I 1\n.U\n5\n.T\nwords\n")
    assert len(list(itertools.islice(OHSUMED.read(stream, duplicates="keep"), 500))) == 500
    assert stream.given < 500_000


def test_topics():
    assert read_topics(io.BytesIO(TOPICS)) == [
        TrecTopic("OHSU1", "60 year old drinker of tea", "effects of tea on the heart"),
        TrecTopic("OHSU2", "pots", "pots"),
    ]
    with pytest.raises(MalformedFileError, match="line 9: a topic needs"):
        read_topics(io.BytesIO(TOPICS.replace(b"<title> pots\n", b"")))
    with pytest.raises(MalformedFileError, match="line 9: a topic needs"):
        read_topics(io.BytesIO(TOPICS[:-8]))
    with pytest.raises(MalformedFileError, match="no <top> element"):
        read_topics(io.BytesIO(b"nothing"))


def test_judgements_of_three_and_four_columns():
    assert list(read_qrels(io.BytesIO(b"OHSU1\t87000001\t2\n\nOHSU2 0 87000002 1\n"))) == [
        RelevanceJudgement("OHSU1", "87000001", 2),
        RelevanceJudgement("OHSU2", "87000002", 1),
    ]
    for bad in (b"OHSU1 8\n", b"OHSU1 8 high\n"):
        with pytest.raises(MalformedFileError, match="line 2: a judgement is 'topic document grade'"):
            list(read_qrels(io.BytesIO(b"OHSU1 8 1\n" + bad)))
