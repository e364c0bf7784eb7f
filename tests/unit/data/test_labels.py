"""Labels as they are read, and what is odd about a collection of them."""

from __future__ import annotations

import io
import json
import pickle

import pytest

from textbayes.core.types import MISSING_LABEL, Document
from textbayes.data import open_documents
from textbayes.data.documents import examine_labels, merge_case, relabel


def labels(data, **options):
    return [document.labels for document in open_documents(io.BytesIO(data.encode()), **options)]


@pytest.mark.parametrize("written", [" sport ", "sport\u00a0", "\tsport", "\u200bsport\ufeff", "sport\u2003"])
def test_stray_white_space_is_no_part_of_a_label(written):
    assert labels(f'text,label\na,"{written}"\n') == [("sport",)]
    assert labels(json.dumps({"text": "a", "label": [written, "x"]})) == [("sport", "x")]


def test_white_space_within_a_label_is_one_space():
    assert labels("text,label\na,North\u00a0 Sea\nb,North Sea\n") == [("North Sea",), ("North Sea",)]


@pytest.mark.parametrize(
    ("data", "lacks"),
    [
        ("text,label\na,\n", True),
        ("text,label\na, \u00a0\n", True),
        ('{"text": "a", "label": null}', True),
        ('{"text": "a"}', True),
        ('{"text": "a", "label": []}', False),  # a list of none says so
        ('{"text": "a", "label": ["x"]}', False),
    ],
)
def test_a_missing_label_is_told_from_a_list_of_none(data, lacks):
    [document] = open_documents(io.StringIO(data))
    assert document.lacks_label is lacks
    assert pickle.loads(pickle.dumps(document)).lacks_label is lacks
    assert not Document("1", "a").lacks_label


def test_an_empty_cell_is_a_missing_label_also_where_cells_hold_several():
    empty, none = open_documents(io.StringIO("text,labels\na,\nb,;\n"), label_separator=";")
    assert (empty.labels, empty.lacks_label) == ((), True)
    assert (none.labels, none.lacks_label) == ((), False)


def test_case_twins_are_found_and_merged_into_the_most_frequent_spelling():
    counts = {"clinton": 3, "Clinton": 2140, "CLINTON": 1, "Trump": 5, "Straße": 1, "STRASSE": 2}
    assert examine_labels(counts).case_twins == [["Clinton", "clinton", "CLINTON"], ["STRASSE", "Straße"]]
    assert merge_case(counts) == {"clinton": "Clinton", "CLINTON": "Clinton", "Straße": "STRASSE"}


def test_words_for_missing_and_lone_labels():
    found = examine_labels({"N/A": 4, "none": 2, "-": 1, "nanny": 1, "sport": 9})
    assert found.missing_words == ["N/A", "none", "-"]
    assert found.lone == ["-", "nanny"]


@pytest.mark.parametrize(
    ("one", "other", "is_slip"),
    [
        ("Grahpics", "Graphics", True),  # two letters changed places
        ("Medcine", "Medicine", True),
        ("Mediccine", "Medicine", True),
        ("medicine", "Medicine", False),  # another case, which is told of as such
        ("Medisine", "Medicine", True),
        ("Team 1", "Team 2", False),
        ("cs.SI", "cs.SY", False),
        ("Cars", "Care", False),  # short words are too much alike
        ("Economics", "Economy", False),
    ],
)
def test_misspelt_labels(one, other, is_slip):
    assert examine_labels({one: 1, other: 3}).slips == ({one: other} if is_slip else {})
    assert examine_labels({one: 2, other: 3}).slips == {}
    assert examine_labels({one: 1, other: 2}).slips == {}


@pytest.mark.parametrize(
    ("names", "unsplit"),
    [
        (["a", "b", "a;b"], {";": ["a;b"]}),
        (["a", "b", "a, b"], {",": ["a, b"]}),
        (["a|b", "b|c", "a|c"], {"|": ["a|b", "a|c", "b|c"]}),  # none stands alone, each occurs twice
        (["Seattle, WA", "Spokane, WA"], {}),  # a name that holds a comma
        (["AC/DC", "DC"], {}),
        (["a;", "a"], {}),
        (["a;a", "a"], {}),
    ],
)
def test_several_labels_in_one(names, unsplit):
    assert examine_labels(dict.fromkeys(names, 2)).unsplit == unsplit


def test_relabelling():
    document = Document("1", "text", ("x", "N/a", "X"), {"year": "1999"})
    assert relabel(document, {"X": "x"}, {"n/a"}) == Document("1", "text", ("x",), {"year": "1999"})
    assert relabel(Document("1", "text", ("N/A",)), {}, {"n/a"}).labels is MISSING_LABEL
