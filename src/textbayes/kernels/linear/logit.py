"""The logistic log-likelihood and its derivatives in one pass over the documents."""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._jit import njit

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
