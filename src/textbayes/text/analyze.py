"""From texts to counted terms: the one path that fitting and transforming share.

lower case → tokens → stop words out → stems → n-grams of what remains → counts. Texts are read in batches, on all
cores; each distinct token is looked up in the stop list and stemmed once. The result does not depend on the batches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.text.batches import batches, in_order
from textbayes.text.packed import Packed, StringIndex, pack, take, unpack
from textbayes.text.stem import stem
from textbayes.text.tokenize import DEFAULT_PATTERN, Tokens, tokenize

_LAST_SPACE = 0x3000  # the greatest code point that is white space


@dataclass(frozen=True)
class TextOptions:
    """Options for turning a text into terms; ``stop_words`` are tokens of this pattern (see :func:`stop_tokens`)."""

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    token_pattern: str = DEFAULT_PATTERN
    stop_words: tuple[str, ...] = ()
    stemmer: str | None = None


class Counts(NamedTuple):
    """Counts of one batch: where each document's begin, and its distinct ids, in no order, with their counts."""

    starts: IntArray
    ids: AnyArray
    counts: AnyArray


class Piece(NamedTuple):
    """Counts of one batch and the term of each id: −1 for none, and several ids may stand for one term."""

    starts: IntArray
    ids: AnyArray
    counts: AnyArray
    term_of: AnyArray


class Analysis(NamedTuple):
    """The distinct terms of some texts, in order of first occurrence, and how often each text has them."""

    terms: Packed
    pieces: list[Piece]

    @property
    def n_docs(self) -> int:
        return sum(len(piece.starts) - 1 for piece in self.pieces)


def analyze(texts: Iterable[str], options: TextOptions) -> Analysis:
    """Count the terms of texts. O(bytes); a few bytes of memory for each token beside the batch at work."""
    if options.analyzer != "word":
        return _merge_grams(in_order(lambda batch: _character_grams(batch, options), batches(texts)))
    if options.ngram_range == (1, 1):
        counted = list(in_order(lambda batch: _counted(_tokens(batch, options)), batches(texts)))
        numbers, tokens = _merge([names for _, names in counted])
        term_of, terms = _select(tokens, options)
        pieces = [Piece(*counts, term_of[ids]) for (counts, _), ids in zip(counted, numbers, strict=True)]
        return Analysis(terms, pieces)
    scanned = list(in_order(lambda batch: _tokens(batch, options), batches(texts)))
    numbers, tokens = _merge([names for _, _, names in scanned])
    term_of, terms = _select(tokens, options)
    work = zip(scanned, numbers, strict=True)
    return _merge_grams(in_order(lambda item: _word_grams(item[0], term_of[item[1]], terms, options), work))


def count_tokens(texts: Iterable[str], options: TextOptions) -> FloatArray:
    """Number of tokens that the pattern finds in each text: all of them, stop words too."""
    counts = [np.diff(tokens.doc_starts) for tokens in in_order(lambda batch: _tokens(batch, options), batches(texts))]
    return np.concatenate([*counts, np.zeros(0)])


def stop_tokens(words: Iterable[str], pattern: str, lowercase: bool) -> tuple[str, ...]:
    """Cut stop words into the tokens they are in a text: "don't" is "don" where the pattern stops at the apostrophe.

    Parameters
    ----------
    words : iterable of str
    pattern : str
        The regular expression of a token.
    lowercase : bool

    Examples
    --------
    >>> stop_tokens(["don't", "The"], r"(?u)\\b\\w\\w+\\b", lowercase=True)
    ('don', 'the')
    """
    return tuple(sorted(unpack(tokenize(list(words), pattern, lowercase).names)))


def columns_to_csr(pieces: Iterable[Piece], column_of_term: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """CSR arrays (data, indices, indptr) with sorted columns; terms of column −1 are left out, equal columns added."""
    from textbayes.kernels.linear.columns import sorted_rows

    def rows(piece: Piece) -> tuple[AnyArray, AnyArray, AnyArray]:
        column_of = np.full(len(piece.term_of), -1, dtype=np.int64)
        known = piece.term_of >= 0
        column_of[known] = column_of_term[piece.term_of[known]]
        used, rank_of = np.unique(column_of, return_inverse=True)
        n_left_out = int(len(used) > 0 and used[0] < 0)
        return sorted_rows(
            piece.starts,
            piece.ids,
            piece.counts,
            rank_of.astype(np.int32) - np.int32(n_left_out),
            used[n_left_out:].astype(np.int32),
        )

    done = list(in_order(rows, pieces))
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(sizes for sizes, _, _ in done)])
    indices = np.concatenate([np.zeros(0, dtype=np.int32), *(columns for _, columns, _ in done)])
    data = np.concatenate([np.zeros(0, dtype=np.int64), *(values for _, _, values in done)])
    indptr = np.cumsum(sizes)
    return data, indices, indptr.astype(np.int32) if len(data) < 2**31 else indptr


def frequencies(analysis: Analysis) -> tuple[IntArray, IntArray]:
    """For each term the number of texts that have it and the number of its occurrences."""
    from textbayes.kernels.linear.columns import add_frequencies

    documents = np.zeros(analysis.terms.n_strings, dtype=np.int64)
    occurrences = np.zeros(analysis.terms.n_strings, dtype=np.int64)
    for piece in analysis.pieces:
        add_frequencies(*piece, documents, occurrences)
    return documents, occurrences


def _tokens(batch: list[str], options: TextOptions) -> Tokens:
    return tokenize(batch, options.token_pattern, options.lowercase)


def _counted(tokens: Tokens) -> tuple[Counts, Packed]:
    from textbayes.kernels.linear.columns import count_ids

    starts, ids, counts = count_ids(tokens.ids, tokens.doc_starts, tokens.names.n_strings)
    return Counts(starts, ids[: starts[-1]].copy(), counts[: starts[-1]].copy()), tokens.names


def _merge(names: list[Packed]) -> tuple[list[AnyArray], Packed]:
    """Numbers for the distinct strings of each batch, the same for the same string, and the strings by number."""
    if len(names) == 1:
        return [np.arange(names[0].n_strings, dtype=np.int32)], names[0]
    index = StringIndex()
    numbers = [index.add(strings) for strings in names]
    return numbers, index.strings()


@lru_cache(maxsize=8)
def _stop_index(stop_words: tuple[str, ...]) -> StringIndex:
    index = StringIndex()
    index.add(pack(stop_words))
    return index


def _select(tokens: Packed, options: TextOptions) -> tuple[AnyArray, Packed]:
    """The term of each token, −1 for stop words, and the terms: the tokens themselves or their stems."""
    kept = np.ones(tokens.n_strings, dtype=np.bool_)
    if options.stop_words:
        kept = _stop_index(options.stop_words).find(tokens) < 0
    chosen = np.flatnonzero(kept)
    terms = tokens if kept.all() else take(tokens, chosen)
    ids = np.arange(len(chosen), dtype=np.int32)
    if options.stemmer is not None:
        index = StringIndex()
        ids = index.add(stem(terms, options.stemmer))
        terms = index.strings()
    term_of = np.full(tokens.n_strings, -1, dtype=np.int32)
    term_of[chosen] = ids
    return term_of, terms


def _word_grams(tokens: Tokens, term_of: AnyArray, terms: Packed, options: TextOptions) -> tuple[Counts, Packed]:
    symbols = term_of[tokens.ids]
    kept = symbols >= 0
    before = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    n_docs = len(tokens.doc_starts) - 1
    return _grams(symbols[kept], before[tokens.doc_starts], np.arange(n_docs + 1), terms, options)


def _character_grams(batch: list[str], options: TextOptions) -> tuple[Counts, Packed]:
    from textbayes.kernels.text.ngrams import scan_characters

    texts = [text.lower() for text in batch] if options.lowercase else batch
    codes = np.frombuffer(bytearray("".join(texts).encode("utf-32-le", "surrogatepass")), dtype=np.uint32)
    doc_ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    symbols, segments, doc_segments, alphabet, n_symbols = scan_characters(
        codes, doc_ends, _is_space(), options.analyzer == "char_wb"
    )
    return _grams(symbols, segments, doc_segments, pack(map(chr, alphabet[:n_symbols].tolist())), options)


def _grams(
    symbols: AnyArray, segments: IntArray, doc_segments: IntArray, names: Packed, options: TextOptions
) -> tuple[Counts, Packed]:
    from textbayes.kernels.text.ngrams import count_ngrams, name_ngrams

    shortest, longest = options.ngram_range
    starts, grams, counts, parent, last, n_grams = count_ngrams(
        symbols, segments, doc_segments, names.n_strings, shortest, longest, options.analyzer == "char_wb"
    )
    grams, counts = grams[: starts[-1]], counts[: starts[-1]].copy()
    counted = np.zeros(n_grams, dtype=np.bool_)
    counted[grams] = True
    used = np.flatnonzero(counted)
    number = np.cumsum(counted, dtype=np.int32) - np.int32(1)
    data, offsets = name_ngrams(used, parent, last, names.data, names.offsets, options.analyzer == "word")
    return Counts(starts, number[grams], counts), Packed(data, offsets)


def _merge_grams(counted: Iterable[tuple[Counts, Packed]]) -> Analysis:
    index = StringIndex()
    pieces = [Piece(*counts, index.add(names)) for counts, names in counted]
    return Analysis(index.strings(), pieces)


@lru_cache(maxsize=1)
def _is_space() -> BoolArray:
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 1)])
