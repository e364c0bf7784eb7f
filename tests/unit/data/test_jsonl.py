from __future__ import annotations

import io
import itertools
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.formats import FORMATS

JSONL = FORMATS.get("jsonl")
# White space at the ends of labels is dropped, see test_labels.py; what has none of any kind comes back as it was.
LABELS = st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cf", "Cs"]), min_size=1)


def read(data, **options):
    return list(JSONL.read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), **options))


def test_well_formed_in_every_compression(write_compressed):
    lines = [
        {"id": "a", "text": "one", "labels": "x"},
        {"id": 2, "text": "two é", "labels": ["x", "y", "x"]},
        {"id": "c", "text": "", "labels": []},
        {"id": "d", "text": "four", "label": 1},
        {"id": "e", "text": "five"},
        {"id": "f", "text": "six", "labels": None},
    ]
    path = write_compressed("a.jsonl", "\n".join(map(json.dumps, lines)).encode())
    assert list(JSONL.read(path)) == [
        Document("a", "one", ("x",)),
        Document("2", "two é", ("x", "y")),
        Document("c", "", ()),
        Document("d", "four", ("1",)),
        Document("e", "five", ()),
        Document("f", "six", ()),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_blank_lines_and_byte_order_mark(end, start):
    assert read(start + '{"text": "a"}' + end + '{"text": "b"}' + end) == [Document("1", "a"), Document("2", "b")]


def test_an_empty_file_has_no_documents():
    assert read(b"") == []


def test_title_and_body_are_joined_and_fields_by_option():
    assert read('{"title": "T", "body": "B", "category": "c"}')[0] == Document("1", "T\nB", ("c",))
    assert read('{"title": "T", "abstract": null}')[0].text == "T"
    line = '{"key": "k", "words": "w", "tags": "a b"}'
    options = {"text_field": "words", "label_field": "tags", "id_field": "key", "label_separator": " "}
    assert read(line, **options) == [Document("k", "w", ("a", "b"))]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ('{"text": "a"', "not valid JSON .* in column .*: write one object on each line"),
        ('{"text": "a"} {"text": "b"}', "not valid JSON"),
        ("[1, 2]", "an array where an object is needed"),
        ('"text"', "where an object is needed"),
        ('{"text": NaN}', "NaN is not JSON"),
        ('{"words": "a"}', "no field 'text', .*the fields are 'words'"),
        ('{"text": null}', "'text' must be a string, it is null"),
        ('{"text": 3}', "'text' must be a string, it is int"),
        ('{"text": "a", "labels": {"x": 1}}', "a label must be a string or a number, it is dict"),
        ('{"text": "a", "labels": [["x"]]}', "a label must be a string or a number, it is list"),
        ('{"text": "a", "id": ["x"]}', "an id must be a string or a number"),
        ('{"text": "half \\ud83d"}', "half a surrogate pair"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_malformed_lines_are_refused_with_line_and_cause(line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read('{"text": "fine"}\n' + line + "\n")
    assert caught.value.line == 2
    assert str(caught.value).startswith("the stream, line 2: ")


ROWS = [{"id": "a", "text": "one, [two]", "labels": ["x"]}, {"id": "b", "text": 'a "word"\nand }', "labels": []}]


@pytest.mark.parametrize("layout", [{}, {"indent": 2}, {"separators": (",", ":")}, {"indent": 0}])
@pytest.mark.parametrize("around", ["{}", "\n  {}\n\n", "\ufeff{}\r\n"])
def test_an_array_of_objects_is_read_as_documents(layout, around):
    text = around.replace("{}", json.dumps(ROWS, **layout))
    assert read(text) == read("\n".join(map(json.dumps, ROWS)))
    assert read(around.replace("{}", "[ ]")) == []


@pytest.mark.parametrize(
    ("text", "line", "cause"),
    [
        ('[{"text": "a"},\n "b"]', 2, "'b' where an object is needed"),
        ('[{"text": "a"},\n\n [1]]', 3, "an array where an object is needed"),
        ('[{"text": "a"}\n {"text": "b"}]', 2, "a comma is missing"),
        ('[{"text": "a"},\n]', 2, "not valid JSON"),
        ('[{"text": "a"},\n {"text": "b"', 2, "not valid JSON"),
        ('[{"text": "a"}\n', 1, "the array is not closed"),
        ('[{"text": "a"}]\n{"text": "b"}', 2, "something follows the array"),
        ('[\n{"text": "half \\ud83d"}]', 2, "half a surrogate pair"),
        ('[\n{"words": "a"}]', 2, "no field 'text'"),
        ('[\n{"text": NaN}]', 2, "NaN is not JSON"),
        ("[", 1, "not valid JSON"),
        ("[" * 100_000, 1, "not valid JSON"),
    ],
)
def test_malformed_arrays_are_refused_with_line_and_cause(text, line, cause):
    with pytest.raises(MalformedFileError, match=cause) as caught:
        read(text)
    assert caught.value.line == line


@pytest.mark.parametrize("start", ["", " \n", "\ufeff"])
@pytest.mark.parametrize("text", ['{"text": "a"}', '[{"text": "a"}]', '[\n  {"text": "a"}\n]'])
def test_a_stream_of_objects_or_of_one_array_is_recognised(start, text):
    assert list(open_documents(io.BytesIO((start + text).encode()))) == [Document("1", "a")]


def test_a_line_of_text_that_begins_with_a_bracket_stays_text():
    assert [d.text for d in open_documents(io.BytesIO(b"[sic] corn\n[1] bank\n"))] == ["[sic] corn", "[1] bank"]


def test_whole_surrogate_pairs_are_characters_and_halves_can_be_replaced():
    assert read('{"text": "\\ud83d\\ude00"}')[0].text == "😀"
    assert read('{"text": "a \\ud83d"}', errors="replace")[0].text == "a ?"


def test_duplicate_ids_are_refused_with_both_lines(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "a", "text": ""}\n\n{"id": "a", "text": ""}\n')
    with pytest.raises(MalformedFileError, match=r"d\.jsonl, line 3: id 'a' was used before \(line 1\)"):
        list(JSONL.read(path))
    assert len(list(JSONL.read(path, duplicates="keep"))) == 2


@pytest.mark.parametrize("ids", [("a", None), (None, "1")])
def test_ids_for_some_documents_only_are_refused(ids):
    data = "".join(json.dumps({"id": identity, "text": "t"}) + "\n" for identity in ids)
    with pytest.raises(MalformedFileError, match="line 2: some documents here have an id and some have none"):
        read(data)
    assert len(read(data, duplicates="keep")) == 2


def test_unknown_field_is_refused_with_those_there_are():
    with pytest.raises(MalformedFileError, match="line 1: there is no field 'wrods'; the fields are 'text'"):
        read('{"text": "a"}', text_field="wrods")


def test_documents_stream_in_flat_memory(endless):
    stream = endless(b"", b'{"id": "same", "text": "' + b"word " * 200 + b'"}\n')
    documents = JSONL.read(stream, duplicates="keep")
    list(itertools.islice(documents, 100))
    tracemalloc.start()
    for _ in itertools.islice(documents, 5000):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert stream.given > 5_000_000
    assert peak < 1_000_000


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.lists(LABELS, unique=True)), max_size=5))
def test_what_is_written_is_read_back(rows):
    data = "".join(json.dumps({"text": text, "labels": labels}) + "\n" for text, labels in rows)
    assert [(doc.text, list(doc.labels)) for doc in read(data)] == rows
