"""Packed strings: round trip, order, numbering."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.core.errors import ModelFileError
from textbayes.text.packed import SortedStrings, StringIndex, checked, pack, sort_order, take, unpack

STRINGS = st.text(st.one_of(st.sampled_from("ab\0é€😀\ud800\uffff"), st.characters()), max_size=70)


@settings(deadline=None)
@given(strings=st.lists(STRINGS))
def test_any_str_survives(strings: list[str]) -> None:
    assert unpack(pack(strings)) == strings


@settings(max_examples=200, deadline=None)
@given(strings=st.lists(STRINGS, unique=True))
def test_sorts_as_python_does(strings: list[str]) -> None:
    assert [strings[i] for i in sort_order(pack(strings))] == sorted(strings)


@settings(max_examples=50, deadline=None)
@given(n=st.lists(st.integers(0, 200), unique=True), n_rounds=st.integers(1, 4))
def test_sorts_strings_with_long_common_beginnings(n: list[int], n_rounds: int) -> None:
    strings = ["x" * k for k in n] + ["x" * k + "a" for k in n] + ["x" * k + "\0" for k in n]
    assert [strings[i] for i in sort_order(pack(strings), n_rounds)] == sorted(strings)


@settings(deadline=None)
@given(strings=st.lists(STRINGS, min_size=1), data=st.data())
def test_takes_in_the_order_chosen(strings: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(strings) - 1)))
    assert unpack(take(pack(strings), np.array(chosen, dtype=np.int64))) == [strings[i] for i in chosen]


@settings(max_examples=200, deadline=None)
@given(batches=st.lists(st.lists(STRINGS)), queries=st.lists(STRINGS))
def test_numbers_like_a_dictionary(batches: list[list[str]], queries: list[str]) -> None:
    index, reference = StringIndex(), {}
    for batch in batches:
        assert index.add(pack(batch)).tolist() == [reference.setdefault(word, len(reference)) for word in batch]
    assert unpack(index.strings()) == list(reference)
    assert index.find(pack(queries)).tolist() == [reference.get(query, -1) for query in queries]


@settings(max_examples=200, deadline=None)
@given(strings=st.lists(STRINGS, unique=True), queries=st.lists(STRINGS))
def test_finds_in_sorted_order_like_a_dictionary(strings: list[str], queries: list[str]) -> None:
    reference = {string: place for place, string in enumerate(sorted(strings))}
    found = SortedStrings(pack(reference))
    assert dict(found) == reference
    assert [found.get(query, -1) for query in queries] == [reference.get(query, -1) for query in queries]


@pytest.mark.parametrize(
    ("data", "offsets"),
    [
        (np.zeros(3, np.uint8), np.array([0, 4])),
        (np.zeros(3, np.uint8), np.array([0, 2, 1, 3])),
        (np.zeros(3, np.uint8), np.array([1, 3])),
        (np.zeros(3, np.uint8), np.array([], dtype=np.int64)),
        (np.zeros(3, np.int64), np.array([0, 3])),
        (np.full(3, 0xFF, np.uint8), np.array([0, 3])),
    ],
)
def test_arrays_that_do_not_fit_are_refused(data: np.ndarray, offsets: np.ndarray) -> None:
    with pytest.raises(ModelFileError, match="the vocabulary cannot be read"):
        checked(data, offsets, "the vocabulary")
