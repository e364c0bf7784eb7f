"""Logistic regression on a few dense columns: the loss and its derivatives in one pass over the documents."""

from __future__ import annotations

import math

from textbayes.kernels._jit import njit


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
