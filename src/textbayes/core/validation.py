"""Checks of what users pass in, each with a message that says what was given, what is needed and what to do."""

from __future__ import annotations

import numbers
from collections.abc import Sized
from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray


def check_same_length(first: Sized, first_name: str, second: Sized, second_name: str) -> None:
    """Refuse two collections that should go together one to one and do not."""
    n_first, n_second = _length(first), _length(second)
    if n_first != n_second:
        raise InputError(
            f"{first_name} and {second_name} differ in length: {n_first} and {n_second}; pass one of each per document"
        )


def check_finite(values: Any, name: str) -> None:
    """Refuse NaN and infinity in a dense array or in the stored values of a sparse matrix."""
    from scipy import sparse  # only when used: corpora are found without it

    array = values.data if sparse.issparse(values) else np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        n_bad = int(array.size - np.isfinite(array).sum())
        raise InputError(f"{name} contains {n_bad} NaN or infinite value(s); remove or replace them first")


def check_probabilities(proba: Any) -> FloatArray:
    """A float array (n_docs, n_labels) with values in [0, 1]; a vector becomes one column."""
    array = np.asarray(proba, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"proba has {array.ndim} dimensions; pass (n_docs,) or (n_docs, n_labels)")
    check_finite(array, "proba")
    if array.size and (array.min() < 0.0 or array.max() > 1.0):
        raise InputError(f"proba has values from {array.min():.3g} to {array.max():.3g}; probabilities lie in [0, 1]")
    return array


def check_indicator(Y: Any, name: str = "Y") -> AnyArray:
    """A boolean array (n_docs, n_labels) from a 0/1 vector or matrix, dense or sparse."""
    from scipy import sparse

    array = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions; pass (n_docs,) or (n_docs, n_labels)")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} has values other than 0 and 1; pass an indicator matrix, one column per label")
    return array.astype(np.bool_)


def as_numbers(values: Any, name: str) -> FloatArray:
    """A float array of any shape; what cannot be one is refused."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}={values!r} is not usable; pass a number or an array of numbers") from None


def is_number(value: object) -> bool:
    """Whether the value is one real number, of Python or of NumPy."""
    return isinstance(value, numbers.Real)


def check_whole(name: str, value: object, least: int = 1) -> None:
    """Refuse what is no whole number from ``least`` on."""
    if not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"{name}={value!r} is not usable; pass a whole number from {least} on")


def check_positive(name: str, value: object, example: str) -> None:
    """Refuse what is no positive, finite number; the message gives an example of one."""
    if not (isinstance(value, numbers.Real) and 0.0 < float(value) < np.inf):
        raise InputError(f"{name}={value!r} is not usable; pass a positive number such as {example}")


def check_level(level: float) -> None:
    """Refuse a probability that no interval can hold."""
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} is given; an interval holds a share between 0 and 1, such as 0.9")


def check_choice(name: str, value: object, options: tuple[object, ...]) -> None:
    """Refuse a value that is not among the options."""
    if not any(value is option or value == option for option in options):
        listed = ", ".join(repr(option) for option in options)
        raise InputError(f"{name}={value!r} is not known; choose one of {listed}")


def writable(X: Any) -> Any:
    """A matrix whose arrays can be written to: itself, or a copy.

    joblib maps large arrays into its processes so that they can only be read. To numba that is another type: every
    kernel would be compiled for it in each process, which takes far longer than what the processes are for.
    """
    parts = [getattr(X, name, X) for name in ("data", "indices", "indptr")] if hasattr(X, "indptr") else [X]
    return X if all(part.flags.writeable for part in parts) else X.copy()


def _length(values: Sized) -> int:
    shape = getattr(values, "shape", None)
    return int(shape[0]) if shape else len(values)


def canonical(matrix: Any, *, zeros: bool = True) -> Any:
    """A CSR or CSC matrix with sorted, distinct indices, and without ``zeros`` none stored; not changed in place."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if not zeros and matrix.nnz and not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def refuse_texts(X: Any) -> None:
    """Refuse texts where a matrix is needed.

    >>> refuse_texts(["corn", "wheat"])
    Traceback (most recent call last):
    ...
    textbayes.core.errors.InputError: X holds texts; put a TextVectorizer before this estimator, or use TextCategorizer
    """
    few = X[:1] if isinstance(X, (list, tuple, np.ndarray)) or type(X).__name__ == "Series" else ()
    if any(isinstance(one, str) for one in few):
        raise InputError("X holds texts; put a TextVectorizer before this estimator, or use TextCategorizer")
