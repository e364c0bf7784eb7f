"""Expected F1 of the k most probable documents, for every k, when labels are independent (Poisson-binomial sums)."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.kernels._cache import njit

# Probability mass dropped from either end of a distribution per document added; far below rounding of the result.
NEGLIGIBLE = 1e-20


@njit(cache=True, nogil=True)
def expected_f1_curve(p: FloatArray, k_min: int, k_max: int) -> FloatArray:
    """E[F1] of saying yes to the first k documents, k = k_min … k_max with k_min ≥ 1; ``p`` runs from high to low.

    With A_k the positives among the first k and B_k those among the rest, F1 = 2 A_k / (k + A_k + B_k), so

        E[F1](k) = Σ_a P(A_k = a) · 2a · s_k(k + a),    s_k(α) = E[1 / (α + B_k)],
        s_{k−1}(α) = p_k s_k(α + 1) + (1 − p_k) s_k(α).

    Distributions are computed where they are not negligible, in a band of some 20 standard deviations of
    the number of positives. With d = k_max − k_min: time O(n · width + d · (d + width)), memory O(d · width).

    Ye, Chai, Lee & Chieu (2012), Optimizing F-measure: a tale of two approaches, ICML, algorithm 1.
    """
    start, low, flat = _head_distributions(p, k_min, k_max)
    n_cuts = k_max - k_min + 1
    most = 0
    for i in range(n_cuts):
        most = max(most, low[i] + start[i + 1] - start[i] - 1)
    alpha_low = k_min + low[0]
    tail = _poisson_binomial(p[k_max:])
    s = np.empty(k_max + most - alpha_low + 1)
    for i in range(s.size):
        total = 0.0
        for b in range(tail.size):
            total += tail[b] / (alpha_low + i + b)
        s[i] = total
    values = np.empty(n_cuts)
    for k in range(k_max, k_min - 1, -1):
        cut = k - k_min
        total = 0.0
        for i in range(start[cut + 1] - start[cut]):
            a = low[cut] + i
            total += flat[start[cut] + i] * 2.0 * a * s[k + a - alpha_low]
        values[cut] = total
        p_k = p[k - 1]
        for i in range(k - 1 + most - alpha_low + 1):
            s[i] = p_k * s[i + 1] + (1.0 - p_k) * s[i]
    return values


@njit(cache=True, nogil=True)
def _head_distributions(p: FloatArray, k_min: int, k_max: int) -> tuple[IntArray, IntArray, FloatArray]:
    """P(A_k = low[i] + j) = flat[start[i] + j] for k = k_min + i, without the negligible ends."""
    n_cuts = k_max - k_min + 1
    start = np.zeros(n_cuts + 1, dtype=np.int64)
    low = np.zeros(n_cuts, dtype=np.int64)
    flat = np.zeros(16 * n_cuts)
    current = np.zeros(k_max + 2)
    current[0] = 1.0
    first, last = 0, 0
    for k in range(1, k_max + 1):
        first, last = _add_document(current, first, last, p[k - 1])
        if k < k_min:
            continue
        i, width = k - k_min, last - first + 1
        if start[i] + width > flat.size:
            grown = np.zeros(2 * (start[i] + width))
            grown[: start[i]] = flat[: start[i]]
            flat = grown
        flat[start[i] : start[i] + width] = current[first : last + 1]
        low[i] = first
        start[i + 1] = start[i] + width
    return start, low, flat


@njit(cache=True, nogil=True)
def _poisson_binomial(p: FloatArray) -> FloatArray:
    """Distribution of the number of positives, from 0 to the last value that is not negligible."""
    current = np.zeros(p.size + 2)
    current[0] = 1.0
    first, last = 0, 0
    for i in range(p.size):
        first, last = _add_document(current, first, last, p[i])
    return current[: last + 1]


@njit(cache=True, nogil=True)
def _add_document(current: FloatArray, first: int, last: int, p: float) -> tuple[int, int]:
    """Convolve ``current[first : last + 1]`` with one Bernoulli(p) in place; the new first and last index."""
    last += 1
    moved = 0.0
    for a in range(first, last + 1):
        stays = current[a] * (1.0 - p) + moved
        moved = current[a] * p
        current[a] = stays
    while last > first and current[last] < NEGLIGIBLE:
        current[last] = 0.0
        last -= 1
    while first < last and current[first] < NEGLIGIBLE:
        current[first] = 0.0
        first += 1
    return first, last
