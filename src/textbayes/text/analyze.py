"""From texts to counted terms: the one path that fitting and transforming share.

lower case → tokens → stop words out → stems → n-grams of what remains → counts. Texts are read in batches, on all
cores; each distinct token is looked up in the stop list and stemmed once. The result does not depend on the batches.
With the analyzer "mixed" runs of scripts without spaces are taken out first and counted as n-grams of characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from textbayes.core.codec import Arrays, Choice, Field, Flag, List, Null, Sizes, Text, Whole, sorted_and_distinct
from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.text.batches import batches, in_order
from textbayes.text.languages import check_stemmer, is_list_name, load_stop_words, stem
from textbayes.text.linear_pattern import LONGEST_PATTERN, why_not_linear
from textbayes.text.packed import Packed, StringIndex, code_points, join, pack, take, unpack
from textbayes.text.tokenize import (
    DEFAULT_PATTERN,
    PATTERN_NAMES,
    Runs,
    TextTokens,
    parse_pattern,
    split_unspaced,
    tidied,
    tokenize,
)

if TYPE_CHECKING:
    from scipy import sparse

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


def count_words(tokens: TextTokens) -> Counted:
    """Count single tokens."""
    from textbayes.kernels.linear.columns import count_ids

    starts, ids, counts = count_ids(tokens.ids, tokens.doc_starts, tokens.names.n_strings)
    return Counted(Counts(starts, ids[: starts[-1]].copy(), counts[: starts[-1]].copy()), tokens.names)


def word_grams(tokens: TextTokens, term_of: AnyArray, terms: Packed, ngram_range: tuple[int, int]) -> Counted:
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


R = TypeVar("R")
LONGEST_NGRAM = 32  # words or characters; every length adds about as many terms as the text has words


@dataclass(frozen=True)
class TextOptions:
    """Options for turning a text into terms; ``stop_words`` are tokens of this pattern (see :func:`stop_tokens`)."""

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    token_pattern: str = DEFAULT_PATTERN
    stop_words: tuple[str, ...] = ()
    stemmer: str | None = None


def _check_order(ngram_range: Any) -> None:
    if ngram_range[0] > ngram_range[1]:
        raise ValueError("it goes from the shortest to the longest")


def _check_linear(pattern: str) -> None:
    reason = why_not_linear(pattern)
    if reason is not None:
        raise ValueError(f"it may take for ever on some texts ({reason})")


class StopWordsField(Field):
    """Stop words as they were given: the name of a list, words, or True for those of a file, which are in the model."""

    def takes(self, value: Any) -> bool:
        return value is None or isinstance(value, str | PathLike | Iterable)

    def is_meant(self, saved: Any) -> bool:
        return saved is None or saved is True or isinstance(saved, str | list)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        if value is None or is_list_name(value):
            return value
        return True if isinstance(value, str | PathLike) else load_stop_words(value)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if isinstance(saved, str) and not is_list_name(saved):
            raise ValueError("there is no list of that name")
        return STOP_TOKENS.read(saved, place, arrays, sizes) if isinstance(saved, list) else saved


STOP_TOKENS = List(Text()).where(sorted_and_distinct)
READING: dict[str, Field] = {  # of a file: how texts are read
    "analyzer": Choice("word", "char", "char_wb", "mixed"),
    "ngram_range": List(Whole(1, LONGEST_NGRAM), 2, 2, make=tuple).where(_check_order),
    "lowercase": Flag(),
    "token_pattern": Text(LONGEST_PATTERN).where(_check_linear),
    "stop_words": StopWordsField(),
    "stemmer": Text() | Null(),
}
FOUND: dict[str, Field] = {"stop_words_": List(Text(), make=tuple).where(sorted_and_distinct)}  # tokens


def check_found(stop_words: object, stop_words_: tuple[str, ...] | None) -> None:
    """Refuse stop words of a file that nobody asked for."""
    if stop_words is None and stop_words_:
        raise ValueError("stop words were left out although none were asked for")


def check_analysis(analyzer: str, token_pattern: str, stop_words: object, stemmer: str | None) -> None:
    """Refuse options of a vectorizer that cannot be used, or not with each other."""
    check_choice("analyzer", analyzer, ("word", "char", "char_wb", "mixed"))
    check_stemmer(stemmer)
    parse_pattern(token_pattern)
    if analyzer in ("char", "char_wb"):
        for name, value in (("stop_words", stop_words), ("stemmer", stemmer)):
            if value is not None:
                raise InputError(f"{name} needs analyzer='word', not {analyzer!r}; set {name}=None")


class CountedPiece(NamedTuple):
    """Counts of one batch and the term of each id: −1 for none, and several ids may stand for one term."""

    starts: IntArray
    ids: AnyArray
    counts: AnyArray
    term_of: AnyArray


class Analysis(NamedTuple):
    """The distinct terms of some texts, in order of first occurrence, and how often each text has them."""

    terms: Packed
    pieces: list[CountedPiece]

    @property
    def n_docs(self) -> int:
        return sum(len(piece.starts) - 1 for piece in self.pieces)


def analyze(texts: Iterable[str], options: TextOptions) -> Analysis:
    """Count the terms of texts. O(bytes); a few bytes of memory for each token beside the batch at work."""
    n, lowercase = options.ngram_range, options.lowercase
    if options.analyzer in ("char", "char_wb"):
        by_word = options.analyzer == "char_wb"
        return _merge_grams(in_order(lambda batch: character_grams(batch, n, lowercase, by_word), batches(texts)))

    if n == (1, 1):
        counted = list(in_order(lambda batch: _read(batch, options, count_words), batches(texts)))
        numbers, tokens = _merge([words.names for words, _ in counted])
        term_of, terms = select_terms(tokens, options)
        pieces = [CountedPiece(*words.counts, term_of[ids]) for (words, _), ids in zip(counted, numbers, strict=True)]
        return _with_runs(Analysis(terms, pieces), [runs for _, runs in counted])
    scanned = list(in_order(lambda batch: _read(batch, options, lambda tokens: tokens), batches(texts)))
    numbers, tokens = _merge([words.names for words, _ in scanned])
    term_of, terms = select_terms(tokens, options)
    work = zip([words for words, _ in scanned], numbers, strict=True)
    analysis = _merge_grams(in_order(lambda item: word_grams(item[0], term_of[item[1]], terms, n), work))
    return _with_runs(analysis, [runs for _, runs in scanned])


def count_tokens(texts: Iterable[str], options: TextOptions) -> FloatArray:
    """Number of tokens that the pattern finds in each text: all of them, stop words too.

    With the analyzer "mixed" each character of a script without spaces is one more.
    """

    def lengths(batch: list[str]) -> FloatArray:
        words, runs = _tokens(batch, options)
        n_tokens = np.diff(words.doc_starts).astype(np.float64)
        for of_script in runs:
            n_tokens += np.diff(of_script.starts[of_script.doc_starts])
        return n_tokens

    return np.concatenate([*in_order(lengths, batches(texts)), np.zeros(0)])


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


def columns_to_csr(pieces: Iterable[CountedPiece], column_of_term: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """CSR arrays (data, indices, indptr) with sorted columns; terms of column −1 are left out, equal columns added."""
    from textbayes.kernels.linear.columns import sorted_rows

    def rows(piece: CountedPiece) -> tuple[AnyArray, AnyArray, AnyArray]:
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


def counts_matrix(
    data: AnyArray, indices: AnyArray, indptr: AnyArray, n_columns: int, binary: bool
) -> sparse.csr_matrix:
    """Counts as a matrix (n_docs, n_columns) of CSR arrays with sorted columns; with ``binary`` 1 for each."""
    if binary:
        data.fill(1)
    from scipy import sparse  # classifying does without

    matrix = sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def frequencies(analysis: Analysis) -> tuple[IntArray, IntArray]:
    """For each term the number of texts that have it and the number of its occurrences."""
    from textbayes.kernels.linear.columns import add_frequencies

    documents = np.zeros(analysis.terms.n_strings, dtype=np.int64)
    occurrences = np.zeros(analysis.terms.n_strings, dtype=np.int64)
    for piece in analysis.pieces:
        add_frequencies(*piece, documents, occurrences)
    return documents, occurrences


def _tokens(batch: Sequence[str], options: TextOptions) -> tuple[TextTokens, list[Runs]]:
    """The words of a batch, and its runs of scripts without spaces where these are read apart."""
    texts, runs = plain_texts(batch, options)
    return tokenize(texts, options.token_pattern, options.lowercase), runs


def plain_texts(texts: Sequence[str], options: TextOptions) -> tuple[Sequence[str], list[Runs]]:
    """Texts as tokens are looked for in them, and their runs of scripts without spaces where these are read apart."""
    if options.token_pattern in PATTERN_NAMES:
        texts = tidied(texts)
    return split_unspaced(texts) if options.analyzer == "mixed" else (texts, [])


def _read(batch: list[str], options: TextOptions, then: Callable[[TextTokens], R]) -> tuple[R, list[Counted]]:
    """What becomes of a batch's words, and the counts of its runs of scripts without spaces."""
    tokens, runs = _tokens(batch, options)
    return then(tokens), [run_grams(of_script, options.ngram_range) for of_script in runs]


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


def select_terms(tokens: Packed, options: TextOptions) -> tuple[AnyArray, Packed]:
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


def _merge_grams(counted: Iterable[Counted]) -> Analysis:
    index = StringIndex()
    pieces = [CountedPiece(*counts, index.add(names)) for counts, names in counted]
    return Analysis(index.strings(), pieces)


def _with_runs(words: Analysis, runs: list[list[Counted]]) -> Analysis:
    """Words and, batch by batch, n-grams of unspaced runs, no term of which is a word."""
    if not any(runs):
        return words
    index, n_words = StringIndex(), np.int32(words.terms.n_strings)
    pieces = []
    for piece, of_batch in zip(words.pieces, runs, strict=True):
        for counts, names in of_batch:
            piece = _side_by_side(piece, CountedPiece(*counts, index.add(names) + n_words))
        pieces.append(piece)
    return Analysis(join(words.terms, index.strings()), pieces)


def _side_by_side(left: CountedPiece, right: CountedPiece) -> CountedPiece:
    """Each document's counts on the left and then those on the right."""
    ids = np.empty(len(left.ids) + len(right.ids), dtype=np.int32)
    counts = np.empty(len(ids), dtype=np.int32)
    for piece, before, first_id in ((left, right.starts[:-1], 0), (right, left.starts[1:], len(left.term_of))):
        places = np.arange(len(piece.ids)) + np.repeat(before, np.diff(piece.starts))
        ids[places] = piece.ids + np.int32(first_id)
        counts[places] = piece.counts
    return CountedPiece(left.starts + right.starts, ids, counts, np.concatenate([left.term_of, right.term_of]))
