"""All weights in one draw, given normal responses and a variance for each weight.

With responses z of precision Ω and prior N(0, D) the offsets are drawn from N(A⁻¹X'Ωr, A⁻¹), A = X'ΩX + D⁻¹, in the
form that solves the smaller system:

    one row per word       d = S B⁻¹ S X'Ωr + S L'⁻¹ε,   B = I + S X'ΩX S = L L',  S = D^½                    (p × p)
    one row per document   d = u + D X' v,   (X D X' + Ω⁻¹) v = r − X u − e,  u ~ N(0, D), e ~ N(0, Ω⁻¹)      (n × n)

The second is that of Bhattacharya, Chakraborty & Mallick. Neither divides by a variance, so a weight that a Laplace
prior all but holds at its mean does no harm. A column x without a prior (a free intercept) has s = 1 and 0 in place of
I in the first form; in the second its weight is drawn first, from N(x'K⁻¹r/x'K⁻¹x, 1/x'K⁻¹x) with K = X D X' + Ω⁻¹.

References: Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale mixture priors in
high-dimensional regression, Biometrika 103, 985–991.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kernels.linear.gram import gather_rows, weighted_gram
from textbayes.kernels.sparse import times, transpose_times

LARGEST = 4096  # rows of a system: 128 MiB, a second or two
# Nanoseconds, measured once and then fixed: what is drawn when must not depend on the clock.
_PAIR, _FACTOR, _ENTRY, _WORD = 1.4, 0.2, 6.0, 600.0
_WORST = 1e12  # condition number of a system that still leaves predictors right to four places
_RARITY = 4.0  # sweeps take so many times as long as joint draws


class Design(NamedTuple):
    """The columns of one label, words first and a column of ones for the intercept, if any, last; CSC arrays."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray
    n_docs: int

    @classmethod
    def of(cls, X: Any, intercept: bool) -> Design:
        """Make a design from a CSC matrix with int32 indices."""
        indptr, indices, data, n_docs = X.indptr.astype(np.int64), X.indices, X.data, X.shape[0]
        if intercept:
            indptr = np.append(indptr, indptr[-1] + n_docs)
            indices = np.append(indices, np.arange(n_docs, dtype=indices.dtype))
            data = np.append(data, np.ones(n_docs))
        return cls(indptr, np.ascontiguousarray(indices), np.ascontiguousarray(data, dtype=np.float64), n_docs)

    def with_factors(self, loadings: FloatArray, n_words: int) -> Design:
        """Columns X·loadings put between those of the words and that of the intercept."""
        n_factors, end = loadings.shape[1], int(self.indptr[n_words])
        indptr = self.indptr[: n_words + 1]
        common = times(indptr, self.indices[:end], self.data[:end], np.ascontiguousarray(loadings), self.n_docs)
        ends = end + self.n_docs * np.arange(1, n_factors + 1)
        rows = np.tile(np.arange(self.n_docs, dtype=self.indices.dtype), n_factors)
        return Design(
            np.concatenate([indptr, ends, self.indptr[n_words + 1 :] + len(rows)]),
            np.concatenate([self.indices[:end], rows, self.indices[end:]]),
            np.concatenate([self.data[:end], common.T.ravel(), self.data[end:]]),
            self.n_docs,
        )

    @property
    def n_columns(self) -> int:
        return len(self.indptr) - 1

    def times(self, w: FloatArray) -> FloatArray:
        out: FloatArray = times(self.indptr, self.indices, self.data, w[:, None], self.n_docs)[:, 0]
        return out

    def transpose_times(self, r: FloatArray) -> FloatArray:
        out: FloatArray = transpose_times(self.indptr, self.indices, self.data, r[:, None])[:, 0]
        return out


class JointDraw:
    """Draws of all weights of a design; ``by_documents`` is the form that is used and ``period`` how rarely.

    A joint draw costs much more than a sweep, and moves words further that are hard to tell apart. One in ``period``
    iterations makes joint draws take about a fifth of the time; 0 where they cannot be afforded.
    """

    def __init__(self, design: Design, form: str | None = None) -> None:
        self._design = design
        columns = np.repeat(np.arange(design.n_columns), np.diff(design.indptr))
        self._column_square = np.bincount(columns, design.data**2, minlength=design.n_columns)
        self._rows: tuple[Any, Any, Any] = gather_rows(design.indptr, design.indices, design.data, design.n_docs)
        per_row, per_column = np.diff(self._rows[0]).astype(float), np.diff(design.indptr).astype(float)
        costs = {
            "words": _PAIR * 0.5 * (per_row**2).sum() + _FACTOR * design.n_columns**3 / 3.0,
            "documents": _PAIR * 0.5 * (per_column**2).sum() + _FACTOR * design.n_docs**3 / 3.0,
        }
        self.form = form or min(costs, key=lambda name: costs[name])
        sweep = _ENTRY * len(design.data) + _WORD * design.n_columns
        size = design.n_columns if self.form == "words" else design.n_docs
        self.period = 0 if size > LARGEST else max(1, round(_RARITY * costs[self.form] / sweep))

    def is_accurate(self, omega: FloatArray, l1: FloatArray, l2: FloatArray) -> bool:
        """Whether rounding leaves predictors right: prior variances may be too large for the linear systems.

        These have condition numbers of about max omega·variance_j·|x_j|². Asked of the penalties, and not of variances
        that are drawn given the weights, so that whoever sweeps instead leaves the posterior as it is.
        """
        penalty = l2 + 0.5 * l1**2
        return bool((self._column_square[penalty > 0.0] * np.max(omega) <= _WORST * penalty[penalty > 0.0]).all())

    def draw(
        self, omega: FloatArray, pull: FloatArray, offset: FloatArray, variance: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw offsets jointly, given omega, pull = omega·(z − eta) at the present ones, and prior variances."""
        free = np.isinf(variance)
        variance = np.where(free, 0.0, variance)
        omega = np.broadcast_to(omega, (self._design.n_docs,))
        response = pull / omega + self._design.times(offset)
        draw = self._by_words if self.form == "words" else self._by_documents
        return draw(np.ascontiguousarray(omega), response, variance, free, rng)

    def _by_words(
        self,
        omega: FloatArray,
        response: FloatArray,
        variance: FloatArray,
        free: BoolArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        gram, right = weighted_gram(*self._rows, omega * response, omega, self._design.n_columns)
        root = np.where(free, 1.0, np.sqrt(variance))
        system = gram[:-1, :-1] * root[:, None] * root
        system[np.diag_indices_from(system)] += np.where(free, 0.0, 1.0)
        factor = linalg.cholesky(system, lower=True, overwrite_a=True, check_finite=False)
        half = linalg.solve_triangular(factor, root * right[:-1], lower=True, check_finite=False)
        half += rng.standard_normal(len(half))
        return root * linalg.solve_triangular(factor, half, lower=True, trans=1, check_finite=False)

    def _by_documents(
        self,
        omega: FloatArray,
        response: FloatArray,
        variance: FloatArray,
        free: BoolArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        design = self._design
        nothing = np.zeros(design.n_columns)
        # The Gram matrix of documents: columns in the place of rows, variances in that of weights.
        gram, _ = weighted_gram(design.indptr, design.indices, design.data, nothing, variance, design.n_docs)
        system = gram[:-1, :-1]
        system[np.diag_indices_from(system)] += 1.0 / omega
        factor = linalg.cho_factor(system, lower=True, check_finite=False)
        of_free = np.zeros(design.n_columns)
        for column in np.flatnonzero(free):  # one at most: words without a prior are refused
            x = design.times(np.where(np.arange(design.n_columns) == column, 1.0, 0.0))
            solved_x = linalg.cho_solve(factor, x, check_finite=False)
            precision = float(x @ solved_x)
            of_free[column] = (solved_x @ response + np.sqrt(precision) * rng.standard_normal()) / precision
        start = of_free + np.sqrt(variance) * rng.standard_normal(design.n_columns)
        right = response - design.times(start) - rng.standard_normal(design.n_docs) / np.sqrt(omega)
        solved: FloatArray = linalg.cho_solve(factor, right, check_finite=False)
        return start + variance * design.transpose_times(solved)
