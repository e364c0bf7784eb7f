"""The negative binomial of one word in one class: log-likelihood of (μ, δ) over documents of unequal length.

With mean ωμ and variance ωμ(1 + ωδ) a document of length ω holds the word x times with

    ln p = Σ_{i<x} ln(μ + iδ) − x ln(1 + ωδ) − μ ln(1 + ωδ)/δ + x ln ω − ln x!,

which passes into the Poisson as δ → 0 without a special case. Over the documents d of a class

    ℓ(μ, δ) = Σ_i n_i ln(μ + iδ) − Σ_d x_d ln(1 + ω_d δ) − μ A(δ),   A(δ) = Σ_d ln(1 + ω_d δ)/δ,

n_i being the number of documents with x > i: the first two sums see only documents that have the word, and A is the
same for all words of a class, so that it is read from a table. Counts that are not whole are taken between the two
whole numbers next to them.

The table of A is in u = ln δ, of A and its two derivatives in u, joined by polynomials of degree five; below the table
A = S₁ − δS₂/2 + δ²S₃/3 with S_k = Σ_d ω_d^k.

``absent_terms`` and ``present_terms`` are the scores of documents: what the words that occur add, and what all others
do.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit


@njit(cache=True, nogil=True)
def zero_ratio(z):  # type: ignore[no-untyped-def]
    """ln(1 + z)/z and its first two derivatives, for z ≥ 0."""
    if z < 0.1:
        value, first, second, power = 0.0, 0.0, 0.0, 1.0
        for k in range(24):  # Σ (−z)^k/(k + 1)
            sign = 1.0 if k % 2 == 0 else -1.0
            value += sign * power / (k + 1.0)
            first -= sign * power * (k + 1.0) / (k + 2.0)
            second += sign * power * (k + 1.0) * (k + 2.0) / (k + 3.0)
            power *= z
            if power < 1e-19:
                break
        return value, first, second
    log, ratio = math.log1p(z), 1.0 / (1.0 + z)
    value = log / z
    first = (ratio - value) / z
    return value, first, (-ratio * ratio - 2.0 * first) / z


@njit(cache=True, nogil=True)
def exposure_table(omega, weight, first, width, n_nodes):  # type: ignore[no-untyped-def]
    """A and its derivatives in ln δ at ``first`` + ``width``·k: an array (n_nodes, 3); and S₁, S₂, S₃."""
    table, sums = np.zeros((n_nodes, 3)), np.zeros(3)
    deltas = np.exp(first + width * np.arange(n_nodes))
    for d in range(len(omega)):
        power = weight[d]
        for k in range(3):
            power *= omega[d]
            sums[k] += power
        for k in range(n_nodes):
            z = omega[d] * deltas[k]
            value, slope, bend = zero_ratio(z)
            mass = weight[d] * omega[d]
            table[k, 0] += mass * value
            table[k, 1] += mass * slope * z
            table[k, 2] += mass * (bend * z + slope) * z
    return table, sums


@njit(cache=True, nogil=True)
def zero_mass(table, sums, first, width, delta):  # type: ignore[no-untyped-def]
    """A(δ), A′(δ), A″(δ)."""
    place = (math.log(delta) - first) / width if delta > 0.0 else -1.0
    if place < 0.0:
        value = sums[0] - delta * (0.5 * sums[1] - delta * sums[2] / 3.0)
        return value, -0.5 * sums[1] + 2.0 * delta * sums[2] / 3.0, 2.0 * sums[2] / 3.0
    k = min(int(place), len(table) - 2)
    t = place - k
    left, right = table[k], table[k + 1]
    a, b, c = left[0], left[1] * width, 0.5 * left[2] * width * width
    gap = right[0] - (a + b + c)
    tilt = right[1] * width - (b + 2.0 * c)
    curve = right[2] * width * width - 2.0 * c
    d = 10.0 * gap - 4.0 * tilt + 0.5 * curve
    e = -15.0 * gap + 7.0 * tilt - curve
    f = 6.0 * gap - 3.0 * tilt + 0.5 * curve
    value = a + t * (b + t * (c + t * (d + t * (e + t * f))))
    slope = (b + t * (2.0 * c + t * (3.0 * d + t * (4.0 * e + t * 5.0 * f)))) / width
    bend = (2.0 * c + t * (6.0 * d + t * (12.0 * e + t * 20.0 * f))) / (width * width)
    return value, slope / delta, (bend - slope) / (delta * delta)


@njit(cache=True, nogil=True)
def tail_counts(values, weights, tails):  # type: ignore[no-untyped-def]
    """n_i, the weight of the documents with more than i occurrences; returns how many of them are not zero."""
    n_tails = 0
    for t in range(len(values)):
        whole = int(values[t])
        for i in range(whole):
            tails[i] += weights[t]
        n_used = whole
        if values[t] > whole:
            tails[whole] += weights[t] * (values[t] - whole)
            n_used += 1
        n_tails = max(n_tails, n_used)
    return n_tails


@njit(cache=True, nogil=True)
def sum_log_levels(tails, n_tails, rate, delta):  # type: ignore[no-untyped-def]
    """Σ_i n_i ln(μ + iδ)."""
    total = 0.0
    for i in range(n_tails):
        total += tails[i] * math.log(rate + i * delta)
    return total


@njit(cache=True, nogil=True)
def log_rising_factorial(rate, delta, whole):  # type: ignore[no-untyped-def]
    """Σ_{i<x} ln(μ + iδ) for a whole x, in time that does not grow with x.

    From i = 64 on by Euler and Maclaurin: with L = μ + 64δ, ε = δ/L ≤ 1/64 and n = x − 64 terms, the integral is
    n ln L + n h(nε), h(z) = ((1 + z) ln(1 + z) − z)/z; the next term left out is below 10⁻¹².
    """
    total = 0.0
    for i in range(int(min(whole, 64.0))):
        total += math.log(rate + i * delta)
    if whole <= 64.0:
        return total
    level, n = rate + 64.0 * delta, whole - 64.0
    step = delta / level
    z = n * step
    log = math.log1p(z)
    shape = z * (0.5 - z * (1.0 / 6 - z * (1.0 / 12 - z / 20))) if z < 1e-3 else ((1.0 + z) * log - z) / z
    last = 1.0 / (1.0 + z)
    ends = -0.5 * log + step * (last - 1.0) / 12 - step**3 * (last**3 - 1.0) / 360
    return total + n * (math.log(level) + shape) + ends


@njit(cache=True, nogil=True)
def sum_log_dispersion(occurrences, omega, delta):  # type: ignore[no-untyped-def]
    """Σ_d x_d ln(1 + ω_d δ) over the documents that have the word."""
    total = 0.0
    for t in range(len(occurrences)):
        total += occurrences[t] * math.log1p(omega[t] * delta)
    return total


@njit(cache=True, nogil=True)
def contagion_derivatives(  # type: ignore[no-untyped-def]
    tails, n_tails, occurrences, omega, table, sums, first, width, rate, delta
):
    """ℓ, ℓ_μ, ℓ_δ, ℓ_μμ, ℓ_μδ, ℓ_δδ of one word and class."""
    mass, slope, bend = zero_mass(table, sums, first, width, delta)
    value, by_rate, by_delta = -rate * mass, -mass, -rate * slope
    rate_rate, rate_delta, delta_delta = 0.0, -slope, -rate * bend
    for i in range(n_tails):
        level = rate + i * delta
        share = tails[i] / level
        value += tails[i] * math.log(level)
        by_rate += share
        by_delta += i * share
        rate_rate -= share / level
        rate_delta -= i * share / level
        delta_delta -= i * i * share / level
    for t in range(len(occurrences)):
        z = omega[t] * delta
        pull = omega[t] / (1.0 + z)
        value -= occurrences[t] * math.log1p(z)
        by_delta -= occurrences[t] * pull
        delta_delta += occurrences[t] * pull * pull
    return value, by_rate, by_delta, rate_rate, rate_delta, delta_delta


_MANY = 256.0  # from so many occurrences on a sum in closed form is faster than factors
U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def absent_terms(omega, rates, deltas):  # type: ignore[no-untyped-def]
    """Σ_w μ_w ln(1 + ω δ_w)/δ_w per length ω: (n_lengths, C) from ``rates``, ``deltas`` (V, C).

    It is ω Σ_w μ_w where δ = 0, and what a document without any of the words pays.
    """
    n_classes = rates.shape[1]
    out = np.zeros((len(omega), n_classes))
    for k in range(len(omega)):
        for w in range(len(rates)):
            for c in range(n_classes):
                z = omega[k] * deltas[w, c]
                ratio = math.log1p(z) / z if z > 1e-290 else 1.0
                out[k, c] += omega[k] * rates[w, c] * ratio
    return out


@njit(cache=True, nogil=True)
def present_terms(indptr, indices, data, omega, rates, deltas):  # type: ignore[no-untyped-def]
    """Σ_w [Σ_{i<x} ln(μ + iδ) − x ln(1 + ωδ)] over the words of each document, CSR, (n_docs, C).

    Factors are multiplied and the logarithm is taken only when the product leaves the middle of the floats, which is
    faster than a logarithm for every word and loses nothing: no factor is below e⁻⁶⁰ or above e⁹⁰. A count that is not
    whole lies between the two whole numbers next to it.
    """
    n_docs, n_classes = len(indptr) - 1, rates.shape[1]
    out, product = np.zeros((n_docs, n_classes)), np.empty(n_classes)
    for d in range(n_docs):
        row = out[d]
        product[:] = 1.0
        for t in range(U(indptr[d]), U(indptr[d + 1])):
            w, x = U(indices[t]), data[t]
            many = x > _MANY
            whole = 0 if many else int(x)
            rest = x - (math.floor(x) if many else whole)
            for c in range(n_classes):
                rate, delta = rates[w, c], deltas[w, c]
                damping = 1.0 / (1.0 + omega[d] * delta)
                value = product[c]
                for i in range(whole):
                    value *= (rate + i * delta) * damping
                    if not 1e-150 < value < 1e150:
                        row[c] += math.log(value)
                        value = 1.0
                if many:
                    row[c] += log_rising_factorial(rate, delta, x - rest) + (x - rest) * math.log(damping)
                if rest > 0.0:
                    row[c] += rest * math.log((rate + (x - rest) * delta) * damping)
                product[c] = value
        for c in range(n_classes):
            row[c] += math.log(product[c])
    return out
