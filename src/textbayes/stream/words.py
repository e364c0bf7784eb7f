"""The words of documents as a filter reads them: counted once for all topics, weighed by ltc, in columns that grow.

Weights are (1 + log₂ tf)·log₂(N/n), cosine-normalised, N and n those of the training documents. The idf does not move
with the stream: a learnt weight belongs to a word at its scale, so moving scales would change what was learnt without
learning anything, and two judgements in another order would no longer see the same documents. A word that no training
document has counts as in one. It gets a column when a document that has it is delivered or judged; until then it weighs
nothing, so memory grows with what is delivered and not with the stream.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr
from textbayes.text.batches import check_texts
from textbayes.text.packed import Packed, StringIndex, pack, unpack


class Bag(NamedTuple):
    """The distinct words of one document, sorted, and how often each occurs."""

    words: tuple[str, ...]
    counts: tuple[int, ...]

    def to_json(self) -> dict[str, int]:
        return dict(zip(self.words, self.counts, strict=True))

    @classmethod
    def from_json(cls, told: Mapping[str, int]) -> Bag:
        """What :meth:`to_json` made, in whatever order it comes back."""
        ordered = sorted(told.items())
        return cls(tuple(word for word, _ in ordered), tuple(int(count) for _, count in ordered))


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


class Bags:
    """The counted words of a batch of documents; strings are made only of documents that are asked for.

    >>> Bags.read(["corn and corn", "rain"], TextOptions()).bag(0)
    Bag(words=('and', 'corn'), counts=(1, 2))
    """

    def __init__(self, terms: Packed, indptr: IntArray, indices: AnyArray, counts: AnyArray) -> None:
        self.terms, self.indptr, self.indices, self.counts = terms, indptr, indices, counts
        self._names: list[str] | None = None
        self._found: tuple[Lexicon, int, IntArray] | None = None

    @classmethod
    def read(cls, texts: Iterable[str], options: TextOptions) -> Bags:
        """Count the words of texts."""
        analysis = analyze(check_texts(texts), options)
        every = np.arange(analysis.terms.n_strings, dtype=np.int64)
        counts, indices, indptr = columns_to_csr(analysis.pieces, every)
        return cls(analysis.terms, indptr.astype(np.int64), indices, counts)

    @classmethod
    def of(cls, bags: Sequence[Bag]) -> Bags:
        """Documents counted before, as a log keeps them."""
        index = StringIndex()
        numbers = [index.add(pack(bag.words)) for bag in bags]
        indptr = np.cumsum([0, *(len(bag.words) for bag in bags)], dtype=np.int64)
        indices = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
        counts = np.array([count for bag in bags for count in bag.counts], dtype=np.int64)
        return cls(index.strings(), indptr, indices, counts)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def columns(self, lexicon: Lexicon) -> IntArray:
        """The column of each term in a lexicon, −1 for none; looked up again when the lexicon has grown."""
        if self._found is None or self._found[0] is not lexicon or self._found[1] != len(lexicon):
            self._found = lexicon, len(lexicon), lexicon.find(self.terms)
        return self._found[2]

    def words_of(self, i: int) -> AnyArray:
        """Which terms one document has."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def bag(self, i: int) -> Bag:
        """The words of one document and their counts."""
        if self._names is None:
            self._names = unpack(self.terms)
        names = [self._names[j] for j in self.words_of(i).tolist()]
        counts = self.counts[self.indptr[i] : self.indptr[i + 1]].tolist()
        return Bag.from_json(dict(zip(names, counts, strict=True)))


class Lexicon:
    """Columns of words and their idf, append-only.

    Attributes
    ----------
    n_docs : int
        N, the training documents.
    document_frequency : array (n_words,)
        n of each word; 0 for words that joined later.
    """

    def __init__(self, terms: Packed, document_frequency: AnyArray, n_docs: int) -> None:
        self._index = StringIndex()
        self._index.add(terms)
        self.n_docs = int(n_docs)
        self.document_frequency = np.asarray(document_frequency, dtype=np.int32)
        self._idf = np.array([self._weight(n) for n in self.document_frequency.tolist()], dtype=np.float64)
        self._names = unpack(terms)
        self._term_weight = np.zeros(1)

    def __len__(self) -> int:
        return len(self._names)

    def name(self, column: int) -> str:
        return self._names[column]

    def terms(self) -> Packed:
        """The words by column."""
        return self._index.strings()

    def find(self, terms: Packed) -> IntArray:
        """The columns of words, −1 for those that have none."""
        return self._index.find(terms).astype(np.int64)

    def add(self, words: Sequence[str]) -> IntArray:
        """The columns of the words, new ones for those that have none yet."""
        columns: IntArray = self._index.add(pack(words)).astype(np.int64)
        new = [word for word, column in zip(words, columns.tolist(), strict=True) if column >= len(self._names)]
        if new:
            self._names += new
            zeros = np.zeros(len(new), dtype=np.int32)
            self.document_frequency = np.concatenate([self.document_frequency, zeros])
            self._idf = np.concatenate([self._idf, np.full(len(new), self._weight(0))])
        return columns

    def keep(self, bag: Bag) -> Columns:
        """A document by columns; all its words have one afterwards."""
        columns = self.add(bag.words)
        order = np.argsort(columns)
        return Columns(columns[order], np.array(bag.counts, dtype=np.int64)[order])

    def weigh(self, bags: Bags, start: int, stop: int) -> Rows:
        """The documents from ``start`` to ``stop``, as far as their words have columns."""
        begin, end = bags.indptr[start], bags.indptr[stop]
        columns, counts = bags.columns(self)[bags.indices[begin:end]], bags.counts[begin:end]
        row = np.repeat(np.arange(stop - start), np.diff(bags.indptr[start : stop + 1]))
        known = np.flatnonzero(columns >= 0)
        # By column, so that sums do not depend on which documents were counted together.
        order = known[np.lexsort((columns[known], row[known]))]
        return self._weighed(row[order], columns[order], counts[order], stop - start)

    def weigh_kept(self, documents: Sequence[Columns]) -> Rows:
        """Documents that are kept by columns."""
        row = np.repeat(np.arange(len(documents)), [len(document.columns) for document in documents])
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *(document.columns for document in documents)])
        counts = np.concatenate([np.zeros(0, dtype=np.int64), *(document.counts for document in documents)])
        return self._weighed(row, columns, counts, len(documents))

    def _weighed(self, row: IntArray, columns: IntArray, counts: AnyArray, n_docs: int) -> Rows:
        """ltc weights; words of weight 0 are left out.

        Nothing here depends on where in an array a number stands, as vectorised logarithms may: the same document has
        the same bits whatever it is weighed with.
        """
        data = self._term_weights(counts) * self._idf[columns]
        heavy = data != 0.0
        row, columns, data = row[heavy], columns[heavy], data[heavy]
        length = np.sqrt(np.bincount(row, data * data, minlength=n_docs))
        indptr = np.zeros(n_docs + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=n_docs), out=indptr[1:])
        return Rows(indptr, columns.astype(np.int32), data / length[row])

    def _term_weights(self, counts: AnyArray) -> FloatArray:
        """1 + log₂ tf, from a table made one by one."""
        most = int(counts.max(initial=0))
        if most >= len(self._term_weight):
            more = [1.0 + math.log2(tf) for tf in range(1, 2 * most + 1)]
            self._term_weight = np.array([0.0, *more])
        return self._term_weight[counts]

    def _weight(self, n_with_word: int) -> float:
        return math.log2(self.n_docs / max(n_with_word, 1))
