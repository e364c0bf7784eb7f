"""Sweeps over documents and words of soft clusters, and the optima of their Dirichlets.

References: Abramowitz & Stegun (1964), 6.1.41, 6.3.18 and 6.4.11 (asymptotic series of ln Γ, ψ and ψ′).

Each document, and each word, is computed by itself in a fixed order: results do not depend on how they are shared out.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit

_HALF_LOG_2PI = 0.9189385332046727
_SMALLEST = 1e-10
_HALVINGS = 30


@njit(cache=True, nogil=True)
def gamma_functions(x):  # type: ignore[no-untyped-def]
    """ln Γ(x), ψ(x) and ψ′(x) for x > 0, in one go: they share the shift to x ≥ 8 and a logarithm."""
    product, first, second = 1.0, 0.0, 0.0
    while x < 8.0:
        inverse = 1.0 / x
        product *= x
        first -= inverse
        second += inverse * inverse
        x += 1.0
    r = 1.0 / x
    y = r * r
    log = math.log(x)
    gamma = r * (
        1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691.0 / 360360))))
    )
    psi = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691.0 / 32760)))))
    prime = y * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y * (1.0 / 30 - y * (5.0 / 66 - y * 691.0 / 2730)))))
    log_gamma = (x - 0.5) * log - x + _HALF_LOG_2PI + gamma
    if product != 1.0:
        log_gamma -= math.log(product)
    return log_gamma, first + log - 0.5 * r - psi, second + r * (1.0 + 0.5 * r + prime)


@njit(cache=True, nogil=True)
def measure(counts, rates, point, log_means, curvatures):  # type: ignore[no-untyped-def]
    """The part of the bound that depends on the Dirichlet q(θ) = Dir(γ), γ = ``point``:

        g(γ) = Σ_k (a_k − γ_k) E ln θ_k + Σ_k ln Γ(γ_k) − ln Γ(γ_0) − Σ_k r_k γ_k/γ_0,   γ_0 = Σ_k γ_k,

    with a = ``counts`` (prior and expected counts together) and r = ``rates``. E ln θ_k = ψ(γ_k) − ψ(γ_0) is left in
    ``log_means`` and ψ′(γ_k) in ``curvatures``; returned are g and ψ′(γ_0).
    """
    total, mean, bound = 0.0, 0.0, 0.0
    for k in range(len(point)):
        total += point[k]
        mean += rates[k] * point[k]
        log_gamma, psi, prime = gamma_functions(point[k])
        bound += log_gamma
        log_means[k] = psi
        curvatures[k] = prime
    log_gamma, psi, prime = gamma_functions(total)
    bound -= log_gamma + mean / total
    for k in range(len(point)):
        log_means[k] -= psi
        bound += (counts[k] - point[k]) * log_means[k]
    return bound, prime


@njit(cache=True, nogil=True)
def improve(counts, rates, point, log_means, curvatures, bound, prime, work):  # type: ignore[no-untyped-def]
    """One step of γ = ``point`` that does not lower g; ``log_means`` and ``curvatures`` follow it.

    At the optimum γ = a − F⁻¹ ∇m, with m(γ) = Σ r_k γ_k/γ_0 and the Fisher information F = diag ψ′(γ_k) − ψ′(γ_0) 11ᵀ:
    the natural gradient n = a − F⁻¹ ∇m − γ is zero. By Sherman & Morrison [F⁻¹ ∇m]_k = γ_k e_k, which suggests the step
    γ_k ← a_k/(1 + e_k), as far as 1 + e_k is not too small. Where it does not raise g, n does, in a short enough step.
    Where all rates are equal ∇m = 0, and γ = a at once. Returned are g, ψ′(γ_0) and the largest change relative to γ_0.
    """
    n = len(point)
    new, tried_means, tried_curvatures, direction = work[0], work[1], work[2], work[3]
    total, mean, spread = 0.0, 0.0, 0.0
    for k in range(n):
        total += point[k]
        mean += rates[k] * point[k]
        spread = max(spread, abs(rates[k] - rates[0]))
    if n == 1 or spread == 0.0:
        for k in range(n):
            new[k] = counts[k]
    else:
        mean /= total
        inner, inverse = 0.0, 0.0
        for k in range(n):
            inner += (rates[k] - mean) / (total * curvatures[k])
            inverse += 1.0 / curvatures[k]
        shift = prime * inner / (1.0 - prime * inverse)
        for k in range(n):
            moved = ((rates[k] - mean) / total + shift) / curvatures[k]
            direction[k] = counts[k] - moved - point[k]
            new[k] = counts[k] / max(1.0 + moved / point[k], 0.1)
    tried, tried_prime = measure(counts, rates, new, tried_means, tried_curvatures)
    step = 1.0
    while not tried >= bound and n > 1 and spread > 0.0 and step > 0.5**_HALVINGS:
        for k in range(n):
            new[k] = max(point[k] + step * direction[k], min(point[k], _SMALLEST + 0.1 * point[k]))
        tried, tried_prime = measure(counts, rates, new, tried_means, tried_curvatures)
        step *= 0.5
    if not tried >= bound:
        return bound, prime, 0.0
    change = 0.0
    for k in range(n):
        change = max(change, abs(new[k] - point[k]))
        point[k] = new[k]
        log_means[k] = tried_means[k]
        curvatures[k] = tried_curvatures[k]
    return tried, tried_prime, change / total


@njit(cache=True, nogil=True)
def log_mean_table(points, log_means, normalisers, first, last):  # type: ignore[no-untyped-def]
    """E ln θ_k of Dirichlets ``first`` to ``last`` − 1 of ``points`` (n, K), and Σ_k ln Γ(γ_k) − ln Γ(γ_0) of each."""
    n = points.shape[1]
    for i in range(first, last):
        total, normaliser = 0.0, 0.0
        for k in range(n):
            total += points[i, k]
            log_gamma, psi, _ = gamma_functions(points[i, k])
            normaliser += log_gamma
            log_means[i, k] = psi
        log_gamma, psi, _ = gamma_functions(total)
        normalisers[i] = normaliser - log_gamma
        for k in range(n):
            log_means[i, k] -= psi


@njit(cache=True, nogil=True)
def dirichlet_optima(counts, scales, rates, points, max_steps, tol):  # type: ignore[no-untyped-def]
    """g at its optimum for many Dirichlets, ``points`` (n, K) moved in place; rates of row i are scales[i]·rates[i]."""
    n_rows, n = points.shape
    bounds = np.empty(n_rows)
    own, log_means, curvatures, work = np.empty(n), np.empty(n), np.empty(n), np.empty((4, n))
    for i in range(n_rows):
        for k in range(n):
            own[k] = scales[i] * rates[i, k]
        bound, prime = measure(counts[i], own, points[i], log_means, curvatures)
        for _ in range(max_steps):
            bound, prime, change = improve(counts[i], own, points[i], log_means, curvatures, bound, prime, work)
            if change <= tol:
                break
        bounds[i] = bound
    return bounds


@njit(cache=True, nogil=True)
def _of_sum(log_sum, count, mean, log_mean, beta, n_clusters):  # type: ignore[no-untyped-def]
    """A word's part of the bound in ln σ, its slope, and a positive bound on its negative curvature."""
    value = math.exp(log_sum)
    b = beta[0] + beta[1] * value
    joint, psi_joint, prime_joint = gamma_functions(n_clusters * b)
    single, psi, prime = gamma_functions(b)
    first = n_clusters * (psi_joint - psi) + log_mean
    second = n_clusters * (n_clusters * prime_joint - prime)
    moved = beta[1] * value
    bound = count * log_sum - value * mean + joint - n_clusters * single + b * log_mean
    return bound, count - value * mean + moved * first, value * mean - moved * min(first, 0.0) - moved * moved * second


@njit(cache=True, nogil=True)
def word_sums(sums, counts, means, log_means, beta, n_clusters, max_steps):  # type: ignore[no-untyped-def]
    """The σ that maximise N ln σ − σ m + ln Γ(K b) − K ln Γ(b) + b Σ_k E ln τ_k, b = β₁ + β₂σ, word by word.

    ``counts`` N, ``means`` m = Σ_k T_k E τ_k, ``log_means`` Σ_k E ln τ_k, all (V,). The function is concave in σ;
    Newton's method in ln σ, halved where it does not gain, never lowers it.
    """
    out = np.empty(len(sums))
    for w in range(len(sums)):
        here = math.log(sums[w])
        bound, slope, curvature = _of_sum(here, counts[w], means[w], log_means[w], beta, n_clusters)
        for _ in range(max_steps):
            step = max(-1.0, min(1.0, slope / max(curvature, 1e-12)))
            gained = False
            for _ in range(_HALVINGS):
                tried, its_slope, its_curvature = _of_sum(
                    here + step, counts[w], means[w], log_means[w], beta, n_clusters
                )
                if tried > bound:
                    here, bound, slope, curvature, gained = here + step, tried, its_slope, its_curvature, True
                    break
                step *= 0.5
                if abs(step) < 1e-12:
                    break
            if not gained or abs(step) < 1e-8:
                break
        out[w] = math.exp(here)
    return out


U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_TINY = 1e-300
_SUMS = {"reassoc", "contract"}  # sums over clusters may be taken several at a time


@njit(cache=True, nogil=True)
def _new_share(x, norm, burst):  # type: ignore[no-untyped-def]
    """Σ_{i<x} 1/(norm + i·burst): x/norm where words do not come in bursts."""
    if burst == 0.0 or x <= 1.0:
        return x / norm
    total, whole = 0.0, int(x)
    for i in range(whole):
        total += 1.0 / (norm + i * burst)
    return total + (x - whole) / (norm + whole * burst)


@njit(cache=True, nogil=True)
def _log_levels(x, norm, burst):  # type: ignore[no-untyped-def]
    """Σ_{i<x} ln(norm + i·burst)."""
    if burst == 0.0 or x <= 1.0:
        return x * math.log(norm)
    total, whole = 0.0, int(x)
    for i in range(whole):
        total += math.log(norm + i * burst)
    return total + (x - whole) * math.log(norm + whole * burst)


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _responsibilities(indices, data, factors, bursts, own, counts):  # type: ignore[no-untyped-def]
    """Σ_w x_w φ_wk into ``counts``, φ_wk ∝ own_k factors_wk: one reading of a document."""
    n = len(own)
    counts[:] = 0.0
    for t in range(len(indices)):
        row = factors[U(indices[t])]
        norm = 0.0
        for k in range(n):
            norm += own[k] * row[k]
        share = _new_share(data[t], max(norm, _TINY), bursts[U(indices[t])])
        for k in range(n):
            counts[k] += share * row[k]
    for k in range(n):
        counts[k] *= own[k]


@njit(cache=True, nogil=True, fastmath=_SUMS)
def _ratios(indices, data, factors, bursts, own, ratios):  # type: ignore[no-untyped-def]
    """x_w/Σ_k own_k factors_wk into ``ratios``; Σ_w x_w ln Σ_k own_k factors_wk is returned. Of bursts their own."""
    bound = 0.0
    for t in range(len(indices)):
        row = factors[U(indices[t])]
        norm = 0.0
        for k in range(len(own)):
            norm += own[k] * row[k]
        norm = max(norm, _TINY)
        burst = bursts[U(indices[t])]
        ratios[t] = _new_share(data[t], norm, burst)
        bound += _log_levels(data[t], norm, burst)
    return bound


@njit(cache=True, nogil=True)
def document_sweep(  # type: ignore[no-untyped-def]
    indptr, indices, data, alpha, factors, bursts, expected, points, shares, ratios, bounds, first, last, max_steps, tol
):
    """Memberships of documents ``first`` to ``last`` − 1 of a CSR matrix, given the words.

    ``factors`` (V, K) holds exp E ln τ_wk, ``bursts`` (V,) δ_w/σ_w, and ``expected`` (n_docs, K) the words that a
    document would have if it were of one cluster, ω_d Σ_w σ_w E τ_wk. ``points`` γ (n_docs, K) is where each document
    starts and ends; exp E ln θ goes to ``shares`` (n_docs, K), x/norm to ``ratios`` (non-zeros), and to ``bounds`` the
    document's part of the bound but for constants of α and of the data. A document is read at most ``max_steps`` + 1
    times.
    """
    n = len(alpha)
    counts, log_means, curvatures = np.empty(n), np.empty(n), np.empty(n)
    own, found, work = np.empty(n), np.empty(n), np.empty((4, n))
    for d in range(first, last):
        words, values = indices[indptr[d] : indptr[d + 1]], data[indptr[d] : indptr[d + 1]]
        point, rates = points[d], expected[d]
        counts[:] = alpha
        bound, prime = measure(counts, rates, point, log_means, curvatures)
        for _ in range(max_steps):
            for k in range(n):
                own[k] = math.exp(log_means[k])
            _responsibilities(words, values, factors, bursts, own, found)
            for k in range(n):  # g is linear in the counts, so it follows them without another special function
                bound += (alpha[k] + found[k] - counts[k]) * log_means[k]
                counts[k] = alpha[k] + found[k]
            bound, prime, change = improve(counts, rates, point, log_means, curvatures, bound, prime, work)
            if change <= tol:
                break
        for k in range(n):
            own[k] = math.exp(log_means[k])
            shares[d, k] = own[k]
            bound += (alpha[k] - counts[k]) * log_means[k]
        bounds[d] = bound + _ratios(words, values, factors, bursts, own, ratios[indptr[d] : indptr[d + 1]])


@njit(cache=True, nogil=True, fastmath=_SUMS)
def word_counts(indptr, indices, ratios, shares, factors, counts, first, last):  # type: ignore[no-untyped-def]
    """N_wk = Σ_d x_dw φ_dwk of words ``first`` to ``last`` − 1 of a CSC matrix into ``counts`` (V, K)."""
    n = shares.shape[1]
    for w in range(first, last):
        total = counts[w]
        total[:] = 0.0
        for t in range(U(indptr[w]), U(indptr[w + 1])):
            row, ratio = shares[U(indices[t])], ratios[t]
            for k in range(n):
                total[k] += ratio * row[k]
        for k in range(n):
            total[k] *= factors[w, k]
