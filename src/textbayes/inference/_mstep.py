"""The M-step of EM for a block of words and the intercept, in a form that is stable where weights reach their mean.

With score s and curvature Ω of the documents, offsets u = w − mean and the variance v_j = 1/E[1/τ_j | w] that the prior
gives each word at the present weights, the M-step of Figueiredo & Jain (2001) moves w by the d that solves

    (V⁻¹ + XᵀΩX) d = Xᵀs − V⁻¹u,                                                V = diag(v).

V⁻¹ is infinite for a weight at its mean under a prior with a kink. With S = V^½ and h = V Xᵀs − u it is never needed:

    d = S (I + S XᵀΩX S)⁻¹ S⁻¹h            one row per word                        (p × p)
    d = h − V XᵀR (I + R X V Xᵀ R)⁻¹ R X h one row per document, R = Ω^½, Woodbury (n × n)

and the smaller system is solved. What no prior holds (v = ∞: a free intercept, unpenalised words) has s = 1 and 0 in
place of I in the first form; in the second it is eliminated by generalised least squares.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kernels.linear.coordinate import gather_columns
from textbayes.kernels.linear.gram import gather_rows, weighted_gram
from textbayes.kernels.sparse import times, transpose_times

_JITTER = 1e-10  # relative; makes a direction of free words without any curvature stand still instead of failing


class Block:
    """The words that one M-step moves together, with the intercept.

    ``keep`` holds on to the Gram matrix for as long as the documents' curvature does not change (probit: always).
    """

    def __init__(self, X: Any, columns: IntArray, keep: bool) -> None:
        self.columns, self._n_docs, self._keep = columns, X.shape[0], keep
        self._csc: tuple[Any, Any, Any] = gather_columns(X.indptr, X.indices, X.data, columns)
        self._rows: tuple[Any, Any, Any] | None = None
        self._gram: FloatArray | None = None
        self._gram_omega: FloatArray | None = None

    def gradient(self, score: FloatArray) -> FloatArray:
        """Xᵀ score, the intercept's last."""
        return np.append(transpose_times(*self._csc, score[:, None])[:, 0], score.sum())

    def times(self, step: FloatArray) -> FloatArray:
        """X step + shift for a step whose last entry is the intercept's shift."""
        return np.asarray(times(*self._csc, np.ascontiguousarray(step[:-1, None]), self._n_docs)[:, 0] + step[-1])

    def direction(
        self, gradient: FloatArray, omega: FloatArray, offset: FloatArray, variance: FloatArray
    ) -> FloatArray:
        """The step d; all arguments but ``omega`` have the intercept last, which variance 0 holds as it does a word."""
        free = np.isinf(variance)
        held = variance > 0.0
        if self._n_docs < int((held & ~free).sum()):
            return self._by_documents(gradient, omega, offset, variance, free)
        return self._by_words(gradient, omega, offset, variance, free, np.flatnonzero(held))

    def _by_words(
        self,
        gradient: FloatArray,
        omega: FloatArray,
        offset: FloatArray,
        variance: FloatArray,
        free: BoolArray,
        rows: IntArray,
    ) -> FloatArray:
        step = np.zeros_like(gradient)
        if len(rows) == 0:
            return step
        gram, free = self._weighted_gram(omega), free[rows]
        system = gram.copy() if len(rows) == len(gram) else gram[np.ix_(rows, rows)]
        s = np.sqrt(np.where(free, 1.0, variance[rows]))
        system *= s
        system *= s[:, None]
        diagonal = np.einsum("ii->i", system)  # a view
        diagonal += np.where(free, _JITTER * diagonal + np.finfo(float).tiny, 1.0)
        h = np.where(free, gradient[rows], s * gradient[rows] - offset[rows] / s)
        # The system is symmetric; its transpose is in the order that LAPACK factorises in place.
        factor = linalg.cho_factor(system.T, overwrite_a=True, check_finite=False)
        step[rows] = s * linalg.cho_solve(factor, h, overwrite_b=True, check_finite=False)
        return step

    def _by_documents(
        self, gradient: FloatArray, omega: FloatArray, offset: FloatArray, variance: FloatArray, free: BoolArray
    ) -> FloatArray:
        n = self._n_docs
        v = np.where(free, 0.0, variance)
        h = v * gradient - offset
        h[free | (variance == 0.0)] = 0.0
        root = np.sqrt(omega)
        indptr, indices, data = self._csc
        # The columns of X are the rows of Xᵀ: the kernel that gives XᵀΩX gives X V Xᵀ as well.
        gram, _ = weighted_gram(indptr, indices, data, np.zeros(len(v) - 1), v[:-1], n)
        system = gram[:n, :n] + v[-1]
        system *= root
        system *= root[:, None]
        np.einsum("ii->i", system)[:] += 1.0
        columns = root[:, None] * self._dense(np.flatnonzero(free))
        sides = np.column_stack([root * self.times(h), columns])
        factor = linalg.cho_factor(system.T, overwrite_a=True, check_finite=False)
        solved = linalg.cho_solve(factor, sides, check_finite=False)
        shifts = np.zeros(0)
        if free.any():
            inner = columns.T @ solved[:, 1:]
            inner[np.diag_indices_from(inner)] *= 1.0 + _JITTER
            shifts = linalg.lstsq(inner, gradient[free] - columns.T @ solved[:, 0], check_finite=False)[0]
        weighted = root * (solved[:, 0] + solved[:, 1:] @ shifts)
        step = np.asarray(h - v * self.gradient(weighted))
        step[free] = shifts
        return step

    def _weighted_gram(self, omega: FloatArray) -> FloatArray:
        """XᵀΩX with the intercept's row and column last."""
        if self._gram is not None and self._gram_omega is not None and np.array_equal(omega, self._gram_omega):
            return self._gram
        if self._rows is None:
            row_ptr, words, values = gather_rows(*self._csc, self._n_docs)
            self._rows = row_ptr, words, values
        gram, _ = weighted_gram(*self._rows, np.zeros(self._n_docs), omega, len(self.columns))
        if self._keep:
            self._gram, self._gram_omega = gram, omega
        return gram

    def _dense(self, positions: IntArray) -> FloatArray:
        """Columns of the block as a dense array, the intercept's being ones."""
        indptr, indices, data = self._csc
        out = np.zeros((self._n_docs, len(positions)))
        for k, position in enumerate(positions):
            if position == len(self.columns):
                out[:, k] = 1.0
            else:
                part = slice(indptr[position], indptr[position + 1])
                out[indices[part], k] = data[part]
        return out
