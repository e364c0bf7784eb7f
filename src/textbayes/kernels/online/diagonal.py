"""Assumed-density updates of independent Gaussian weights, for many labels in one reading of each document.

For a document x with outcome y of one label, with g_j = var_j x_j and Z as in ``document.py``,

    mean_j ← mean_j + g_j·∂ ln Z,   var_j ← var_j + g_j²·∂² ln Z,

for the words of the document only. Weights lie word by word, all labels of a word side by side; row 0 is the bias.

Weights may drift: from one document to the next w − prior shrinks by the factor ρ and gains the variance that keeps the
prior as it is (an Ornstein–Uhlenbeck process), so t documents later

    mean ← prior_mean + ρᵗ (mean − prior_mean),   var ← prior_var + ρ²ᵗ (var − prior_var).

This is done to a word when it is met, and to all at the end.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.online.document import outcome

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def predict_diagonal(indptr, indices, data, mean, var):  # type: ignore[no-untyped-def]
    """Mean and variance of the linear predictors, (n_docs, n_labels); O(non-zeros · labels)."""
    n_docs, k = len(indptr) - 1, U(mean.shape[1])
    center, spread = np.empty((n_docs, k)), np.empty((n_docs, k))
    for i in range(n_docs):
        words, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        look_diagonal(words, values, mean, var, center[i], spread[i])
    return center, spread


@njit(cache=True, nogil=True)
def look_diagonal(indices, data, mean, var, center, spread):  # type: ignore[no-untyped-def]
    """Σ x·mean and Σ x²·var of one document, for all labels, written to ``center`` and ``spread``."""
    k = U(mean.shape[1])
    for c in range(k):
        center[c], spread[c] = mean[0, c], var[0, c]
    for t in range(U(len(indices))):
        a, x = U(indices[t]), data[t]
        xx = x * x
        for c in range(k):
            center[c] += x * mean[a, c]
            spread[c] += xx * var[a, c]


@njit(cache=True, nogil=True)
def take_diagonal(indices, data, mean, var, first, second):  # type: ignore[no-untyped-def]
    """The update of one document for all labels, in place."""
    k = U(mean.shape[1])
    for c in range(k):
        g = var[0, c]
        mean[0, c] += first[c] * g
        var[0, c] += second[c] * g * g
    for t in range(U(len(indices))):
        a, x = U(indices[t]), data[t]
        for c in range(k):
            g = x * var[a, c]
            mean[a, c] += first[c] * g
            var[a, c] += second[c] * g * g


@njit(cache=True, nogil=True)
def drift_row(mean, var, prior_mean, prior_var, log_forgetting, elapsed):  # type: ignore[no-untyped-def]
    """Let ``elapsed`` documents pass for one word, in place."""
    share = math.exp(elapsed * log_forgetting)
    for c in range(U(len(mean))):
        mean[c] = prior_mean[c] + share * (mean[c] - prior_mean[c])
        var[c] = prior_var[c] + share * share * (var[c] - prior_var[c])


@njit(cache=True, nogil=True)
def learn_diagonal(  # type: ignore[no-untyped-def]
    indptr, indices, data, y, mean, var, noise_variance, rate, log_forgetting, prior_mean, prior_var, log_z
):
    """Learn the rows in turn for all labels: y and log_z are (n_docs, n_labels); mean and var change in place.

    y = 0 marks a missing judgement, whose log_z is 0. With ``log_forgetting`` = 0 nothing drifts.
    """
    n_docs, k = y.shape
    center, spread, first, second = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    drifting = log_forgetting < 0.0
    seen = np.zeros(len(mean) if drifting else 0, dtype=np.int64)
    for i in range(n_docs):
        words, values = indices[indptr[i] : indptr[i + 1]], data[indptr[i] : indptr[i + 1]]
        if drifting:
            drift_row(mean[0], var[0], prior_mean[0], prior_var[0], log_forgetting, 1)
            for t in range(len(words)):
                a = words[t]
                drift_row(mean[a], var[a], prior_mean[a], prior_var[a], log_forgetting, i + 1 - seen[a])
                seen[a] = i + 1
        look_diagonal(words, values, mean, var, center, spread)
        for c in range(k):
            if y[i, c] == 0.0:
                log_z[i, c] = first[c] = second[c] = 0.0
            else:
                log_z[i, c], first[c], second[c] = outcome(center[c], spread[c], y[i, c], noise_variance, rate)
        take_diagonal(words, values, mean, var, first, second)
    if drifting:
        for a in range(1, len(mean)):
            drift_row(mean[a], var[a], prior_mean[a], prior_var[a], log_forgetting, n_docs - seen[a])
