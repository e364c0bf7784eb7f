"""Counting, adding up and ordering, against numpy and scipy; MurmurHash3 against scikit-learn's."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.utils import murmurhash3_32

from textbayes.kernels.linear import columns
from textbayes.text.packed import pack, pack_bytes

ROWS = st.lists(st.lists(st.integers(0, 7), max_size=12), max_size=5)


def as_arrays(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ids = np.array([i for row in rows for i in row], dtype=np.int32)
    return ids, np.cumsum([0, *map(len, rows)], dtype=np.int64)


def dense(rows: list[list[int]]) -> np.ndarray:
    return np.array([np.bincount(row, minlength=8) for row in rows], dtype=np.int64).reshape(len(rows), 8)


@settings(max_examples=100, deadline=None)
@given(rows=ROWS, column_of=st.lists(st.integers(-1, 5), min_size=8, max_size=8))
def test_counts_become_the_matrix(rows: list[list[int]], column_of: list[int]) -> None:
    starts, distinct, counts = columns.count_ids(*as_arrays(rows), 8)
    table = dense(rows)
    for d in range(len(rows)):
        row = slice(starts[d], starts[d + 1])
        assert dict(zip(distinct[row].tolist(), counts[row].tolist(), strict=True)) == {
            j: n for j, n in enumerate(table[d].tolist()) if n
        }

    used = sorted({column for column in column_of if column >= 0})
    rank_of = np.array([used.index(column) if column >= 0 else -1 for column in column_of], dtype=np.int32)
    sizes, indices, data = columns.sorted_rows(starts, distinct, counts, rank_of, np.array(used, dtype=np.int32))
    X = sparse.csr_matrix((data, indices, np.concatenate([[0], np.cumsum(sizes)])), shape=(len(rows), 6))
    expected = np.zeros((len(rows), 6), dtype=np.int64)
    for j, column in enumerate(column_of):
        if column >= 0:
            expected[:, column] += table[:, j]
    np.testing.assert_array_equal(X.toarray(), expected)
    assert X.has_canonical_format

    term_of = np.array(column_of, dtype=np.int32)
    documents, occurrences = np.zeros(6, dtype=np.int64), np.zeros(6, dtype=np.int64)
    columns.add_frequencies(starts, distinct, counts, term_of, documents, occurrences)
    np.testing.assert_array_equal(documents, (expected > 0).sum(axis=0))
    np.testing.assert_array_equal(occurrences, expected.sum(axis=0))


@settings(max_examples=100, deadline=None)
@given(strings=st.lists(st.binary(max_size=20)))
def test_murmur3_is_scikit_learns(strings: list[bytes]) -> None:
    assert columns.murmur3(*pack_bytes(strings)).tolist() == [murmurhash3_32(string, seed=0) for string in strings]


def test_murmur3_of_words() -> None:
    words = ["grain", "", "prices", "東京"]
    assert columns.murmur3(*pack(words)).tolist() == [murmurhash3_32(word, seed=0) for word in words]
    for kernel in (columns.count_ids, columns.add_frequencies, columns.sorted_rows, columns.murmur3):
        assert len(kernel.signatures) <= 1
