"""From counts by batch to the columns of one matrix."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import AnyArray
from textbayes.kernels._cache import njit


@njit(cache=True, nogil=True)
def count_ids(ids: AnyArray, doc_starts: AnyArray, n_ids: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """How often each id occurs in each document, without sorting: row starts, ids and counts.

    Rows are in order of first occurrence; what lies beyond the last is not set. Each id remembers the last document it
    was seen in and where it is counted there. O(n_ids + tokens).
    """
    n_docs = len(doc_starts) - 1
    seen = np.zeros(n_ids, np.int32)  # the number of the document, from 1 on
    place = np.empty(n_ids, np.int32)
    distinct = np.empty(len(ids), np.int32)
    counts = np.empty(len(ids), np.int32)
    starts = np.zeros(n_docs + 1, np.int64)
    n = 0
    for d in range(n_docs):
        for i in range(doc_starts[d], doc_starts[d + 1]):
            token = ids[i]
            if seen[token] == d + 1:
                counts[place[token]] += 1
            else:
                seen[token] = d + 1
                place[token] = n
                distinct[n] = token
                counts[n] = 1
                n += 1
        starts[d + 1] = n
    return starts, distinct, counts


@njit(cache=True, nogil=True)
def add_frequencies(
    starts: AnyArray, ids: AnyArray, counts: AnyArray, term_of: AnyArray, documents: AnyArray, occurrences: AnyArray
) -> None:
    """Add the documents with each term and its occurrences; ids of one term count a document once, term −1 is none."""
    seen = np.zeros(len(documents), np.int32)  # the number of the document, from 1 on
    for d in range(len(starts) - 1):
        for i in range(starts[d], starts[d + 1]):
            term = term_of[ids[i]]
            if term >= 0:
                occurrences[term] += counts[i]
                if seen[term] != d + 1:
                    seen[term] = d + 1
                    documents[term] += 1


@njit(cache=True, nogil=True)
def sorted_rows(
    starts: AnyArray, ids: AnyArray, counts: AnyArray, rank_of: AnyArray, column_of_rank: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """CSR arrays with columns in order: row sizes, columns, values.

    ``rank_of[id]`` numbers the columns in use in increasing order, −1 drops the id; ids of one rank are added up. Two
    counting sorts, by rank and then back by row, order all rows at once in O(ids + ranks), where sorting each would
    cost a logarithm.
    """
    n_docs, n_ranks = len(starts) - 1, len(column_of_rank)
    ends = np.zeros(n_ranks + 1, np.int64)
    for i in range(starts[n_docs]):
        if rank_of[ids[i]] >= 0:
            ends[rank_of[ids[i]] + 1] += 1
    for rank in range(n_ranks):
        ends[rank + 1] += ends[rank]
    begins = np.empty(n_ranks, np.int64)
    for rank in range(n_ranks):
        begins[rank] = ends[rank]
    rows = np.empty(ends[n_ranks], np.int32)
    values = np.empty(ends[n_ranks], np.int64)
    sizes = np.zeros(n_docs, np.int64)
    for d in range(n_docs):
        for i in range(starts[d], starts[d + 1]):
            rank = rank_of[ids[i]]
            if rank >= 0:
                at = ends[rank]
                if at > begins[rank] and rows[at - 1] == d:
                    values[at - 1] += counts[i]
                else:
                    rows[at] = d
                    values[at] = counts[i]
                    ends[rank] = at + 1
                    sizes[d] += 1
    place = np.zeros(n_docs + 1, np.int64)
    for d in range(n_docs):
        place[d + 1] = place[d] + sizes[d]
    columns = np.empty(place[n_docs], np.int32)
    data = np.empty(place[n_docs], np.int64)
    for rank in range(n_ranks):
        for i in range(begins[rank], ends[rank]):
            at = place[rows[i]]
            place[rows[i]] = at + 1
            columns[at] = column_of_rank[rank]
            data[at] = values[i]
    return sizes, columns, data


@njit(nogil=True)
def _rotated(x: np.uint32, n: int) -> np.uint32:
    return np.uint32((x << np.uint32(n)) | (x >> np.uint32(32 - n)))


@njit(cache=True, nogil=True)
def murmur3(data: AnyArray, offsets: AnyArray) -> AnyArray:
    """MurmurHash3_x86_32 with seed 0 of packed strings, as signed integers (Appleby 2011)."""
    hashes = np.empty(len(offsets) - 1, np.int32)
    for j in range(len(offsets) - 1):
        begin, length = offsets[j], offsets[j + 1] - offsets[j]
        h = np.uint32(0)
        for block in range(begin, begin + length - length % 4, 4):
            k = np.uint32(0)
            for i in range(4):
                k |= np.uint32(data[block + i]) << np.uint32(8 * i)
            k = _rotated(np.uint32(k * np.uint32(0xCC9E2D51)), 15)
            h = _rotated(np.uint32(h ^ np.uint32(k * np.uint32(0x1B873593))), 13)
            h = np.uint32(np.uint32(h * np.uint32(5)) + np.uint32(0xE6546B64))
        k = np.uint32(0)
        for i in range(length % 4):
            k |= np.uint32(data[begin + length - length % 4 + i]) << np.uint32(8 * i)
        h ^= np.uint32(_rotated(np.uint32(k * np.uint32(0xCC9E2D51)), 15) * np.uint32(0x1B873593))
        h ^= np.uint32(length)
        h = np.uint32(np.uint32(h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        h = np.uint32(np.uint32(h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        hashes[j] = np.int32(h ^ (h >> np.uint32(16)))
    return hashes
