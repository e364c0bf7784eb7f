"""A Gaussian with full covariance over the words of one label: the paper's Bayesian online perceptron."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from textbayes.core.types import FloatArray, IntArray
from textbayes.models.online.base import Rows
from textbayes.models.online.likelihood import ClosedForm
from textbayes.models.online.words import WordsPosterior, check_words, diagonal_prior, new_words

NO_SITES = np.empty((0, 2))
NOTHING_WAITS = np.empty((0, 0)), np.empty(0), 0


@dataclass(eq=False)
class FullPosterior(WordsPosterior):
    """N(mean, cov) over the bias (position 0) and the weights of ``words`` (positions 1, 2, …).

    Learning a document costs O(non-zeros · words) and a share of a pass over the covariance that serves a block of
    documents; predicting one O(non-zeros²). The covariance is symmetric to the last bit.

    Attributes
    ----------
    words : array of columns of X
    mean : array (1 + n_words,)
    cov : array (1 + n_words, 1 + n_words)
    prior_mean, prior_var : arrays (1 + n_words,)
        Where weights drift to.

    References
    ----------
    Chai, Ng & Chieu (2002), SIGIR, § 3.1; Solla & Winther (1998), Optimal perceptron learning.

    Examples
    --------
    >>> from textbayes.models.online import PAPER_PROBIT
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.5]]), [1, -1, 1]
    >>> posterior, info = FullPosterior.start([0, 1]).learn(X, y, PAPER_PROBIT, passes=3)
    >>> (PAPER_PROBIT.predictive(*posterior.predict(X)) > 0.5).ravel()
    array([ True, False,  True])
    """

    words: IntArray
    mean: FloatArray
    cov: FloatArray
    prior_mean: FloatArray
    prior_var: FloatArray

    @classmethod
    def start(cls, words: Any, variance: Any = 1.0, bias_variance: float = 1.0, mean: Any = 0.0) -> Self:
        """The prior: independent weights N(mean, variance), one value for all words or one per word.

        A bias variance of 0 leaves the bias out.
        """
        words = check_words(words)
        prior_mean, prior_var = diagonal_prior(len(words), mean, variance, bias_variance)
        return cls(words, prior_mean.copy(), np.diag(prior_var), prior_mean, prior_var)

    @property
    def n_weights(self) -> int:
        return len(self.mean)

    def copy(self) -> Self:
        return type(self)(self.words, self.mean.copy(), self.cov.copy(), self.prior_mean, self.prior_var)

    def _predict_rows(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        from textbayes.kernels.online.deferred import predict_deferred

        mean, var = predict_deferred(*rows, self.mean, self.cov, *NOTHING_WAITS)
        return mean, var

    def grow(self, words: Any, variance: float = 1.0) -> Self:
        """The same posterior with more words, of mean 0 and their own variance (§ 4.2.1); known words are ignored."""
        added = new_words(words, self.words)
        old, size = len(self.mean), len(self.mean) + len(added)
        cov = np.zeros((size, size))
        cov[:old, :old] = self.cov
        cov[range(old, size), range(old, size)] = variance
        zeros = np.zeros(len(added))
        return type(self)(
            np.concatenate([self.words, added]),
            np.concatenate([self.mean, zeros]),
            cov,
            np.concatenate([self.prior_mean, zeros]),
            np.concatenate([self.prior_var, zeros + variance]),
        )

    def _learn_rows(self, rows: Rows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        from textbayes.kernels.online.full import learn_full

        learn_full(*rows, y, self.mean, self.cov, *closed, NO_SITES, log_prob)

    def _predict_one(self, rows: Rows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        from textbayes.kernels.online.full import look_full

        mean, var, direction = look_full(*rows.document(i), self.mean, self.cov)
        return np.array([mean]), np.array([var]), direction

    def _update_one(self, rows: Rows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        from textbayes.kernels.online.full import take_full

        take_full(self.mean, self.cov, memo, d1[0], d2[0])

    def _drift_in_place(self, retention: float) -> None:
        kept = retention**2
        self.mean[:] = self.prior_mean + retention * (self.mean - self.prior_mean)
        self.cov *= kept
        self.cov.ravel()[:: len(self.mean) + 1] += (1.0 - kept) * self.prior_var
