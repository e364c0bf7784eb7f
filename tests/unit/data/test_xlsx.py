from __future__ import annotations

import builtins
import datetime
import gzip
import io
import re
import zipfile

import pytest

from textbayes.core.errors import InputError, MalformedFileError, MissingExtraError
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.formats import FORMATS

openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
XLSX = FORMATS.get("xlsx")


def write(path, *rows, sheets=None):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title, given in (sheets or {}).items():
        page = book.create_sheet(title)
        for row in given:
            page.append(row)
    book.save(path)
    return path


def test_a_row_is_a_document(tmp_path):
    path = write(tmp_path / "a.xlsx", ["id", "text", "label"], [7, "good film", "pos"], [], ["8", "dull", None])
    expected = [Document("7", "good film", ("pos",)), Document("8", "dull", ())]
    assert list(open_documents(path)) == expected
    assert list(open_documents(io.BytesIO(path.read_bytes()))) == expected
    (tmp_path / "no_ending").write_bytes(path.read_bytes())
    assert list(open_documents(tmp_path / "no_ending")) == expected
    (tmp_path / "b.xlsx.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert list(open_documents(tmp_path / "b.xlsx.gz")) == expected


def test_the_options_of_csv(tmp_path):
    path = write(tmp_path / "a.xlsx", ["nr", "subject", "body", "tags"], [1, "Tea", "Leaves", "a; b"])
    options = {"text_field": ["subject", "body"], "label_field": "tags", "id_field": "nr", "label_separator": ";"}
    assert list(open_documents(path, **options)) == [Document("1", "Tea\nLeaves", ("a", "b"))]
    [document] = open_documents(path, text_field="body", keep_fields=["subject"])
    assert document.fields == {"subject": "Tea"}
    bare = write(tmp_path / "bare.xlsx", ["tea", "x"], ["rye", "y"])
    assert [doc.labels for doc in open_documents(bare, header=["text", "label"])] == [("x",), ("y",)]


def test_cells_become_text_as_a_spreadsheet_shows_them(tmp_path):
    values = {
        12345.0: "12345",
        0.1: "0.1",
        -2: "-2",
        True: "TRUE",
        False: "FALSE",
        datetime.date(2024, 5, 1): "2024-05-01",
        datetime.datetime(2024, 5, 1, 13, 30): "2024-05-01 13:30:00",
        datetime.time(9, 5): "09:05:00",
        "=1+2": "",  # a formula without a value that was saved with it
        "#N/A": "",
        " as it is ": " as it is ",
    }
    path = write(tmp_path / "a.xlsx", ["label", "text"], *([value, "x"] for value in values))
    records = XLSX.records(path)
    assert [record.fields["label"] for record in records] == list(values.values())


def test_formulas_give_the_value_that_was_saved(tmp_path):
    path = write(tmp_path / "a.xlsx", ["text"], ["=1+2"])
    files = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    files[sheet] = (
        files[sheet]
        .replace(b"<f>1+2</f><v />", b"<f>1+2</f><v>3</v>")
        .replace(b"<f>1+2</f><v></v>", b"<f>1+2</f><v>3</v>")
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    assert [document.text for document in open_documents(path)] == ["3"]


def test_merged_cells_hidden_rows_and_columns_without_a_name(tmp_path):
    book = openpyxl.Workbook()
    for row in (["text", None, "label"], ["tea", "note", "a"], ["rye", None, "b"], ["oats", None, "c", "aside"]):
        book.active.append(row)
    book.active.merge_cells("C2:C3")
    book.active.row_dimensions[4].hidden = True
    book.save(tmp_path / "a.xlsx")
    assert list(open_documents(tmp_path / "a.xlsx")) == [
        Document("1", "tea", ("a",)),
        Document("2", "rye", ()),
        Document("3", "oats", ("c",)),
    ]


def test_sheets(tmp_path):
    path = write(
        tmp_path / "a.xlsx", ["text"], ["one"], sheets={"more": [["text"], ["two"]], "3": [["text"], ["three"]]}
    )
    assert [document.text for document in open_documents(path)] == ["one"]
    assert [document.text for document in open_documents(path, sheet="more")] == ["two"]
    assert [document.text for document in open_documents(path, sheet=2)] == ["two"]
    assert [document.text for document in open_documents(path, sheet=3)] == ["three"]
    with pytest.raises(InputError, match=r"no sheet 'less'; its sheets are 'Sheet' \(2 rows\), 'more' \(2 rows\), '3'"):
        list(open_documents(path, sheet="less"))


def test_malformed_sheets_are_refused_with_their_row(tmp_path):
    path = tmp_path / "a.xlsx"
    with pytest.raises(MalformedFileError, match=r"a\.xlsx: the sheet is empty: a header row is needed"):
        list(open_documents(write(path)))
    with pytest.raises(MalformedFileError, match=r"line 1: the header names 'text' twice"):
        list(open_documents(write(path, ["text", "text"])))
    with pytest.raises(MalformedFileError, match=r"line 1: no field 'text', .*the fields are 'a', 'b'"):
        list(open_documents(write(path, ["a", "b"])))
    with pytest.raises(MalformedFileError, match=r"line 3: id '1' was used before \(line 2\)"):
        list(open_documents(write(path, ["id", "text"], [1, "tea"], [1.0, "rye"])))


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"text,label\ntea,a\n")
    with pytest.raises(MalformedFileError, match=r"not a readable Excel workbook .*save it anew as \.xlsx, or as CSV"):
        list(open_documents(path))
    whole = write(path, ["text"], ["tea"]).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(MalformedFileError, match="not a readable Excel workbook"):
        list(open_documents(path))


def test_entities_are_refused(tmp_path):
    path = write(tmp_path / "a.xlsx", ["text"], ["tea"])
    files = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    files[sheet] = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]>' + files[sheet]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(MalformedFileError, match="not a readable Excel workbook"):
        list(open_documents(path))


def test_without_openpyxl_the_extra_is_named(monkeypatch, tmp_path):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("openpyxl"):
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[xlsx\]'"):
        list(XLSX.read(tmp_path / "x.xlsx"))


@pytest.mark.parametrize("where", ["strings", "workbook", "sheet", "row", "cell", "inline"])
def test_parts_of_millions_of_empty_elements_are_refused(tmp_path, where):
    """openpyxl makes trees of what is not a row: a file of a megabyte, unpacked, took hundreds."""
    path, strings = write(tmp_path / "a.xlsx", ["text"], ["tea"]), "xl/sharedStrings.xml"
    files = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    if strings not in files:
        files[strings] = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"></sst>'
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
        types = f'<Override PartName="/{strings}" ContentType="{kind}" /></Types>'
        files["[Content_Types].xml"] = files["[Content_Types].xml"].replace(b"</Types>", types.encode())
    many = b"<b/>" * 300_000
    part, mark, more = {
        "strings": (strings, b"</sst>", b"<si>" + many + b"</si>"),
        "workbook": ("xl/workbook.xml", b"</workbook>", b"<b>" + many + b"</b>"),
        "sheet": ("xl/worksheets/sheet1.xml", b"</sheetData>", many),
        "row": ("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row>" + b"<c/>" * 300_000 + b"</row>"),
        "cell": ("xl/worksheets/sheet1.xml", b"</sheetData>", b"<row><c>" + many + b"</c></row>"),
        "inline": (
            "xl/worksheets/sheet1.xml",
            b"</sheetData>",
            b'<row><c t="inlineStr"><is>' + many + b"</is></c></row>",
        ),
    }[where]
    assert mark in files[part]
    files[part] = files[part].replace(mark, more + mark)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with pytest.raises(MalformedFileError, match=r"a\.xlsx.*: a row or a part of the workbook has 2\d\d,\d{3} tags"):
        list(open_documents(path))


def test_a_large_sheet_that_does_not_say_its_size_is_read(tmp_path):
    """More tags in all than a row may have; the sheet is read once, not once more for its size."""
    path = tmp_path / "a.xlsx"
    write(path, ["text", *"abcdefgh"], *(["tea", *range(8)] for _ in range(6_600)))
    files = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    assert files[sheet].count(b"<") > 1 << 18  # as many as one row may have
    for data in (files[sheet], re.sub(rb"<dimension[^>]*>", b"", files[sheet])):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in files:
                archive.writestr(name, data if name == sheet else files[name])
        assert sum(1 for _ in open_documents(path, duplicates="keep")) == 6_600
