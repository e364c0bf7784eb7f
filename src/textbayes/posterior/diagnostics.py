"""Convergence diagnostics of chains: split R-hat and effective sample sizes.

Arrays are (n_chains, n_draws, …); every further axis is looked at by itself.

References: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC, Bayesian Analysis 16, 667–718; Geyer (1992), Practical Markov chain
Monte Carlo, Statistical Science 7, 473–483 (where to stop summing autocorrelations).
"""

from __future__ import annotations

import numpy as np
from scipy import fft, special, stats

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray

LEAST_DRAWS = 4  # of a chain, for two halves with a variance each
_AT_ONCE = 2**22  # numbers that are transformed together


def effective_sample_size(draws: AnyArray) -> FloatArray:
    """Effective sample size for the mean of draws: n/(1 + 2 Σ_t ρ_t) with chains split in halves.

    Draws that never change are worth 1. Antithetic draws may be worth more than their number, at most n·log₁₀ n.

    >>> rng = np.random.default_rng(0)
    >>> noise = rng.standard_normal((4, 1000))
    >>> ar = np.zeros_like(noise)
    >>> for t in range(1, 1000):
    ...     ar[:, t] = 0.9 * ar[:, t - 1] + noise[:, t]
    >>> bool(abs(effective_sample_size(ar) - 4000 * 0.1 / 1.9) < 60)  # (1 − ρ)/(1 + ρ)
    True
    """
    return _by_parts(_split(draws), _effective)


def bulk_effective_sample_size(draws: AnyArray) -> FloatArray:
    """Effective sample size of the draws' normal scores, which exist whatever the tails: how well the bulk is known."""
    return _by_parts(_split(draws), lambda part: _effective(_normal_scores(part)))


def tail_effective_sample_size(draws: AnyArray) -> FloatArray:
    """Effective sample size for the 5% and the 95% quantile, the smaller one: how well the ends are known."""
    return _by_parts(_split(draws), _tail_effective)


def split_r_hat(draws: AnyArray) -> FloatArray:
    """Split R-hat, √(total variance / variance within) of half chains' normal scores, or of distances from the median.

    1 where all halves agree in place and spread; above 1.01 they do not yet.
    """
    return _by_parts(
        _split(draws), lambda part: np.fmax(_r_hat(_normal_scores(part)), _r_hat(_normal_scores(_fold(part))))
    )


def _split(draws: AnyArray) -> FloatArray:
    """Half chains in double precision, one column per quantity."""
    draws = np.asarray(draws)
    if draws.ndim < 2 or draws.shape[1] < LEAST_DRAWS:
        raise InputError(
            f"draws of shape {draws.shape} are given; pass (n_chains, n_draws, …) with {LEAST_DRAWS} draws at least"
        )
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    return halves.astype(np.float64)


def _by_parts(halves: FloatArray, function: object) -> FloatArray:
    """The function of a bounded number of quantities at a time, which fits into memory however many words there are."""
    n_chains, n_draws, *rest = halves.shape
    flat = halves.reshape(n_chains, n_draws, -1)
    at_once = max(1, _AT_ONCE // (n_chains * n_draws))
    parts = [function(flat[:, :, k : k + at_once]) for k in range(0, flat.shape[2], at_once)]  # type: ignore[operator]
    return np.concatenate(parts).reshape(rest)


def _effective(x: FloatArray) -> FloatArray:
    n_chains, n_draws, _ = x.shape
    n = n_chains * n_draws
    centred = x - x.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * n_draws)
    power = np.abs(fft.rfft(centred, size, axis=1)) ** 2
    covariance = fft.irfft(power, size, axis=1)[:, :n_draws].mean(axis=0) / n_draws
    within = covariance[0] * n_draws / (n_draws - 1.0)
    total = covariance[0] + (x.mean(axis=1).var(axis=0, ddof=1) if n_chains > 1 else 0.0)
    constant = total <= 1e-300
    rho = 1.0 - (within - covariance) / np.where(constant, 1.0, total)
    rho[0] = 1.0
    even = n_draws // 2
    pairs = rho[0 : 2 * even : 2] + rho[1 : 2 * even : 2]
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    pairs = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)  # Geyer's monotone sequence
    time = np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0 / np.log10(max(n, 10)))
    return np.where(constant, 1.0, n / time)


def _tail_effective(x: FloatArray) -> FloatArray:
    ends = np.quantile(x, (0.05, 0.95), axis=(0, 1))
    return np.minimum(*(_effective((x <= end).astype(np.float64)) for end in ends))


def _r_hat(x: FloatArray) -> FloatArray:
    n_draws = x.shape[1]
    within = x.var(axis=1, ddof=1).mean(axis=0)
    between = x.mean(axis=1).var(axis=0, ddof=1)
    constant = within <= 1e-300
    ratio = (n_draws - 1.0) / n_draws + between / np.where(constant, 1.0, within)
    return np.where(constant, np.where(between <= 1e-300, 1.0, np.inf), np.sqrt(ratio))


def _normal_scores(x: FloatArray) -> FloatArray:
    ranks = stats.rankdata(x.reshape(-1, x.shape[2]), axis=0)
    return np.asarray(special.ndtri((ranks - 0.375) / (len(ranks) + 0.25))).reshape(x.shape)


def _fold(x: FloatArray) -> FloatArray:
    return np.abs(x - np.median(x, axis=(0, 1)))
