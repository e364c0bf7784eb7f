"""The terms of a vectorizer by column, how texts are counted by them, and how a model file keeps them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array
from textbayes.core.types import AnyArray
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr, plain_texts, select_terms
from textbayes.text.batches import batches, in_order
from textbayes.text.packed import Packed, StringIndex, checked, gather, pack_bytes, unpack, unpack_bytes
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
        from textbayes.kernels.text.known import count_known
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
        from textbayes.kernels.text.known import link_ngrams

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


def read_vocabulary(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> tuple[Any, Packed, list[str] | None]:
    """Read what ``TextVectorizer.to_state`` gave: the checked settings, all terms, and those that were given by name.

    Parameters
    ----------
    meta, arrays : mappings
        The parts of a state.
    """
    from textbayes.core.saved import read_saved
    from textbayes.text.saved import SavedVectorizer  # loads pydantic

    told = read_saved(SavedVectorizer, meta, "the model's vectorizer")
    terms = checked(arrays.get("terms"), arrays.get("term_offsets"), "the vocabulary")
    vocabulary, names = None, unpack(terms)
    if told.fixed_vocabulary:
        given = np.arange(len(names))
        if "given" in arrays:
            given = saved_array(arrays, "given", np.int64, (None,), least=0, most=len(names) - 1)
        vocabulary = [names[column] for column in given.tolist()]
        if len(set(names)) < len(names) or len(set(vocabulary)) < max(len(vocabulary), 1):
            raise ModelFileError("the vocabulary is empty or has a word twice; was the file altered?")
    elif not names or any(not before < after for before, after in pairwise(names)):
        raise ModelFileError("the vocabulary is empty, or not in sorted order; was the file altered?")
    return told, terms, vocabulary
