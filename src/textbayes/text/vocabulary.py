"""The terms of a vectorizer by column, how texts are counted by them, and how a model file keeps them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.codec import Field, Flag, Null, Number, Whole
from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray
from textbayes.text.analyze import FOUND, READING, TextOptions, analyze, columns_to_csr, plain_texts, select_terms
from textbayes.text.batches import batches, in_order
from textbayes.text.packed import Packed, StringIndex, Strings, gather, pack, pack_bytes, unpack, unpack_bytes
from textbayes.text.term_weights import Entries, stack_rows
from textbayes.text.tokenize import TokenRule, character_table, parse_pattern, prepared

_STOPPED = -2  # symbol of a token that is left out
_MOST_TOKENS = 1 << 17  # whose symbols are remembered; a language's words in use, and names
_SPACE = 32


class Vocabulary:
    """Terms by column; the dictionary and the tables of kernels are made when first needed."""

    def __init__(self, terms: Packed) -> None:
        self.terms = terms
        self._columns: dict[str, int] | None = None
        self._index: StringIndex | None = None
        self._counter: TermCounter | None = None

    def __reduce__(self) -> tuple[type, tuple[Packed]]:
        return Vocabulary, (self.terms,)

    @property
    def columns(self) -> dict[str, int]:
        if self._columns is None:
            self._columns = {term: column for column, term in enumerate(unpack(self.terms))}
        return self._columns

    def find(self, terms: Packed) -> AnyArray:
        """The column of each term, −1 for those not in the vocabulary."""
        if self._index is None:
            index = StringIndex()
            index.add(self.terms)
            self._index = index
        return self._index.find(terms)

    def count(self, texts: Iterable[str], options: TextOptions) -> Entries:
        """How often each text has each term: integers, with columns in order."""
        return stack_rows(list(in_order(lambda batch: self.count_batch(batch, options), batches(texts, least=1))))

    def count_batch(self, texts: Sequence[str], options: TextOptions) -> Entries:
        """As :meth:`count`, on one core."""
        counter = self._counter
        if counter is None or counter.options != options:
            counter = self._counter = TermCounter(self.terms, options)
        found = counter.count(texts)
        if found is not None:
            return found
        analysis = analyze(texts, options)
        counts, columns, starts = columns_to_csr(analysis.pieces, self.find(analysis.terms))
        return Entries(counts, columns, starts.astype(np.int64))


class _Tokens(NamedTuple):
    """Tokens seen before, as a kernel finds them, and the symbol of each."""

    tokens: StringIndex
    symbols: AnyArray


class TermCounter:
    """Counts the terms of a vocabulary in texts, none of which is spelt out: what ``analyze`` counts, in less time.

    A term is a path of words in a tree. Words are numbered; these symbols are the first grams, and a longer gram is a
    shorter one and one symbol more. Tokens of texts are looked up once: what is a stop word, or the stem of which, is
    remembered from then on.

    Parameters
    ----------
    terms : Packed
    options : TextOptions
    """

    def __init__(self, terms: Packed, options: TextOptions) -> None:
        self.options, self._n_columns = options, terms.n_strings
        self._rule = self._readable_rule()
        self._learning, self._lately = threading.Lock(), dict[bytes, int]()
        if self._rule is not None:
            self._plant(terms)

    def count(self, texts: Sequence[str]) -> Entries | None:
        """Counts of the terms; None where only ``analyze`` can tell.

        That is of characters, of tokens that a regular expression finds or that hold spaces, and of texts in scripts
        without spaces.
        """
        if self._rule is None:
            return None
        from textbayes.kernels.text.ngrams import count_known
        from textbayes.kernels.text.tokens import scan_known

        texts, runs = plain_texts(texts, self.options)
        if runs:
            return None
        seen, rule = self._seen, self._rule
        packed, is_ascii, table = prepared(texts, rule, self.options.lowercase)
        symbols, doc_starts, data, offsets, n_new = scan_known(
            packed.data, packed.offsets[1:], is_ascii, table.fold, table.kind, table.lower, rule.least, rule.bounded,
            *seen.tokens.arrays, seen.symbols,
        )  # fmt: skip
        if n_new and self._learns:
            new = self._symbols_of(unpack_bytes(Packed(data, offsets[: n_new + 1])))
            unknown = symbols < _STOPPED
            symbols[unknown] = new[_STOPPED - 1 - symbols[unknown]]
        shortest, longest = self.options.ngram_range
        starts, columns, counts = count_known(
            symbols, doc_starts, shortest, longest, self._table, self._column_of, self._n_columns
        )
        return Entries(counts, columns, starts)

    def _readable_rule(self) -> TokenRule | None:
        """The rule of tokens where the kernel can read them and spaces only stand between the words of a term."""
        options = self.options
        rule = parse_pattern(options.token_pattern) if options.analyzer in ("word", "mixed") else None
        if rule is None or character_table(rule.unit, rule.bounded, options.lowercase).kind[_SPACE] == 1:
            return None
        return rule

    @property
    def _learns(self) -> bool:
        """Whether tokens stand for something else than themselves."""
        return self.options.stemmer is not None or bool(self.options.stop_words)

    def _plant(self, terms: Packed) -> None:
        from textbayes.kernels.text.ngrams import link_ngrams

        shortest, longest = self.options.ngram_range
        cuts = np.flatnonzero(terms.data == _SPACE)
        begins = np.sort(np.concatenate([terms.offsets[:-1], cuts + 1]))
        ends = np.sort(np.concatenate([terms.offsets[1:], cuts]))
        words = StringIndex()
        symbols = words.add(gather(terms.data, begins, ends - begins)).astype(np.int64)
        n_words = 1 + np.diff(np.searchsorted(cuts, terms.offsets))
        first = np.cumsum(n_words) - n_words
        fits = np.flatnonzero((n_words >= shortest) & (n_words <= longest))
        gram, n_grams = symbols[first], len(words)
        keys = [np.zeros(0, dtype=np.uint64)]
        for depth in range(1, longest):
            longer = fits[n_words[fits] > depth]
            key = (gram[longer] << 32) | symbols[first[longer] + depth]
            distinct, number = np.unique(key, return_inverse=True)
            gram[longer] = n_grams + number
            n_grams += len(distinct)
            keys.append(distinct.astype(np.uint64))
        self._table = link_ngrams(np.concatenate(keys), len(words))
        self._column_of = np.full(n_grams, -1, dtype=np.int32)
        self._column_of[gram[fits]] = fits
        self._words = words
        index = StringIndex() if self._learns else words
        self._seen = _Tokens(index, np.arange(len(index), dtype=np.int32))

    def _symbols_of(self, tokens: list[bytes]) -> AnyArray:
        """The symbols of tokens: those of their stems, −2 for stop words, −1 where no term has such a word."""
        found = [self._lately.get(token) for token in tokens]
        unseen = [token for token, symbol in zip(tokens, found, strict=True) if symbol is None]
        if unseen:
            term_of, terms = select_terms(pack_bytes(unseen), self.options)
            symbols = np.append(self._words.find(terms), np.int32(_STOPPED))[term_of].tolist()
            new = dict(zip(unseen, symbols, strict=True))
            self._remember(new)
            found = [new[token] if symbol is None else symbol for token, symbol in zip(tokens, found, strict=True)]
        return np.array(found, dtype=np.int32)

    def _remember(self, symbols: dict[bytes, int]) -> None:
        """Keep the symbols of tokens for later texts, in a dictionary until they are worth a larger table.

        Others may read the table meanwhile, so it is replaced, not changed.
        """
        with self._learning:
            lately, seen = self._lately, self._seen
            lately.update(symbols)
            if len(lately) <= 256 + len(seen.tokens) // 8:
                return
            if len(seen.tokens) + len(lately) <= _MOST_TOKENS:
                index = seen.tokens.copy()
                numbers = index.add(pack_bytes(list(lately)))
                all_symbols = np.empty(len(index), dtype=np.int32)
                all_symbols[: len(seen.symbols)] = seen.symbols
                all_symbols[numbers] = list(lately.values())
                self._seen = _Tokens(index, all_symbols)
            self._lately = {}


class _Terms(Strings):
    """A vocabulary as two arrays."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, Vocabulary)

    def packed(self, value: Vocabulary) -> Packed:
        return value.terms

    def made(self, packed: Packed) -> Vocabulary:
        return Vocabulary(packed)


class _GivenTerms(Strings):
    """The terms of a vocabulary that was given, by column."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, str)

    def packed(self, value: Any) -> Packed:
        return fixed_terms(value)


WORDS: dict[str, Field] = {  # parameters of a ``TextVectorizer``
    **READING,
    "binary": Flag(),
    "min_df": Whole(1) | Number(0.0, 1.0),
    "max_df": Whole(1) | Number(0.0, 1.0),
    "max_features": Whole(1) | Null(),
    "vocabulary": Null() | _GivenTerms(),
}
WORDS_FOUND: dict[str, Field] = {**FOUND, "_vocabulary": _Terms()}  # and what it learns


def check_terms(vocabulary: Vocabulary, given: Any) -> None:
    """Refuse terms of a file that are not those of a vocabulary, learnt or given."""
    names = unpack(vocabulary.terms)
    if given is None and (not names or any(not before < after for before, after in pairwise(names))):
        raise ValueError("the vocabulary is empty, or not in sorted order")
    if given is not None:
        fixed = fixed_terms(given)
        if len(set(names)) < len(names) or (vocabulary.find(fixed) < 0).any():
            raise ValueError("the vocabulary has a word twice, or lacks one that was given")


def fixed_terms(vocabulary: Any) -> Packed:
    """The terms of a vocabulary that is given, by column; what is none is refused."""
    if isinstance(vocabulary, (str, bytes)) or not isinstance(vocabulary, Iterable):
        raise InputError(f"vocabulary is a {type(vocabulary).__name__}; pass a list of terms or a dict of columns")
    if isinstance(vocabulary, Mapping):
        if set(vocabulary.values()) != set(range(len(vocabulary))):
            raise InputError(
                f"the columns of a vocabulary of {len(vocabulary)} terms must be 0 to {len(vocabulary) - 1}, each once"
            )
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    terms = sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else list(vocabulary)
    for i, term in enumerate(terms):
        if not isinstance(term, str):
            raise InputError(f"term {i} of the vocabulary is a {type(term).__name__}, {term!r}; terms must be str")
    if not terms:
        raise InputError("the vocabulary is empty; pass at least one term, or None to learn it from the texts")
    if len(set(terms)) < len(terms):
        twice = Counter(terms).most_common(1)[0][0]
        raise InputError(f"{twice!r} is in the vocabulary twice; pass each term once")
    return pack(terms)
