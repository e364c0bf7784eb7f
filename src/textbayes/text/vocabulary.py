"""The terms of a vectorizer by column, and how a model file keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.saved_arrays import saved_array
from textbayes.core.types import AnyArray
from textbayes.text.packed import Packed, StringIndex, checked, unpack


class Vocabulary:
    """Terms by column; the dictionary and the kernel's hash table are made when first needed."""

    def __init__(self, terms: Packed) -> None:
        self.terms = terms
        self._columns: dict[str, int] | None = None
        self._index: StringIndex | None = None

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
