"""Softmax and multinomial probit: likelihoods, probabilities, and products with a vector for every class.

A document of class y and predictors eta has the log-likelihood eta_y − log Σ_c exp(eta_c), the score 1[c = y] − p_c
and the curvature diag(p) − pp', p_c = exp(eta_c)/Σ_k exp(eta_k). As a function of one class's predictor alone it is
that of a logistic regression whose predictor is eta_c − log Σ_{k≠c} exp(eta_k): ``rest_of`` gives that offset.

Products of a sparse matrix with a vector for every class are in the precision of what they are given.
``kernels.sparse`` works in double precision for any number of labels: here a class is a lane of the processor, so that
single precision takes half the time. What a Newton step needs no more digits of is computed so.

Of a multinomial probit, z_c ~ N(eta_c, 1) independently, and a document is of the class whose z is highest:

    p_c = ∫ φ(t − eta_c) Π_{k≠c} Φ(t − eta_k) dt,

by the trapezoid rule on a grid around the largest predictor. The integrand is smooth and falls like a normal density on
either side, so that the rule converges exponentially; classes 20 below the largest still have eight digits.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit


@njit(cache=True, nogil=True)
def softmax_likelihood(eta, codes, weight, proba):  # type: ignore[no-untyped-def]
    """Σ weight·log p of the documents' own classes; fills ``proba``. An empty ``weight`` means all ones."""
    n_docs, n_classes = eta.shape
    weighted = len(weight) > 0
    total = 0.0
    for i in range(n_docs):
        row, out = eta[i], proba[i]
        largest = row[0]
        for c in range(1, n_classes):
            largest = max(largest, row[c])
        mass = 0.0
        for c in range(n_classes):
            e = math.exp(row[c] - largest)
            out[c] = e
            mass += e
        log_p = row[codes[i]] - largest - math.log(mass)
        total += weight[i] * log_p if weighted else log_p
        for c in range(n_classes):
            out[c] /= mass
    return total


@njit(cache=True, nogil=True)
def rest_of(eta, which, out):  # type: ignore[no-untyped-def]
    """log Σ_{k≠which} exp(eta_k) of every document, into ``out``."""
    n_docs, n_classes = eta.shape
    for i in range(n_docs):
        row = eta[i]
        largest = -np.inf
        for c in range(n_classes):
            if c != which:
                largest = max(largest, row[c])
        mass = 0.0
        for c in range(n_classes):
            if c != which:
                mass += math.exp(row[c] - largest)
        out[i] = largest + math.log(mass)


@njit(cache=True, nogil=True)
def curvature_times(proba, weight, step, out):  # type: ignore[no-untyped-def]
    """weight·(diag(p) − pp')·step of every document, into ``out``; an empty ``weight`` means all ones."""
    n_docs, n_classes = proba.shape
    weighted = len(weight) > 0
    for i in range(n_docs):
        p, d, o = proba[i], step[i], out[i]
        mean = p[0] * d[0]
        for c in range(1, n_classes):
            mean += p[c] * d[c]
        for c in range(n_classes):
            o[c] = p[c] * (d[c] - mean)
            if weighted:
                o[c] *= weight[i]


U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops


@njit(cache=True, nogil=True)
def times_classes(indptr, indices, data, weights, out):  # type: ignore[no-untyped-def]
    """X W for X (n, p) in CSC and W (p, k) row-major, into ``out`` (n, k)."""
    n_classes = U(weights.shape[1])
    out[:] = 0.0
    for j in range(len(indptr) - 1):
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x, i = data[t], U(indices[t])
            for c in range(n_classes):
                out[i, c] += x * weights[j, c]


@njit(cache=True, nogil=True)
def transpose_times_classes(indptr, indices, data, vectors, out):  # type: ignore[no-untyped-def]
    """Xᵀ V for X (n, p) in CSC and V (n, k) row-major, into ``out`` (p, k)."""
    n_classes = U(vectors.shape[1])
    sums = np.zeros(vectors.shape[1], dtype=vectors.dtype)
    for j in range(len(indptr) - 1):
        for c in range(n_classes):
            sums[c] = 0.0
        for t in range(U(indptr[j]), U(indptr[j + 1])):
            x, i = data[t], U(indices[t])
            for c in range(n_classes):
                sums[c] += x * vectors[i, c]
        for c in range(n_classes):
            out[j, c] = sums[c]


_BELOW, _ABOVE, _STEP = 14.0, 8.0, 0.4
_ROOT_HALF, _DENSITY = math.sqrt(0.5), 1.0 / math.sqrt(2.0 * math.pi)


@njit(cache=True, nogil=True)
def highest_of_normals(eta, out):  # type: ignore[no-untyped-def]
    """p_c of every row of ``eta`` (n, n_classes), into ``out``; rows add up to one."""
    n_rows, n_classes = eta.shape
    below = np.empty(n_classes)
    for i in range(n_rows):
        row, found = eta[i], out[i]
        largest = row[0]
        for c in range(1, n_classes):
            largest = max(largest, row[c])
        found[:] = 0.0
        t = largest - _BELOW
        while t < largest + _ABOVE:
            together = 1.0
            for c in range(n_classes):
                below[c] = 0.5 * math.erfc((row[c] - t) * _ROOT_HALF)
                together *= below[c]
            for c in range(n_classes):
                gap = t - row[c]
                found[c] += math.exp(-0.5 * gap * gap) * _DENSITY * (together / below[c])
            t += _STEP
        total = found.sum()
        for c in range(n_classes):
            found[c] /= total
