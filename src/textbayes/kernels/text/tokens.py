"""Tokens from UTF-8 bytes: find them, hash them, number them.

Strings live packed: one byte arena and the offsets between them. A hash table is one array of pairs
``(hash, length << 32 | id + 1)``, of a power-of-two number of slots, probed linearly; 0 marks a free slot. A hit is
checked against the bytes, so two strings with one hash stay apart. Strings of at most eight bytes need no check: their
hash is a bijection of the bytes.

Arenas are read as 64-bit words, eight bytes at any position at once, so they are padded: ``words`` has at least one
word beyond the last byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.types import AnyArray
from textbayes.kernels._cache import njit

_int: Any = np.int64  # Any, because to a type checker a numpy integer is no int
_uint: Any = np.uint64

_ZERO, _ONE, _THREE, _SEVEN, _EIGHT = _uint(0), _uint(1), _uint(3), _uint(7), _uint(8)
_HALF, _LAST, _WIDTH = _uint(32), _uint(63), _uint(64)
_LOW_HALF = _uint(0xFFFFFFFF)
_ALL = _uint(0xFFFFFFFFFFFFFFFF)
_GOLDEN = _uint(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd: multiplying by it is a bijection (Knuth 6.4)

_SPOILED = 0xFF  # stands for a word character outside the token's class; no byte of UTF-8 has this value
_START = _int(0)  # a plain 0 would be typed as a literal, and each helper compiled twice
_CHUNK = 65_536  # tokens looked up between two checks of the table's size
_FIRST_SLOTS = 4_096
_FIRST_NEW_SLOTS = 256


@njit(nogil=True)
def _mix(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> _HALF)) * _GOLDEN
    return h ^ (h >> _uint(29))


@njit(nogil=True)
def _word(words: AnyArray, position: np.uint64) -> np.uint64:
    """Eight bytes from any position, by two aligned reads."""
    i = position >> _THREE
    shift = (position & _SEVEN) << _THREE
    return (words[i] >> shift) | ((words[i + _ONE] << _ONE) << (_LAST - shift))


@njit(nogil=True)
def _hash(words: AnyArray, start: np.uint64, length: np.uint64) -> np.uint64:
    if length == _ZERO:
        return _ZERO
    h = _ZERO
    while length > _EIGHT:
        h = _mix(h ^ _word(words, start))
        start += _EIGHT
        length -= _EIGHT
    return _mix(h ^ (_word(words, start) & (_ALL >> (_WIDTH - length * _EIGHT))))


@njit(nogil=True)
def _equal(words: AnyArray, start: np.uint64, others: AnyArray, other: np.uint64, length: np.uint64) -> bool:
    while length > _EIGHT:
        if _word(words, start) != _word(others, other):
            return False
        start += _EIGHT
        other += _EIGHT
        length -= _EIGHT
    return ((_word(words, start) ^ _word(others, other)) << (_WIDTH - length * _EIGHT)) == _ZERO


@njit(nogil=True)
def _slot(
    table: AnyArray,
    h: np.uint64,
    length: np.uint64,
    words: AnyArray,
    start: np.uint64,
    known_words: AnyArray,
    known_offsets: AnyArray,
) -> np.uint64:
    """Where the string is in the table, or the free slot where it belongs: the place of the hash in its pair."""
    mask = _uint(len(table) - 2)  # an even place, where the hash of a pair is
    at = (h + h) & mask
    while True:
        entry = table[at + _ONE]
        if entry == _ZERO:
            return at
        if table[at] == h and (entry >> _HALF) == length:
            known = _uint(known_offsets[(entry & _LOW_HALF) - _ONE])
            if length <= _EIGHT or _equal(words, start, known_words, known, length):
                return at
        at = (at + _ONE + _ONE) & mask


@njit(nogil=True)
def _resized(table: AnyArray, n_strings: int) -> AnyArray:
    """The table, or one of at least twice as many slots as strings with the same entries."""
    size = len(table)
    while size < 4 * n_strings:
        size *= 2
    if size == len(table):
        return table
    larger = np.zeros(size, np.uint64)
    mask = _uint(size - 2)
    for i in range(0, len(table), 2):
        if table[i + 1] != _ZERO:
            at = (table[i] + table[i]) & mask
            while larger[at + _ONE] != _ZERO:
                at = (at + _ONE + _ONE) & mask
            larger[at] = table[i]
            larger[at + _ONE] = table[i + 1]
    return larger


@njit(nogil=True)
def _number(
    words: AnyArray,
    data: AnyArray,
    starts: AnyArray,
    ends: AnyArray,
    hashes: AnyArray,
    first: int,
    last: int,
    table: AnyArray,
    known_words: AnyArray,
    known_bytes: AnyArray,
    known_offsets: AnyArray,
    n_known: int,
    ids: AnyArray,
    n_ids: int,
) -> int:
    """Number strings, appending the new ones to the known; there must be room. Returns how many are known."""
    for j in range(first, last):
        start = _uint(starts[j])
        length = _uint(ends[j]) - start
        h = hashes[j]
        at = _slot(table, h, length, words, start, known_words, known_offsets)
        entry = table[at + _ONE]
        if entry == _ZERO:
            head = known_offsets[n_known]
            for i in range(_int(length)):
                known_bytes[head + i] = data[starts[j] + i]
            ids[n_ids] = n_known
            n_known += 1
            known_offsets[n_known] = head + _int(length)
            table[at] = h
            table[at + _ONE] = _uint(n_known) | (length << _HALF)
        else:
            ids[n_ids] = _int(entry & _LOW_HALF) - 1
        n_ids += 1
    return n_known


@njit(nogil=True)
def _edges(source: AnyArray, begin: int, end: int, fold: AnyArray, folded: AnyArray, edges: AnyArray) -> int:
    """Fold bytes and note where runs of non-zero ones start and end, without a branch to mispredict."""
    origin = _uint(begin)
    n = _uint(end - begin)
    n_edges = _ZERO
    inside = False
    i = _ZERO
    while i < n:
        byte = fold[source[origin + i]]
        folded[i] = byte
        now = byte != 0
        edges[n_edges] = i
        n_edges += _uint(now != inside)
        inside = now
        i += _ONE
    edges[n_edges] = n
    return _int(n_edges) + _int(inside)


@njit(nogil=True)
def _decode(text: AnyArray, position: int) -> tuple[int, int]:
    """The code point at a position of UTF-8 text and how many bytes it takes; surrogates take three."""
    byte = _int(text[position])
    if byte < 0x80:
        return byte, 1
    second = _int(text[position + 1]) & 0x3F
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | second, 2
    third = _int(text[position + 2]) & 0x3F
    if byte < 0xF0:
        return ((byte & 0x0F) << 12) | (second << 6) | third, 3
    return ((byte & 0x07) << 18) | (second << 12) | (third << 6) | (_int(text[position + 3]) & 0x3F), 4


@njit(nogil=True)
def _encode(code: int, target: AnyArray, position: int) -> int:
    """Write a code point as UTF-8; returns the position behind it."""
    if code < 0x80:
        target[position] = code
        return position + 1
    n_more = 1 if code < 0x800 else 2 if code < 0x10000 else 3
    target[position] = ((0xFF << (7 - n_more)) & 0xFF) | (code >> (6 * n_more))
    for i in range(n_more):
        target[position + 1 + i] = 0x80 | ((code >> (6 * (n_more - 1 - i))) & 0x3F)
    return position + 1 + n_more


@njit(nogil=True)
def _fold_unicode(text: AnyArray, begin: int, end: int, kind: AnyArray, lower: AnyArray, folded: AnyArray) -> int:
    """Lower-cased token characters, 0 for separators, _SPOILED for word characters outside the class."""
    n = _START
    position = begin
    while position < end:
        code, step = _decode(text, position)
        position += step
        if kind[code] == 1:
            n = _encode(lower[code], folded, n)
        else:
            folded[n] = 0 if kind[code] == 0 else _SPOILED
            n += 1
    return n


@njit(nogil=True)
def _keep(folded: AnyArray, edges: AnyArray, n_edges: int, least: int, careful: bool, ends: AnyArray) -> int:
    """Starts (in place of the edges) and ends of the tokens that have enough characters and are not spoiled."""
    n = 0
    for j in range(0, n_edges, 2):
        start, end = edges[j], edges[j + 1]
        n_chars = end - start
        if careful:
            for i in range(start, end):
                if folded[i] == _SPOILED:
                    n_chars = -1
                    break
                n_chars -= (folded[i] & 0xC0) == 0x80  # a continuation byte is no character of its own
        edges[n] = start
        ends[n] = end
        n += n_chars >= least
    return n


@njit(nogil=True)
def _tokens_of(
    text: AnyArray,
    begin: int,
    end: int,
    is_ascii: bool,
    fold: AnyArray,
    kind: AnyArray,
    lower: AnyArray,
    least: int,
    bounded: bool,
    folded_words: AnyArray,
    folded: AnyArray,
    starts: AnyArray,
    ends: AnyArray,
    hashes: AnyArray,
) -> int:
    """Fold a document and find its tokens: where each starts and ends in ``folded``, and its hash."""
    if is_ascii:
        n_edges = _edges(text, begin, end, fold, folded, starts)
    else:
        identity = np.empty(256, np.uint8)
        for i in range(256):
            identity[i] = i
        n_folded = _fold_unicode(text, begin, end, kind, lower, folded)
        n_edges = _edges(folded, _START, n_folded, identity, folded, starts)
    n_tokens = _keep(folded, starts, n_edges, least, bounded or not is_ascii, ends)
    for j in range(n_tokens):
        hashes[j] = _hash(folded_words, _uint(starts[j]), _uint(ends[j] - starts[j]))
    return n_tokens


@njit(nogil=True)
def _longest(doc_ends: AnyArray) -> int:
    """Bytes of the longest document."""
    longest = begin = _START
    for d in range(len(doc_ends)):
        longest = max(longest, doc_ends[d] - begin)
        begin = doc_ends[d]
    return longest


@njit(cache=True, nogil=True)
def scan_words(
    text: AnyArray,
    doc_ends: AnyArray,
    doc_is_ascii: AnyArray,
    fold: AnyArray,
    kind: AnyArray,
    lower: AnyArray,
    least: int,
    bounded: bool,
) -> tuple[AnyArray, int, AnyArray, AnyArray, AnyArray, int]:
    """Tokens of UTF-8 documents laid end to end: maximal runs of at least ``least`` characters of one class.

    ``kind`` and ``lower`` are tables over all code points (kind 0: separator, 1: in the class, 2: a word character
    outside the class, which spoils the run it is in); ``fold`` joins both for single bytes. ``bounded`` says that kind
    2 occurs. Returns the token ids in reading order and how many there are, where each document's begin, and the
    distinct tokens packed in order of first occurrence, bytes and offsets, and how many there are; what lies beyond
    these numbers is not set. O(bytes) time; extra memory is a few times the longest document.
    """
    n_docs = len(doc_ends)
    longest = _longest(doc_ends)
    most = (len(text) + n_docs) // (least + 1)  # each token takes `least` bytes and one that separates
    folded_words = np.empty(longest // 4 + 2, np.uint64)  # lower case can lengthen two bytes to three, no more
    folded = folded_words.view(np.uint8)
    edges = np.empty(longest + 3, np.int64)
    ends = np.empty(longest // 2 + 2, np.int64)
    hashes = np.empty(longest // 2 + 2, np.uint64)
    table = np.zeros(2 * _FIRST_SLOTS, np.uint64)
    known_words = np.empty(len(text) // 4 + 2, np.uint64)
    known_bytes = known_words.view(np.uint8)
    known_offsets = np.zeros(most + 1, np.int64)
    ids = np.empty(most, np.int32)
    doc_starts = np.zeros(n_docs + 1, np.int64)
    n_ids = n_known = begin = _START
    for d in range(n_docs):
        n_tokens = _tokens_of(
            text, begin, doc_ends[d], doc_is_ascii[d], fold, kind, lower, least, bounded,
            folded_words, folded, edges, ends, hashes,
        )  # fmt: skip
        begin = doc_ends[d]
        for j in range(0, n_tokens, _CHUNK):
            k = min(j + _CHUNK, n_tokens)
            table = _resized(table, n_known + k - j)
            n_known = _number(
                folded_words, folded, edges, ends, hashes, j, k, table,
                known_words, known_bytes, known_offsets, n_known, ids, n_ids,
            )  # fmt: skip
            n_ids += k - j
        doc_starts[d + 1] = n_ids
    return ids, n_ids, doc_starts, known_bytes, known_offsets, n_known


@njit(cache=True, nogil=True)
def scan_known(
    text: AnyArray,
    doc_ends: AnyArray,
    doc_is_ascii: AnyArray,
    fold: AnyArray,
    kind: AnyArray,
    lower: AnyArray,
    least: int,
    bounded: bool,
    table: AnyArray,
    known_words: AnyArray,
    known_offsets: AnyArray,
    symbol_of: AnyArray,
) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, int]:
    """Tokens as :func:`scan_words` finds them, as the symbols of known strings.

    ``symbol_of`` has the symbol of each known string, none of them below −2. Returns the symbols in reading order,
    where each document's begin, and the distinct tokens that are not known packed, bytes and offsets, and how many
    there are; the symbol of the n-th of these is −3 − n.
    """
    n_docs = len(doc_ends)
    longest = _longest(doc_ends)
    most = (len(text) + n_docs) // (least + 1)
    folded_words = np.empty(longest // 4 + 2, np.uint64)
    folded = folded_words.view(np.uint8)
    starts = np.empty(longest + 3, np.int64)
    ends = np.empty(longest // 2 + 2, np.int64)
    hashes = np.empty(longest // 2 + 2, np.uint64)
    new_table = np.zeros(2 * _FIRST_NEW_SLOTS, np.uint64)
    new_words = np.empty(len(text) // 4 + 2, np.uint64)
    new_bytes = new_words.view(np.uint8)
    new_offsets = np.zeros(most + 1, np.int64)
    symbols = np.empty(most, np.int32)
    doc_starts = np.zeros(n_docs + 1, np.int64)
    n = n_new = begin = _START
    for d in range(n_docs):
        n_tokens = _tokens_of(
            text, begin, doc_ends[d], doc_is_ascii[d], fold, kind, lower, least, bounded,
            folded_words, folded, starts, ends, hashes,
        )  # fmt: skip
        begin = doc_ends[d]
        for j in range(n_tokens):
            start = _uint(starts[j])
            length = _uint(ends[j]) - start
            at = _slot(table, hashes[j], length, folded_words, start, known_words, known_offsets)
            entry = table[at + _ONE]
            if entry != _ZERO:
                symbols[n + j] = symbol_of[(entry & _LOW_HALF) - _ONE]
                continue
            new_table = _resized(new_table, n_new + 1)
            n_new = _number(
                folded_words, folded, starts, ends, hashes, j, j + 1, new_table,
                new_words, new_bytes, new_offsets, n_new, symbols, n + j,
            )  # fmt: skip
            symbols[n + j] = -3 - symbols[n + j]
        n += n_tokens
        doc_starts[d + 1] = n
    return symbols[:n], doc_starts, new_bytes, new_offsets, n_new


@njit(cache=True, nogil=True)
def intern(
    words: AnyArray,
    starts: AnyArray,
    ends: AnyArray,
    table: AnyArray,
    known_words: AnyArray,
    known_offsets: AnyArray,
    n_known: int,
) -> tuple[AnyArray, AnyArray, int]:
    """Number packed strings, appending the new ones to the known; there must be room for all of them.

    Returns the ids, the table, a larger one when it grew, and how many strings are known now. Expected O(bytes).
    """
    n = len(starts)
    table = _resized(table, n_known + n)
    hashes = np.empty(n, np.uint64)
    for j in range(n):
        hashes[j] = _hash(words, _uint(starts[j]), _uint(ends[j] - starts[j]))
    ids = np.empty(n, np.int32)
    n_known = _number(
        words, words.view(np.uint8), starts, ends, hashes, _START, n, table,
        known_words, known_words.view(np.uint8), known_offsets, n_known, ids, _START,
    )  # fmt: skip
    return ids, table, n_known


@njit(cache=True, nogil=True)
def find(
    words: AnyArray,
    starts: AnyArray,
    ends: AnyArray,
    table: AnyArray,
    known_words: AnyArray,
    known_offsets: AnyArray,
) -> AnyArray:
    """The ids of packed strings among the known ones, −1 for those that are not. Expected O(bytes)."""
    ids = np.empty(len(starts), np.int32)
    for j in range(len(starts)):
        start = _uint(starts[j])
        length = _uint(ends[j]) - start
        h = _hash(words, start, length)
        at = _slot(table, h, length, words, start, known_words, known_offsets)
        ids[j] = _int(table[at + _ONE] & _LOW_HALF) - 1  # a free slot holds 0
    return ids
