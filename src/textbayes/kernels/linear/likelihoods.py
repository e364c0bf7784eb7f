"""Log-likelihoods and their derivatives in one pass over the documents, logistic and of Student-t links.

Logistic ones of predictors; of a regression on a few dense columns; of exclusive classes whose probabilities are powers
of their own.

The other links have a p that is the cdf of a two-piece Student-t; the probit is one of them (ν = ∞, no skew). What is
said in ``links/skew_t.py`` of the hazard r and its excess e at a distance t from the mode is computed here document by
document. The excess, scaled to be of order 1, comes as a table of polynomials on cells of equal width in
u = 1/(1 + τ/2), τ = t/√(1 + t²/ν); the density has its formula.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.linear.coordinate import shrink

_BIG = 1e200  # factors lie in (1, 2]: their product is turned into a logarithm before it overflows


@njit(cache=True, nogil=True)
def logit_likelihood(eta, y, weight):  # type: ignore[no-untyped-def]
    """Σ weight·log p(y | eta), its score and its curvature per document; an empty ``weight`` means all ones.

    Σ log(1 + e) is taken as the logarithm of a product, one logarithm for hundreds of documents.
    """
    n_docs = len(eta)
    weighted = len(weight) > 0
    score = np.empty(n_docs)
    hessian = np.empty(n_docs)
    total, product = 0.0, 1.0
    for i in range(n_docs):
        m = y[i] * eta[i]
        e = math.exp(-abs(m))
        wide = 1.0 / (1.0 + e)
        narrow = e * wide
        w = weight[i] if weighted else 1.0
        score[i] = w * y[i] * (narrow if m >= 0.0 else wide)
        hessian[i] = w * wide * narrow
        if weighted:
            total += w * (min(m, 0.0) - math.log1p(e))
        else:
            total += min(m, 0.0)
            product *= 1.0 + e
            if product > _BIG:
                total -= math.log(product)
                product = 1.0
    return total - math.log(product), score, hessian


@njit(cache=True, nogil=True)
def dense_logit_loss(F, y, weight, theta, gradient, hessian):  # type: ignore[no-untyped-def]
    """Σ weight·log(1 + exp(∓F·theta)), − where ``y``; fills in its gradient and its Hessian."""
    n_docs, n_terms = F.shape
    gradient[:] = 0.0
    hessian[:] = 0.0
    loss = 0.0
    for i in range(n_docs):
        eta = 0.0
        for j in range(n_terms):
            eta += F[i, j] * theta[j]
        e = math.exp(-abs(eta))
        wide = 1.0 / (1.0 + e)
        narrow = e * wide
        p = wide if eta >= 0.0 else narrow
        loss += weight[i] * (max(-eta if y[i] else eta, 0.0) + math.log1p(e))
        slope = weight[i] * (p - 1.0 if y[i] else p)
        curvature = weight[i] * wide * narrow
        for j in range(n_terms):
            gradient[j] += slope * F[i, j]
            bent = curvature * F[i, j]
            for k in range(j + 1):
                hessian[j, k] += bent * F[i, k]
    for j in range(n_terms):
        for k in range(j):
            hessian[k, j] = hessian[j, k]
    return loss


@njit(cache=True, nogil=True)
def class_power_likelihood(scores, codes, weight, share, bias, inverse_temperature, gradient):  # type: ignore[no-untyped-def]
    """Σ weight·log p of the documents' own classes, p_k ∝ σ(η_k/c)^c; fills its gradient.

    η_k = bias_k + Σ_m share_m scores_mk. The gradient is that by ``share``, ``bias`` and
    ln ``inverse_temperature``, in a row.
    """
    n_members, n_docs, n_classes = scores.shape
    gradient[:] = 0.0
    z, log_own, no, p = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    of_share, of_bias = gradient[:n_members], gradient[n_members : n_members + n_classes]
    total, of_temperature = 0.0, 0.0
    for i in range(n_docs):
        for k in range(n_classes):  # numba would compile `z[:] = bias` for 3 s, most of it the words of an error
            z[k] = bias[k]
        for m in range(n_members):
            row, a = scores[m, i], share[m]
            for k in range(n_classes):
                z[k] += a * row[k]
        largest = -np.inf
        for k in range(n_classes):
            z[k] /= inverse_temperature
            e = math.exp(-abs(z[k]))
            log_own[k] = min(z[k], 0.0) - math.log1p(e)
            no[k] = (e if z[k] >= 0.0 else 1.0) / (1.0 + e)
            largest = max(largest, log_own[k])
        mass = 0.0
        for k in range(n_classes):
            p[k] = math.exp(inverse_temperature * (log_own[k] - largest))
            mass += p[k]
        own = codes[i]
        total += weight[i] * (inverse_temperature * (log_own[own] - largest) - math.log(mass))
        for k in range(n_classes):
            left = -p[k] / mass
            if k == own:
                left += 1.0
            left *= weight[i]
            of_temperature += left * (log_own[k] - z[k] * no[k])
            p[k] = left * no[k]
            of_bias[k] += p[k]
        for m in range(n_members):
            row, step = scores[m, i], 0.0
            for k in range(n_classes):
                step += p[k] * row[k]
            of_share[m] += step
    gradient[n_members + n_classes] = inverse_temperature * of_temperature
    return total


@njit(cache=True, nogil=True)
def document_terms(eta, y, reach):  # type: ignore[no-untyped-def]
    """The score of a document and the bound on its curvature within ``reach`` of eta."""
    e = np.exp(-abs(eta))
    wrong = e / (1.0 + e) if y * eta >= 0.0 else 1.0 / (1.0 + e)
    beyond = abs(eta) - reach
    if beyond <= 0.0:
        return y * wrong, 0.25
    e = np.exp(-beyond)
    return y * wrong, e / ((1.0 + e) * (1.0 + e))


@njit(cache=True, nogil=True)
def limited_step(gradient, curvature, offset, l1, l2, low, high, radius):  # type: ignore[no-untyped-def]
    """The penalised minimiser within bounds and radius, as a step; exactly −offset where it is the kink."""
    target = shrink(curvature * offset + gradient, curvature, l1, l2, low, high)
    return min(max(target - offset, -radius), radius)


@njit(cache=True, nogil=True)
def relax_columns(  # type: ignore[no-untyped-def]
    indptr, indices, data, columns, y, weight, center, l1, l2, low, high, radius, w, eta
):
    """Step every one of ``columns`` in turn; changes w, eta and radius, and returns the largest |step|·curvature."""
    worst = 0.0
    for j in columns:
        start, stop = indptr[j], indptr[j + 1]
        g = h = 0.0
        for t in range(start, stop):
            i, x = indices[t], data[t]
            score, bound = document_terms(eta[i], y[i], radius[j] * abs(x))
            g += weight[i] * x * score
            h += weight[i] * x * x * bound
        h = max(h, 1e-12)
        offset = w[j] - center[j]
        step = limited_step(g, h, offset, l1[j], l2[j], low[j], high[j], radius[j])
        radius[j] = max(2.0 * abs(step), 0.5 * radius[j])
        if step != 0.0:
            w[j] = center[j] + (offset + step)
            for t in range(start, stop):
                eta[indices[t]] += step * data[t]
            worst = max(worst, abs(step) * (h + l2[j]))
    return worst


@njit(cache=True, nogil=True)
def relax_intercept(y, weight, l1, l2, radius, b, eta):  # type: ignore[no-untyped-def]
    """The same for a column of ones; changes eta and returns the intercept, its radius and |step|·curvature."""
    g = h = 0.0
    for i in range(len(eta)):
        score, bound = document_terms(eta[i], y[i], radius)
        g += weight[i] * score
        h += weight[i] * bound
    h = max(h, 1e-12)
    step = limited_step(g, h, b, l1, l2, -np.inf, np.inf, radius)
    for i in range(len(eta)):
        eta[i] += step
    return b + step, max(2.0 * abs(step), 0.5 * radius), abs(step) * (h + l2)


U = np.uint64  # unsigned indices spare numba's test for negative ones
# Σ log is taken as the logarithm of a product, which is turned over before it leaves this range.
_LEAST, _MOST = 1e-150, 1e150
_TINY_TAIL = 1e-6  # a mass below it has log(1 − q) = −q − q²/2 − q³/3 to rounding
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
            if product < _LEAST or quotient > _MOST or quotient < _LEAST:
                total += math.log(product) - math.log(quotient)
                product = quotient = 1.0
    return total + math.log(product) - math.log(quotient), score, hessian
