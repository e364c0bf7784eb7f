"""Gaussians with full covariance over the words of one label: the paper's Bayesian online perceptron.

``DeferredPosterior``, for streams of single judgements, passes over the covariance once for many of them;
``propagate`` makes several passes that count every document once (expectation propagation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.models.online.base import (
    WordRows,
    WordsPosterior,
    check_outcomes,
    check_words,
    diagonal_prior,
    new_words,
    saved_words,
    with_bias,
)
from textbayes.models.online.likelihood import ClosedForm, OnlineLikelihood

full_kernels = LazyModule("textbayes.kernels.online.full")
outcome_kernels = LazyModule("textbayes.kernels.online.document")

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

    fields: ClassVar[Fields] = {
        "words": saved_words(),
        "mean": Array(np.float64, (with_bias,)),
        "cov": Array(np.float64, (with_bias, with_bias)),
        "prior_mean": Array(np.float64, (with_bias,)),
        "prior_var": Array(np.float64, (with_bias,), least=0.0),
    }

    words: IntArray
    mean: FloatArray
    cov: FloatArray
    prior_mean: FloatArray
    prior_var: FloatArray

    def check_state(self) -> None:
        super().check_state()
        if not (np.diag(self.cov) >= 0.0).all() or not np.array_equal(self.cov, self.cov.T):
            raise ValueError("its cov is no covariance")

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

    def _predict_rows(self, rows: WordRows) -> tuple[FloatArray, FloatArray]:
        mean, var = full_kernels.predict_deferred(*rows, self.mean, self.cov, *NOTHING_WAITS)
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

    def _learn_rows(self, rows: WordRows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        full_kernels.learn_full(*rows, y, self.mean, self.cov, *closed, NO_SITES, log_prob)

    def _predict_one(self, rows: WordRows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        mean, var, direction = full_kernels.look_full(*rows.document(i), self.mean, self.cov)
        return np.array([mean]), np.array([var]), direction

    def _update_one(self, rows: WordRows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        full_kernels.take_full(self.mean, self.cov, memo, d1[0], d2[0])

    def _drift_in_place(self, forgetting_factor: float) -> None:
        share = forgetting_factor**2
        self.mean[:] = self.prior_mean + forgetting_factor * (self.mean - self.prior_mean)
        self.cov *= share
        self.cov.ravel()[:: len(self.mean) + 1] += (1.0 - share) * self.prior_var


MOST = 32  # directions that wait; a multiple of 4. More cost more in every prediction than they save in learning


class DeferredUpdates:
    """Allocated directions and factors, shared by posteriors: each knows how many are its own, and adds after those."""

    def __init__(self, width: int) -> None:
        self.directions, self.removed = np.zeros((MOST, width)), np.zeros(MOST)
        self.n = 0

    def followed_by(self, n: int, direction: FloatArray, removed: float) -> DeferredUpdates:
        """The first ``n`` and one more: here, unless another posterior has put something there."""
        updates = self
        if n < self.n:
            updates = DeferredUpdates(self.directions.shape[1])
            updates.directions[:n], updates.removed[:n] = self.directions[:n], self.removed[:n]
        updates.directions[n, : len(direction)], updates.removed[n] = direction, removed
        updates.n = n + 1
        return updates


@dataclass(eq=False)
class DeferredPosterior(WordsPosterior):
    """What :class:`FullPosterior` is, up to rounding; learning one document costs no pass over the covariance.

    The covariance is ``base`` less the latest updates, at most 32, stored as directions and factors. ``base``
    is never changed, so copies share it: bringing it up to date makes another. It has room for words to come, where it
    is their prior, so that a word joins at no cost.

    Attributes
    ----------
    words, mean
        As in :class:`FullPosterior`; the prior is N(0, variance) for every weight.
    base : array (n, n), n ≥ 1 + n_words
    waiting : DeferredUpdates
    n_waiting : int
        The covariance is base − Σ_k removed_k · directions_k directions_k' over the first so many of ``waiting``.
    """

    words: IntArray
    mean: FloatArray
    base: FloatArray
    waiting: DeferredUpdates
    n_waiting: int
    variance: float

    @classmethod
    def of(cls, full: FullPosterior, variance: float) -> Self:
        """The same posterior, with nothing that waits."""
        return cls.restore(full.words, full.mean, full.cov, np.zeros((0, len(full.mean))), np.zeros(0), variance)

    @classmethod
    def restore(
        cls,
        words: IntArray,
        mean: FloatArray,
        base: FloatArray,
        directions: FloatArray,
        removed: FloatArray,
        variance: float,
    ) -> Self:
        """A posterior from arrays without room, as a file has them."""
        n, size = directions.shape
        if base.shape != (size, size) or mean.shape != (size,) or removed.shape != (n,) or n >= MOST:
            raise ValueError("mean, covariance and directions of a posterior do not fit together")
        made = cls(words, mean, base, DeferredUpdates(size), 0, variance)
        for direction, factor in zip(directions, removed.tolist(), strict=True):
            made.waiting, made.n_waiting = (
                made.waiting.followed_by(made.n_waiting, direction, factor),
                made.n_waiting + 1,
            )
        return made

    @property
    def directions(self) -> FloatArray:
        return self.waiting.directions[: self.n_waiting, : len(self.mean)]

    @property
    def removed(self) -> FloatArray:
        return self.waiting.removed[: self.n_waiting]

    @property
    def cov(self) -> FloatArray:
        """The covariance, computed anew; O(words² · what waits)."""
        size = len(self.mean)
        return np.ascontiguousarray(self._up_to_date()[:size, :size])

    @property
    def n_weights(self) -> int:
        return len(self.mean)

    def copy(self) -> Self:
        return type(self)(self.words, self.mean.copy(), self.base, self.waiting, self.n_waiting, self.variance)

    def _predict_rows(self, rows: WordRows) -> tuple[FloatArray, FloatArray]:
        mean, var = full_kernels.predict_deferred(*rows, *self._state())
        return mean, var

    def grow(self, words: Any, variance: float = 1.0) -> Self:
        """The same posterior with more words, of mean 0 and the prior variance; what waits says nothing of them."""
        if variance != self.variance:
            raise InputError(f"variance={variance} is given, but the posterior has room for words of {self.variance}")
        added = new_words(words, self.words)
        mean = np.concatenate([self.mean, np.zeros(len(added))])
        base, waiting = self.base, self.waiting
        if len(mean) > len(base):
            allocated = len(mean) + len(mean) // 16 + 32
            base, waiting = np.zeros((allocated, allocated)), DeferredUpdates(allocated)
            base[: len(self.base), : len(self.base)] = self.base
            base[range(len(self.base), allocated), range(len(self.base), allocated)] = variance
            waiting.directions[: self.n_waiting, : len(self.mean)] = self.directions
            waiting.removed[: self.n_waiting], waiting.n = self.removed, self.n_waiting
        words = np.concatenate([self.words, added])
        return type(self)(words, mean, base, waiting, self.n_waiting, variance)

    def _state(self) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray, int]:
        return self.mean, self.base, self.waiting.directions, self.waiting.removed, self.n_waiting

    def _learn_rows(self, rows: WordRows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        log_prob[:] = 0.0
        for i in np.flatnonzero(y).tolist():
            mean, var, direction = self._predict_one(rows, i)
            log_prob[i], first, second = outcome_kernels.outcome(mean[0], var[0], y[i], *closed)
            self._update_one(rows, i, direction, np.array([first]), np.array([second]))

    def _predict_one(self, rows: WordRows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        mean, var, direction = full_kernels.look_deferred(*rows.document(i), *self._state())
        return np.array([mean]), np.array([var]), direction

    def _update_one(self, rows: WordRows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        if not memo.any():
            return
        self.mean += d1[0] * memo
        self.waiting = self.waiting.followed_by(self.n_waiting, memo, -d2[0])
        self.n_waiting += 1
        if self.n_waiting == MOST:
            self._use(self._up_to_date())

    def _up_to_date(self) -> FloatArray:
        """``base`` with what waits brought in."""
        base, whole = self.base.copy(), (self.n_waiting + 3) // 4 * 4
        if self.n_waiting:
            removed = self.waiting.removed[:whole].copy()
            removed[self.n_waiting :] = 0.0  # of others, which share the room
            full_kernels.fold(base, len(self.mean), self.waiting.directions[:whole], removed)
        return base

    def _use(self, base: FloatArray) -> None:
        self.base, self.waiting, self.n_waiting = base, DeferredUpdates(len(base)), 0

    def _drift_in_place(self, forgetting_factor: float) -> None:
        share, base, size = forgetting_factor**2, self._up_to_date(), len(self.mean)
        self.mean *= forgetting_factor
        base[:size, :size] *= share
        base.ravel()[: size * (len(base) + 1) : len(base) + 1] += (1.0 - share) * self.variance
        self._use(base)


class PropagationInfo(NamedTuple):
    """``sites`` (n_docs, 2): what each document contributed, as precision and shift of its linear predictor.

    ``change`` is the largest change of a mean, in standard deviations, and of a variance, relative, in the last pass.
    """

    sites: FloatArray
    n_passes: int
    change: float
    converged: bool


def propagate(
    posterior: FullPosterior,
    X: Any,
    y: Any,
    likelihood: OnlineLikelihood,
    tol: float = 1e-6,
    max_passes: int = 100,
    sites: FloatArray | None = None,
) -> tuple[FullPosterior, PropagationInfo]:
    """Learn a batch of documents until nothing changes, each as one factor of the posterior.

    The first pass is that of ``posterior.learn``. From the second on, a document's former contribution is taken out
    before it is learnt anew, so that the order of the documents ceases to matter. Means come out close to those of the
    exact posterior; variances too, unless few documents decide much (small noise), when they are somewhat low.

    Parameters
    ----------
    posterior : FullPosterior
        Before these documents; or after them, with the ``sites`` that were returned then, to go on.
    likelihood : OnlineLikelihood
        A probit, plain or flipped.

    References
    ----------
    Minka (2001), Expectation propagation for approximate Bayesian inference, UAI; Kuss & Rasmussen (2005), Assessing
    approximate inference for binary Gaussian process classification, JMLR 6.

    Examples
    --------
    >>> from textbayes.models.online import FullPosterior, PAPER_PROBIT
    >>> X, y = np.array([[1.0], [1.0], [1.0]]), [1, 1, -1]
    >>> posterior, info = propagate(FullPosterior.start([0], bias_variance=0.0), X, y, PAPER_PROBIT)
    >>> backwards, _ = propagate(FullPosterior.start([0], bias_variance=0.0), X[::-1], y[::-1], PAPER_PROBIT)
    >>> info.converged, bool(np.allclose(posterior.mean, backwards.mean, atol=1e-5))
    (True, True)
    """
    if not isinstance(posterior, FullPosterior):
        raise NotSupportedError(f"propagation needs a FullPosterior; {type(posterior).__name__} is given")
    if likelihood.closed_form is None:
        raise NotSupportedError(f"propagation needs a probit link, plain or flipped; {likelihood.link.spec!r} is not")
    state, rows = posterior.copy(), posterior._rows(X)
    outcomes = check_outcomes(y, rows.n_docs, 1)[:, 0]
    sites = np.zeros((rows.n_docs, 2)) if sites is None else sites.copy()
    if sites.shape != (rows.n_docs, 2):
        raise InputError(f"sites has shape {sites.shape}; pass one row of two per document: {(rows.n_docs, 2)}")
    log_z, change, number = np.empty(rows.n_docs), np.inf, 0
    while change > tol and number < max_passes:
        number += 1
        mean, var = state.mean.copy(), np.diag(state.cov).copy()
        full_kernels.learn_full(*rows, outcomes, state.mean, state.cov, *likelihood.closed_form, sites, log_z)
        scale = np.where(var > 0.0, var, 1.0)
        moved = np.abs(state.mean - mean) / np.sqrt(scale)
        change = float(max(moved.max(), (np.abs(np.diag(state.cov) - var) / scale).max()))
    return state, PropagationInfo(sites, number, change, change <= tol)
