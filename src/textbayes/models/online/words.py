"""Labels with words of their own: which columns of X they see, and in which position."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.online.base import LinearPredictor, OnlinePosterior, Rows, canonical_rows
from textbayes.models.online.likelihood import ClosedForm


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


class WordsPosterior(OnlinePosterior):
    """A posterior of one label over the bias (position 0) and the weights of ``words`` (positions 1, 2, …)."""

    words: IntArray

    def predict(self, X: Any) -> LinearPredictor:
        mean, var = self._predict_rows(self._rows(X))
        return LinearPredictor(mean[:, None], var[:, None])

    @abstractmethod
    def _predict_rows(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the predictor, each (n_docs,)."""

    @abstractmethod
    def _learn_rows(self, rows: Rows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        """One pass in place without drift, ``y`` and ``log_prob`` (n_docs,)."""

    def _rows(self, X: Any) -> Rows:
        return restricted(X, self.words)

    def _learn_compiled(
        self, rows: Rows, y: FloatArray, closed: ClosedForm, retention: float, log_prob: FloatArray, n_jobs: int
    ) -> None:
        log_z = np.empty(rows.n_docs)
        steps = [(rows, y[:, 0], log_z)]
        if retention < 1.0:  # all weights change before each document: no update can be put off
            steps = [(rows.one(i), y[i], log_z[i : i + 1]) for i in range(rows.n_docs)]
        for part, outcomes, out in steps:
            if retention < 1.0:
                self._drift_in_place(retention)
            self._learn_rows(part, outcomes, closed, out)
        log_prob[:, 0] = log_z
