"""Burstiness of words: how far each word's counts are from Poisson, and whether the negative binomial fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.dispersion import mosteller_wallace
from textbayes.lexical.exposures import word_exposures
from textbayes.lexical.goodness_of_fit import bootstrap_fit, overdispersion, overdispersion_p_value, two_sample_ks


class Burstiness(NamedTuple):
    """One value per word asked for; variances are those of the rate per thousand words, v of Mosteller & Wallace.

    ``words``: columns of X; ``occurrences`` of the word, and ``documents`` with it; ``rate`` μ̂ per
    thousand words; ``dispersion`` δ̂; ``variance`` v as observed, ``poisson_variance`` μ̂ and ``fitted_variance``
    μ̂(1 + δ̂r), what the two models make of it; ``z``: score test of δ = 0, ``p_value`` its exact p-value;
    ``ks_poisson``, ``ks_negative_binomial``: p-values of the paper's Table 1; ``fit_poisson``,
    ``fit_negative_binomial``: p-values of goodness of fit by bootstrap, small where the model does not fit.
    """

    words: AnyArray
    occurrences: FloatArray
    documents: FloatArray
    rate: FloatArray
    dispersion: FloatArray
    variance: FloatArray
    poisson_variance: FloatArray
    fitted_variance: FloatArray
    z: FloatArray
    p_value: FloatArray
    ks_poisson: FloatArray
    ks_negative_binomial: FloatArray
    fit_poisson: FloatArray
    fit_negative_binomial: FloatArray


def burstiness(
    X: Matrix,
    lengths: ArrayLike | None = None,
    *,
    words: ArrayLike | None = None,
    n_draws: int = 199,
    random_state: int = 0,
) -> Burstiness:
    """Compare the counts of words with the Poisson and the negative binomial fitted to them.

    Parameters
    ----------
    X
        Counts (n_docs, n_features).
    lengths
        Of the documents in thousands of words; the row sums of X unless given. Empty documents are left out.
    words
        Columns to look at; all unless given. A word costs n_draws · n_docs values of a distribution function.
    n_draws
        Samples behind each p-value; the smallest possible one is 1/(1 + n_draws).
    random_state
        Seed; every word has streams of its own.

    A word that does not occur has p-values of 1, and so has every word of a single document.

    Reference: the contagion paper, §2.2 and Table 1; the tests are in :mod:`textbayes.lexical.goodness_of_fit`.

    >>> counts = np.array([[2, 9], [1, 0], [3, 0], [2, 0], [2, 0], [1, 0], [2, 8], [3, 0]])
    >>> found = burstiness(counts, np.ones(8))
    >>> found.dispersion.round(2).tolist(), (found.p_value < 0.01).tolist()
    ([0.0, 6.32], [False, True])
    """
    if n_draws < 1:
        raise InputError(f"n_draws={n_draws!r} must be at least 1; 199 is the usual choice")
    exposures = word_exposures(X, np.zeros((_n_rows(X), 1)), lengths)
    columns = exposures.inputs.X.tocsc()
    chosen = _check_words(words, exposures.inputs.n_features)
    moments = mosteller_wallace(exposures.inputs.X, exposures.lengths)
    used = exposures.lengths > 0.0
    omega = exposures.lengths[used]
    tests = np.ones((6, len(chosen)))
    tests[0] = 0.0
    for i, j in enumerate(chosen):
        counts = columns[:, [j]].toarray().ravel()[used]
        if counts.any() and len(omega) > 1:
            rng = np.random.default_rng([random_state, int(j)])
            mean, delta = float(moments.rate[j]), float(moments.dispersion[j])
            tests[:, i] = (
                overdispersion(counts, omega),
                overdispersion_p_value(counts, omega, n_draws, rng),
                two_sample_ks(counts, omega, mean, 0.0, rng),
                two_sample_ks(counts, omega, mean, delta, rng),
                bootstrap_fit(counts, omega, 0.0, n_draws, rng),
                bootstrap_fit(counts, omega, delta, n_draws, rng),
            )
    rate, dispersion = moments.rate[chosen], moments.dispersion[chosen]
    return Burstiness(
        chosen,
        exposures.totals[chosen],
        np.diff(columns.indptr)[chosen].astype(np.float64),
        rate,
        dispersion,
        moments.variance[chosen],
        rate,
        rate * (1.0 + dispersion * moments.r),
        *tests,
    )


def burstiest(X: Matrix, lengths: ArrayLike | None = None, k: int | None = None, min_docs: int = 5) -> AnyArray:
    """Columns of the k words of largest dispersion δ̂, largest first, among those that ``min_docs`` documents have.

    δ̂ of a word of one or two documents is huge and says little: that a word occurs three times in one of a thousand
    documents is one event, not a habit. Only dispersions are computed, in one reading of X.

    Parameters
    ----------
    X : array or sparse matrix (n_docs, n_features)
        Counts of words.
    lengths : array (n_docs,), optional
        Thousands of words of each document; the sums of the rows unless given.
    k : int or None
        Words at most; None for all.
    min_docs : int
        Documents that must have the word.

    Examples
    --------
    >>> counts = np.array([[2, 9, 0], [1, 0, 0], [3, 0, 0], [2, 0, 0], [2, 0, 30], [1, 0, 0], [2, 8, 0], [3, 0, 0]])
    >>> burstiest(counts, np.ones(8), min_docs=1).tolist(), burstiest(counts, np.ones(8), min_docs=2).tolist()
    ([2, 1, 0], [1, 0])
    """
    if (k is not None and k < 1) or min_docs < 1:
        raise InputError(f"k={k!r} and min_docs={min_docs!r} must be at least 1")
    exposures = word_exposures(X, np.zeros((_n_rows(X), 1)), lengths)
    dispersion = mosteller_wallace(exposures.inputs.X, exposures.lengths).dispersion
    n_docs = np.bincount(exposures.inputs.X.indices, minlength=exposures.inputs.n_features)
    order = np.argsort(-dispersion, kind="stable")
    return order[n_docs[order] >= min_docs][:k]


def _n_rows(X: Any) -> int:
    array = X if sparse.issparse(X) else np.asarray(X)
    return int(array.shape[0]) if array.ndim else 0


def _check_words(words: Any, n_features: int) -> AnyArray:
    if words is None:
        return np.arange(n_features)
    chosen = np.asarray(words)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or (chosen < 0).any() or (chosen >= n_features).any():
        raise InputError(f"words={words!r} is not usable; pass columns of X, numbers from 0 to {n_features - 1}")
    return chosen
