"""Burstiness of words: how far each word's counts are from Poisson, and whether the negative binomial fits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse, special

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.lexical.exposures import mosteller_wallace, word_exposures


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

    Reference: the contagion paper, §2.2 and Table 1; the tests are in :mod:`textbayes.lexical.burstiness`.

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


_POISSON_BELOW = 1e-7
"""κ = μ/δ is then so large that the negative binomial's distribution function is computed as the Poisson's."""


def overdispersion(counts: FloatArray, lengths: FloatArray) -> float:
    """Score statistic of overdispersion, z = Σ_d [(x_d − λ_d)² − x_d] / √(2 Σ λ_d²), λ_d = ω_d n/Ω.

    The derivative of the negative binomial's log-likelihood (variance λ(1 + ωδ)) by δ at 0 is
    Σ [(x_d − λ_d)² − x_d] / (2μ); its terms have variance λ²/(2μ²) and are uncorrelated with the score of μ.

    Reference: Dean & Lawless (1989), "Tests for detecting overdispersion in Poisson regression models", JASA 84.

    It is the score of δ at 0, about N(0, 1) for Poisson counts.

    Parameters
    ----------
    counts, lengths : arrays (n_docs,)
        Of one word, and thousands of words of each document.
    """
    total = counts.sum()
    means = lengths * (total / lengths.sum())
    return float((np.square(counts - means).sum() - total) / np.sqrt(2.0 * np.square(means).sum()))


def overdispersion_p_value(counts: FloatArray, lengths: FloatArray, n_draws: int, rng: np.random.Generator) -> float:
    """Exact p-value P(z ≥ observed) for Poisson counts: their total falls into documents by length alone.

    That multinomial distribution has no unknown parameter, so samples of it give an exact test however rare the word,
    where the normal approximation of z is far off. (1 + #{≥}) / (1 + ``n_draws``).

    Parameters
    ----------
    counts, lengths : arrays (n_docs,)
        Of one word, and thousands of words of each document.
    n_draws : int
    rng : Generator
    """
    total = int(counts.sum())
    means = lengths * (total / lengths.sum())
    sampled = rng.multinomial(total, lengths / lengths.sum(), n_draws)
    spread, observed = np.square(sampled - means).sum(axis=1), np.square(counts - means).sum()
    return float((1 + (spread >= observed * (1.0 - 1e-12)).sum()) / (1 + n_draws))


def two_sample_ks(
    counts: FloatArray, lengths: FloatArray, rate: float, delta: float, rng: np.random.Generator
) -> float:
    """P-value of a two-sample Kolmogorov–Smirnov test of counts and a sample of the fitted model, as in the paper.

    The sample is of the same documents. The p-value is that for continuous data and known parameters; ties and the
    fit make it too large, so a word that fails does not fit, while one that passes may not either.

    Reference: the contagion paper, Table 1.

    Parameters
    ----------
    counts, lengths : arrays (n_docs,)
        Of one word, and thousands of words of each document.
    rate, delta : float
        The fitted model.
    rng : Generator
    """
    from scipy import stats  # takes long to import

    drawn = sample_counts(lengths, rate, delta, 1, rng)[0]
    return float(stats.ks_2samp(counts, drawn, method="asymp").pvalue)


def bootstrap_fit(
    counts: FloatArray, lengths: FloatArray, delta: float, n_draws: int, rng: np.random.Generator
) -> float:
    """P-value of sup |F_n(u) − u| of mid-distribution values u_d = ½[F_d(x_d) + F_d(x_d − 1)], by parametric bootstrap.

    F_d is the fitted distribution of document d with its own length. Samples of the fitted model are fitted anew, so
    that ties and estimated parameters are in the null distribution as they are in the data. ``delta`` is the word's
    δ̂, or 0 to test the Poisson.

    Reference: Stute, González Manteiga & Presedo Quindimil (1993), "Bootstrap based goodness-of-fit-tests", Metrika 40.

    Parameters
    ----------
    counts, lengths : arrays (n_docs,)
        Of one word, and thousands of words of each document.
    delta : float
    n_draws : int
    rng : Generator
    """
    rate = counts.sum() / lengths.sum()
    negative_binomial = delta > 0.0
    observed = _distance(counts[None, :], lengths, np.array([delta]))[0]
    samples = sample_counts(lengths, rate, delta, n_draws, rng)
    refitted = _dispersion(samples, lengths) if negative_binomial else np.zeros(n_draws)
    return float((1 + (_distance(samples, lengths, refitted) >= observed - 1e-12).sum()) / (1 + n_draws))


def sample_counts(lengths: FloatArray, rate: float, delta: float, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw ``n`` samples of the counts of all documents, (n, n_docs): negative binomial as a gamma mixture of Poissons.

    Parameters
    ----------
    lengths : array (n_docs,)
        Thousands of words of each document.
    rate, delta : float
        Mean per thousand words, and dispersion.
    n : int
    rng : Generator
    """
    means = rate * np.ones((n, len(lengths))) if delta == 0.0 else rng.gamma(rate / delta, delta, (n, len(lengths)))
    return rng.poisson(means * lengths).astype(np.float64)


def _dispersion(samples: FloatArray, lengths: FloatArray) -> FloatArray:
    """δ̂ of Mosteller & Wallace of each row; see :func:`~textbayes.lexical.exposures.mosteller_wallace`."""
    length, n_docs = lengths.sum(), len(lengths)
    rate = samples.sum(axis=1) / length
    variance = (np.square(samples) / lengths).sum(axis=1) - rate * rate * length
    r = length - np.square(lengths).sum() / length
    delta = np.zeros(len(samples))
    np.divide(variance - rate * (n_docs - 1), rate * r, out=delta, where=rate > 0.0)
    return np.maximum(delta, 0.0)


def _distance(samples: FloatArray, lengths: FloatArray, delta: FloatArray) -> FloatArray:
    """sup |F_n(u) − u| of each row's mid-distribution values."""
    rate = samples.sum(axis=1) / lengths.sum()
    values = 0.5 * (_cdf(samples, lengths, rate, delta) + _cdf(samples - 1.0, lengths, rate, delta))
    values.sort(axis=1)
    n = samples.shape[1]
    steps = np.arange(n) / n
    result: FloatArray = np.maximum(steps + 1.0 / n - values, values - steps).max(axis=1)
    return result


def _cdf(k: FloatArray, lengths: FloatArray, rate: FloatArray, delta: FloatArray) -> FloatArray:
    """P(X ≤ k) of each row's model and each column's length; 0 for k = −1."""
    out = np.zeros(k.shape)
    means = rate[:, None] * lengths
    bursty = (delta > _POISSON_BELOW * rate) & (rate > 0.0)
    out[~bursty] = special.gammaincc(np.maximum(k[~bursty] + 1.0, 1.0), means[~bursty])
    if bursty.any():
        shape = (rate[bursty] / delta[bursty])[:, None]
        success = 1.0 / (1.0 + lengths * delta[bursty][:, None])
        out[bursty] = special.betainc(shape, np.maximum(k[bursty] + 1.0, 1.0), success)
    out[k < 0.0] = 0.0
    return out
