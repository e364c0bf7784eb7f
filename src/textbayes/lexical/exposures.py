"""Word counts of each category with the length of text they come from: what Δ² and keyness compare."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix
from textbayes.core.validation import as_numbers, check_finite
from textbayes.lexical.inputs import Inputs, check_inputs

WORDS_PER_UNIT = 1000.0
"""Lengths ω are in thousands of words, so that rates μ are per thousand, as in the contagion paper."""


class Exposures(NamedTuple):
    """Counts and lengths, checked.

    ``lengths`` ω (n_docs,); ``sums`` Σ_in x as CSR (n_labels, n_features), which is empty where a word never meets a
    category; ``totals`` Σ x (n_features,); ``powers`` Σ_d ω_d^r over all documents and ``powers_in`` over those of
    each category (n_labels, 6), r = 1, …, 6: what sums of negative-binomial counts depend on.
    """

    inputs: Inputs
    lengths: FloatArray
    sums: sparse.csr_matrix
    totals: FloatArray
    powers: FloatArray
    powers_in: FloatArray

    @property
    def share(self) -> FloatArray:
        """π = Ω_in / Ω, the share of all text that is the category's, (n_labels,); under the null also of a word."""
        share: FloatArray = np.zeros(len(self.powers_in))
        np.divide(self.powers_in[:, 0], self.powers[0], out=share, where=self.powers[0] > 0.0)
        # Ω_in is added up in another order than Ω: a category of all the text has π = 1, not 1 − 1e-16.
        share[np.isclose(share, 1.0, rtol=0.0, atol=1e-13)] = 1.0
        return share

    @property
    def text_of_both(self) -> BoolArray:
        """Whether there is text inside and outside the category, (n_labels,)."""
        return (self.share > 0.0) & (self.share < 1.0)

    @property
    def mean_lengths(self) -> tuple[FloatArray, FloatArray]:
        """ω̄ = Σω²/Σω inside and outside each category: the length of the document that a random token is in."""
        inside, outside = self.powers_in[:, :2].T, (self.powers[:2] - self.powers_in[:, :2]).T
        return _ratio(inside[1], inside[0]), _ratio(outside[1], outside[0])

    @property
    def tilt(self) -> FloatArray:
        """ω̃ = (1−π) ω̄_in + π ω̄_out: 1 + δω̃ is how much δ inflates the variance of Σ_in x − πn, (n_labels,)."""
        inside, outside = self.mean_lengths
        result: FloatArray = (1.0 - self.share) * inside + self.share * outside
        return result


def word_exposures(X: Matrix, Y: AnyArray, lengths: ArrayLike | None = None) -> Exposures:
    """Check counts, labels and lengths; ``lengths`` are the row sums of X in thousands unless given.

    The row sums leave out words that are not in X (stop words, rare words). Where they were removed,
    ``TextVectorizer.document_lengths(texts)`` gives the real lengths.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words.
    Y : boolean array (n_docs, n_labels)
    lengths : array (n_docs,), optional
        Thousands of words of each document.
    """
    inputs = check_inputs(X, Y, nonnegative=True)
    data = inputs.X.data
    if (data != np.rint(data)).any():
        odd = data[data != np.rint(data)][0]
        raise InputError(
            f"X holds {odd:.6g}, but this score is a test on counts of words; pass counts before any weighting"
        )
    omega = check_lengths(lengths, inputs.X)
    powers = omega[:, None] ** np.arange(1, 7)
    sums = inputs.Yt @ inputs.X
    totals = np.bincount(inputs.X.indices, weights=data, minlength=inputs.n_features).astype(np.float64)
    return Exposures(inputs, omega, sums.tocsr(), totals, powers.sum(axis=0), np.asarray(inputs.Yt @ powers))


def check_lengths(lengths: Any, X: sparse.csr_matrix) -> FloatArray:
    """Document lengths in thousands of words, one for each row of X; the row sums where none are given."""
    rows: FloatArray = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    if lengths is None:
        return rows / WORDS_PER_UNIT
    omega = as_numbers(lengths, "lengths")
    if omega.shape != rows.shape:
        raise InputError(f"lengths has shape {omega.shape}; pass one length for each of the {len(rows)} documents")
    check_finite(omega, "lengths")
    if (omega < 0.0).any():
        raise InputError(f"lengths go down to {omega.min():.3g}; pass thousands of words, 0 for an empty document")
    empty = (omega == 0.0) & (rows > 0.0)
    if empty.any():
        raise InputError(f"document {int(np.flatnonzero(empty)[0])} has words but length 0; pass its length")
    return omega


def takes_counts(score_function: Any) -> bool:
    """Whether a score function is a test on counts, which weights would spoil: then it takes ``lengths`` as well."""
    return "lengths" in inspect.signature(score_function).parameters


def _ratio(top: FloatArray, bottom: FloatArray) -> FloatArray:
    result: FloatArray = np.zeros_like(top)
    np.divide(top, bottom, out=result, where=bottom > 0.0)
    return result
