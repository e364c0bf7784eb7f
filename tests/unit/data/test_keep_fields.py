"""Columns of the input that documents carry with them when asked to."""

from __future__ import annotations

import io
import pickle

import pytest

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import Document
from textbayes.data import open_documents

CSV = "id,text,label,year,source\n1,good film,pos,1999,=web\n2,bad film,neg,,paper\n"


def read(text, **options):
    return list(open_documents(io.StringIO(text), **options))


def test_all_columns_of_a_csv_file_come_along_as_they_are():
    first, second = read(CSV, keep_fields=True)
    assert first.fields == {"id": "1", "text": "good film", "label": "pos", "year": "1999", "source": "=web"}
    assert second.fields["year"] == ""


@pytest.mark.parametrize("given", ["year", ["year"], ("year",)])
def test_columns_by_name(given):
    assert [document.fields for document in read(CSV, keep_fields=given)] == [{"year": "1999"}, {"year": ""}]


def test_tsv_and_json_lines():
    assert read("text\tday\na\tMon\n", format="tsv", keep_fields=True)[0].fields == {"text": "a", "day": "Mon"}
    row = '{"text": "a", "n": 3, "ok": true, "none": null, "tags": ["é", 1], "x": 0.5}\n'
    expected = {"text": "a", "n": "3", "ok": "true", "none": "", "tags": '["é", 1]', "x": "0.5"}
    assert read(row, keep_fields=True)[0].fields == expected


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="extra 'parquet' is not installed")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    columns = {"text": ["a", "b"], "n": [1, None], "share": [0.5, float("nan")], "tags": [["x"], []]}
    parquet.write_table(pyarrow.table(columns), path)
    kept = [document.fields for document in open_documents(path, keep_fields=True)]
    assert kept == [
        {"text": "a", "n": "1", "share": "0.5", "tags": '["x"]'},
        {"text": "b", "n": "", "share": "", "tags": "[]"},
    ]
    assert [document.fields for document in open_documents(path, keep_fields=["n"])] == [{"n": "1"}, {"n": ""}]


def test_a_column_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(MalformedFileError, match="no field 'yaer'; the fields are 'id', 'text', 'label', 'year'"):
        read(CSV, keep_fields=["yaer"])


def test_without_being_asked_documents_carry_nothing_and_share_it():
    first, second = read(CSV)
    assert not first.fields
    assert first.fields is second.fields
    with pytest.raises(TypeError):
        first.fields["year"] = "1999"  # one object for all: nobody may write into it


def test_documents_are_equal_hashed_shown_and_pickled_with_or_without_fields():
    bare, kept = Document("1", "a", ("x",)), Document("1", "a", ("x",), {"year": "1999"})
    assert bare != kept
    assert len({bare, kept, Document("1", "a", ("x",))}) == 2
    assert repr(bare) == "Document(id='1', text='a', labels=('x',))"
    assert repr(kept) == "Document(id='1', text='a', labels=('x',), fields={'year': '1999'})"
    for document in (bare, kept):
        assert pickle.loads(pickle.dumps(document)) == document
