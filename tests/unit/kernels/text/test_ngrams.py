"""N-grams of symbols, against slices of the sequence."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from textbayes.kernels.text import ngrams
from textbayes.text.packed import Packed, pack, unpack

DOCUMENTS = st.lists(st.lists(st.lists(st.integers(0, 4), max_size=9), max_size=4), max_size=4)


def expected_grams(segment: list[int], shortest: int, longest: int, whole: bool) -> list[tuple[int, ...]]:
    if whole and 0 < len(segment) < shortest:
        return [tuple(segment)]
    sizes = range(shortest, min(longest, len(segment)) + 1)
    return [tuple(segment[i : i + n]) for n in sizes for i in range(len(segment) - n + 1)]


@settings(max_examples=200, deadline=None)
@given(documents=DOCUMENTS, shortest=st.integers(1, 4), more=st.integers(0, 3), whole=st.booleans())
def test_counts_are_those_of_slices(documents: list[list[list[int]]], shortest: int, more: int, whole: bool) -> None:
    segments = [segment for document in documents for segment in document]
    symbols = np.array([symbol for segment in segments for symbol in segment], dtype=np.int32)
    cuts = np.cumsum([0, *map(len, segments)], dtype=np.int64)
    doc_segments = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    starts, grams, counts, parent, last, n_grams = ngrams.count_ngrams(
        symbols, cuts, doc_segments, 5, shortest, shortest + more, whole
    )
    data, offsets = ngrams.name_ngrams(
        np.arange(n_grams), parent, last, *pack(["a", "b", "", "dd", "é"]), True
    )  # fmt: skip
    names = unpack(Packed(data, offsets))
    spelled = ["a", "b", "", "dd", "é"]
    for d, document in enumerate(documents):
        expected = Counter(g for segment in document for g in expected_grams(segment, shortest, shortest + more, whole))
        row = slice(starts[d], starts[d + 1])
        assert sum(expected.values()) == counts[row].sum()
        assert len(set(grams[row].tolist())) == len(expected)
        by_name = Counter({names[g]: 0 for g in grams[row]})
        for gram, count in zip(grams[row], counts[row], strict=True):
            by_name[names[gram]] += int(count)
        reference: Counter[str] = Counter()
        for gram, count in expected.items():
            reference[" ".join(spelled[symbol] for symbol in gram)] += count
        assert by_name == reference


def test_room_is_made_for_many_grams() -> None:
    rng = np.random.default_rng(0)
    symbols = rng.integers(0, 300, 100_000).astype(np.int32)
    starts, grams, counts, _, _, _ = ngrams.count_ngrams(
        symbols, np.array([0, 100_000]), np.array([0, 1]), 300, 2, 2, False
    )
    expected = Counter(zip(symbols[:-1].tolist(), symbols[1:].tolist(), strict=True))
    assert starts.tolist() == [0, len(expected)]
    assert sorted(counts[: starts[1]].tolist()) == sorted(expected.values())
    assert len(set(grams[: starts[1]].tolist())) == len(expected)
    assert len(ngrams.count_ngrams.signatures) == len(ngrams.name_ngrams.signatures) == 1
