"""Independent Gaussian weights of many labels: every word of the vocabulary, at the cost of a document's non-zeros."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields, Sizes
from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray
from textbayes.core.validation import check_finite
from textbayes.models.online.base import LinearPredictor, OnlinePosterior, WordRows, canonical_rows
from textbayes.models.online.likelihood import ClosedForm

diagonal_kernels = LazyModule("textbayes.kernels.online.diagonal")
rows_kernels = LazyModule("textbayes.kernels.online.document")


def _n_weights(sizes: Sizes) -> int:
    return 1 + sizes["n_features"]


@dataclass(eq=False)
class DiagonalPosterior(OnlinePosterior):
    """w_jk ~ N(mean_jk, var_jk), independent, for words j and labels k; row 0 is the bias.

    One reading of a document serves all labels: O(non-zeros · labels) to learn or to predict it. A word with variance 0
    is never learnt: that is how a label is restricted to its own words.

    Attributes
    ----------
    mean, var, prior_mean, prior_var : arrays (1 + n_words, n_labels)

    References
    ----------
    Graepel, Candela, Borchert & Herbrich (2010), Web-scale Bayesian click-through rate prediction, ICML.

    Examples
    --------
    >>> from textbayes.models.online import PAPER_PROBIT
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1, -1], [-1, 0]])
    >>> posterior, _ = DiagonalPosterior.start(n_words=2, n_labels=2).learn(X, y, PAPER_PROBIT)
    >>> PAPER_PROBIT.predictive(*posterior.predict(X)) > 0.5
    array([[ True, False],
           [False, False]])
    """

    fields: ClassVar[Fields] = {
        "mean": Array(np.float64, (_n_weights, "n_labels")),
        "var": Array(np.float64, (_n_weights, "n_labels"), least=0.0),
        "prior_mean": Array(np.float64, (_n_weights, "n_labels")),
        "prior_var": Array(np.float64, (_n_weights, "n_labels"), least=0.0),
    }

    mean: FloatArray
    var: FloatArray
    prior_mean: FloatArray
    prior_var: FloatArray

    @classmethod
    def start(
        cls, n_words: int, n_labels: int = 1, variance: Any = 1.0, bias_variance: Any = 1.0, mean: Any = 0.0
    ) -> Self:
        """The prior; ``mean`` and ``variance`` are a number or an array that broadcasts to (n_words, n_labels)."""
        prior_mean, prior_var = np.zeros((1 + n_words, n_labels)), np.empty((1 + n_words, n_labels))
        prior_mean[1:], prior_var[0], prior_var[1:] = mean, bias_variance, variance
        if not (np.isfinite(prior_mean).all() and np.isfinite(prior_var).all() and (prior_var >= 0.0).all()):
            raise InputError("prior means must be finite, and variances finite and not negative; some are not")
        return cls(prior_mean.copy(), prior_var.copy(), prior_mean, prior_var)

    @property
    def n_labels(self) -> int:
        return self.mean.shape[1]

    @property
    def n_weights(self) -> int:
        return len(self.mean)

    def copy(self) -> Self:
        return type(self)(self.mean.copy(), self.var.copy(), self.prior_mean, self.prior_var)

    def predict(self, X: Any) -> LinearPredictor:
        return LinearPredictor(*diagonal_kernels.predict_diagonal(*self._rows(X), self.mean, self.var))

    def grow(self, n_words: int, variance: float = 1.0) -> Self:
        """The same posterior for a vocabulary of ``n_words``: words beyond those known have mean 0 and ``variance``."""
        added = 1 + n_words - len(self.mean)
        if added < 0:
            raise InputError(f"n_words={n_words} is given, but {len(self.mean) - 1} words are known; none can be lost")
        zeros = np.zeros((added, self.n_labels))
        more = zeros, zeros + variance, zeros, zeros + variance
        fields = self.mean, self.var, self.prior_mean, self.prior_var
        return type(self)(*(np.concatenate(pair) for pair in zip(fields, more, strict=True)))

    def _rows(self, X: Any) -> WordRows:
        if isinstance(X, WordRows):
            return X
        rows, known = canonical_rows(X, finite=False), len(self.mean) - 1
        if rows.shape[1] != known:
            raise InputError(
                f"X has {rows.shape[1]} columns and the posterior knows {known} words; "
                "use the same vocabulary, or grow the posterior first"
            )
        indptr, positions, finite = rows_kernels.after_bias(rows.indptr, rows.indices, rows.data)
        if not finite:
            check_finite(rows, "X")
        return WordRows(indptr, positions, rows.data)

    def _learn_compiled(
        self,
        rows: WordRows,
        y: FloatArray,
        closed: ClosedForm,
        forgetting_factor: float,
        log_prob: FloatArray,
        n_jobs: int,
    ) -> None:
        settings = *closed, np.log(forgetting_factor)
        if min(n_jobs, self.n_labels) == 1:  # nothing is copied, so that a single document costs its words only
            diagonal_kernels.learn_diagonal(
                *rows, y, self.mean, self.var, *settings, self.prior_mean, self.prior_var, log_prob
            )
            return

        def learn(labels: slice) -> None:
            mean, var, log_z = (part[:, labels].copy() for part in (self.mean, self.var, log_prob))
            outcomes, at, width = (part[:, labels].copy() for part in (y, self.prior_mean, self.prior_var))
            diagonal_kernels.learn_diagonal(*rows, outcomes, mean, var, *settings, at, width, log_z)
            self.mean[:, labels], self.var[:, labels], log_prob[:, labels] = mean, var, log_z

        # Labels do not know of each other: however they are shared out, the result is the same.
        bounds = np.linspace(0, self.n_labels, min(n_jobs, self.n_labels) + 1).astype(int)
        with ThreadPoolExecutor(max_workers=n_jobs) as pool:
            list(pool.map(learn, map(slice, bounds[:-1], bounds[1:])))

    def _predict_one(self, rows: WordRows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        mean, var = np.empty(self.n_labels), np.empty(self.n_labels)
        diagonal_kernels.look_diagonal(*rows.document(i), self.mean, self.var, mean, var)
        return mean, var, None

    def _update_one(self, rows: WordRows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        diagonal_kernels.take_diagonal(*rows.document(i), self.mean, self.var, d1, d2)

    def _drift_in_place(self, forgetting_factor: float) -> None:
        share = forgetting_factor**2
        self.mean[:] = self.prior_mean + forgetting_factor * (self.mean - self.prior_mean)
        self.var[:] = self.prior_var + share * (self.var - self.prior_var)
