"""Counts of words and lengths of documents as tests take them: inputs, exposures, dispersions."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix
from textbayes.core.validation import as_numbers, canonical, check_finite, check_indicator, check_same_length


class ScoreInputs(NamedTuple):
    """Checked documents and labels.

    ``X`` is CSR (n_docs, n_features) in float64 without duplicates or stored zeros, ``Yt`` the labels as CSR
    (n_labels, n_docs), so that ``Yt @ X`` sums over the documents of each category at a cost of one multiplication
    per document, word in it and label on it; ``n_positive`` (n_labels,) the documents of each category.
    """

    X: sparse.csr_matrix
    Yt: sparse.csr_matrix
    n_positive: FloatArray

    @property
    def n_docs(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def check_inputs(X: Matrix, Y: AnyArray, *, nonnegative: bool) -> ScoreInputs:
    """Check counts and labels for scoring, and refuse what cannot be scored; the caller's arrays are never changed."""
    documents = _as_csr(X)
    indicator = check_indicator(Y)
    check_same_length(documents, "X", indicator, "Y")
    if not documents.shape[0]:
        raise InputError("X has no documents; pass at least one row")
    if not indicator.shape[1]:
        raise InputError("Y has no labels; pass at least one column")
    check_finite(documents, "X")
    if nonnegative and documents.nnz and documents.data.min() < 0:
        raise InputError(
            f"Negative values in data: X goes down to {documents.data.min():.3g}, but this score counts the documents a"
            " word occurs in; pass counts or non-negative weights, or use pearson, t_test or t_test_pooled"
        )
    labels = sparse.csc_matrix(indicator, dtype=np.float64).T
    return ScoreInputs(documents, labels, indicator.sum(axis=0, dtype=np.float64))


def _as_csr(X: Any) -> sparse.csr_matrix:
    array = X if sparse.issparse(X) else np.asarray(X)
    if array.ndim != 2:
        raise InputError(f"X has {array.ndim} dimension(s); pass a matrix (n_docs, n_features)")
    if array.dtype.kind not in "biuf":
        raise InputError(f"X holds values of type {array.dtype}; pass numbers (vectorize texts first)")
    documents: sparse.csr_matrix = canonical(sparse.csr_matrix(array, dtype=np.float64), zeros=False)
    return documents


WORDS_PER_UNIT = 1000.0
"""Lengths ω are in thousands of words, so that rates μ are per thousand, as in the contagion paper."""


class Exposures(NamedTuple):
    """Counts and lengths, checked.

    ``lengths`` ω (n_docs,); ``sums`` Σ_in x as CSR (n_labels, n_features), which is empty where a word never meets a
    category; ``totals`` Σ x (n_features,); ``powers`` Σ_d ω_d^r over all documents and ``powers_in`` over those of
    each category (n_labels, 6), r = 1, …, 6: what sums of negative-binomial counts depend on.
    """

    inputs: ScoreInputs
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


class WordMoments(NamedTuple):
    """Per word: rate m per thousand words, variance v of the rates, and the extra variability δ̂; r of all words."""

    rate: FloatArray
    variance: FloatArray
    dispersion: FloatArray
    r: float


def mosteller_wallace(X: sparse.csr_matrix, lengths: FloatArray) -> WordMoments:
    """Moment estimates of the negative binomial with mean ω_d μ and variance ω_d μ (1 + ω_d δ).

    m = Σx/Σω, v = Σ_d ω_d (x_d/ω_d − m)² / (N−1) = (Σ x²/ω − m² Σω) / (N−1), r = (Σω − Σω²/Σω) / (N−1) and
    δ̂ = max{0, (v − m)/(m r)}, since E v = μ + μ δ r. Documents of length 0 are left out. A word that does not occur,
    or a corpus of one document, has δ̂ = 0.

    Reference: Mosteller & Wallace (1964), *Inference and Disputed Authorship*; the contagion paper, §2.2.

    Parameters
    ----------
    X : sparse matrix (n_docs, n_features)
        Counts of words.
    lengths : array (n_docs,)
        Thousands of words of each document.

    Examples
    --------
    >>> counts = sparse.csr_matrix([[2, 5], [2, 0], [2, 1]])
    >>> mosteller_wallace(counts, np.array([1.0, 1.0, 1.0])).dispersion.tolist()
    [0.0, 2.5]
    """
    n_docs, total_length = int((lengths > 0.0).sum()), float(lengths.sum())
    n_features = int(X.shape[1])
    if n_docs < 2:
        nothing: FloatArray = np.zeros(n_features)
        rate = np.bincount(X.indices, weights=X.data, minlength=n_features) / total_length if n_docs else nothing
        return WordMoments(rate, nothing, nothing, 0.0)
    row_lengths = np.repeat(lengths, np.diff(X.indptr))
    squares = np.bincount(X.indices, weights=np.square(X.data) / row_lengths, minlength=n_features)
    rate = np.bincount(X.indices, weights=X.data, minlength=n_features) / total_length
    variance = np.maximum(squares - rate * rate * total_length, 0.0) / (n_docs - 1)
    r = (total_length - float(np.square(lengths).sum()) / total_length) / (n_docs - 1)
    dispersion = np.zeros(n_features)
    np.divide(variance - rate, rate * r, out=dispersion, where=rate > 0.0)
    return WordMoments(rate, variance, np.maximum(dispersion, 0.0), r)


def within_categories(exposures: Exposures) -> FloatArray:
    """δ̂ by the same moments about the rates of each category and of the rest, (n_labels, n_features).

    Σ_c Σ_{d∈c} ω_d (x_d/ω_d − m_c)² has mean Σ_c μ_c [(N_c − 1) + δ (Ω_c − Σ_c ω²/Ω_c)], c the category and the rest.
    A word that truly differs between them is not taken for a bursty one; under the null the pooled estimate of
    :func:`mosteller_wallace` is the better one. Complexity: O(n_labels · n_features).
    """
    X, lengths = exposures.inputs.X, exposures.lengths
    squares = np.square(X.data) / np.repeat(lengths, np.diff(X.indptr))
    with_text = (lengths > 0.0).astype(np.float64)
    n_inside = np.asarray(exposures.inputs.Yt @ with_text)[:, None]
    sums_in, powers_in = exposures.sums.toarray(), exposures.powers_in[:, :2]
    every = np.bincount(X.indices, weights=squares, minlength=X.shape[1]).astype(np.float64)  # whole if there are none
    excess = np.tile(every, (len(sums_in), 1))
    slope = np.zeros_like(sums_in)
    for sums, n_docs, powers in (
        (sums_in, n_inside, powers_in),
        (exposures.totals - sums_in, with_text.sum() - n_inside, exposures.powers[:2] - powers_in),
    ):
        length, squared_length = powers[:, :1], powers[:, 1:]
        rate, effective = np.zeros_like(sums), np.zeros_like(length)
        np.divide(sums, length, out=rate, where=n_docs > 0.0)
        np.divide(squared_length, length, out=effective, where=n_docs > 0.0)
        excess -= rate * (sums + np.maximum(n_docs - 1.0, 0.0))
        slope += rate * np.where(n_docs > 1.0, length - effective, 0.0)
    dispersion = np.zeros_like(slope)
    np.divide(excess, slope, out=dispersion, where=slope > 0.0)
    result: FloatArray = np.maximum(dispersion, 0.0)
    return result
