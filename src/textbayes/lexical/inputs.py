"""Inputs of every score function, checked once and brought into one form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import canonical, check_finite, check_indicator, check_same_length


class Inputs(NamedTuple):
    """Checked documents and labels.

    ``X`` is CSR (n_docs, n_features) in float64 without duplicates or stored zeros, ``Yt`` the labels as CSR
    (n_labels, n_docs), so that ``Yt @ X`` sums over the documents of each category at a cost of one multiplication
    per document, word in it and label on it; ``n_positive`` (n_labels,) the documents of each category.
    """

    X: sparse.csr_matrix
    Yt: sparse.csr_matrix
    n_positive: FloatArray

    @property
    def n_docs(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])


def check_inputs(X: Matrix, Y: AnyArray, *, nonnegative: bool) -> Inputs:
    """Check counts and labels for scoring, and refuse what cannot be scored; the caller's arrays are never changed."""
    documents = _as_csr(X)
    indicator = check_indicator(Y)
    check_same_length(documents, "X", indicator, "Y")
    if not documents.shape[0]:
        raise InputError("X has no documents; pass at least one row")
    if not indicator.shape[1]:
        raise InputError("Y has no labels; pass at least one column")
    check_finite(documents, "X")
    if nonnegative and documents.nnz and documents.data.min() < 0:
        raise InputError(
            f"Negative values in data: X goes down to {documents.data.min():.3g}, but this score counts the documents a"
            " word occurs in; pass counts or non-negative weights, or use pearson, t_test or t_test_pooled"
        )
    labels = sparse.csc_matrix(indicator, dtype=np.float64).T
    return Inputs(documents, labels, indicator.sum(axis=0, dtype=np.float64))


def _as_csr(X: Any) -> sparse.csr_matrix:
    array = X if sparse.issparse(X) else np.asarray(X)
    if array.ndim != 2:
        raise InputError(f"X has {array.ndim} dimension(s); pass a matrix (n_docs, n_features)")
    if array.dtype.kind not in "biuf":
        raise InputError(f"X holds values of type {array.dtype}; pass numbers (vectorize texts first)")
    documents: sparse.csr_matrix = canonical(sparse.csr_matrix(array, dtype=np.float64), zeros=False)
    return documents
