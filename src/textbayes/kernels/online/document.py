"""Judged documents seen through one Gaussian: the scalars that every online update needs, and sparse rows of them.

The linear predictor of a document is N(mean, var) under the current posterior. For labels drawn by a probit with noise
variance σ0² and then flipped with probability κ,

    Z = ⟨p(y)⟩ = κ + (1 − 2κ) Φ(u),    u = y·mean/σ,    σ² = σ0² + var,

and an update needs ln Z and its first two derivatives in ``mean``. σ0 = 0 is the hard threshold.

``expected_gain`` is the expected information gain of many documents (see ``models/online/information.py``).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def after_bias(indptr, indices, data):  # type: ignore[no-untyped-def]
    """Row bounds and positions (columns counted from 1), and whether all values are finite, in one call for streams."""
    bounds, positions = np.empty(len(indptr), dtype=np.int64), np.empty(len(indices), dtype=np.int32)
    for i in range(U(len(indptr))):
        bounds[i] = indptr[i]
    finite = True
    for t in range(U(len(indices))):
        positions[t] = indices[t] + 1
        finite &= np.isfinite(data[t])
    return bounds, positions, finite


@njit(cache=True, nogil=True)
def restrict_rows(indptr, indices, data, position):  # type: ignore[no-untyped-def]
    """CSR arrays with the columns renumbered by ``position``; a column at −1 is dropped. O(non-zeros)."""
    n_docs = len(indptr) - 1
    new_indptr = np.zeros(n_docs + 1, dtype=np.int64)
    n = 0
    for t in range(U(indptr[0]), U(indptr[n_docs])):
        n += position[U(indices[t])] >= 0
    new_indices = np.empty(n, dtype=np.int32)
    new_data = np.empty(n)
    n = 0
    for i in range(n_docs):
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            place = position[U(indices[t])]
            if place >= 0:
                new_indices[n] = place
                new_data[n] = data[t]
                n += 1
        new_indptr[i + 1] = n
    return new_indptr, new_indices, new_data


@njit(cache=True, nogil=True)
def rows_times_columns(indptr, indices, data, col_indptr, col_indices, col_data, n_columns):  # type: ignore[no-untyped-def]
    """A B' for A by rows and B' by the words of its documents: what two documents share is all that is read."""
    n_rows = len(indptr) - 1
    out = np.zeros((n_rows, n_columns))
    for i in range(n_rows):
        row = out[i]
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            word, x = U(indices[t]), data[t]
            for s in range(U(col_indptr[word]), U(col_indptr[word + U(1)])):
                row[U(col_indices[s])] += x * col_data[s]
    return out


_SQRT_HALF = math.sqrt(0.5)
_PHI_0 = 1.0 / math.sqrt(2.0 * math.pi)
_LOG_PHI_0 = -0.5 * math.log(2.0 * math.pi)
_LOG_HALF = -math.log(2.0)
# Below this margin φ/Φ ≈ −u and φ/Φ + u cancels; a continued fraction gives it directly (as in links/probit.py).
_FAR_TAIL = -15.0
_FRACTION_TERMS = 24
# A document never removes more than this share of the variance it sees: what is left stays positive in floating point.
_MOST_REMOVED = 1.0 - 1e-10


@njit(cache=True, nogil=True)
def probit_tail(u):  # type: ignore[no-untyped-def]
    """Φ(u), 1 − Φ(u), ln Φ(u), r = φ(u)/Φ(u) and r·(r + u), each to full relative precision."""
    if u < _FAR_TAIL:
        tail = -u
        for k in range(_FRACTION_TERMS, 1, -1):
            tail = -u + k / tail
        excess = 1.0 / tail
        ratio = excess - u
        log_p = _LOG_PHI_0 - 0.5 * u * u - math.log(ratio)
        return math.exp(log_p), 1.0, log_p, ratio, ratio * excess
    density = _PHI_0 * math.exp(-0.5 * u * u)
    if u < 0.0:
        p = 0.5 * math.erfc(-u * _SQRT_HALF)
        q, log_p = 1.0 - p, math.log(p)
    else:
        q = 0.5 * math.erfc(u * _SQRT_HALF)
        p, log_p = 1.0 - q, math.log1p(-q)
    ratio = density / p
    return p, q, log_p, ratio, ratio * (ratio + u)


@njit(cache=True, nogil=True)
def outcome(mean, var, y, noise_variance, rate):  # type: ignore[no-untyped-def]
    """ln Z, ∂ ln Z/∂mean and ∂² ln Z/∂mean² of the outcome y ∈ {−1, +1}.

    The second derivative is bounded by −(1 − 1e-10)/var: in exact arithmetic it always is, since 1 + var·∂² ln Z is the
    share of the variance that is left.
    """
    variance = noise_variance + var
    if not variance > 0.0:  # a document without words at a hard threshold says nothing
        return _LOG_HALF, 0.0, 0.0
    scale = 1.0 / math.sqrt(variance)
    u = y * mean * scale
    p, q, log_z, ratio, hessian = probit_tail(u)
    if rate > 0.0:
        unflipped = 1.0 - 2.0 * rate
        z = rate + unflipped * p
        log_z = math.log1p(-(rate + unflipped * q)) if u >= 0.0 else math.log(z)
        true_share = unflipped * p / z
        # r² times a share that underflows: multiply the share in first.
        hessian = true_share * hessian - (true_share * ratio) * (rate / z) * ratio
        ratio = true_share * ratio
    second = -hessian * scale * scale
    if second * var < -_MOST_REMOVED:
        second = -_MOST_REMOVED / var
    return log_z, y * ratio * scale, second


@njit(cache=True, nogil=True)
def refined_outcome(mean, var, y, noise_variance, rate, precision, shift):  # type: ignore[no-untyped-def]
    """The outcome of a document that has been learnt before, as the site exp(shift·h − ½ precision·h²) of h = x'w.

    The site is taken out, the document is learnt anew, and the difference is returned as if it were two derivatives
    (expectation propagation; Minka 2001): ln Z, first, second and the new site. Without a site this is ``outcome``.
    Where taking it out leaves no proper distribution, nothing changes.
    """
    left = 1.0 - precision * var
    if not (left > 1e-10 and var > 0.0):
        return outcome(mean, var, y, noise_variance, rate)[0], 0.0, 0.0, precision, shift
    old_mean, old_var = (mean - shift * var) / left, var / left
    log_z, first, second = outcome(old_mean, old_var, y, noise_variance, rate)
    share = 1.0 + second * old_var
    new_precision, new_shift = -second / share, (first - old_mean * second) / share
    change = new_precision - precision
    share = 1.0 + change * var
    return log_z, (new_shift - shift - change * mean) / share, -change / share, new_precision, new_shift


_BITS = 1.0 / math.log(2.0)


@njit(cache=True, nogil=True)
def expected_gain(mean, var, noise_variance, rate):  # type: ignore[no-untyped-def]
    """Σ_y Z_y ½ [(d1² + d2)·v − ln(1 + d2·v)] in bits, and Z of y = +1; flat arrays in and out."""
    gain, proba = np.empty(len(mean)), np.empty(len(mean))
    for i in range(len(mean)):
        v, total = var[i], 0.0
        for y in (-1.0, 1.0):
            log_z, first, second = outcome(mean[i], v, y, noise_variance, rate)
            z = math.exp(log_z)
            total += z * 0.5 * ((first * first + second) * v - math.log1p(second * v))
            proba[i] = z
        gain[i] = max(total, 0.0) * _BITS
    return gain, proba
