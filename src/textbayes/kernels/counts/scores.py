"""Scores of documents under negative binomials: what the words that occur add, and what all the others do."""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit
from textbayes.kernels.counts.contagion import log_rising_factorial

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
