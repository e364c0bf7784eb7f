from __future__ import annotations

import io
import itertools

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS

CSV, TSV = FORMATS.get("csv"), FORMATS.get("tsv")


def read(data, format=CSV, **options):
    return list(format.read(io.BytesIO(data), **options))


def test_well_formed_in_every_compression(write_compressed):
    path = write_compressed("a.csv", b'id,text,label\n1,"two\nlines, one ""comma""",sport\n2,plain,\n')
    assert list(CSV.read(path)) == [
        Document("1", 'two\nlines, one "comma"', ("sport",)),
        Document("2", "plain", ()),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark(end, start):
    assert read(start + b"text,label" + end + b"a,x" + end + end + b"b,y" + end) == [
        Document("1", "a", ("x",)),
        Document("2", "b", ("y",)),
    ]


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
def test_the_delimiter_is_read_off_the_header(delimiter):
    data = delimiter.join([b"id", b"text", b"label"]) + b"\n" + delimiter.join([b"1", b"t", b"x"]) + b"\n"
    assert read(data) == [Document("1", "t", ("x",))]


def test_title_and_abstract_are_joined_and_headers_may_be_capitals():
    data = b"ID,Title,Abstract,Category\n9,On tea,Leaves.,drink\n10,Only a title,,drink\n"
    assert read(data) == [Document("9", "On tea\nLeaves.", ("drink",)), Document("10", "Only a title", ("drink",))]


def test_columns_by_option_and_several_labels():
    data = b"key,words,tags\nk,some words,a; b;a;\n"
    options = {"text_field": "words", "label_field": "tags", "id_field": "key", "label_separator": ";"}
    assert read(data, delimiter=",", **options) == [Document("k", "some words", ("a", "b"))]
    assert read(data, delimiter=",", text_field=["key", "words"]) == [Document("1", "k\nsome words", ())]


def test_a_file_without_header_row():
    assert read(b"x,hello\n", header=["label", "text"]) == [Document("1", "hello", ("x",))]


def test_tsv_takes_quotation_marks_as_they_are():
    assert read(b'text\tlabel\n"Quoted" from\tx\n', TSV) == [Document("1", '"Quoted" from', ("x",))]


def test_latin1_by_option_and_refused_without():
    data = "text,label\ncafé,x\n".encode("latin-1")
    assert read(data, encoding="latin-1")[0].text == "café"
    assert read(data, errors="replace")[0].text == "caf�"
    with pytest.raises(MalformedFileError, match="line 2: byte 0xe9 in column 4"):
        read(data)


def test_rows_of_empty_cells_are_passed_over():
    """As spreadsheets write them, between the rows and below the last, also where the form of the file is wider."""
    assert read(b"text,label\na,x\n,\n,,,\nb,y\n,\n") == [Document("1", "a", ("x",)), Document("2", "b", ("y",))]
    assert read(b'text\na\n""\n') == [Document("1", "a", ()), Document("2", "", ())]  # an empty text, quoted as such


def test_a_very_long_field_is_read():
    text = "word " * 100_000
    assert read(f'text,label\n"{text}",x\n'.encode())[0].text == text


@pytest.mark.parametrize(
    ("data", "line", "cause"),
    [
        (b"", None, "the file is empty: a header row is needed"),
        (b"a,b\n1,2\n", 1, "no field 'text', nor 'title', .* or another usual name; the fields are 'a', 'b': name one"),
        (b"text,text\n1,2\n", 1, "the header names 'text' twice"),
        (b"text,label\na,x\nb\n", 3, "1 fields where the header has 2"),
        (b"text,label\na,x,y\n", 2, "3 fields where the header has 2 .*quote fields that hold it"),
        (b'text,label\na,x\n"open,x\nmore\n', 3, "unexpected end of data.*check the quotation marks"),
        (b'text,label\n"a"b,x\n', 2, "not valid CSV"),
        (b"text,label\na\x00,x\n", 2, "NUL bytes"),
        (b"id,text\n1,a\n2,b\n1,c\n", 4, r"id '1' was used before \(line 2\): make ids unique, or pass duplicates="),
    ],
)
def test_malformed_files_are_refused_with_line_and_cause(data, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read(data)
    assert caught.value.line == line


def test_lines_are_counted_through_quoted_line_ends():
    with pytest.raises(MalformedFileError, match="1 fields") as caught:
        read(b'text,label\n"a\nb\nc",x\nbad\n')
    assert caught.value.line == 5


def test_tsv_with_quoted_line_ends_is_refused_with_a_way_on():
    with pytest.raises(MalformedFileError, match=r"line 2: 1 fields .*read it as csv if fields are quoted"):
        read(b'text\tlabel\n"two\nlines"\tx\n', TSV)


def test_unknown_columns_and_options():
    data = b"text,label\na,x\n"
    with pytest.raises(MalformedFileError, match="no field 'tags'; the fields are 'text', 'label'"):
        read(data, label_field="tags")
    with pytest.raises(InputError, match=r"format 'csv' has no option 'label_fild'.* did you mean 'label_field'"):
        read(data, label_fild="tags")
    with pytest.raises(InputError, match="delimiter='::' must be one character"):
        read(data, delimiter="::")


def test_duplicates_can_be_kept():
    assert [doc.id for doc in read(b"id,text\n1,a\n1,b\n", duplicates="keep")] == ["1", "1"]


def test_rows_stream(endless):
    stream = endless(b"id,text,label\n", b"7,some words,x\n")
    rows = CSV.read(stream, duplicates="keep")
    assert len(list(itertools.islice(rows, 1000))) == 1000
    assert stream.given < 500_000
