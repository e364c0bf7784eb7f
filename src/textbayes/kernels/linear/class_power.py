"""The likelihood of exclusive classes whose probabilities are powers of their own, in one pass over the documents."""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit


@njit(cache=True, nogil=True)
def class_power_likelihood(scores, codes, weight, share, bias, sharpness, gradient):  # type: ignore[no-untyped-def]
    """Σ weight·log p of the documents' own classes, p_k ∝ σ(η_k/c)^c; fills its gradient.

    η_k = bias_k + Σ_m share_m scores_mk. The gradient is that by ``share``, ``bias`` and ln ``sharpness``, in a row.
    """
    n_members, n_docs, n_classes = scores.shape
    gradient[:] = 0.0
    z, log_own, no, p = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    of_share, of_bias = gradient[:n_members], gradient[n_members : n_members + n_classes]
    total, of_sharpness = 0.0, 0.0
    for i in range(n_docs):
        for k in range(n_classes):  # numba would compile `z[:] = bias` for 3 s, most of it the words of an error
            z[k] = bias[k]
        for m in range(n_members):
            row, a = scores[m, i], share[m]
            for k in range(n_classes):
                z[k] += a * row[k]
        largest = -np.inf
        for k in range(n_classes):
            z[k] /= sharpness
            e = math.exp(-abs(z[k]))
            log_own[k] = min(z[k], 0.0) - math.log1p(e)
            no[k] = (e if z[k] >= 0.0 else 1.0) / (1.0 + e)
            largest = max(largest, log_own[k])
        mass = 0.0
        for k in range(n_classes):
            p[k] = math.exp(sharpness * (log_own[k] - largest))
            mass += p[k]
        own = codes[i]
        total += weight[i] * (sharpness * (log_own[own] - largest) - math.log(mass))
        for k in range(n_classes):
            left = -p[k] / mass
            if k == own:
                left += 1.0
            left *= weight[i]
            of_sharpness += left * (log_own[k] - z[k] * no[k])
            p[k] = left * no[k]
            of_bias[k] += p[k]
        for m in range(n_members):
            row, step = scores[m, i], 0.0
            for k in range(n_classes):
                step += p[k] * row[k]
            of_share[m] += step
    gradient[n_members + n_classes] = sharpness * of_sharpness
    return total
