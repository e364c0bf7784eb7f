"""The softmax likelihood, its probabilities, and its curvature times a vector, class by class of every document.

A document of class y and predictors eta has the log-likelihood eta_y − log Σ_c exp(eta_c), the score 1[c = y] − p_c
and the curvature diag(p) − pp', p_c = exp(eta_c)/Σ_k exp(eta_k). As a function of one class's predictor alone it is
that of a logistic regression whose predictor is eta_c − log Σ_{k≠c} exp(eta_k): ``rest_of`` gives that offset.
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit


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
