"""N-grams of words or of characters in one batch of texts, counted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, BoolArray, IntArray
from textbayes.text.packed import Packed, code_points, pack
from textbayes.text.tokenize import Tokens
from textbayes.text.unspaced import Runs

_LAST_SPACE = 0x3000  # the greatest code point that is white space


class Counts(NamedTuple):
    """Counts of one batch: where each document's begin, and its distinct ids, in no order, with their counts."""

    starts: IntArray
    ids: AnyArray
    counts: AnyArray


class Counted(NamedTuple):
    """Counts of one batch and the name of each id."""

    counts: Counts
    names: Packed


def count_words(tokens: Tokens) -> Counted:
    """Count single tokens."""
    from textbayes.kernels.linear.columns import count_ids

    starts, ids, counts = count_ids(tokens.ids, tokens.doc_starts, tokens.names.n_strings)
    return Counted(Counts(starts, ids[: starts[-1]].copy(), counts[: starts[-1]].copy()), tokens.names)


def word_grams(tokens: Tokens, term_of: AnyArray, terms: Packed, ngram_range: tuple[int, int]) -> Counted:
    """Count n-grams of the terms of tokens; tokens of term −1 are left out before."""
    symbols = term_of[tokens.ids]
    kept = symbols >= 0
    before = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    doc_segments = np.arange(len(tokens.doc_starts))
    return _count(symbols[kept], before[tokens.doc_starts], doc_segments, terms, ngram_range, spaced=True)


def character_grams(texts: Sequence[str], ngram_range: tuple[int, int], lowercase: bool, by_word: bool) -> Counted:
    """Count n-grams of characters, of whole texts or of each word with a space on either side."""
    from textbayes.kernels.text.ngrams import scan_characters

    texts = [text.lower() for text in texts] if lowercase else texts
    codes = code_points("".join(texts))
    doc_ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    symbols, segments, doc_segments, alphabet, n_symbols = scan_characters(codes, doc_ends, _is_space(), by_word)
    names = pack(map(chr, alphabet[:n_symbols].tolist()))
    return _count(symbols, segments, doc_segments, names, ngram_range, whole=by_word)


def run_grams(runs: Runs, ngram_range: tuple[int, int]) -> Counted:
    """Count n-grams of characters inside runs of a script without spaces."""
    lengths = (ngram_range[0], ngram_range[1] + runs.script.more)
    return _count(runs.symbols, runs.starts, runs.doc_starts, pack(runs.alphabet), lengths)


def _count(
    symbols: AnyArray,
    segments: IntArray,
    doc_segments: IntArray,
    names: Packed,
    ngram_range: tuple[int, int],
    *,
    whole: bool = False,
    spaced: bool = False,
) -> Counted:
    from textbayes.kernels.text.ngrams import count_ngrams, name_ngrams

    starts, grams, counts, parent, last, n_grams = count_ngrams(
        symbols, segments, doc_segments, names.n_strings, *ngram_range, whole
    )
    grams, counts = grams[: starts[-1]], counts[: starts[-1]].copy()
    counted = np.zeros(n_grams, dtype=np.bool_)
    counted[grams] = True
    used = np.flatnonzero(counted)
    number = np.cumsum(counted, dtype=np.int32) - np.int32(1)
    data, offsets = name_ngrams(used, parent, last, names.data, names.offsets, spaced)
    return Counted(Counts(starts, number[grams], counts), Packed(data, offsets))


@lru_cache(maxsize=1)
def _is_space() -> BoolArray:
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)])
