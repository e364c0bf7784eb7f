"""Texts to scores where the words are known: grams of a vocabulary counted, and their weights added up.

As in ``ngrams`` a gram is its first symbols, themselves a gram, and one symbol more. Only grams that begin a term of
the vocabulary are followed, so none need be spelt out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import AnyArray
from textbayes.kernels._cache import njit
from textbayes.kernels.text.ngrams import _at, _longer, _resized

_int: Any = np.int64  # Any, because to a type checker a numpy integer is no int
_uint: Any = np.uint64

_HALF, _ONE = _uint(32), _uint(1)
_START = _int(0)  # a plain 0 would be typed as a literal, and each helper compiled twice


@njit(cache=True, nogil=True)
def link_ngrams(keys: AnyArray, first: int) -> AnyArray:
    """The hash table of grams that are known: the n-th of the keys, no two alike, is that of gram ``first + n``."""
    table = _resized(np.zeros(512, np.uint64), len(keys))
    for n in range(len(keys)):
        at = _at(table, keys[n])
        table[at] = keys[n]
        table[at + _ONE] = _uint(first + n + 1)
    return table


@njit(nogil=True)
def _sort(values: AnyArray, other: AnyArray, n: int, most: int) -> None:
    """Sort the first ``n`` values, from 0 to ``most``, by their bits, eleven at a time."""
    ends = np.empty(2_049, np.int64)
    shift = _START
    while (most >> shift) > 0:
        for digit in range(2_049):
            ends[digit] = 0
        for i in range(n):
            ends[((values[i] >> shift) & 2_047) + 1] += 1
        for digit in range(2_048):
            ends[digit + 1] += ends[digit]
        for i in range(n):
            digit = (values[i] >> shift) & 2_047
            other[ends[digit]] = values[i]
            ends[digit] += 1
        for i in range(n):
            values[i] = other[i]
        shift += 11


@njit(cache=True, nogil=True)
def count_known(
    symbols: AnyArray,
    doc_starts: AnyArray,
    shortest: int,
    longest: int,
    table: AnyArray,
    column_of: AnyArray,
    n_columns: int,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Counts of the known grams of documents, with columns in order: row starts, columns and counts.

    ``table`` is that of :func:`link_ngrams`, ``column_of`` the column of each gram, −1 for none; grams 0, 1, … are
    symbols. A symbol of −2 is left out before grams are made; any other below 0 is in no known gram.
    """
    n_docs = len(doc_starts) - 1
    longest_doc = _START
    for d in range(n_docs):
        longest_doc = max(longest_doc, doc_starts[d + 1] - doc_starts[d])
    grams = np.empty(longest_doc, np.int64)
    found = np.empty(longest_doc * longest, np.int32)
    other = np.empty(longest_doc * longest, np.int32)
    columns = np.empty(1_024, np.int32)
    counts = np.empty(1_024, np.int64)
    starts = np.zeros(n_docs + 1, np.int64)
    n = _START
    for d in range(n_docs):
        n_symbols = n_found = _START
        for i in range(doc_starts[d], doc_starts[d + 1]):
            if symbols[i] != -2:
                grams[n_symbols] = symbols[i]
                n_symbols += 1
        for i in range(n_symbols):
            gram = grams[i]
            for j in range(i, min(i + longest, n_symbols)):
                if gram < 0 or grams[j] < 0:
                    break
                if j > i:
                    at = _at(table, (_uint(gram) << _HALF) | _uint(grams[j]))
                    gram = _int(table[at + _ONE]) - 1  # a free slot holds 0
                if gram >= 0 and j - i + 1 >= shortest and column_of[gram] >= 0:
                    found[n_found] = column_of[gram]
                    n_found += 1
        _sort(found, other, n_found, n_columns - 1)
        columns = _longer(columns, n + n_found)
        counts = _longer(counts, n + n_found)
        for i in range(n_found):
            if i > 0 and found[i] == found[i - 1]:
                counts[n - 1] += 1
            else:
                columns[n] = found[i]
                counts[n] = 1
                n += 1
        starts[d + 1] = n
    return starts, columns[:n], counts[:n]


@njit(cache=True, nogil=True)
def add_scores(
    data: AnyArray,
    columns: AnyArray,
    starts: AnyArray,
    coef: AnyArray,
    has_weight: AnyArray,
    eta: AnyArray,
    n_known: AnyArray,
) -> None:
    """Add rows of weights times coefficients (n_words, n_labels) to the linear predictors, row r to document r mod n.

    ``n_known`` becomes the largest number of stored weights whose word has a coefficient, of all rows of a document.
    """
    n_docs, n_labels = eta.shape
    for row in range(len(starts) - 1):
        d = row % n_docs
        known = _START
        for i in range(starts[row], starts[row + 1]):
            column = columns[i]
            known += has_weight[column]
            for k in range(n_labels):
                eta[d, k] += data[i] * coef[column, k]
        n_known[d] = max(n_known[d], known)
