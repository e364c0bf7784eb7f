"""The documents that a filter keeps, laid end to end: eight bytes a word, and none is moved when another comes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
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
        indptr, columns, counts = (np.array(arrays[f"kept.{name}"]) for name in ("indptr", "columns", "counts"))
        sound = len(indptr) > 0 and indptr[0] == 0 and indptr[-1] == len(columns) == len(counts)
        if not sound or (np.diff(indptr) < 0).any() or (columns < 0).any() or (columns >= n_words).any():
            raise ModelFileError("the documents that are kept cannot be read: their arrays do not fit together")
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
