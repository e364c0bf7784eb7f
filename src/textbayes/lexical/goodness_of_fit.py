"""Do Poisson or negative-binomial counts look like those of a word? Tests that know counts are discrete."""

from __future__ import annotations

import numpy as np
from scipy import special

from textbayes.core.types import FloatArray

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
    """δ̂ of Mosteller & Wallace of each row; see :func:`~textbayes.lexical.dispersion.mosteller_wallace`."""
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
