"""A Gaussian whose covariance is diagonal minus low rank: correlations for vocabularies too large for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg

from textbayes.core.array_fields import Array
from textbayes.core.codec import Fields, Sizes, Whole
from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray, IntArray
from textbayes.models.online.base import (
    WordRows,
    WordsPosterior,
    check_words,
    diagonal_prior,
    new_words,
    saved_words,
    with_bias,
)
from textbayes.models.online.likelihood import ClosedForm

low_rank_kernels = LazyModule("textbayes.kernels.online.low_rank")


def _allocated(sizes: Sizes) -> int:
    """Columns that a posterior of some rank has memory for."""
    return 2 * sizes["rank"]


@dataclass(eq=False)
class LowRankPosterior(WordsPosterior):
    """N(mean, C), C⁻¹ = diag(diagonal) + factor factor', over the bias (position 0) and the weights of ``words``.

    Every document adds a column to ``factor``. At 2·rank columns the ``rank`` most informative directions stay and the
    others go into the diagonal, so up to 2·rank documents are learnt exactly as with full covariance, and the precision
    of each single weight is never lost. Learning costs O(non-zeros · rank + rank²) a document and a pass of
    O(words · rank²) every ``rank`` documents.

    Attributes
    ----------
    words, prior_mean, prior_var : as in :class:`FullPosterior`
    rank : int
    diagonal : array (1 + n_words,), positive
    factor : array (1 + n_words, 2·rank), of which the first ``n_columns`` are in use and the others zero
    root : array whose first rows and columns are the Cholesky factor of I + factor' diag(diagonal)⁻¹ factor
    settled, pending, shift : arrays
        mean = settled + (pending + factor · shift) / diagonal, so that a document changes few numbers.

    Examples
    --------
    >>> from textbayes.models.online import PAPER_PROBIT
    >>> posterior, _ = LowRankPosterior.start(range(3), rank=2).learn(np.eye(3), [1, -1, 1], PAPER_PROBIT)
    >>> (PAPER_PROBIT.predictive(*posterior.predict(np.eye(3))) > 0.5).ravel()
    array([ True, False,  True])
    """

    fields: ClassVar[Fields] = {
        "words": saved_words(),
        "rank": Whole(1, 10**6),
        "settled": Array(np.float64, (with_bias,)),
        "diagonal": Array(np.float64, (with_bias,), least=1e-30),
        "factor": Array(np.float64, (with_bias, _allocated)),
        "n_columns": Whole(0, 2 * 10**6),
        "root": Array(np.float64, (_allocated, _allocated)),
        "pending": Array(np.float64, (with_bias,)),
        "shift": Array(np.float64, (_allocated,)),
        "prior_mean": Array(np.float64, (with_bias,)),
        "prior_var": Array(np.float64, (with_bias,), least=0.0),
    }

    words: IntArray
    rank: int
    settled: FloatArray
    diagonal: FloatArray
    factor: FloatArray
    n_columns: int
    root: FloatArray
    pending: FloatArray
    shift: FloatArray
    prior_mean: FloatArray
    prior_var: FloatArray

    @classmethod
    def start(
        cls, words: Any, rank: int = 16, variance: Any = 1.0, bias_variance: float = 1.0, mean: Any = 0.0
    ) -> Self:
        """The prior: independent weights N(mean, variance), one value for all words or one per word, all positive."""
        words = check_words(words)
        if rank < 1:
            raise InputError(f"rank={rank} is given; pass 1 or more, or use DiagonalPosterior for no correlations")
        prior_mean, prior_var = diagonal_prior(len(words), mean, variance, bias_variance)
        if not (prior_var > 0.0).all():
            raise InputError("a low-rank posterior keeps precisions: every variance must be positive")
        size, width = len(prior_mean), 2 * rank
        factor, root = np.zeros((size, width)), np.zeros((width, width))
        rest = np.zeros(size), np.zeros(width), prior_mean, prior_var
        return cls(words, rank, prior_mean.copy(), 1.0 / prior_var, factor, 0, root, *rest)

    def check_state(self) -> None:
        super().check_state()
        if self.n_columns > len(self.shift):
            raise ValueError("it has more directions than columns")
        # A Cholesky factor of I + F'D⁻¹F has pivots of at least 1.
        if not (np.diag(self.root)[: self.n_columns] > 0.5).all():
            raise ValueError("its root is no Cholesky factor")

    @property
    def mean(self) -> FloatArray:
        """Means of the bias and of the words."""
        return self.settled + (self.pending + self.factor @ self.shift) / self.diagonal

    @property
    def cov(self) -> FloatArray:
        """The covariance as a dense matrix, for small vocabularies."""
        return np.asarray(np.linalg.inv(np.diag(self.diagonal) + self.factor @ self.factor.T), dtype=np.float64)

    @property
    def n_weights(self) -> int:
        return len(self.settled)

    def copy(self) -> Self:
        fields = {name: value.copy() if name in _OWNED else value for name, value in vars(self).items()}
        return type(self)(**fields)

    def _predict_rows(self, rows: WordRows) -> tuple[FloatArray, FloatArray]:
        mean, var = low_rank_kernels.predict_low_rank(*rows, *self._arrays())
        return mean, var

    def grow(self, words: Any, variance: float = 1.0) -> Self:
        """The same posterior with more words, of mean 0 and their own variance; known words are ignored."""
        added = new_words(words, self.words)
        zeros = np.zeros(len(added))
        grown = {
            "words": added,
            "settled": zeros,
            "diagonal": zeros + 1.0 / variance,
            "factor": np.zeros((len(added), 2 * self.rank)),
            "pending": zeros,
            "prior_mean": zeros,
            "prior_var": zeros + variance,
        }
        fields = {name: np.concatenate([vars(self)[name], more]) for name, more in grown.items()}
        return type(self)(**{**vars(self.copy()), **fields})

    def with_columns(self, n_columns: int) -> Self:
        """Itself, with so many columns of ``factor`` filled from outside."""
        self.n_columns = n_columns
        self._refresh_root()
        return self

    def _arrays(self) -> tuple[Any, Any, Any, int, Any, Any, Any]:
        return self.settled, self.diagonal, self.factor, self.n_columns, self.root, self.pending, self.shift

    def _learn_rows(self, rows: WordRows, y: FloatArray, closed: ClosedForm, log_prob: FloatArray) -> None:
        row = 0
        while row < rows.n_docs:
            self._compress_if_full()
            row, self.n_columns = low_rank_kernels.learn_low_rank(*rows, y, row, *self._arrays(), *closed, log_prob)

    def _predict_one(self, rows: WordRows, i: int) -> tuple[FloatArray, FloatArray, Any]:
        self._compress_if_full()
        solved = np.empty(2 * self.rank)
        mean, var = low_rank_kernels.look_low_rank(*rows.document(i), *self._arrays(), solved)
        return np.array([mean]), np.array([var]), (solved, var)

    def _update_one(self, rows: WordRows, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        solved, var = memo
        self.n_columns = low_rank_kernels.take_low_rank(
            *rows.document(i), *self._arrays()[2:], solved, var, d1[0], d2[0]
        )

    def _compress_if_full(self) -> None:
        """When all columns are in use, keep the ``rank`` directions that say most beside the diagonal."""
        n = self.n_columns
        if n < 2 * self.rank:
            return
        low_rank_kernels.fold_mean(self.settled, self.diagonal, self.factor, n, self.pending, self.shift)
        lower = np.tril(self.root)
        vectors = np.linalg.eigh(lower @ lower.T)[1]
        low_rank_kernels.compress(self.diagonal, self.factor, n, np.ascontiguousarray(vectors[:, n - self.rank :]))
        self.n_columns = self.rank
        self._refresh_root()

    def _refresh_root(self) -> None:
        n = self.n_columns
        self.root[:n, :n] = np.linalg.cholesky(low_rank_kernels.inner_products(self.diagonal, self.factor, n))

    def _drift_in_place(self, forgetting_factor: float) -> None:
        """ρ² C + (1 − ρ²) diag(v₀), which is diagonal minus low rank again, of the same rank (Woodbury)."""
        n, share, mean = self.n_columns, forgetting_factor**2, self.mean
        self.settled[:] = self.prior_mean + forgetting_factor * (mean - self.prior_mean)
        self.pending[:], self.shift[:] = 0.0, 0.0
        own = share / self.diagonal + (1.0 - share) * self.prior_var
        # C = D⁻¹ − W W' with W = D⁻¹ V L'⁻¹; the new precision is E⁻¹ + R R' with R = E⁻¹ U (I − U'E⁻¹U)^(−½), U = ρW.
        outer = forgetting_factor * linalg.solve_triangular(
            self.root[:n, :n], (self.factor[:, :n] / self.diagonal[:, None]).T, lower=True
        )
        left = np.linalg.cholesky(np.eye(n) - (outer / own) @ outer.T)
        self.factor[:, :n] = (linalg.solve_triangular(left, outer, lower=True) / own).T
        self.diagonal[:] = 1.0 / own
        self._refresh_root()


_OWNED = ("settled", "diagonal", "factor", "root", "pending", "shift")
