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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.array_fields import saved_array
from textbayes.core.errors import ModelFileError
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.kernels.online import filter_scores
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr
from textbayes.text.batches import check_texts
from textbayes.text.packed import Packed, StringIndex, pack, unpack
from textbayes.text.vectorize import TextVectorizer


class Bag(NamedTuple):
    """The distinct words of one document, sorted, and how often each occurs."""

    words: tuple[str, ...]
    counts: tuple[int, ...]

    def to_json(self) -> dict[str, int]:
        return dict(zip(self.words, self.counts, strict=True))

    @classmethod
    def from_json(cls, counts_by_word: Mapping[str, int]) -> Bag:
        """What :meth:`to_json` made, in whatever order it comes back."""
        ordered = sorted(counts_by_word.items())
        return cls(tuple(word for word, _ in ordered), tuple(int(count) for _, count in ordered))


class Bags:
    """The counted words of a batch of documents; strings are made only of documents that are asked for.

    >>> Bags.read(["corn and corn", "rain"], TextOptions()).bag(0)
    Bag(words=('and', 'corn'), counts=(1, 2))
    """

    def __init__(self, terms: Packed, indptr: IntArray, indices: AnyArray, counts: AnyArray) -> None:
        self.terms, self.indptr, self.indices, self.counts = terms, indptr, indices, counts
        self.most = int(counts.max(initial=0))  # occurrences of a word in a document
        self._names: list[str] | None = None
        self._holders: tuple[IntArray, AnyArray] | None = None
        self._known_to: FilterLexicon | None = None
        self._n_known = 0
        self._columns = self._newest = np.zeros(0, dtype=np.int64)

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

    def columns(self, lexicon: FilterLexicon) -> IntArray:
        """The column of each term in a lexicon, −1 for none; looked up again when the lexicon has grown."""
        if self._known_to is not lexicon or self._n_known != len(lexicon._names):
            self._known_to, self._n_known, self._columns = lexicon, len(lexicon), lexicon.find(self.terms)
            self._newest = filter_scores.newest_columns(self.indptr, self.indices, self._columns)
        return self._columns

    def has_columns_from(self, first: int, lexicon: FilterLexicon, i: int) -> bool:
        """Whether a word of one document has a column from ``first`` on."""
        self.columns(lexicon)
        return bool(self._newest[i] >= first)

    def join(self, terms: IntArray, counts: IntArray, lexicon: FilterLexicon) -> list[str]:
        """These terms are the next to join the lexicon: their columns are known without looking them up.

        They are sorted in place, with their counts; returns their names.
        """
        if self._holders is None:
            self._holders = filter_scores.holders(self.indptr, self.indices, self.terms.n_strings)
        text, cuts = self.terms
        starts, documents = self._holders
        filter_scores.join_terms(
            terms, counts, text, cuts, len(lexicon), starts, documents, self._columns, self._newest
        )
        self._n_known = len(lexicon) + len(terms)
        return self.names(terms)

    def words_of(self, i: int) -> AnyArray:
        """Which terms one document has."""
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    def names(self, terms: AnyArray) -> list[str]:
        """A few terms as strings."""
        if self._names is not None:
            return [self._names[j] for j in terms.tolist()]
        data, cuts = self.terms
        return [data[cuts[j] : cuts[j + 1]].tobytes().decode("utf-8", "surrogatepass") for j in terms.tolist()]

    def bag(self, i: int) -> Bag:
        """The words of one document and their counts."""
        if self._names is None:
            self._names = unpack(self.terms)
        names = self.names(self.words_of(i))
        counts = self.counts[self.indptr[i] : self.indptr[i + 1]].tolist()
        return Bag.from_json(dict(zip(names, counts, strict=True)))


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


class DocumentCounts(NamedTuple):
    """One document by columns, ascending, and counts: how a filter keeps a document."""

    columns: IntArray
    counts: IntArray


class WeighedRows(NamedTuple):
    """Weighed documents as CSR arrays over the columns of a lexicon, columns ascending."""

    indptr: IntArray
    indices: AnyArray
    data: FloatArray

    @property
    def n_docs(self) -> int:
        return len(self.indptr) - 1

    def one(self, i: int) -> WeighedRows:
        """One document as rows of its own."""
        begin, end = self.indptr[i], self.indptr[i + 1]
        return WeighedRows(np.array([0, end - begin]), self.indices[begin:end], self.data[begin:end])


class FilterLexicon:
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

    def keep(self, bag: Bag) -> DocumentCounts:
        """A document by columns; all its words have one afterwards."""
        columns = self.add(bag.words)
        order = np.argsort(columns)
        return DocumentCounts(columns[order], np.array(bag.counts, dtype=np.int64)[order])

    def keep_from(self, bags: Bags, i: int) -> DocumentCounts:
        """One document of counted ones, as :meth:`keep` would keep its bag; strings are made of new words alone."""
        column_of, begin, end = bags.columns(self), int(bags.indptr[i]), int(bags.indptr[i + 1])
        kept = DocumentCounts(np.empty(end - begin, dtype=np.int64), np.empty(end - begin, dtype=np.int64))
        n_new = filter_scores.keep_document(bags.indices, bags.counts, begin, end, column_of, *kept)
        if n_new:
            new, first = kept.columns[-n_new:], len(self)
            self._append(bags.join(new, kept.counts[-n_new:], self))
            new[:] = np.arange(first, first + n_new)
        return kept

    def weigh(self, bags: Bags, start: int, stop: int) -> WeighedRows:
        """The documents from ``start`` to ``stop``, as far as their words have columns."""
        counts, weights = self._places(bags.counts, bags.most)
        return self._weighed(bags.indptr, bags.indices, counts, start, stop, bags.columns(self), weights)

    def weigh_kept(self, documents: Sequence[DocumentCounts]) -> WeighedRows:
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
    ) -> WeighedRows:
        """Weights of words; those of weight 0 are left out.

        Nothing here depends on where in an array a number stands, as vectorised logarithms may: the same document has
        the same bits whatever it is weighed with.
        """
        counted = indptr, terms, counts, start, stop, column_of
        return WeighedRows(*filter_scores.weigh_documents(*counted, self._idf, term_weights, self.norm == "cosine"))

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


def vectorizer_of(text: TextOptions, lexicon: FilterLexicon) -> TextVectorizer:
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


class KeptDocuments(Sequence[DocumentCounts]):
    """Documents by columns and counts, to which others are only ever added.

    >>> kept = KeptDocuments([DocumentCounts(np.array([2, 5]), np.array([1, 3]))])
    >>> len(kept), kept[0].columns.tolist(), kept[0].counts.tolist()
    (1, [2, 5], [1, 3])
    """

    def __init__(self, documents: Iterable[DocumentCounts] = ()) -> None:
        self._n = 0
        self._indptr = np.zeros(16, dtype=np.int64)
        self._columns = self._counts = np.zeros(0, dtype=np.int32)
        for document in documents:
            self.append(document)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        number = range(self._n)[i]
        begin, end = self._indptr[number], self._indptr[number + 1]
        return DocumentCounts(self._columns[begin:end].astype(np.int64), self._counts[begin:end].astype(np.int64))

    def append(self, document: DocumentCounts) -> None:
        """Keep one more."""
        begin = int(self._indptr[self._n])
        end = begin + len(document.columns)
        if end > len(self._columns) or self._n + 2 > len(self._indptr):
            self._indptr = _with_room(self._indptr, self._n + 2)
            self._columns, self._counts = _with_room(self._columns, end), _with_room(self._counts, end)
        self._columns[begin:end], self._counts[begin:end] = document
        self._n += 1
        self._indptr[self._n] = end

    def copy(self) -> KeptDocuments:
        """The same documents, to which others can be added."""
        other = KeptDocuments()
        other._n, other._indptr = self._n, self._indptr.copy()
        other._columns, other._counts = self._columns.copy(), self._counts.copy()
        return other

    def to_arrays(self) -> dict[str, AnyArray]:
        """As a snapshot has them."""
        end = self._indptr[self._n]
        return {
            "kept.indptr": self._indptr[: self._n + 1].copy(),
            "kept.columns": self._columns[:end].astype(np.int64),
            "kept.counts": self._counts[:end].astype(np.int64),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray], n_words: int) -> KeptDocuments:
        """What :meth:`to_arrays` made; refused where documents would leave their arrays or the lexicon."""
        most = np.iinfo(np.int32).max
        columns = saved_array(arrays, "kept.columns", np.int64, (None,), least=0, most=n_words - 1)
        counts = saved_array(arrays, "kept.counts", np.int64, columns.shape, least=1, most=most)
        indptr = saved_array(arrays, "kept.indptr", np.int64, (None,), least=0, most=len(columns))
        if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(columns) or (np.diff(indptr) < 0).any():
            raise ModelFileError("the documents that are kept do not follow each other; was the file altered?")
        starts = np.zeros(len(columns) + 1, dtype=np.bool_)
        starts[indptr] = True
        if ((np.diff(columns) <= 0) & ~starts[1:-1]).any():
            raise ModelFileError("a document that is kept has a word twice, or out of order; was the file altered?")
        kept = cls()
        kept._n, kept._indptr = len(indptr) - 1, indptr.astype(np.int64)
        kept._columns, kept._counts = columns.astype(np.int32), counts.astype(np.int32)
        return kept


def _with_room(array: AnyArray, size: int) -> AnyArray:
    if size <= len(array):
        return array
    longer = np.zeros(size + size // 2 + 16, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
