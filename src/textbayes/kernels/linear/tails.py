"""Log-likelihood and derivatives, in one pass over the documents, of links whose p is the cdf of a two-piece Student-t.

The probit is one of them (ν = ∞, no skew). What is said in ``links/skew_t.py`` of the hazard r and its excess e at a
distance t from the mode is computed here document by document. The excess, scaled to be of order 1, comes as a table
of polynomials on cells of equal width in u = 1/(1 + τ/2), τ = t/√(1 + t²/ν); the density has its formula.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones
# Σ log is taken as the logarithm of a product, which is turned over before it leaves this range.
_SMALL, _BIG = 1e-150, 1e150
_TINY_TAIL = 1e-6  # a mass below it has log(1 − q) = −q − q²/2 − q³/3 to rounding
_SMALL_DF = 100.0  # up to here log(1 + x) is as good as log1p(x), and faster
_BLOCK = 256  # documents whose intermediate results stay in the nearest cache
_MOST_FACTORS = 64.0  # whole ν up to here: the density is a power, by multiplication


@njit(cache=True, nogil=True, error_model="numpy")
def excess_at(table, u_least, u):  # type: ignore[no-untyped-def]
    """The scaled excess, by a polynomial of degree 7 in the cell that holds u."""
    n_cells = table.shape[0]
    place = (u - u_least) * (n_cells / (1.0 - u_least))
    number = min(max(int(place), 0), n_cells - 1)
    x, cell = place - number - 0.5, U(number)
    square = x * x  # pairs of terms, which do not wait for each other as in Horner's rule
    low = (table[cell, U(0)] + table[cell, U(1)] * x) + (table[cell, U(2)] + table[cell, U(3)] * x) * square
    high = (table[cell, U(4)] + table[cell, U(5)] * x) + (table[cell, U(6)] + table[cell, U(7)] * x) * square
    return low + high * (square * square)


@njit(cache=True, nogil=True)
def whole_power(base, exponent):  # type: ignore[no-untyped-def]
    """base^exponent for a whole exponent from 1 on."""
    power = 1.0
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


@njit(cache=True, nogil=True, error_model="numpy")
def fill_tails(eta, table, u_least, df, skew, height, excess, decay, density):  # type: ignore[no-untyped-def]
    """Per document: the excess, −f'/f and the density on its side of the mode, ``height`` times that at 0."""
    n = U(len(eta))
    if math.isinf(df):
        for i in range(n):
            t = abs(eta[i]) * (skew if eta[i] < 0.0 else 1.0 / skew)
            u = 1.0 / (1.0 + 0.5 * t)
            excess[i] = excess_at(table, u_least, u) * u
            decay[i] = t
        for i in range(n):
            density[i] = height * math.exp(-0.5 * decay[i] * decay[i])
        return
    for i in range(n):
        t = abs(eta[i]) * (skew if eta[i] < 0.0 else 1.0 / skew)
        shrunk = 1.0 / math.sqrt(1.0 + t * t / df)
        tau = t * shrunk
        u = 1.0 / (1.0 + 0.5 * tau)
        excess[i] = excess_at(table, u_least, u) * u * shrunk
        decay[i] = (df + 1.0) / df * tau * shrunk
        density[i] = shrunk
    if df <= _MOST_FACTORS and df == math.floor(df):
        for i in range(n):
            density[i] = height * whole_power(density[i], int(df) + 1)
    else:
        for i in range(n):
            t = abs(eta[i]) * (skew if eta[i] < 0.0 else 1.0 / skew)
            density[i] = height * math.exp(-0.5 * (df + 1.0) * math.log1p(t * t / df))


@njit(cache=True, nogil=True, error_model="numpy")
def tail_likelihood(eta, y, weight, table, u_least, df, skew, log_density_at_zero):  # type: ignore[no-untyped-def]
    """Σ weight·log p(y | eta), its score and its hessian per document; an empty ``weight`` means all ones.

    Short loops over blocks of documents: a processor overlaps their steps better than those of one long loop.
    """
    n_docs = len(eta)
    weighted = len(weight) > 0
    score, hessian = np.empty(n_docs), np.empty(n_docs)
    log_height = log_density_at_zero + math.log(2.0 / (skew + 1.0 / skew))
    excesses, decays, densities = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    total, product, quotient = 0.0, 1.0, 1.0
    for first in range(0, n_docs, _BLOCK):
        size = min(_BLOCK, n_docs - first)
        fill_tails(
            eta[first : first + size], table, u_least, df, skew, math.exp(log_height), excesses, decays, densities
        )
        for k in range(U(size)):
            i = U(first) + k
            left = eta[i] < 0.0
            stretch = skew if left else 1.0 / skew
            excess, decay = excesses[k], decays[k]
            hazard = decay + excess
            w = weight[i] if weighted else 1.0
            if (y[i] > 0.0) == left:  # the mode lies between: p is the mass beyond eta
                t = stretch * eta[i]
                log_density = -0.5 * t * t if math.isinf(df) else -0.5 * (df + 1.0) * math.log1p(t * t / df)
                log_density += log_height - math.log(stretch)
                score[i] = w * y[i] * stretch * hazard
                hessian[i] = w * stretch * stretch * hazard * excess
                if weighted:
                    total += w * (log_density - math.log(hazard))
                else:
                    total += log_density
                    quotient *= hazard
            else:
                density = densities[k]
                scaled = hazard * stretch
                rest = scaled - density
                inverse = 1.0 / (scaled * rest)
                beyond = density * rest * inverse
                g = stretch * density * hazard * scaled * inverse
                score[i] = w * y[i] * g
                hessian[i] = w * g * (g + stretch * decay)
                if beyond < _TINY_TAIL:
                    total -= w * beyond * (1.0 + beyond * (0.5 + beyond / 3.0))
                elif weighted:
                    total += w * math.log1p(-beyond)
                else:
                    product *= 1.0 - beyond
            if product < _SMALL or quotient > _BIG or quotient < _SMALL:
                total += math.log(product) - math.log(quotient)
                product = quotient = 1.0
    return total + math.log(product) - math.log(quotient), score, hessian
