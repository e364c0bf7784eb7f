"""Columns of a model as the words that people know: all forms of a word, in all views of the texts, are one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.text.surface import gather, readings


class MergedWords(NamedTuple):
    """Words of a model, each with the columns that stand for it.

    Attributes
    ----------
    forms : list of str
        The words, in their commonest forms.
    counts : array (n_words,)
        Texts that have each: those of its stem, or of its commonest form.
    columns : array
        The columns that are used.
    word : array like it
        The word that each is of.
    share : array like it
        What a column's weight counts for in that of its word.
    names : array (n_features,)
        Names of all columns.
    """

    forms: list[str]
    counts: FloatArray
    columns: IntArray
    word: IntArray
    share: FloatArray
    names: AnyArray

    @classmethod
    def of(cls, model: Any, counts: FloatArray, forms: Mapping[str, str]) -> Self:
        """The words of the columns that have a weight and occur.

        Parameters
        ----------
        model : fitted TextCategorizer
        counts : array (n_features,)
            How often each column occurs.
        forms : stem → its most frequent form
            ``TextCategorizer.surface_``; a stem without one is shown in the commonest form that is a column itself, or
            as it is.
        """
        vectorizer = model.vectorizer_
        columns = np.flatnonzero(model.words_with_weight() & (counts > 0.0))
        own = counts[columns]
        found = gather(vectorizer, columns, own, forms)
        # A text has one of the forms that a view tells apart, but is read by all views.
        place = found.word * len(readings(vectorizer)) + found.view
        factor = np.array([one.factor for one in readings(vectorizer)])[found.view]
        share = factor * own / np.maximum(np.bincount(place, own)[place], 1e-300)
        most = np.zeros(len(found.forms))
        np.maximum.at(most, found.word, own)
        return cls(found.forms, most, columns, found.word, share, vectorizer.get_feature_names_out())

    def added(self, values: FloatArray) -> FloatArray:
        """Sums by word of what columns add up to, (n_features,)."""
        return np.bincount(self.word, values[self.columns], len(self.forms)).astype(np.float64)

    def weight(self, weights: FloatArray) -> FloatArray:
        """Weights by word from those of columns: its forms averaged by how often they occur, its views added up.

        Where texts have length one, it is what a text of this word alone would have.
        """
        return np.bincount(self.word, self.share * weights[self.columns], len(self.forms)).astype(np.float64)

    def texts_with(self, having: Any) -> IntArray:
        """Number of texts that have each word, given which columns they have, a sparse matrix (n_texts, n_features)."""
        shape = (having.shape[1], len(self.forms))
        of_word = sparse.csr_matrix((np.ones(len(self.columns)), (self.columns, self.word)), shape=shape)
        return np.asarray((having @ of_word > 0.0).sum(axis=0)).ravel()

    def column_name(self, word: int) -> str:
        """The name of the column of a word that has one; nothing for a word of several."""
        own = self.columns[self.word == word]
        return str(self.names[own[0]]) if len(own) == 1 else ""
