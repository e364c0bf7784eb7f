"""Modes of the (Dirichlet–)negative-binomial hierarchy of every word, by safeguarded Newton steps.

The parameters of a word are θ_c = ln μ_c and v_c = ln ζ_c with ζ_c = ln(1 + δ_c). To the log-likelihood are added

    a gamma prior on each rate,            α_c θ_c − r_c μ_c   (pseudo-counts over a pseudo-exposure; 0 for none);
    the ratio prior of the rates,          see ``rates`` (β₁ < 0 for none);
    that of the dispersions, ξ = Σ ζ_c,    (β₃ − 1 + j)(Σ_c v_c − C ln ξ) + (β₅ − 1 + j) ln ξ − ξ β₅/β₄:
                                           η ~ Dirichlet(β₃), ξ ~ Gamma(shape β₅, mean β₄) (β₃ < 0 for none),

all of which are densities of (σ, τ, ξ, η) for j = 0 and of (θ, v) for j = 1.

The second half draws from the same posterior, and scores documents over draws.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.counts.contagion import (
    contagion_derivatives,
    log_rising_factorial,
    sum_log_dispersion,
    sum_log_levels,
    tail_counts,
    zero_mass,
)
from textbayes.kernels.counts.rates import add_ratio_derivatives, ratio_prior
from textbayes.kernels.counts.special import factor, normal, solve, stream, uniform

_LEAST_RATE, _MOST_RATE = -60.0, 30.0
_LEAST_SPREAD, _MOST_SPREAD = math.log(1e-9), math.log(math.log1p(1e4))  # of v: δ from 1e-9 to 10,000


@njit(cache=True, nogil=True)
def spread_prior(logs, betas, j):  # type: ignore[no-untyped-def]
    """The log-prior of one word's v; ``betas`` holds β₁ … β₅."""
    total, xi = 0.0, 0.0
    for c in range(len(logs)):
        total += logs[c]
        xi += math.exp(logs[c])
    log_xi, power = math.log(xi), betas[2] - 1.0 + j
    return power * (total - len(logs) * log_xi) + (betas[4] - 1.0 + j) * log_xi - xi * betas[4] / betas[3]


@njit(cache=True, nogil=True)
def add_spread_derivatives(logs, betas, j, gradient, hessian):  # type: ignore[no-untyped-def]
    """Add the derivatives of ``spread_prior`` to the last C rows of a gradient and of a Hessian."""
    n_classes, xi = len(logs), 0.0
    for c in range(n_classes):
        xi += math.exp(logs[c])
    power, shape = betas[2] - 1.0 + j, betas[4] - 1.0 + j
    slope = (shape - power * n_classes) / xi - betas[4] / betas[3]
    bend = (power * n_classes - shape) / (xi * xi)
    for k in range(n_classes):
        zeta = math.exp(logs[k])
        gradient[n_classes + k] += power + zeta * slope
        hessian[n_classes + k, n_classes + k] += zeta * slope
        for m in range(n_classes):
            hessian[n_classes + k, n_classes + m] += zeta * math.exp(logs[m]) * bend


@njit(cache=True, nogil=True)
def word_derivatives(  # type: ignore[no-untyped-def]
    tails, n_tails, occurrences, omega, bounds, tables, sums, first, width, pseudo, shares, betas, j, point,
    gradient, hessian,
):  # fmt: skip
    """The log-posterior of one word at ``point`` = (θ, v); its gradient and Hessian into the arrays given."""
    n_classes, total = len(n_tails), 0.0
    gradient[:] = 0.0
    hessian[:] = 0.0
    if betas[0] >= 0.0:
        total += ratio_prior(point[:n_classes], shares, betas[0], betas[1], j)
        add_ratio_derivatives(point[:n_classes], shares, betas[0], betas[1], j, gradient, hessian)
    if betas[2] >= 0.0:
        total += spread_prior(point[n_classes:], betas, j)
        add_spread_derivatives(point[n_classes:], betas, j, gradient, hessian)
    for c in range(n_classes):
        rate, zeta = math.exp(point[c]), math.exp(point[n_classes + c])
        delta = math.expm1(zeta)
        start, stop = bounds[c], bounds[c + 1]
        value, by_rate, by_delta, rate_rate, rate_delta, delta_delta = contagion_derivatives(
            tails[c], n_tails[c], occurrences[start:stop], omega[start:stop],
            tables[c], sums[c], first, width, rate, delta,
        )  # fmt: skip
        chain = (1.0 + delta) * zeta  # dδ/dv
        k = n_classes + c
        total += value + pseudo[0, c] * point[c] - pseudo[1, c] * rate
        gradient[c] += rate * by_rate + pseudo[0, c] - pseudo[1, c] * rate
        gradient[k] += chain * by_delta
        hessian[c, c] += rate * (by_rate + rate * rate_rate) - pseudo[1, c] * rate
        hessian[k, k] += chain * (chain * delta_delta + (1.0 + zeta) * by_delta)
        cross = rate * chain * rate_delta
        hessian[c, k] += cross
        hessian[k, c] += cross
    return total


@njit(cache=True, nogil=True)
def read_word(class_of, values, weights, begin, end, tails, n_tails, bounds):  # type: ignore[no-untyped-def]
    """Where the classes of one word's documents begin, and the counts n_i of each class, into the arrays given."""
    place = 0
    for c in range(len(n_tails)):
        bounds[c] = place
        while begin + place < end and class_of[begin + place] == c:
            place += 1
        lo, hi = begin + bounds[c], begin + place
        tails[c, : n_tails[c]] = 0.0
        n_tails[c] = tail_counts(values[lo:hi], weights[lo:hi], tails[c])
    bounds[len(n_tails)] = place


@njit(cache=True, nogil=True)
def contagion_modes(  # type: ignore[no-untyped-def]
    indptr, values, weights, omega, class_of, tables, sums, first, width, pseudo, shares, betas, j, start, tol, max_iter
):
    """Modes of all words: points (V, 2C), Newton decrements, and Laplace's log-evidence with j = 1.

    The columns (CSC ``indptr``) hold, document after document in the order of the classes ``class_of``, the count, the
    weight and the length of each that has the word. ``pseudo`` is (V or 1, 2, C), ``shares`` (V or 1, C).
    """
    n_words, n_classes = len(indptr) - 1, len(tables)
    modes, left, evidence = start.copy(), np.empty(n_words), np.empty(n_words)
    size = 2 * n_classes
    gradient, step, trial, new_gradient = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    hessian, new_hessian, lower = np.empty((size, size)), np.empty((size, size)), np.zeros((size, size))
    most = 1
    for t in range(len(values)):
        most = max(most, int(values[t]) + 1)
    tails, n_tails, bounds = (
        np.zeros((n_classes, most)),
        np.zeros(n_classes, np.int64),
        np.zeros(n_classes + 1, np.int64),
    )
    occurrences = values * weights
    for w in range(n_words):
        begin, end = indptr[w], indptr[w + 1]
        read_word(class_of, values, weights, begin, end, tails, n_tails, bounds)
        x, length, point = occurrences[begin:end], omega[begin:end], modes[w]
        extra, own = pseudo[w if len(pseudo) > 1 else 0], shares[w if len(shares) > 1 else 0]
        value = word_derivatives(
            tails, n_tails, x, length, bounds, tables, sums, first, width, extra, own, betas, j, point,
            gradient, hessian,
        )  # fmt: skip
        damping, decrement = 0.0, np.inf
        for _ in range(max_iter):
            while not factor(hessian, damping, lower):
                damping = max(4.0 * damping, 1e-3)
            decrement = solve(lower, gradient, step)
            if decrement <= tol:
                break
            longest = 0.0
            for k in range(size):
                longest = max(longest, abs(step[k]))
            scale, moved = min(1.0, 2.0 / longest), 0.0
            for k in range(size):
                low, high = (_LEAST_RATE, _MOST_RATE) if k < n_classes else (_LEAST_SPREAD, _MOST_SPREAD)
                trial[k] = min(max(point[k] + scale * step[k], low), high)
                moved = max(moved, abs(trial[k] - point[k]))
            if moved <= 1e-9:  # at a bound, where a likelihood without a prior may well have its maximum
                decrement = 0.0
                break
            new = word_derivatives(
                tails, n_tails, x, length, bounds, tables, sums, first, width, extra, own, betas, j, trial,
                new_gradient, new_hessian,
            )  # fmt: skip
            if new >= value - 1e-13 * (1.0 + abs(value)):
                value = new
                point[:] = trial
                gradient[:] = new_gradient
                hessian[:] = new_hessian
                damping = 0.0 if damping < 1e-3 else 0.1 * damping
            else:
                damping = max(10.0 * damping, 1e-3)
                if damping > 1e12:
                    break
        left[w] = decrement
        evidence[w] = value + n_classes * math.log(2.0 * math.pi)
        for k in range(size):
            evidence[w] -= math.log(lower[k, k])
    return modes, left, evidence


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
            low, high = (_LEAST_RATE, _MOST_RATE) if rate else (_LEAST_SPREAD, _MOST_SPREAD)
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
                low, high = (_LEAST_SPREAD, _MOST_SPREAD) if spread else (_LEAST_RATE, _MOST_RATE)
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
