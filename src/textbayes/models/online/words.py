"""Labels with words of their own: which columns of X they see, and in which position."""

from __future__ import annotations

from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.online.base import Rows, canonical_rows


def check_words(words: Any) -> IntArray:
    """Columns of X, distinct, in the order given; a boolean mask stands for the columns where it is true."""
    array = np.asarray(words)
    if array.dtype == np.bool_:
        array = np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"words is an array of {array.dtype} and shape {array.shape}; pass a list of column numbers")
    array = array.astype(np.int64)
    if array.size and array.min() < 0:
        raise InputError(f"words holds {array.min()}; columns are counted from 0")
    if len(np.unique(array)) < len(array):
        raise InputError("words holds a column more than once; pass each one time")
    return array


def new_words(words: Any, known: IntArray) -> IntArray:
    """Those of ``words`` that are not known yet."""
    words = check_words(words)
    return words[~np.isin(words, known)]


def diagonal_prior(n_words: int, mean: Any, variance: Any, bias_variance: float) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the bias, first, and of the words."""
    means, variances = np.zeros(1 + n_words), np.empty(1 + n_words)
    means[1:], variances[0], variances[1:] = mean, bias_variance, variance
    if not (np.isfinite(means).all() and np.isfinite(variances).all() and (variances >= 0.0).all()):
        raise InputError("prior means must be finite, and variances finite and not negative; some are not")
    return means, variances


def restricted(X: Any, words: IntArray) -> Rows:
    """The documents as far as they have these words, the first of which gets position 1."""
    from textbayes.kernels.online.rows import restrict_rows

    if isinstance(X, Rows):
        return X
    rows = canonical_rows(X)
    if len(words) and words.max() >= rows.shape[1]:
        raise InputError(f"X has {rows.shape[1]} columns, but the posterior uses column {words.max()}")
    position = np.full(rows.shape[1], -1, dtype=np.int32)
    position[words] = np.arange(1, len(words) + 1)
    return Rows(*restrict_rows(rows.indptr.astype(np.int64), rows.indices, rows.data, position))
