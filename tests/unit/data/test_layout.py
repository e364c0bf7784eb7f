"""Columns of tables: found by name whatever the letter case, below a title, on the right sheet, and remembered."""

from __future__ import annotations

import io

import pytest

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.formats._fields import NoTextFieldError
from textbayes.data.layout import Columns, Layout, listed_columns


def read(data, expected=None, **options):
    """The documents of a CSV file, its layout and what was said."""
    said: list[str] = []
    layout = Layout(expected, said.append)
    data = data.encode() if isinstance(data, str) else data
    return list(open_documents(io.BytesIO(data), "csv", layout=layout, **options)), layout, said


@pytest.mark.parametrize(
    ("header", "text", "label"),
    [
        ("Text,LABEL", ("Text",), ("LABEL",)),
        (" text , Category ", (" text ",), (" Category ",)),
        ("Review Text,Verdict", ("Review Text",), ("Verdict",)),
        ("message,Sentiment", ("message",), ("Sentiment",)),
        ("Title,Abstract,Topic", ("Title", "Abstract"), ("Topic",)),
        ("Title,Review,class", ("Title", "Review"), ("class",)),
        ("comment,text", ("text",), ()),
        ("body,comment", ("body",), ()),
    ],
)
def test_usual_names_are_found_whatever_their_case(header, text, label):
    cells = ",".join("a" for _ in header.split(","))
    _, layout, _ = read(f"\ufeff{header}\n{cells}\n")
    assert (layout.found.text, layout.found.label) == (text, label)


def test_a_label_that_was_not_taken_is_known():
    _, layout, _ = read("text,topic,category\na,b,c\n")
    assert (layout.found.label, layout.other_labels) == (("category",), ("topic",))


def test_columns_that_cannot_be_told_apart_are_refused_with_an_example_of_each():
    with pytest.raises(NoTextFieldError, match=r"the text may be any of 'review', 'answer': name one") as caught:
        read("answer,review\nyes,a fine day\n")
    assert caught.value.examples[0] == {"answer": "yes", "review": "a fine day"}
    with pytest.raises(NoTextFieldError, match="no field 'text'") as caught:
        read("Beschreibung;Team\nDer Drucker;IT\n")
    assert listed_columns(caught.value.examples[0]) == [
        "columns, with the first value of each:",
        "  Beschreibung  Der Drucker",
        "  Team          IT",
    ]


def test_named_fields_are_matched_whatever_their_case_and_exactly_where_two_fit():
    documents, layout, _ = read("Nr,Beschreibung \n7,rain\n", text_field="beschreibung", id_field="nr")
    assert documents == [Document("7", "rain")]
    assert layout.found.text == ("Beschreibung ",)
    assert read("A,a\nx,y\n", text_field="a")[0][0].text == "y"
    with pytest.raises(MalformedFileError, match=r"the fields 'Ab', 'aB' are all 'ab' in another letter case"):
        read("Ab,aB\nx,y\n", text_field="ab")
    with pytest.raises(MalformedFileError, match=r"the fields are 'words', 'x': .* for example text_field='words'"):
        read("words,x\na,b\n", text_field="wrods")


def test_a_kept_field_has_the_name_it_was_asked_by():
    [document], _, _ = read("text,Author\na,Ann\n", keep_fields=["author"])
    assert document.fields == {"author": "Ann"}


def test_a_title_above_the_header_is_passed_over():
    documents, layout, _ = read("Survey of May\n\nNr;Text;Label\n1;rain; uk\n")
    assert documents == [Document("1", "rain", ("uk",))]
    assert (layout.found.header_row, layout.found.delimiter) == (3, ";")
    # a row that only looks like one is no header where the first is
    assert [one.text for one in read("text,x\ntitle,abstract\n")[0]] == ["title"]


def test_the_header_row_can_be_named():
    data = "text,of,May\nwords,label\nrain,uk\n"
    documents, layout, _ = read(data, header_row=2, text_field="words")
    assert (documents, layout.found.header_row) == ([Document("1", "rain", ("uk",))], 2)
    with pytest.raises(InputError, match="header_row=0 is no row"):
        read(data, header_row=0)
    with pytest.raises(InputError, match="header and header_row were both given"):
        read(data, header_row=1, header=["text"])


def test_the_line_of_excel_that_names_the_separator():
    documents, layout, _ = read("sep=|\r\ntext|label\r\na,b;c|x\r\n")
    assert documents == [Document("1", "a,b;c", ("x",))]
    assert (layout.found.delimiter, layout.found.line_end, layout.found.header_row) == ("|", "\r\n", 2)


@pytest.mark.parametrize(
    ("data", "options", "form"),
    [
        (b"text;label\r\na;x\r\n", {}, (";", "utf-8", "\r\n")),
        (b"\xef\xbb\xbftext,label\na,x\n", {}, (",", "utf-8-sig", "\n")),
        ("text\tlabel\ncafé\tx\n".encode("cp1252"), {"encoding": "cp1252"}, ("\t", "cp1252", "\n")),
        ("text,label\na,x\n".encode("utf-16"), {"encoding": "utf-16"}, (",", "utf-16", "\n")),
    ],
)
def test_the_form_of_the_file_is_told(data, options, form):
    _, layout, _ = read(data, **options)
    assert (layout.found.delimiter, layout.found.encoding, layout.found.line_end) == form


def test_an_encoding_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match="encoding 'nonsense' is not known"):
        read("text\na\n", encoding="nonsense")


def test_columns_of_an_earlier_file_are_looked_for_first():
    earlier = Columns(text=("Beschreibung",), label=("Team",), id="Nr", label_separator="|")
    documents, _, said = read("nr,title,BESCHREIBUNG,team,label\n7,no,rain,IT|HR,x\n", earlier)
    assert documents == [Document("7", "rain", ("IT", "HR"))]
    assert said == []
    documents, _, said = read("text,label\nrain,IT\n", earlier)  # another file, with the usual names
    assert documents == [Document("1", "rain", ("IT",))]
    [message] = said
    assert "has no 'Beschreibung', which the training texts had; the text is read from 'text'" in message
    with pytest.raises(NoTextFieldError, match=r"the model was trained on 'Beschreibung'\); the fields are 'a', 'b'"):
        read("a,b\nx,y\n", earlier)
    assert read("text,Beschreibung\nsun,rain\n", earlier, text_field="text")[0][0].text == "sun"  # options win


def test_the_encoding_and_the_delimiter_of_an_earlier_file_are_used_where_they_fit():
    earlier = Columns(text=("text",), encoding="cp1252", delimiter="~")
    assert read("text,label\ncafé,x\n".encode("cp1252"), earlier)[0][0].text == "café"
    assert read("text,label\ncafé,x\n", earlier)[0][0].text == "café"  # UTF-8, which it is
    assert read("text~label\na,b~x\n", earlier)[0] == [Document("1", "a,b", ("x",))]


def test_the_first_of_several_files_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\na,x\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("body;topic\nb;y\n", encoding="utf-8")
    layout = Layout()
    documents = list(open_documents([tmp_path / "a.csv", tmp_path / "b.csv"], layout=layout))
    assert [one.labels for one in documents] == [("x",), ("y",)]
    assert (layout.found.text, layout.found.delimiter) == (("text",), ",")


def test_columns_in_words_and_as_json():
    columns = Columns(("title", "abstract"), ("topic",), "nr", sheet="2024", header_row=3, format="xlsx")
    assert columns.in_words() == (
        "text in 'title' + 'abstract', label in 'topic', id in 'nr'; sheet '2024', header in row 3"
    )
    assert Columns.from_state(columns.to_state()) == columns


# -- workbooks --------------------------------------------------------------------------------------------------------
def workbook(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl", reason="extra 'xlsx' is not installed")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        page = book.create_sheet(title)
        for row in rows:
            page.append(row)
    book.save(path)
    return path


def read_book(path, expected=None, **options):
    said: list[str] = []
    layout = Layout(expected, said.append)
    return list(open_documents(path, layout=layout, **options)), layout, said


def test_the_sheet_with_the_text_is_read_and_all_are_listed(tmp_path):
    table = [["Text", "Label"], ["rain", 1.0], ["sun", 2]]
    path = workbook(tmp_path / "a.xlsx", Info=[["About this file"], ["by Ann"]], Data=table, Old=table[:2])
    documents, layout, said = read_book(path)
    assert [(one.text, one.labels) for one in documents] == [("rain", ("1",)), ("sun", ("2",))]
    assert (layout.found.sheet, layout.found.format, layout.found.header_row) == ("Data", "xlsx", 1)
    [message] = said
    assert "3 sheets: 'Info' (2 rows), 'Data' (3 rows), 'Old' (2 rows); 'Data' is read, sheet=NAME reads" in message
    for wanted in ("Old", "old ", 3, "3"):
        documents, _, said = read_book(path, sheet=wanted)
        assert (len(documents), said) == (1, [])
    assert len(read_book(path, Columns(text=("Text",), sheet="Old"))[0]) == 1  # the sheet of an earlier workbook
    with pytest.raises(NoTextFieldError) as caught:
        read_book(path, sheet="Info")
    assert "sheets: 'Info' (2 rows), 'Data' (3 rows)" in caught.value.__notes__[0]


def test_a_title_above_the_header_of_a_sheet_is_passed_over(tmp_path):
    rows = [["Survey"], [], ["made in May", "by Ann"], ["Nr", "Comment", "Topic"], [7, "rain", "uk"]]
    path = workbook(tmp_path / "a.xlsx", Data=rows)
    documents, layout, _ = read_book(path)
    assert (documents[0].text, documents[0].labels, layout.found.header_row) == ("rain", ("uk",), 4)
    assert read_book(path, header_row=4)[0] == documents
    with pytest.raises(MalformedFileError, match="row 2 is empty; header_row names the row of the header"):
        read_book(path, header_row=2)
    odd = workbook(tmp_path / "b.xlsx", Data=[["Survey"], ["Was", "Wer"], ["rain", "Ann"]])
    with pytest.raises(NoTextFieldError, match="no field 'text'"):
        read_book(odd)
    assert read_book(odd, text_field="was")[0] == [Document("1", "rain")]  # a field that was named is a header too


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_columns_below_a_title_are_listed_where_none_has_a_usual_name(ending, tmp_path):
    rows = [["Survey"], [], ["made in May"], ["Nr", "Was", "Wohin"], ["7", "rain, and more rain", "uk"]]
    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        path.write_text("\n".join(";".join(row) for row in rows), encoding="utf-8-sig")
    else:
        workbook(path, Data=rows)
    with pytest.raises(NoTextFieldError, match="the fields are 'Nr', 'Was', 'Wohin'") as caught:
        list(open_documents(path))
    assert caught.value.examples == [{"Nr": "7", "Was": "rain, and more rain", "Wohin": "uk"}]
    [document] = open_documents(path, text_field="Was", label_field="Wohin")
    assert (document.text, document.labels) == ("rain, and more rain", ("uk",))
