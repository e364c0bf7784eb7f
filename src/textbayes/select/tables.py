"""Counts and moments of words and categories for scores: 2×2 tables of presence, sums and sums of squares of values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.exposures import ScoreInputs, check_inputs


class PresenceTable(NamedTuple):
    """Numbers of documents, as arrays of one shape (or shapes that broadcast).

    ================  ===========  ===============
    documents         in category  outside
    ================  ===========  ===============
    with the word     a            b
    without the word  c            d
    ================  ===========  ===============
    """

    a: FloatArray
    b: FloatArray
    c: FloatArray
    d: FloatArray


Statistic = Callable[[PresenceTable], ScoreResult]


def score_tables(X: Matrix, Y: AnyArray, statistic: Statistic) -> ScoreResult:
    """Apply an elementwise ``statistic`` to the table of every label and word.

    A word is in a document when its value is positive. Where a margin is empty (a word in every or in no document, a
    category with every or no document) the table holds no information: the score is 0 and the p-value 1, whatever
    ``statistic`` says.

    Most words never meet most categories: with a = 0 a table depends on the category and the word's document
    frequency only, and a corpus has few distinct frequencies. So the statistic is evaluated once per category and
    distinct frequency, and once per pair that does meet, not once per pair.

    Complexity: Σ_docs (words × labels of the document) for the counts, one gather of n_labels × n_features.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
    Y : boolean array (n_docs, n_labels)
    statistic : function of a ``PresenceTable`` that gives a ``ScoreResult``
    """
    inputs = check_inputs(X, Y, nonnegative=True)
    n_docs, n_in = inputs.n_docs, inputs.n_positive
    presence = sparse.csr_matrix((np.ones(inputs.X.nnz), inputs.X.indices, inputs.X.indptr), shape=inputs.X.shape)
    meets = inputs.Yt @ presence
    n_word = np.bincount(presence.indices, minlength=inputs.n_features).astype(np.float64)
    frequencies, place = np.unique(n_word, return_inverse=True)
    label = np.repeat(np.arange(len(n_in)), np.diff(meets.indptr))

    with np.errstate(divide="ignore", invalid="ignore"):  # empty margins, overwritten below
        apart = statistic(_absent(n_in[:, None], frequencies, n_docs))
        together = statistic(_table(meets.data, n_in[label], n_word[meets.indices], n_docs))

    no_label = (n_in == 0) | (n_in == n_docs)
    no_word = (n_word == 0) | (n_word == n_docs)

    def spread(at_frequency: FloatArray, at_pair: FloatArray, nothing: float) -> FloatArray:
        full: FloatArray = np.take(at_frequency, place, axis=1)
        full[label, meets.indices] = at_pair
        full[no_label] = nothing
        full[:, no_word] = nothing
        return full

    scores = spread(apart.scores, together.scores, 0.0)
    if apart.p_values is None or together.p_values is None:
        return ScoreResult(scores, None)
    return ScoreResult(scores, spread(apart.p_values, together.p_values, 1.0))


def _table(a: FloatArray, n_in: FloatArray, n_word: FloatArray, n_docs: int) -> PresenceTable:
    b, c = n_word - a, n_in - a
    return PresenceTable(a, b, c, n_docs - n_word - c)


def _absent(n_in: FloatArray, n_word: FloatArray, n_docs: int) -> PresenceTable:
    """Tables with a = 0. A word in more documents than there are outside must meet the category, so the cut only
    keeps entries valid that nobody reads."""
    n_out = n_docs - n_in
    b = np.minimum(n_word, n_out)
    return PresenceTable(np.zeros_like(b), b, np.broadcast_to(n_in, b.shape), n_out - b)


class Values(NamedTuple):
    """Word values shifted and scaled per column, so that sums of squares stay accurate.

    t statistics and correlations depend on neither. The scale is a power of two, so nothing is rounded, and squares
    neither overflow nor vanish. The shift is applied only to words that occur in every document, which are stored in
    full anyway: those are the only columns whose variance can be tiny beside their mean, and a constant column
    becomes exactly zero.
    """

    inputs: ScoreInputs
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
