"""Files made to waste time or memory: each is read or refused within five seconds and a gigabyte."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import tarfile
import zipfile
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import worker

from textbayes.core.errors import TextBayesError
from textbayes.data import FORMATS, open_documents
from textbayes.data.formats.smart import read_topics
from textbayes.knowledge import WordPriors

MEGABYTE = 1_000_000
_SPACES = b" " * (1 << 26)


@pytest.fixture
def outcome(tmp_path):
    """What reading does with a file: the texts of its documents, or the words it is refused with."""
    FORMATS.names()  # all modules, before the memory is bounded

    def call(name: str, data: bytes, read: Callable[[Path], list[str]] | None = None, **options: object) -> str:
        path = tmp_path / name
        path.write_bytes(data)

        def texts(path: Path) -> list[str]:
            found = iter(open_documents(path, **options))
            first = [document.text for document in islice(found, 3)]
            deque(found, maxlen=0)  # the others are read too, and not kept: a million take their time
            return first

        def target(path: Path) -> str:
            try:
                return repr([text[:60] for text in (read or texts)(path)[:3]])
            except TextBayesError as error:
                return str(error)

        found = worker.run(target, lambda rng: (name, path), 1)
        assert not found.findings, found.findings[0]
        [said] = found.outcomes
        return said

    return call


def repeated(token: bytes, size: int = MEGABYTE) -> bytes:
    return token * (size // len(token))


@pytest.mark.parametrize(
    "token", [b"<!", b"<a ", b"<!--", b"<div>", b"<b><i></b>", b"</p>", b"<![CDATA[", b"<noscript>"]
)
def test_html_mail_of_unfinished_tags(outcome, token):
    mail = b"Subject: tea\nContent-Type: text/html\n\n<p>leaves</p>" + repeated(token)
    assert outcome("1.eml", mail).startswith("['tea\\nleaves")


def test_html_mail_of_many_different_attributes_and_of_end_tags_that_match_nothing(outcome):
    attributes = b"".join(b"a%d " % i for i in range(100_000))
    assert outcome("1.eml", b"Content-Type: text/html\n\n<a " + attributes + b">leaves") == "['leaves']"
    unmatched = repeated(b"<div>", MEGABYTE // 2) + repeated(b"</x>", MEGABYTE // 2)
    assert outcome("2.eml", b"Content-Type: text/html\n\n" + unmatched + b"leaves") == "['leaves']"


@pytest.mark.parametrize("word", [b"=?utf-8?q?t?= ", b"=?utf-8?b?dA==?=", b"=?utf-8?q?t "])
def test_a_subject_of_encoded_words(outcome, word):
    said = outcome("1.eml", b"Subject: " + repeated(word, 2 * MEGABYTE) + b"\n\nleaves")
    assert "t" in said


@pytest.mark.parametrize("header", [b"Content-Type: text/plain", b"Content-Disposition: inline"])
def test_a_header_of_parameters(outcome, header):
    assert outcome("1.eml", header + repeated(b";") + b"\n\nleaves") == "['leaves']"


def test_a_reference_of_many_lines(outcome):
    said = outcome("1.ris", b"TY  - JOUR\nAB  - tea\n" + repeated(b"leaf\n") + b"ER  - \n")
    assert said.startswith("['tea leaf leaf")


def test_bibtex_abbreviations_made_of_abbreviations(outcome):
    """633 bytes that stand for 2^30 characters and more, kept or not."""
    doubled = b"@string{a0 = {leaves}}\n" + b"".join(
        b"@string{a%d = a%d # a%d}\n" % (i, i - 1, i - 1) for i in range(1, 31)
    )
    for use in (b"", b"@article{k, title = a30}\n", b"@article{k, title = {x} # a30 # a30}\n", b"@preamble{a30 # a30}"):
        said = outcome("1.bib", doubled + use)
        assert "1.bib: its abbreviations (@string) stand for far more text than it has, 'a" in said
    many = b"@string{a = {" + repeated(b"tea ") + b"}}\n" + b"@article{k, title = a}\n" * 30_000
    assert "stand for far more text than it has, 'a' among them" in outcome("2.bib", many, duplicates="keep")
    usual = (
        b"@string{JTS = {Journal of Tea Studies}}\n"
        + b"@article{k, title = {tea}, journal = jts, month = Jan}\n" * 5_000
    )
    assert outcome("3.bib", usual, duplicates="keep") == repr(["tea"] * 3)


def test_a_bibtex_value_of_braces_far_before_its_end(outcome):
    """Found by the fuzz: every brace had the quotation mark looked for, a megabyte further on."""
    braces = repeated(b"{tea}", MEGABYTE // 2)
    assert outcome("1.bib", b'@article{k, title = "' + braces + b'"}').startswith("['teatea")


def test_a_pubmed_reference_of_many_lines(outcome):
    said = outcome("1.nbib", b"PMID- 1\nTI  - tea\n" + repeated(b"      leaf\n", 4 * MEGABYTE))
    assert said.startswith("['tea leaf leaf")


def test_a_mail_of_many_parts(outcome):
    head = b"Subject: tea\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nleaves\n"
    assert outcome("1.eml", head + repeated(b"--b\n")).startswith("['tea\\nleaves")


def test_mail_in_mail(outcome):
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(3_000))
    assert outcome("1.eml", b"Subject: tea\n" + nested + b"\nleaves") == "['tea']"
    forwarded = b"Content-Type: message/rfc822\n\n" * 3_000
    assert outcome("2.eml", b"Subject: tea\n" + forwarded + b"\nleaves") == "['tea']"
    some = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(10))
    assert outcome("3.eml", b"Subject: tea\n" + some + b"\nleaves") == "['tea\\nleaves']"


@pytest.mark.parametrize("tag", [b"<TITLE>", b"<BODY>", b"&#", b"&#" + b"1" * 5_000])
def test_reuters_texts_of_elements_without_end(outcome, tag):
    story = b'<REUTERS NEWID="1">\n<TEXT>tea' + repeated(tag) + b"</TEXT>\n</REUTERS>\n"
    assert outcome("1.sgm", story).startswith("['tea")


@pytest.mark.parametrize("tag", [b"<TOPICS>", b"<TOPICS><D>", b"<D>", b"<TEXT "])
def test_reuters_stories_of_elements_without_end(outcome, tag):
    story = b'<REUTERS NEWID="1">\n<TOPICS>' + repeated(tag) + b"<TEXT><BODY>tea</BODY></TEXT>\n</REUTERS>\n"
    assert outcome("1.sgm", story) == "['tea']"
    closed = story.replace(b"<TEXT><BODY>", b"</TOPICS><TEXT><BODY>")
    assert outcome("2.sgm", closed) == "['tea']"


def test_a_reuters_story_with_an_attribute_without_end(outcome):
    story = b'<REUTERS NEWID="1" ' + repeated(b"a") + b">\n<TEXT><BODY>tea</BODY></TEXT>\n</REUTERS>\n"
    assert outcome("1.sgm", story) == "['tea']"


def test_topics_of_blanks_and_of_beginnings(outcome):
    topic = b"<top><num> Number: 1 <title>" + repeated(b" \n") + b"<desc> Description: d</top>"
    assert outcome("query", topic, lambda path: [each.title for each in read_topics(path)]) == "['']"
    said = outcome("query", repeated(b"<top>\n"), lambda path: [each.title for each in read_topics(path)])
    assert "line 1: a topic needs <num>" in said


def test_long_fields_of_csv_are_bounded(outcome):
    said = outcome("a.csv", b"text,label\n" + repeated(b"word ", 70 * MEGABYTE) + b",x\n")
    assert "a.csv, line 2: the line that begins here is longer than 67,108,864 bytes" in said
    assert "set the reader option max_record to more bytes" in said


def test_an_unclosed_quotation_mark_is_found_at_the_bound(outcome):
    rows = repeated(b"some words of a document and more of them,x\n", 3 * MEGABYTE)
    said = outcome("a.csv", b'text,label\n1,x\n"' + rows, max_record=MEGABYTE)
    assert "a.csv, line 3: the row that begins here is longer than 1,000,000 bytes" in said
    assert "line 3: not valid CSV (unexpected end of data)" in outcome("a.csv", b'text,label\n1,x\n"' + rows)


def test_a_hundred_thousand_columns(outcome):
    names = b",".join(b"c%d" % i for i in range(100_000))
    said = outcome("a.csv", names + b"\n" + b"," * 99_999 + b"\n")
    assert "the fields are 'c0', 'c1'" in said
    assert "and 99,980 more" in said
    assert outcome("b.csv", names + b",text\n" + b"," * 100_000 + b"tea\n") == "['tea']"
    assert "the header names 'a' twice" in outcome("c.csv", b"a," * 100_000 + b"text\n")


# Each compression and each format once: the bound on what is unpacked is below the formats, that on lines above.
@pytest.mark.parametrize(
    ("compress", "format"),
    [(gzip.compress, "text"), (lzma.compress, "lines"), (bz2.compress, "jsonl"), (gzip.compress, "lines")],
    ids=["gz-text", "xz-lines", "bz2-jsonl", "gz-lines"],
)
def test_compressed_bombs(outcome, compress, format):
    packed = compress(_SPACES) * 64  # 4 GiB
    said = outcome("bomb", packed, format=format)
    assert re.search(r"bomb: unpacks to more than [\d,]+ bytes|is longer than 67,108,864 bytes", said)
    assert "set the reader option max_" in said


def test_bombs_in_archives(outcome):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(3):
            archive.writestr(f"a/{i}", _SPACES[: 1 << 25])
    said = outcome("bomb.zip", stream.getvalue())
    assert "bomb.zip: unpacks to more than 67,108,864 bytes" in said
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for i in range(3):
            info = tarfile.TarInfo(f"a/{i}")
            info.size = 1 << 25
            archive.addfile(info, io.BytesIO(_SPACES))
    assert "bomb.tar.gz: unpacks to more than 67,108,864 bytes" in outcome("bomb.tar.gz", stream.getvalue())
    assert outcome("bomb.tar.gz", stream.getvalue(), max_unpacked=1 << 28).startswith("['   ")


def test_an_extended_header_of_digits(outcome):
    info = tarfile.TarInfo("a/1")
    info.type, info.size = tarfile.XHDTYPE, MEGABYTE
    data = info.tobuf() + b"1" * MEGABYTE + b"\0" * (-MEGABYTE % 512)
    assert "not a readable tar archive (an extended header of 1,000,000 bytes)" in outcome("a.tar", data)


def test_a_few_bytes_that_are_a_million_empty_lines(outcome):
    """Found by the fuzz: every line is a document, so that 60 bytes took seconds."""
    packed = bz2.compress(b"\n" * 1_515_000)
    assert len(packed) < 100
    assert "unpacks to more than 524,288 bytes" in outcome("lines.bz2", packed, format="lines")


def test_a_workbook_that_unpacks_to_too_much(outcome):
    pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", _SPACES + b" ")
    assert re.search(r"bomb.xlsx: unpacks to more than [\d,]+ bytes", outcome("bomb.xlsx", stream.getvalue()))


@pytest.mark.parametrize("text", [b"[" * 100_000, b"a:\n  b: " + b"{x: " * 100_000, b"- " * 100_000, b"? " * 100_000])
def test_deep_yaml(outcome, text):
    said = outcome("deep.yaml", text, lambda path: [row.word for row in WordPriors.read(path)])
    assert "lists or tables more than 20 deep" in said


def test_yaml_of_aliases(outcome):
    words = b",".join(b"w%d" % i for i in range(5_000))
    text = b"a: &x [" + words + b"]\n" + b"".join(b"l%d: *x\n" % i for i in range(5_000))
    said = outcome("bomb.yaml", text, lambda path: [row.word for row in WordPriors.read(path)])
    assert "aliases (*name) stand for more than 1,000,000 rows" in said
    few = b"a: &x [tea, rye]\nb: *x\n"
    read = outcome("few.yaml", few, lambda path: [f"{row.label} {row.word}" for row in WordPriors.read(path)])
    assert read == "['a tea', 'a rye', 'b tea']"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(outcome, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "CLOCK_SECONDS", 10)
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "a.txt").write_text("tea")
    os.mkfifo(tmp_path / "flat" / "b.txt")
    texts = lambda path: [document.text for document in open_documents(path.parent / "flat")]  # noqa: E731
    assert outcome("unused", b"", texts) == "['tea']"
