"""The Dirichlet–Poisson hierarchy of one word: log-posterior, derivatives, its mode, and draws from it.

A word has the counts N_c, over T_c thousand words of class c, and rates μ_c = e^{θ_c}, σ = Σ μ_c, τ_c = μ_c/σ. With
A = β₁ + β₂σ and shares w_c (Σ w_c = C; all 1 in the symmetric case) τ | σ ~ Dirichlet(w_c A), σ flat, and

    f(θ) = Σ_c [N_c θ_c − T_c μ_c] + Σ_c (w_c A − 1 + j) ln τ_c + ln Γ(C A) − Σ_c ln Γ(w_c A) + j ln σ.

j = 0 is the density of (σ, τ), j = 1 that of θ: the Jacobian is σ Π τ_c. Derivatives, with D = Σ_c w_c ln τ_c and the
derivative Q of everything but the likelihood in σ at fixed θ,

    f_k = N_k − T_k μ_k + w_k A + j − 1 + μ_k Q,
    Q   = β₂ D − (A + j − 1) C/σ + β₂ [C ψ(C A) − Σ_c w_c ψ(w_c A)] + j/σ,
    f_kl = [k=l] (μ_k Q − T_k μ_k) + μ_k μ_l Q′ + β₂ (w_k μ_l + w_l μ_k),
    Q′  = −2 β₂ C/σ + (A + j − 1) C/σ² + β₂² [C² ψ′(C A) − Σ_c w_c² ψ′(w_c A)] − j/σ².
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.counts.special import digamma, factor, log_gamma, normal, solve, stream, trigamma, uniform

_LEAST, _MOST = -60.0, 30.0  # log-rates stay inside: what lies outside is no rate of a word


@njit(cache=True, nogil=True)
def ratio_prior(log_rates, shares, beta_1, beta_2, j):  # type: ignore[no-untyped-def]
    """The log-prior of one word's rates: f without the likelihood."""
    n_classes = len(log_rates)
    sigma = 0.0
    for c in range(n_classes):
        sigma += math.exp(log_rates[c])
    log_sigma, a = math.log(sigma), beta_1 + beta_2 * sigma
    total = log_gamma(n_classes * a) + j * log_sigma
    last, last_gamma = -1.0, 0.0
    for c in range(n_classes):
        own = shares[c] * a
        if own != last:  # all shares are equal in the symmetric case: one ln Γ for all classes
            last, last_gamma = own, log_gamma(own)
        total += (own - 1.0 + j) * (log_rates[c] - log_sigma) - last_gamma
    return total


@njit(cache=True, nogil=True)
def add_ratio_derivatives(log_rates, shares, beta_1, beta_2, j, gradient, hessian):  # type: ignore[no-untyped-def]
    """Add the derivatives of ``ratio_prior`` to the first C rows of a gradient and of a Hessian."""
    n_classes = len(log_rates)
    rates, sigma = np.empty(n_classes), 0.0
    for c in range(n_classes):
        rates[c] = math.exp(log_rates[c])
        sigma += rates[c]
    log_sigma, a = math.log(sigma), beta_1 + beta_2 * sigma
    spread, psi, psi_1 = 0.0, 0.0, 0.0
    last, last_psi, last_psi_1 = -1.0, 0.0, 0.0
    for c in range(n_classes):
        own = shares[c] * a
        spread += shares[c] * (log_rates[c] - log_sigma)
        if own != last and beta_2 > 0.0:
            last, last_psi, last_psi_1 = own, digamma(own), trigamma(own)
        psi -= shares[c] * last_psi
        psi_1 -= shares[c] * shares[c] * last_psi_1
    if beta_2 > 0.0:
        psi += n_classes * digamma(n_classes * a)
        psi_1 += n_classes * n_classes * trigamma(n_classes * a)
    slope = beta_2 * (spread + psi) - (a + j - 1.0) * n_classes / sigma + j / sigma
    bend = -2.0 * beta_2 * n_classes / sigma + ((a + j - 1.0) * n_classes - j) / (sigma * sigma)
    bend += beta_2 * beta_2 * psi_1
    for k in range(n_classes):
        gradient[k] += shares[k] * a + j - 1.0 + rates[k] * slope
        hessian[k, k] += rates[k] * slope
        for m in range(n_classes):
            hessian[k, m] += rates[k] * rates[m] * bend + beta_2 * (shares[k] * rates[m] + shares[m] * rates[k])


@njit(cache=True, nogil=True)
def rate_value(counts, exposure, log_rates, shares, beta_1, beta_2, j):  # type: ignore[no-untyped-def]
    """f(θ)."""
    total = ratio_prior(log_rates, shares, beta_1, beta_2, j)
    for c in range(len(counts)):
        total += counts[c] * log_rates[c] - exposure[c] * math.exp(log_rates[c])
    return total


@njit(cache=True, nogil=True)
def rate_derivatives(counts, exposure, log_rates, shares, beta_1, beta_2, j, gradient, hessian):  # type: ignore[no-untyped-def]
    """Gradient and Hessian of f, written into the arrays given."""
    gradient[:] = 0.0
    hessian[:] = 0.0
    add_ratio_derivatives(log_rates, shares, beta_1, beta_2, j, gradient, hessian)
    for c in range(len(counts)):
        expected = exposure[c] * math.exp(log_rates[c])
        gradient[c] += counts[c] - expected
        hessian[c, c] -= expected


@njit(cache=True, nogil=True)
def rate_modes(counts, exposure, shares, beta_1, beta_2, j, start, tol, max_iter):  # type: ignore[no-untyped-def]
    """Modes of all words by Newton's method, safeguarded by damping and by never stepping downhill.

    ``counts`` (V, C), ``exposure`` (C,), ``shares`` (V, C), or (1, C) for all words alike, ``start`` (V, C) log-rates.
    Returns log-rates, Newton decrements (twice what is left to gain), and Laplace's log-evidence with j = 1.
    """
    n_words, n_classes = counts.shape
    modes, left, evidence = start.copy(), np.empty(n_words), np.empty(n_words)
    gradient, step = np.empty(n_classes), np.empty(n_classes)
    hessian, lower = np.empty((n_classes, n_classes)), np.zeros((n_classes, n_classes))
    trial = np.empty(n_classes)
    for w in range(n_words):
        own, theta = shares[w if len(shares) > 1 else 0], modes[w]
        value = rate_value(counts[w], exposure, theta, own, beta_1, beta_2, j)
        damping, decrement = 0.0, np.inf
        for _ in range(max_iter):
            rate_derivatives(counts[w], exposure, theta, own, beta_1, beta_2, j, gradient, hessian)
            while not factor(hessian, damping, lower):
                damping = max(4.0 * damping, 1e-3)
            decrement = solve(lower, gradient, step)
            if decrement <= tol and damping == 0.0:
                for c in range(n_classes):  # the last step costs nothing more and squares the error
                    theta[c] += step[c]
                break
            largest = 0.0
            for c in range(n_classes):
                largest = max(largest, abs(step[c]))
            size = min(1.0, 4.0 / largest) if largest > 0.0 else 1.0
            for c in range(n_classes):
                trial[c] = min(max(theta[c] + size * step[c], _LEAST), _MOST)
            new = rate_value(counts[w], exposure, trial, own, beta_1, beta_2, j)
            if new >= value - 1e-12 * (1.0 + abs(value)):
                value = new
                theta[:] = trial
                damping = 0.0 if damping < 1e-3 else 0.1 * damping
            else:
                damping = max(10.0 * damping, 1e-3)
                if damping > 1e12:
                    break
        left[w] = decrement
        evidence[w] = value + 0.5 * n_classes * math.log(2.0 * math.pi)
        for c in range(n_classes):
            evidence[w] -= math.log(lower[c, c])
    return modes, left, evidence


@njit(cache=True, nogil=True)
def sum_prior(sigma, weighted, shares, beta_1, beta_2):  # type: ignore[no-untyped-def]
    """``ratio_prior`` with j = 1 from σ and Σ_c w_c θ_c, up to a constant of β₁ where β₂ = 0: O(1) if symmetric."""
    n_classes = len(shares)
    log_sigma, a = math.log(sigma), beta_1 + beta_2 * sigma
    total = a * (weighted - n_classes * log_sigma) + log_sigma
    if beta_2 > 0.0:
        total += log_gamma(n_classes * a)
        last, last_gamma = -1.0, 0.0
        for c in range(n_classes):
            if shares[c] != last:
                last, last_gamma = shares[c], log_gamma(shares[c] * a)
            total -= last_gamma
    return total


@njit(cache=True, nogil=True)
def sample_rates(  # type: ignore[no-untyped-def]
    counts, exposure, shares, beta_1, beta_2, start, scales, first_word, seed, chain, warmup, n_draws, thin
):
    """Metropolis within Gibbs over the log-rates, each word by itself: class after class, then all classes together.

    The last step of a sweep moves σ and leaves τ, which single classes do slowly where the prior holds them together.
    Proposals are normal, with ``scales`` (V, C + 1) that are adapted during the warm-up to be taken 44 % of the time
    (Robbins & Monro). Words are counted from ``first_word``, so that a part of them draws what it does in the whole.
    Returns draws (n_draws, V, C) of the log-rates and the share of proposals taken after the warm-up.
    """
    n_words, n_classes = counts.shape
    draws, taken = np.empty((n_draws, n_words, n_classes)), np.zeros((n_words, n_classes + 1))
    theta, rates, width = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes + 1)
    for w in range(n_words):
        state = stream(seed, chain, first_word + w)
        own = shares[w if len(shares) > 1 else 0]
        occurrences = 0.0
        for k in range(n_classes + 1):
            width[k] = scales[w, k]
        for c in range(n_classes):
            noise, state = normal(state)
            theta[c] = min(max(start[w, c] + 2.0 * width[n_classes] * noise, _LEAST), _MOST)  # wider than it should end
            rates[c] = math.exp(theta[c])
            occurrences += counts[w, c]
        for sweep in range(warmup + n_draws * thin):
            sigma, weighted, expected = 0.0, 0.0, 0.0  # anew in each sweep, so that rounding does not add up
            for c in range(n_classes):
                sigma += rates[c]
                weighted += own[c] * theta[c]
                expected += exposure[c] * rates[c]
            prior = sum_prior(sigma, weighted, own, beta_1, beta_2)
            for k in range(n_classes + 1):
                noise, state = normal(state)
                luck, state = uniform(state)
                shift = width[k] * noise
                if k < n_classes:
                    shift = min(max(theta[k] + shift, _LEAST), _MOST) - theta[k]
                    new_rate = rates[k] * math.exp(shift)
                    new_sigma = max(sigma + (new_rate - rates[k]), new_rate)
                    new_expected = expected + exposure[k] * (new_rate - rates[k])
                    new_weighted, seen = weighted + own[k] * shift, counts[w, k]
                else:
                    growth = math.exp(shift)
                    new_rate, new_sigma, new_expected = 0.0, sigma * growth, expected * growth
                    new_weighted, seen = weighted + n_classes * shift, occurrences
                new_prior = sum_prior(new_sigma, new_weighted, own, beta_1, beta_2)
                gain = seen * shift - (new_expected - expected) + new_prior - prior
                chance = math.exp(min(gain, 0.0))
                if luck < chance:
                    sigma, weighted, expected, prior = new_sigma, new_weighted, new_expected, new_prior
                    if k < n_classes:
                        theta[k] += shift
                        rates[k] = new_rate
                    else:
                        for c in range(n_classes):
                            theta[c] += shift
                            rates[c] = math.exp(theta[c])
                    if sweep >= warmup:
                        taken[w, k] += 1.0
                if sweep < warmup:
                    width[k] *= math.exp((chance - 0.44) / math.sqrt(1.0 + 0.25 * sweep))
            after = sweep - warmup
            if after >= 0 and after % thin == thin - 1:
                for c in range(n_classes):
                    draws[after // thin, w, c] = theta[c]
    return draws, taken / max(n_draws * thin, 1)
