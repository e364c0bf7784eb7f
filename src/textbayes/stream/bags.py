"""The counted words of documents: one by itself, as a log keeps it, and many that were read together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from textbayes.core.types import AnyArray, IntArray
from textbayes.stream.compiled import filter_kernels
from textbayes.text.analyze import TextOptions, analyze, columns_to_csr
from textbayes.text.batches import check_texts
from textbayes.text.packed import Packed, StringIndex, pack, unpack

if TYPE_CHECKING:
    from textbayes.stream.words import Lexicon


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
        self._known_to: Lexicon | None = None
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

    def columns(self, lexicon: Lexicon) -> IntArray:
        """The column of each term in a lexicon, −1 for none; looked up again when the lexicon has grown."""
        if self._known_to is not lexicon or self._n_known != len(lexicon._names):
            self._known_to, self._n_known, self._columns = lexicon, len(lexicon), lexicon.find(self.terms)
            self._newest = filter_kernels().newest_columns(self.indptr, self.indices, self._columns)
        return self._columns

    def has_columns_from(self, first: int, lexicon: Lexicon, i: int) -> bool:
        """Whether a word of one document has a column from ``first`` on."""
        self.columns(lexicon)
        return bool(self._newest[i] >= first)

    def join(self, terms: IntArray, counts: IntArray, lexicon: Lexicon) -> list[str]:
        """These terms are the next to join the lexicon: their columns are known without looking them up.

        They are sorted in place, with their counts; returns their names.
        """
        kernels = filter_kernels()
        if self._holders is None:
            self._holders = kernels.holders(self.indptr, self.indices, self.terms.n_strings)
        text, cuts = self.terms
        starts, documents = self._holders
        kernels.join_terms(terms, counts, text, cuts, len(lexicon), starts, documents, self._columns, self._newest)
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
