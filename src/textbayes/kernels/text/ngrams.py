"""N-grams of symbols, which are words or characters, counted per document; of known ones the weights are added up.

A gram of n symbols is its first n − 1 symbols, themselves a gram, and one symbol more: a pair of numbers, which is an
exact key. No gram is compared with another, and one loop serves words and characters. The hash table holds pairs
``(key, gram + 1)``, of a power-of-two number of slots, probed linearly; 0 marks a free slot. Of known grams only those
that begin a term of the vocabulary are followed, so none need be spelt out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import AnyArray
from textbayes.kernels._cache import njit

_int: Any = np.int64  # Any, because to a type checker a numpy integer is no int
_uint: Any = np.uint64

_HALF, _ONE = _uint(32), _uint(1)
_GOLDEN = _uint(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: Fibonacci hashing (Knuth 6.4)
_START = _int(0)  # a plain 0 would be typed as a literal, and each helper compiled twice
_CHUNK = 65_536  # grams to make room for at once


@njit(nogil=True)
def _at(table: AnyArray, key: np.uint64) -> np.uint64:
    """Place of a key in the table, or the free one where it belongs."""
    mask = _uint(len(table) - 2)
    at = ((key * _GOLDEN) >> _uint(20)) & mask
    while table[at + _ONE] != _uint(0) and table[at] != key:
        at = (at + _ONE + _ONE) & mask
    return at


@njit(nogil=True)
def _resized(table: AnyArray, n_keys: int) -> AnyArray:
    """The table, or one of at least twice as many slots as keys with the same entries."""
    size = len(table)
    while size < 4 * n_keys:
        size *= 2
    if size == len(table):
        return table
    larger = np.zeros(size, np.uint64)
    for i in range(0, len(table), 2):
        if table[i + 1] != _uint(0):
            at = _at(larger, table[i])
            larger[at] = table[i]
            larger[at + _ONE] = table[i + 1]
    return larger


@njit(nogil=True)
def _longer(array: AnyArray, size: int) -> AnyArray:
    """The array, or a longer one of at least that size that begins with the same values."""
    if size <= len(array):
        return array
    longer = np.empty(2 * size, array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


@njit(nogil=True)
def _count(
    symbols: AnyArray,
    begin: int,
    end: int,
    segment_end: int,
    doc: int,
    shortest: int,
    longest: int,
    table: AnyArray,
    parent: AnyArray,
    last: AnyArray,
    seen: AnyArray,
    place: AnyArray,
    sizes: AnyArray,
    grams: AnyArray,
    counts: AnyArray,
) -> None:
    """Count the grams that start from ``begin`` up to ``end``; ``sizes`` holds the numbers of grams and of counts."""
    n_grams, n_counts = sizes[0], sizes[1]
    for i in range(begin, end):
        gram = _int(symbols[i])
        for j in range(i, min(i + longest, segment_end)):
            if j > i:
                key = (_uint(gram) << _HALF) | _uint(symbols[j])
                at = _at(table, key)
                if table[at + _ONE] == _uint(0):
                    parent[n_grams] = gram
                    last[n_grams] = symbols[j]
                    seen[n_grams] = -1
                    n_grams += 1
                    table[at] = key
                    table[at + _ONE] = _uint(n_grams)
                gram = _int(table[at + _ONE]) - 1
            if j - i + 1 >= shortest:
                if seen[gram] == doc:
                    counts[place[gram]] += 1
                else:
                    seen[gram] = doc
                    place[gram] = n_counts
                    grams[n_counts] = gram
                    counts[n_counts] = 1
                    n_counts += 1
    sizes[0], sizes[1] = n_grams, n_counts


@njit(cache=True, nogil=True)
def count_ngrams(
    symbols: AnyArray,
    segments: AnyArray,
    doc_segments: AnyArray,
    n_symbols: int,
    shortest: int,
    longest: int,
    whole: bool,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, AnyArray, int]:
    """Counts of the grams of ``shortest`` to ``longest`` symbols inside each segment, row by row.

    Segment s is ``symbols[segments[s]:segments[s + 1]]``, document d the segments from ``doc_segments[d]`` up to
    ``doc_segments[d + 1]``. With ``whole`` a segment shorter than ``shortest`` counts once as it is. Returns row
    starts, grams and counts (rows in order of first occurrence, no gram twice), per gram its prefix and last symbol,
    and how many grams there are; what lies beyond the last row and the last gram is not set. Grams 0 … n_symbols − 1
    are the symbols. Expected O(n_symbols + symbols · longest).
    """
    n_docs = len(doc_segments) - 1
    table = np.zeros(8_192, np.uint64)
    parent = np.empty(n_symbols, np.int32)
    last = np.empty(n_symbols, np.int32)
    seen = np.empty(n_symbols, np.int32)
    place = np.empty(n_symbols, np.int32)
    for symbol in range(n_symbols):
        parent[symbol] = seen[symbol] = -1
        last[symbol] = symbol
    grams = np.empty(1_024, np.int32)
    counts = np.empty(1_024, np.int32)
    starts = np.zeros(n_docs + 1, np.int64)
    sizes = np.zeros(2, np.int64)
    sizes[0] = n_symbols
    step = max(_CHUNK // longest, 1)
    room = _START
    for d in range(n_docs):
        for s in range(doc_segments[d], doc_segments[d + 1]):
            length = segments[s + 1] - segments[s]
            least = min(shortest, length) if whole else shortest
            for begin in range(segments[s], segments[s + 1], step):
                end = min(begin + step, segments[s + 1])
                most = (end - begin) * longest
                if most > room:
                    room = max(most, _CHUNK)
                    table = _resized(table, sizes[0] - n_symbols + room)
                    parent = _longer(parent, sizes[0] + room)
                    last = _longer(last, sizes[0] + room)
                    seen = _longer(seen, sizes[0] + room)
                    place = _longer(place, sizes[0] + room)
                    grams = _longer(grams, sizes[1] + room)
                    counts = _longer(counts, sizes[1] + room)
                room -= most
                _count(
                    symbols, begin, end, segments[s + 1], d, least, longest,
                    table, parent, last, seen, place, sizes, grams, counts,
                )  # fmt: skip
        starts[d + 1] = sizes[1]
    return starts, grams, counts, parent, last, sizes[0]


@njit(cache=True, nogil=True)
def name_ngrams(
    grams: AnyArray,
    parent: AnyArray,
    last: AnyArray,
    symbol_bytes: AnyArray,
    symbol_offsets: AnyArray,
    spaced: bool,
) -> tuple[AnyArray, AnyArray]:
    """The names of grams, packed: their symbols' bytes in order, with a space between them if ``spaced``."""
    space = 1 if spaced else 0
    offsets = np.zeros(len(grams) + 1, np.int64)
    for i in range(len(grams)):
        size = _START - space
        gram = grams[i]
        while gram >= 0:
            size += symbol_offsets[last[gram] + 1] - symbol_offsets[last[gram]] + space
            gram = parent[gram]
        offsets[i + 1] = offsets[i] + size
    names = np.empty(offsets[-1], np.uint8)
    for i in range(len(grams)):
        end = offsets[i + 1]
        gram = grams[i]
        while gram >= 0:
            symbol = last[gram]
            begin = end - (symbol_offsets[symbol + 1] - symbol_offsets[symbol])
            for k in range(end - begin):
                names[begin + k] = symbol_bytes[symbol_offsets[symbol] + k]
            end = begin
            gram = parent[gram]
            if spaced and gram >= 0:
                end -= 1
                names[end] = 32
    return names, offsets


@njit(cache=True, nogil=True)
def scan_characters(
    codes: AnyArray, doc_ends: AnyArray, is_space: AnyArray, by_word: bool
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, int]:
    """Characters as symbols numbered in order of first occurrence, in segments for :func:`count_ngrams`.

    A segment is a document, in which two or more white-space characters become one space; or, ``by_word``, a word
    between white space with a space on either side. ``is_space`` covers the code points up to the last that is one.
    Returns symbols, segments, each document's first segment, and the code point of each symbol and how many there are;
    what lies beyond the last segment and the last symbol is not set.
    """
    n_docs = len(doc_ends)
    most = 2 * len(codes) + 2 if by_word else len(codes)  # a word of one character has two spaces more
    symbols = np.empty(most, np.int32)
    segments = np.zeros(len(codes) // 2 + n_docs + 2, np.int64)
    doc_segments = np.zeros(n_docs + 1, np.int64)
    number = np.zeros(0x110000, np.int32)  # pages never touched cost nothing
    alphabet = np.empty(min(len(codes) + 1, 0x110000), np.int32)
    n = n_segments = n_alphabet = begin = _START
    for d in range(n_docs):
        i = begin
        end = doc_ends[d]
        while i < end:
            code = _int(codes[i])
            i += 1
            if code < len(is_space) and is_space[code]:
                run = i
                while run < end and codes[run] < len(is_space) and is_space[codes[run]]:
                    run += 1
                if run > i:
                    code = _int(32)
                i = run
                if by_word:
                    continue
            word_starts = by_word and (i - 1 == begin or (codes[i - 2] < len(is_space) and is_space[codes[i - 2]]))
            word_ends = by_word and (i == end or (codes[i] < len(is_space) and is_space[codes[i]]))
            for part in range(3):
                if (part == 0 and not word_starts) or (part == 2 and not word_ends):
                    continue
                letter = code if part == 1 else _int(32)
                if number[letter] == 0:
                    alphabet[n_alphabet] = letter
                    n_alphabet += 1
                    number[letter] = n_alphabet
                symbols[n] = number[letter] - 1
                n += 1
            if word_ends:
                n_segments += 1
                segments[n_segments] = n
        begin = end
        if not by_word:
            n_segments += 1
            segments[n_segments] = n
        doc_segments[d + 1] = n_segments
    return symbols, segments, doc_segments, alphabet, n_alphabet


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
