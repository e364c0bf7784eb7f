"""The documents that a filter keeps, laid end to end: eight bytes a word, and none is moved when another comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array
from textbayes.core.types import AnyArray
from textbayes.stream.words import Columns


class KeptDocuments(Sequence[Columns]):
    """Documents by columns and counts, to which others are only ever added.

    >>> kept = KeptDocuments([Columns(np.array([2, 5]), np.array([1, 3]))])
    >>> len(kept), kept[0].columns.tolist(), kept[0].counts.tolist()
    (1, [2, 5], [1, 3])
    """

    def __init__(self, documents: Iterable[Columns] = ()) -> None:
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
        return Columns(self._columns[begin:end].astype(np.int64), self._counts[begin:end].astype(np.int64))

    def append(self, document: Columns) -> None:
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
