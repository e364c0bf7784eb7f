"""Inputs of a count classifier, checked once and brought into one form: counts, lengths and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, FloatArray, IntArray, Matrix
from textbayes.core.validation import check_same_length, writable
from textbayes.lexical.exposures import check_lengths

_SHORTEST = 1e-9  # ω of a document without a known word whose length was not given: it then says nothing


def checked_counts(estimator: Any, X: Matrix | ArrayLike, reset: bool) -> sparse.csr_matrix:
    """X as CSR of non-negative float64 without duplicates or stored zeros; what came in is not changed."""
    checked = writable(validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, reset=reset))
    rows = sparse.csr_matrix(checked)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.nnz:
        least = rows.data.min()
        if least < 0.0:
            raise InputError(
                f"Negative values in data passed to {type(estimator).__name__}: the least is {least:g}; pass counts"
            )
        if least == 0.0:
            rows = rows.copy()
            rows.eliminate_zeros()
    return rows


def checked_lengths(X: sparse.csr_matrix, lengths: Any) -> FloatArray:
    """Lengths in thousands of words; 0 is an empty document, of which nothing may be counted."""
    if lengths is None:
        return np.maximum(np.asarray(X.sum(axis=1)).ravel() / 1000.0, _SHORTEST)
    return check_lengths(lengths, X)


def one_label_each(X: sparse.csr_matrix, y: Any) -> AnyArray:
    """Labels as a vector, one for each document; several per document are refused, and another number of them."""
    if y is None:
        raise InputError("requires y to be passed, but the target y is None; pass one label per document")
    several = (list, tuple, set, frozenset)
    if sparse.issparse(y) or (isinstance(y, (list, tuple)) and any(isinstance(label, several) for label in y)):
        raise NotSupportedError("several labels per document were given; a count model knows one class per document")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        if np.isnan(labels).any():
            raise InputError("y has labels that are NaN; leave out documents without a label, or give them one")
        check_classification_targets(labels)
    check_same_length(X, "X", labels, "y")
    return np.asarray(labels)


def encode_classes(labels: AnyArray, classes: list[Any] | None) -> tuple[IntArray, LabelSpace]:
    """The position of each label among the classes; only different labels are looked at one by one."""
    try:
        found, codes = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types do not sort: refused below, with a sentence
        found, codes = labels, np.arange(len(labels))
    space = encode_labels(found, classes)[1]
    position = {name: k for k, name in enumerate(space.classes.tolist())}
    places = np.array([position[name] for name in found.tolist()], dtype=np.int64)
    return places[codes.ravel()], space


def weighted_indicator(codes: IntArray, weight: FloatArray | None, n_classes: int) -> sparse.csr_matrix:
    """The indicator of the classes (n_docs, C) times the documents' weights."""
    n_docs = len(codes)
    data = np.ones(n_docs) if weight is None else weight
    Y = sparse.csr_matrix((data, codes, np.arange(n_docs + 1)), shape=(n_docs, n_classes))
    Y.eliminate_zeros()
    return Y
