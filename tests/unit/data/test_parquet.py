from __future__ import annotations

import builtins
import io

import pytest

from textbayes.core.errors import InputError, MalformedFileError, MissingExtraError
from textbayes.core.types import Document
from textbayes.data.formats import FORMATS

pyarrow = pytest.importorskip("pyarrow", reason="extra 'parquet' is not installed")
PARQUET = FORMATS.get("parquet")


def write(path, columns, **options):
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def test_well_formed_over_several_row_groups(tmp_path):
    columns = {"id": [1, 2, 3], "text": ["a", "b", "é"], "labels": [["x", "y"], [], None], "extra": [0.5, 1.5, 2.5]}
    path = write(tmp_path / "a.parquet", columns, row_group_size=2)
    expected = [Document("1", "a", ("x", "y")), Document("2", "b", ()), Document("3", "é", ())]
    assert list(PARQUET.read(path)) == expected
    assert list(PARQUET.read(io.BytesIO(path.read_bytes()))) == expected


def test_only_the_columns_used_are_read(tmp_path):
    path = write(tmp_path / "a.parquet", {"words": ["a"], "tag": ["x"], "big": ["z"]})
    [record] = PARQUET.records(path, text_field="words", label_field="tag")
    assert dict(record.fields) == {"words": "a", "tag": "x"}


def test_numbers_that_became_floats_name_the_label_they_were(tmp_path):
    path = write(tmp_path / "a.parquet", {"text": ["a", "b", "c"], "label": [3.0, None, float("nan")]})
    assert [doc.labels for doc in PARQUET.read(path)] == [("3",), (), ()]


def test_empty_table(tmp_path):
    assert list(PARQUET.read(write(tmp_path / "a.parquet", {"text": pyarrow.array([], pyarrow.string())}))) == []


def test_malformed_files_are_refused(tmp_path):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 this is not one")
    with pytest.raises(MalformedFileError, match=r"bad\.parquet: not a readable Parquet file"):
        list(PARQUET.read(path))
    with pytest.raises(MalformedFileError, match=r"no field 'text', .*the fields are 'a'"):
        list(PARQUET.read(write(path, {"a": ["x"]})))
    with pytest.raises(MalformedFileError, match="line 2: 'text' must be a string, it is null"):
        list(PARQUET.read(write(path, {"text": ["x", None]})))
    with pytest.raises(MalformedFileError, match="line 1: 'text' must be a string, it is bytes"):
        list(PARQUET.read(write(path, {"text": [b"\xff"]})))
    with pytest.raises(MalformedFileError, match=r"line 2: id 'a' was used before \(line 1\)"):
        list(PARQUET.read(write(path, {"text": ["x", "y"], "id": ["a", "a"]})))


def test_text_that_is_not_utf8_is_refused(tmp_path):
    column = pyarrow.array([b"tea", b"caf\xe9"], pyarrow.binary()).view(pyarrow.string())
    with pytest.raises(MalformedFileError, match=r"bad\.parquet: not a readable Parquet file .*utf-8"):
        list(PARQUET.read(write(tmp_path / "bad.parquet", {"text": column})))


def test_pipes_and_missing_files_are_refused(tmp_path, endless):
    with pytest.raises(InputError, match="standard input: Parquet is read from its end, so it needs a file"):
        list(PARQUET.read("-"))
    with pytest.raises(InputError, match="so it needs a file"):
        list(PARQUET.read(endless(b"", b"x")))
    with pytest.raises(InputError, match="there is no file"):
        list(PARQUET.read(tmp_path / "absent.parquet"))


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[parquet\]'"):
        list(PARQUET.read("x.parquet"))
