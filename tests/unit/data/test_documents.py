from __future__ import annotations

import gzip
import io
import itertools
import os
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from textbayes.core.errors import InputError, MalformedFileError, NotSupportedError
from textbayes.core.types import Document
from textbayes.data import FORMATS, open_documents
from textbayes.data.documents import guess_format

STORY = b'<REUTERS NEWID="4">\n<TEXT><BODY>b</BODY></TEXT>\n</REUTERS>\n'
HEADS = {
    "csv": b"id,text,label\n1,a,x\n",
    "tsv": b"label\ttext\nx\ta\n",
    "jsonl": b'\xef\xbb\xbf {"text": "a"}\n',
    "reuters": STORY,
    "ohsumed": b".I 1\n.U\n8\n.T\na\n",
    "lyrl2004": b".I 1\n.W\na\n",
    "text": b"Dear all, this is a letter, with commas.\n",
}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.CSV.GZ", "csv"),
        ("a.tsv.xz", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson.bz2", "jsonl"),
        ("a.parquet", "parquet"),
        ("a.lines", "lines"),
        ("reut2-003.sgm", "reuters"),
        ("ohsumed.88-91.gz", "ohsumed"),
        ("lyrl2004_tokens_train.dat", "lyrl2004"),
        ("1.eml", "mail"),
    ],
)
def test_the_name_says_the_format(name, format):
    assert guess_format(Path(name)) == format


def test_a_txt_file_is_plain_text_unless_it_holds_references(tmp_path):
    (tmp_path / "a.txt").write_bytes(HEADS["text"])
    assert guess_format(tmp_path / "a.txt") == "text"


@pytest.mark.parametrize("format", HEADS)
def test_the_content_says_the_format(tmp_path, format):
    path = tmp_path / "no_ending"
    path.write_bytes(HEADS[format])
    assert guess_format(path) == format


@pytest.mark.parametrize("format", HEADS)
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gz"])
def test_standard_input_is_guessed_without_losing_a_byte(monkeypatch, format, compress):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(HEADS[format]))))
    documents = list(open_documents("-"))
    wanted = "lines" if format == "text" else format
    assert documents == list(FORMATS.get(wanted).read(io.BytesIO(HEADS[format])))


def test_folders_and_archives(pack):
    assert guess_format(pack("news", {"a/1.txt": b"x"})) == "folder"
    assert guess_format(pack("wire", {"README.txt": b"x", "reut2-000.sgm": STORY})) == "reuters"


def test_a_flat_folder_stands_for_its_files(tmp_path, write_tree):
    folder = write_tree(tmp_path / "flat", {"b.jsonl": b'{"id": "j", "text": "json"}', "a.txt": b"plain", ".x": b""})
    assert list(open_documents(folder)) == [Document("a.txt", "plain"), Document("j", "json")]
    wire = write_tree(tmp_path / "wire", {"README.txt": b"about", "reut2-000.sgm": STORY})
    assert list(open_documents(wire)) == [Document("4", "b")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty; put documents in it"):
        open_documents(tmp_path / "empty")


def test_several_sources(tmp_path, write_tree):
    write_tree(
        tmp_path, {"a.jsonl": b'{"id": "w", "text": "one"}\n{"id": "x", "text": "two"}', "b.csv": b"text\nthree\n"}
    )
    documents = list(open_documents([tmp_path / "a.jsonl", tmp_path / "b.csv", io.StringIO("four")]))
    assert [doc.text for doc in documents] == ["one", "two", "three", "four"]
    assert [doc.id for doc in documents] == [
        "w",
        "x",
        f"{tmp_path}/b.csv:1",
        "the stream:1",
    ]


def test_duplicates_across_sources_name_both_files(tmp_path, write_tree):
    write_tree(tmp_path, {"a.jsonl": b'{"id": "x", "text": ""}', "b.jsonl": b'\n{"id": "x", "text": ""}'})
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(MalformedFileError, match=r"b\.jsonl, line 2: id 'x' was used before \(.*a\.jsonl, line 1\)"):
        list(open_documents(paths))
    assert len(list(open_documents(paths, duplicates="keep"))) == 2


def test_mistakes_are_refused_before_anything_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}')
    with pytest.raises(InputError, match="there is no file or folder"):
        open_documents(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match=r"unknown format 'jsnl'.*did you mean 'jsonl'"):
        open_documents(path, "jsnl")
    with pytest.raises(InputError, match="format 'jsonl' has no option 'delimiter'"):
        open_documents(path, "jsonl", delimiter=",")
    with pytest.raises(InputError, match="duplicates='drop' is not known"):
        open_documents(path, duplicates="drop")
    with pytest.raises(InputError, match="no input was given"):
        open_documents([])


def test_options_reach_the_format_guessed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("words,tag\nhello,x\n")
    assert list(open_documents(path, text_field="words", label_field="tag")) == [Document("1", "hello", ("x",))]
    with pytest.raises(InputError, match="format 'csv' has no option 'multilabel'"):
        list(open_documents(path, multilabel=True))


def test_documents_stream_from_a_pipe(endless):
    stream = endless(b"", b'{"text": "some words"}\n')
    assert len(list(itertools.islice(open_documents(stream), 1000))) == 1000
    assert stream.given < 500_000


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_format_refuses_binary_junk_in_a_sentence(tmp_path, name):
    path = tmp_path / "junk"
    path.write_bytes(bytes(range(256)) * 40)
    with pytest.raises(InputError, match=r"junk"):
        list(open_documents(path, name))


@pytest.mark.parametrize("name", FORMATS.names())
def test_every_format_is_described(name):
    format = FORMATS.get(name)
    assert format.name == name
    assert format.title
    assert format.records.__doc__


# -- files that are not read ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("a.enw.gz", "export them as RIS"),
        ("a.xls", r"save it as \.xlsx or CSV"),
        ("a.ods", r"save it as \.xlsx or CSV"),
        ("a.docx", r"save it as plain text \(\.txt\)"),
        ("a.pdf", r"save it as plain text \(\.txt\)"),
        ("a.msg", r"save the messages as \.eml"),
        ("a.7z", r"pack it as \.zip"),
    ],
)
def test_files_of_other_programs_are_refused_by_name(tmp_path, name, advice):
    path = tmp_path / name
    path.write_bytes(b"TY  - JOUR\nTI  - Tea\nER  - \n")
    with pytest.raises(NotSupportedError, match=rf"{path} holds .*{advice}"):
        list(open_documents(path))


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        (b"%PDF-1.7\n%\xe2\xe3", r"save its text as a \.txt file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", r"save a workbook as \.xlsx or CSV"),
    ],
)
def test_files_of_other_programs_are_refused_by_content(tmp_path, data, advice):
    path = tmp_path / "no_ending"
    path.write_bytes(data)
    with pytest.raises(InputError, match=advice):
        list(open_documents(path))
    with pytest.raises(InputError, match=advice):
        list(open_documents(io.BytesIO(data)))


@pytest.mark.parametrize(("member", "advice"), [("word/document.xml", "plain text"), ("xl/workbook.xml", "as CSV")])
def test_office_documents_are_told_apart_by_what_they_hold(tmp_path, member, advice):
    with zipfile.ZipFile(tmp_path / "no_ending", "w") as archive:
        archive.writestr(member, "<x/>")
    with pytest.raises(InputError, match=advice):
        list(open_documents(tmp_path / "no_ending"))


def test_a_workbook_by_another_name_is_recognised(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(MalformedFileError, match="read a workbook with format='xlsx'"):
        list(open_documents(tmp_path / "a.csv"))


# -- bounds -----------------------------------------------------------------------------------------------------------
def test_documents_may_not_be_longer_than_the_bound(tmp_path, write_tree):
    story = b'<REUTERS NEWID="4">\n<TEXT><BODY>' + b"b\n" * 99 + b"</BODY></TEXT>\n</REUTERS>\n"
    files = {
        "a.csv": b'text\n"' + b"words\n" * 30 + b'"\n',
        "a.jsonl": b'{"text": "' + b"w" * 200 + b'"}\n',
        "a.txt": b"w" * 200,
        "a.mbox": b"From a\n\n" + b"words\n" * 30,
        "a.eml": b"w" * 200,
        "a.sgm": story,
        "a.87": b".I 1\n.U\n8\n.T\n" + b"words\n" * 30,
        "a.dat": b".I 1\n.W\n" + b"words\n" * 30,
    }
    write_tree(tmp_path, files)
    for name in files:
        assert len(list(open_documents(tmp_path / name))) == 1
        with pytest.raises(MalformedFileError, match=rf"{name}.*that begins here is longer than 100 bytes.*max_record"):
            list(open_documents(tmp_path / name, max_record=100))


@pytest.mark.parametrize("name", ["max_record", "max_unpacked"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "much", True])
def test_bounds_are_whole_numbers(tmp_path, name, value):
    with pytest.raises(InputError, match=rf"{name}={value!r} is not usable; give a whole number of bytes"):
        open_documents(io.BytesIO(b"tea"), **{name: value})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_is_left_out_of_a_folder_with_a_warning(tmp_path, write_tree):
    for folder, names in (("flat", {"a.txt": b"tea"}), ("deep", {"x/a.txt": b"tea"})):
        write_tree(tmp_path / folder, names)
        os.mkfifo(tmp_path / folder / "pipe.txt")
        with pytest.warns(UserWarning, match=r"pipe\.txt is left out: it is no file"):
            assert [document.text for document in open_documents(tmp_path / folder)] == ["tea"]


def test_names_that_are_not_utf8_can_be_written_again(tmp_path):
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("caf\udce9/1.txt")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"tea"))
    [document] = open_documents(tmp_path / "a.tar")
    assert document == Document("caf\ufffd/1.txt", "tea", ("caf\ufffd",))
