"""Duplicates: found by what papers have in common, and not by more."""

from __future__ import annotations

from textbayes.core.types import Document
from textbayes.screen.duplicates import merge_duplicates

TITLE = "Green tea in adults: a randomized trial"


def record(id, title=TITLE, text="", **fields):
    return Document(id, f"{title}\n{text}", (), {"title": title, **fields})


def test_doi_number_and_title_tell():
    kept, merged = merge_duplicates(
        [
            record("a", "One", doi="https://doi.org/10.1000/ABC."),
            record("b", "Two", doi="doi: 10.1000/abc"),
            record("c", "Three", pmid="10123456"),
            record("d", "Four", pubmedID="PMID 10123456"),
            record("e"),
            record("f", "GREEN TEA in adults — a randomized trial."),
            record("g", "Editorial"),
            record("h", "Editorial"),
        ]
    )
    assert [(found.id, found.into) for found in merged] == [("b", "a"), ("d", "c"), ("f", "e")]
    assert [found.reason for found in merged] == ["DOI 10.1000/abc", "PMID 10123456", "the same title"]
    assert [document.id for document in kept] == ["a", "c", "e", "g", "h"]


def test_one_title_with_two_dois_is_two_papers():
    kept, merged = merge_duplicates([record("a", doi="10.1/x"), record("b", doi="10.1/y"), record("c")])
    assert [document.id for document in kept] == ["a", "b"]
    assert [found.into for found in merged] == ["a"]


def test_the_fuller_record_fills_in():
    (kept,), _ = merge_duplicates([record("a", year="", doi="10.1/x"), record("b", text="Long abstract.", year="1999")])
    assert kept.id == "a"
    assert kept.text.endswith("Long abstract.")
    assert (kept.fields["year"], kept.fields["doi"]) == ("1999", "10.1/x")


def test_what_the_first_lacks_finds_the_third():
    _, merged = merge_duplicates([record("a"), record("b", doi="10.1/x"), record("c", "Other words", doi="10.1/x")])
    assert [(found.id, found.into) for found in merged] == [("b", "a"), ("c", "a")]


def test_records_that_were_there_stay_apart():
    old = [record("a", doi="10.1/x"), record("b", doi="10.1/x"), record("c", "Something else altogether, of tea")]
    kept, merged = merge_duplicates([record("d", "Title of its own", doi="10.1/X"), record("e", "New one")], old)
    assert [document.id for document in kept] == ["a", "b", "c", "e"]
    assert [(found.id, found.into) for found in merged] == [("d", "a")]


def test_records_with_other_fields_are_merged_in_any_order():
    bare = Document(
        "1", "Green tea and the heart of rats", fields={"title": "Green tea and the heart of rats", "authors": ""}
    )
    full = Document(
        "2",
        "Green tea and the heart of rats. More.",
        fields={"title": "Green tea and the heart of rats", "year": "2001"},
    )
    for pair in ([bare, full], [full, bare]):
        (one,) = merge_duplicates(pair)[0]
        assert one.fields == {"title": "Green tea and the heart of rats", "authors": "", "year": "2001"}
