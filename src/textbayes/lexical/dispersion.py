"""Overdispersion of word counts against the Poisson: the negative binomial's δ by its moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.types import FloatArray
from textbayes.lexical.exposures import Exposures


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
