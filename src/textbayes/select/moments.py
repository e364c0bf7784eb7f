"""Sums and sums of squares of a word's values inside each category, for scores that use values, not presence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.inputs import Inputs, check_inputs


class Values(NamedTuple):
    """Word values shifted and scaled per column, so that sums of squares stay accurate.

    t statistics and correlations depend on neither. The scale is a power of two, so nothing is rounded, and squares
    neither overflow nor vanish. The shift is applied only to words that occur in every document, which are stored in
    full anyway: those are the only columns whose variance can be tiny beside their mean, and a constant column
    becomes exactly zero.
    """

    inputs: Inputs
    X: sparse.csr_matrix
    squared: sparse.csr_matrix
    total: FloatArray
    total_square: FloatArray

    @property
    def n_docs(self) -> int:
        return self.inputs.n_docs

    @property
    def n_in(self) -> FloatArray:
        """Documents in each category, as a column (n_labels, 1)."""
        return self.inputs.n_positive[:, None]

    @property
    def n_out(self) -> FloatArray:
        return self.inputs.n_docs - self.n_in

    @property
    def spread(self) -> FloatArray:
        """Σ (x − mean)² over all documents, (n_features,)."""
        return about_mean(self.total, self.total_square, self.n_docs, self.n_docs, self.total_square)

    def sum_in(self) -> FloatArray:
        """Σ x over the documents of each category, (n_labels, n_features)."""
        result: FloatArray = (self.inputs.Yt @ self.X).toarray()
        return result

    def sum_square_in(self) -> FloatArray:
        """Σ x² over the documents of each category, (n_labels, n_features)."""
        result: FloatArray = (self.inputs.Yt @ self.squared).toarray()
        return result


def word_values(X: Matrix, Y: AnyArray) -> Values:
    """Check the input and prepare its values for sums of squares."""
    inputs = check_inputs(X, Y, nonnegative=False)
    words = inputs.X.indices
    largest = np.zeros(inputs.n_features)
    np.maximum.at(largest, words, np.abs(inputs.X.data))
    data = np.ldexp(inputs.X.data, -np.frexp(largest)[1][words])
    in_every = np.bincount(words, minlength=inputs.n_features) == inputs.n_docs
    if in_every.any():
        first = slice(inputs.X.indptr[0], inputs.X.indptr[1])  # a word in every document is in the first
        shift = np.zeros(inputs.n_features)
        shift[words[first]] = data[first]
        data -= np.where(in_every, shift, 0.0)[words]
    shifted = sparse.csr_matrix((data, words, inputs.X.indptr), shape=inputs.X.shape)
    squared = shifted.power(2)
    return Values(inputs, shifted, squared, np.ravel(shifted.sum(axis=0)), np.ravel(squared.sum(axis=0)))


def about_mean(
    sums: FloatArray, squares: FloatArray, n: FloatArray | int, n_docs: int, scale: FloatArray
) -> FloatArray:
    """Σ (x − mean)² = Σx² − (Σx)²/n, exactly 0 where it is within the rounding error n_docs·ε·``scale`` of 0.

    Without the cut a word with one weight in all documents of a category would have a variance of 1e-17 instead of 0,
    and a t statistic that depends on the order of the rows.
    """
    spread = squares - sums * sums / n
    spread[spread <= n_docs * np.finfo(np.float64).eps * scale] = 0.0
    return spread
