"""Draws from the Dirichlet–negative-binomial posterior of every word, and documents scored over draws."""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.counts.contagion import log_rising_factorial, sum_log_dispersion, sum_log_levels, zero_mass
from textbayes.kernels.counts.contagion_modes import read_word, spread_prior
from textbayes.kernels.counts.rates import ratio_prior
from textbayes.kernels.counts.special import normal, stream, uniform

_LEAST, _MOST = -60.0, 30.0
_LEAST_SPREAD, _MOST_SPREAD = math.log(1e-9), math.log(math.log1p(1e4))  # δ from 1e-9 to 10,000


@njit(cache=True, nogil=True)
def class_part(tails, n_tails, x, omega, table, sums, first, width, pseudo, c, theta, v, cache):  # type: ignore[no-untyped-def]
    """The log-likelihood of one class into ``cache[c, 3]``; ``cache[c, :3]`` = δ, A(δ) and Σ x ln(1 + ωδ) are reused.

    They depend on v alone, so that a move of the rate reads no document.
    """
    if v != cache[c, 4]:
        delta = math.expm1(math.exp(v))
        mass, _, _ = zero_mass(table, sums, first, width, delta)
        cache[c, 0], cache[c, 1], cache[c, 2], cache[c, 4] = delta, mass, sum_log_dispersion(x, omega, delta), v
    rate = math.exp(theta)
    cache[c, 3] = sum_log_levels(tails, n_tails, rate, cache[c, 0]) - rate * cache[c, 1] - cache[c, 2]
    cache[c, 3] += pseudo[0, c] * theta - pseudo[1, c] * rate


@njit(cache=True, nogil=True)
def sample_contagion(  # type: ignore[no-untyped-def]
    indptr, values, weights, omega, class_of, tables, sums, first, width, pseudo, shares, betas, start, scales,
    first_word, last_word, seed, chain, warmup, n_draws, thin,
):  # fmt: skip
    """Metropolis within Gibbs over (θ, v) of the words ``first_word`` to ``last_word``, as ``rates`` does for θ.

    A sweep moves each θ_c, then all of them together (σ), each v_c, then all of them together (ξ). ``scales`` is (V, 2C
    + 2). Returns draws (n_draws, words, 2C) and the share of proposals taken after the warm-up.
    """
    n_words, n_classes = last_word - first_word, len(tables)
    size, n_moves = 2 * n_classes, 2 * n_classes + 2
    draws, taken = np.empty((n_draws, n_words, size)), np.zeros((n_words, n_moves))
    most = 1
    for t in range(indptr[first_word], indptr[last_word]):
        most = max(most, int(values[t]) + 1)
    tails, n_tails, bounds = (
        np.zeros((n_classes, most)),
        np.zeros(n_classes, np.int64),
        np.zeros(n_classes + 1, np.int64),
    )
    point, trial, step = np.empty(size), np.empty(size), np.empty(n_moves)
    cache, trial_cache = np.empty((n_classes, 5)), np.empty((n_classes, 5))
    for w in range(n_words):
        begin, end = indptr[first_word + w], indptr[first_word + w + 1]
        read_word(class_of, values, weights, begin, end, tails, n_tails, bounds)
        x, length = values[begin:end] * weights[begin:end], omega[begin:end]
        extra = pseudo[first_word + w if len(pseudo) > 1 else 0]
        own = shares[first_word + w if len(shares) > 1 else 0]
        state = stream(seed, chain, first_word + w)
        for k in range(n_moves):
            step[k] = scales[first_word + w, k]
        for k in range(size):
            noise, state = normal(state)
            rate = k < n_classes
            value = start[first_word + w, k] + (2.0 * step[n_classes] if rate else step[n_moves - 1]) * noise
            low, high = (_LEAST, _MOST) if rate else (_LEAST_SPREAD, _MOST_SPREAD)
            point[k] = min(max(value, low), high)
        cache[:, 4] = np.nan
        for c in range(n_classes):
            lo, hi = bounds[c], bounds[c + 1]
            class_part(
                tails[c], n_tails[c], x[lo:hi], length[lo:hi], tables[c], sums[c], first, width, extra, c,
                point[c], point[n_classes + c], cache,
            )  # fmt: skip
        prior = ratio_prior(point[:n_classes], own, betas[0], betas[1], 1.0)
        spread_log = spread_prior(point[n_classes:], betas, 1.0)
        for sweep in range(warmup + n_draws * thin):
            for move in range(n_moves):
                noise, state = normal(state)
                luck, state = uniform(state)
                spread = move > n_classes
                one = move - n_classes - 1 if spread else move  # the class that moves; C for all of them
                offset = n_classes if spread else 0
                low, high = (_LEAST_SPREAD, _MOST_SPREAD) if spread else (_LEAST, _MOST)
                trial[:] = point
                trial_cache[:] = cache
                gain = 0.0
                for c in range(n_classes):
                    if one != n_classes and c != one:
                        continue
                    trial[offset + c] = point[offset + c] + step[move] * noise
                    if not low <= trial[offset + c] <= high:  # outside there is no probability
                        gain = -np.inf
                        break
                    lo, hi = bounds[c], bounds[c + 1]
                    class_part(
                        tails[c], n_tails[c], x[lo:hi], length[lo:hi], tables[c], sums[c], first, width, extra, c,
                        trial[c], trial[n_classes + c], trial_cache,
                    )  # fmt: skip
                    gain += trial_cache[c, 3] - cache[c, 3]
                new_prior, new_spread = prior, spread_log
                if gain > -np.inf:
                    if spread:
                        new_spread = spread_prior(trial[n_classes:], betas, 1.0)
                    else:
                        new_prior = ratio_prior(trial[:n_classes], own, betas[0], betas[1], 1.0)
                    gain += new_prior - prior + new_spread - spread_log
                chance = math.exp(min(gain, 0.0))
                if luck < chance:
                    point[:] = trial
                    cache[:] = trial_cache
                    prior, spread_log = new_prior, new_spread
                    if sweep >= warmup:
                        taken[w, move] += 1.0
                if sweep < warmup:
                    step[move] = min(step[move] * math.exp((chance - 0.44) / math.sqrt(1.0 + 0.25 * sweep)), 20.0)
            after = sweep - warmup
            if after >= 0 and after % thin == thin - 1:
                for k in range(size):
                    draws[after // thin, w, k] = point[k]
    return draws, taken / max(n_draws * thin, 1)


@njit(cache=True, nogil=True)
def log_mean(x, omega, rates, deltas):  # type: ignore[no-untyped-def]
    """ln of the mean over draws of p(x | ω, μ, δ)/ω^x·x!: what a word says when its parameters are integrated out."""
    largest, total = -np.inf, 0.0
    whole = math.floor(x)
    for s in range(len(rates)):
        rate, delta = rates[s], deltas[s]
        z = omega * delta
        log = math.log1p(z)
        value = -rate * (omega * log / z if z > 1e-290 else omega) - x * log
        value += log_rising_factorial(rate, delta, whole)
        if x > whole:
            value += (x - whole) * math.log(rate + whole * delta)
        if value > largest:
            total = total * math.exp(largest - value) + 1.0 if largest > -np.inf else 1.0
            largest = value
        else:
            total += math.exp(value - largest)
    return largest + math.log(total / len(rates))


@njit(cache=True, nogil=True)
def integrated_absent(omega, rates, deltas):  # type: ignore[no-untyped-def]
    """−Σ_w ln mean_s p(0 | ω) per length: (n_lengths, C) from draws (V, C, S)."""
    n_words, n_classes, _ = rates.shape
    out = np.zeros((len(omega), n_classes))
    for k in range(len(omega)):
        for w in range(n_words):
            for c in range(n_classes):
                out[k, c] -= log_mean(0.0, omega[k], rates[w, c], deltas[w, c])
    return out


@njit(cache=True, nogil=True)
def integrated_present(indptr, indices, data, omega, rates, deltas):  # type: ignore[no-untyped-def]
    """Σ_w [ln mean_s p(x | ω) − ln mean_s p(0 | ω)] over the words of each document, (n_docs, C)."""
    n_docs, n_classes = len(indptr) - 1, rates.shape[1]
    out = np.zeros((n_docs, n_classes))
    for d in range(n_docs):
        for t in range(indptr[d], indptr[d + 1]):
            w = indices[t]
            for c in range(n_classes):
                out[d, c] += log_mean(data[t], omega[d], rates[w, c], deltas[w, c])
                out[d, c] -= log_mean(0.0, omega[d], rates[w, c], deltas[w, c])
    return out
