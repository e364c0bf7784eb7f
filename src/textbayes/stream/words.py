"""The words of documents as a filter reads them: counted once for all topics, weighed, in columns that grow.

Weights are (1 + log₂ tf)·log₂(N/n), cosine-normalised, N and n those of the training documents, or those of another
scheme of ``TermWeighting`` where a filter was started from a model that has it. The idf does not move with the stream:
a learnt weight belongs to a word at its scale, so moving scales would change what was learnt without learning anything,
and two judgements in another order would no longer see the same documents. A word that no training document has counts
as in one. It gets a column when a document that has it is delivered or judged; until then it weighs nothing, so memory
grows with what is delivered and not with the stream.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.stream.bags import Bag, Bags
from textbayes.stream.compiled import filter_kernels
from textbayes.text.analyze import TextOptions
from textbayes.text.packed import Packed, StringIndex, pack, unpack
from textbayes.text.vectorize import TextVectorizer

# The schemes of ``text.weight.TermWeighting``, number by number: vectorised logarithms may round otherwise.
_TERM_WEIGHTS: Mapping[str, Callable[[int], float]] = {
    "raw": float,
    "binary": lambda tf: 1.0,
    "log": lambda tf: 1.0 + math.log(tf),
    "ltc": lambda tf: 1.0 + math.log2(tf),
    "tfidf": lambda tf: 1.0 + math.log(tf),
    "tfidf1": lambda tf: 1.0 + math.log(tf),
}
_IDF: Mapping[str, Callable[[int, int], float]] = {
    "ltc": lambda n, n_docs: math.log2(n_docs / max(n, 1)),
    "tfidf": lambda n, n_docs: math.log((n_docs + 1.0) / (n + 1.0)),
    "tfidf1": lambda n, n_docs: 1.0 + math.log((n_docs + 1.0) / (n + 1.0)),
}


_LARGEST_TABLE = 1 << 16  # occurrences of a word in a document up to which all weights are in one table


class Columns(NamedTuple):
    """One document by columns, ascending, and counts: how a filter keeps a document."""

    columns: IntArray
    counts: IntArray


class Rows(NamedTuple):
    """Weighed documents as CSR arrays over the columns of a lexicon, columns ascending."""

    indptr: IntArray
    indices: AnyArray
    data: FloatArray

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def one(self, i: int) -> Rows:
        """One document as rows of its own."""
        begin, end = self.indptr[i], self.indptr[i + 1]
        return Rows(np.array([0, end - begin]), self.indices[begin:end], self.data[begin:end])


class Lexicon:
    """Columns of words and their idf, append-only.

    Parameters
    ----------
    terms : Packed
        The first words, by column.
    document_frequency : array (n_words,)
        In how many training documents each is.
    n_docs : int
        Training documents.
    scheme, norm : str; str or None
        How words are weighed, as ``TermWeighting`` has it.

    Attributes
    ----------
    n_docs : int
        N, the training documents.
    document_frequency : array (n_words,)
        n of each word; 0 for words that joined later.
    """

    def __init__(
        self,
        terms: Packed,
        document_frequency: AnyArray,
        n_docs: int,
        scheme: str = "ltc",
        norm: str | None = "cosine",
    ) -> None:
        self.scheme, self.norm = scheme, norm
        self._index = StringIndex()
        self._index.add(terms)
        self.n_docs = int(n_docs)
        self._frequency = np.asarray(document_frequency, dtype=np.int32)
        self._idf = np.array([self._weight(n) for n in self._frequency.tolist()], dtype=np.float64)
        self._names = unpack(terms)
        self._n_indexed = len(self._names)  # names after these are not in the index yet
        self._term_weight = np.zeros(1)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def document_frequency(self) -> AnyArray:
        return self._frequency[: len(self)]

    @property
    def idf(self) -> FloatArray:
        return self._idf[: len(self)]

    def name(self, column: int) -> str:
        return self._names[column]

    def names(self, columns: AnyArray) -> list[str]:
        return [self._names[column] for column in columns.tolist()]

    def terms(self) -> Packed:
        """The words by column."""
        self._index_all()
        return self._index.strings()

    def find(self, terms: Packed) -> IntArray:
        """The columns of words, −1 for those that have none."""
        self._index_all()
        return self._index.find(terms).astype(np.int64)

    def add(self, words: Sequence[str]) -> IntArray:
        """The columns of the words, new ones for those that have none yet."""
        self._index_all()
        columns: IntArray = self._index.add(pack(words)).astype(np.int64)
        self._append([word for word, column in zip(words, columns.tolist(), strict=True) if column >= len(self)])
        self._n_indexed = len(self)
        return columns

    def _append(self, new: list[str]) -> None:
        self._names += new
        if len(self._names) > len(self._idf):  # with room for more, so seldom made anew
            room = len(self) + len(self) // 4 - len(self._idf)
            self._frequency = np.concatenate([self._frequency, np.zeros(room, dtype=np.int32)])
            self._idf = np.concatenate([self._idf, np.full(room, self._weight(0))])

    def _index_all(self) -> None:
        if self._n_indexed < len(self._names):
            self._index.add(pack(self._names[self._n_indexed :]))
            self._n_indexed = len(self._names)

    def keep(self, bag: Bag) -> Columns:
        """A document by columns; all its words have one afterwards."""
        columns = self.add(bag.words)
        order = np.argsort(columns)
        return Columns(columns[order], np.array(bag.counts, dtype=np.int64)[order])

    def keep_from(self, bags: Bags, i: int) -> Columns:
        """One document of counted ones, as :meth:`keep` would keep its bag; strings are made of new words alone."""
        column_of, begin, end = bags.columns(self), int(bags.indptr[i]), int(bags.indptr[i + 1])
        kept = Columns(np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.int64))
        n_new = filter_kernels().keep_document(bags.indices, bags.counts, begin, end, column_of, *kept)
        if n_new:
            new, first = kept.columns[-n_new:], len(self)
            self._append(bags.join(new, kept.counts[-n_new:], self))
            new[:] = np.arange(first, first + n_new)
        return kept

    def weigh(self, bags: Bags, start: int, stop: int) -> Rows:
        """The documents from ``start`` to ``stop``, as far as their words have columns."""
        counts, weights = self._places(bags.counts, bags.most)
        return self._weighed(bags.indptr, bags.indices, counts, start, stop, bags.columns(self), weights)

    def weigh_kept(self, documents: Sequence[Columns]) -> Rows:
        """Documents that are kept by columns."""
        indptr = np.cumsum([0, *(len(document.columns) for document in documents)], dtype=np.int64)
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(document.columns for document in documents)])
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(document.counts for document in documents)])
        each = np.arange(len(columns), dtype=np.int32)
        counts, weights = self._places(counts, int(counts.max(initial=0)))
        return self._weighed(indptr, each, counts, 0, len(documents), columns, weights)

    def _weighed(
        self,
        indptr: IntArray,
        terms: AnyArray,
        counts: AnyArray,
        start: int,
        stop: int,
        column_of: IntArray,
        term_weights: FloatArray,
    ) -> Rows:
        """Weights of words; those of weight 0 are left out.

        Nothing here depends on where in an array a number stands, as vectorised logarithms may: the same document has
        the same bits whatever it is weighed with.
        """
        counted = indptr, terms, counts, start, stop, column_of
        return Rows(*filter_kernels().weigh_documents(*counted, self._idf, term_weights, self.norm == "cosine"))

    def _places(self, counts: AnyArray, most: int) -> tuple[AnyArray, FloatArray]:
        """Where the weight of each count stands in a table, and the table.

        It has every count up to the largest; where a text, or a file, has a word very many times, those that occur.
        """
        if most <= _LARGEST_TABLE:
            return counts, self._term_weights(most)
        found, places = np.unique(counts, return_inverse=True)
        weights = [_TERM_WEIGHTS[self.scheme](tf) for tf in found.tolist()]
        return places.astype(counts.dtype), np.array(weights, dtype=np.float64)

    def _term_weights(self, most: int) -> FloatArray:
        """Weights of tf up to ``most``, a table made one by one."""
        if most >= len(self._term_weight):
            more = [_TERM_WEIGHTS[self.scheme](tf) for tf in range(1, 2 * most + 1)]
            self._term_weight = np.array([0.0, *more])
        return self._term_weight

    def _weight(self, n_with_word: int) -> float:
        return _IDF[self.scheme](n_with_word, self.n_docs) if self.scheme in _IDF else 1.0


def check_text_options(text: TextOptions) -> None:
    """Refuse options of which no words can be made, such as a stemmer that is not known."""
    _vectorizer(text, ["word"])


def vectorizer_of(text: TextOptions, lexicon: Lexicon) -> TextVectorizer:
    """What counts the words of a lexicon as a filter counts them."""
    return _vectorizer(text, lexicon.names(np.arange(len(lexicon))))


def _vectorizer(text: TextOptions, vocabulary: list[str]) -> TextVectorizer:
    vectorizer = TextVectorizer(
        analyzer=text.analyzer,
        ngram_range=text.ngram_range,
        lowercase=text.lowercase,
        token_pattern=text.token_pattern,
        stop_words=list(text.stop_words) or None,
        stemmer=text.stemmer,
        vocabulary=vocabulary,
    )
    vectorizer.get_feature_names_out()  # a fixed vocabulary needs no texts
    return vectorizer
