"""Solvers that keep the predictors of all records up to date as judgements come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse, special
from scipy.sparse import csr_matrix

from textbayes.core.types import AnyArray, FloatArray, IntArray

_TOLERANCE = 1e-4  # duality gap for each unit of weight
_MAX_SWEEPS = 200
_LARGEST_GRAM = 6000  # records; in single precision these take 144 MB
Weights = tuple[float, float]  # of a relevant and of an irrelevant record


class GramSolver:
    """Logistic regression by dual coordinate ascent on the Gram matrix, whose rows are made as they are needed.

    The prior of weights and intercept is N(0, 1), but for words with other variances; prior means are in the offset.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    squared_hinge : bool
        A linear support vector machine in place of the logistic regression; it has no offset.
    tol : float
        Duality gap for each unit of weight, or largest slope of the squared hinge, at which a fit ends.
    vectors : array (n_rows, width), optional
        Further columns, which are dense.
    """

    def __init__(
        self,
        X: sparse.csr_matrix,
        squared_hinge: bool = False,
        tol: float = _TOLERANCE,
        vectors: FloatArray | None = None,
    ) -> None:
        n = X.shape[0]
        self._X, self._svm, self._tol, self._vectors = X, squared_hinge, tol, vectors
        self._K = np.zeros((n, n), dtype=np.float32)
        self._has_row = np.zeros(n, dtype=np.bool_)
        self._by_word = X.tocsc()
        self.restart(None)

    def restart(self, variances: FloatArray | None) -> None:
        """Forget every answer, and take other prior variances of the words; 1 if there are none."""
        n = self._X.shape[0]
        self._variances = variances
        self._has_row[:] = False
        self._y, self._a, self._c = np.zeros(n), np.zeros(n), np.ones(2)
        self._E = np.zeros((2, n))

    def fit(
        self, judged: IntArray, y: FloatArray, weights: Weights, offset: FloatArray, shares: FloatArray | None = None
    ) -> None:
        """Fit to the judged rows, of outcomes ±1, with a weight for every relevant and every irrelevant one.

        ``shares`` are those of their weight that rows count with, all of it where there are none.
        """
        from textbayes.kernels.linear.gram_dual import add_scaled, refit_logit, refit_squared_hinge

        self._fill(judged)
        now = np.zeros_like(self._y)
        now[judged] = y
        for i in np.flatnonzero((now != self._y) & (self._a > 0.0)):  # withdrawn, or another answer than before
            add_scaled(-self._a[i] * self._y[i], self._K[i], self._E[0 if self._y[i] > 0.0 else 1])
            self._a[i] = 0.0
        self._y = now
        factors = np.array(weights) / self._c
        self._c = np.array(weights)
        self._E *= factors[:, None]
        a = self._a[judged] * np.where(y > 0.0, *factors)
        c = np.where(y > 0.0, *weights) * (1.0 if shares is None else shares)
        if self._svm:
            refit_squared_hinge(self._K, judged, y, c, a, self._E, self._tol, 10 * _MAX_SWEEPS)
        else:
            for k in np.flatnonzero(a > c):  # its share is smaller than before
                add_scaled((c[k] - a[k]) * y[k], self._K[judged[k]], self._E[0 if y[k] > 0.0 else 1])
                a[k] = c[k]
            refit_logit(self._K, judged, y, c, a, self._E, offset, self._tol, _MAX_SWEEPS)
        self._a[judged] = a

    def predictors(self, offset: FloatArray) -> FloatArray:
        """The linear predictor of every row; ``offset`` is that of the fit."""
        return offset + self._E[0] + self._E[1]

    def predictors_of(self, rows: IntArray, offset: FloatArray) -> FloatArray:
        """The linear predictor of some rows, which may cost less."""
        return offset[rows] + self._E[0, rows] + self._E[1, rows]

    def weights(self) -> FloatArray:
        """The weight of every word beyond its prior mean, those of dense columns, and the intercept at the end."""
        signed = self._a * self._y
        weights = self._X.T @ signed
        weights = weights if self._variances is None else weights * self._variances
        dense = np.zeros(0) if self._vectors is None else np.einsum("ij,i->j", self._vectors, signed)
        return np.concatenate([weights, dense, [signed.sum()]])

    def to_arrays(self) -> dict[str, AnyArray]:
        """What the next fit starts from, to the last bit."""
        return {"y": self._y, "a": self._a, "c": self._c, "E": self._E}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """Undo :meth:`to_arrays`."""
        self._y, self._a, self._c, self._E = (np.array(arrays[name], dtype=np.float64) for name in ("y", "a", "c", "E"))
        self._fill(np.flatnonzero(self._a))

    def _fill(self, rows: IntArray) -> None:
        from textbayes.kernels.linear.gram_dual import gram_row

        X, by_word = self._X, self._by_word
        for i in rows[~self._has_row[rows]]:
            span = slice(X.indptr[i], X.indptr[i + 1])
            values = X.data[span] * (1.0 if self._variances is None else self._variances[X.indices[span]])
            gram_row(X.indices[span], values, by_word.indptr, by_word.indices, by_word.data, self._K[i])
            if self._vectors is not None:
                self._K[i] += _times(self._vectors, self._vectors[i])
            self._has_row[i] = True


class _JudgedRows(NamedTuple):
    """Judged rows (CSR) over those columns that they have."""

    judged: IntArray
    indptr: IntArray
    data: FloatArray
    indices: IntArray
    columns: IntArray


class RowSolver:
    """The same regression by the rows of the matrix, for collections whose Gram matrix would be too large.

    Records are ranked word by word, by a copy of the matrix in single precision: few words have a weight while few
    records are judged, and the predictors of all records, unlike the weights of all words, fit into the cache.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    vectors : array (n_rows, width), optional
        Further columns, which are dense.
    """

    def __init__(self, X: sparse.csr_matrix, vectors: FloatArray | None = None) -> None:
        self._X, self._by_word, self._vectors = X, sparse.csc_matrix(X.astype(np.float32)), vectors
        self._n_columns = X.shape[1] + (0 if vectors is None else vectors.shape[1])
        self.restart(None)

    def restart(self, variances: FloatArray | None) -> None:
        """See :class:`GramSolver`."""
        n = self._X.shape[0]
        self._roots: FloatArray | None = None
        if variances is not None:
            self._roots = np.ones(self._n_columns)
            self._roots[: len(variances)] = np.sqrt(variances)
        self._a, self._b, self._c = np.zeros(n), 0.0, np.ones(2)
        self._y = np.zeros(n)
        self._forget()

    def _forget(self) -> None:
        """The variables are others: forget what was made by them."""
        self._rows: _JudgedRows | None = None
        self._used: tuple[IntArray, FloatArray] | None = None  # words that have a weight, and these
        self._all: FloatArray | None = None  # weights of all words, and the intercept

    def fit(
        self, judged: IntArray, y: FloatArray, weights: Weights, offset: FloatArray, shares: FloatArray | None = None
    ) -> None:
        """See :class:`GramSolver`."""
        from textbayes.kernels.linear.dual import ascend

        same = self._y[judged] == y
        factors = np.array(weights) / self._c
        c = np.where(y > 0.0, *weights) * (1.0 if shares is None else shares)
        a = np.minimum(np.where(same, self._a[judged] * np.where(y > 0.0, *factors), 0.0), c)
        rows = self._read(judged)
        _, self._b, *_ = ascend(
            rows.indptr, rows.indices, rows.data, y, c, offset[judged], len(rows.columns), a, self._b, 1.0, _TOLERANCE,
            _MAX_SWEEPS,
        )  # fmt: skip
        self._forget()
        self._y, self._a, self._rows = np.zeros_like(self._y), np.zeros_like(self._a), rows
        self._y[judged], self._a[judged], self._c = y, a, np.array(weights)

    def predictors(self, offset: FloatArray) -> FloatArray:
        """See :class:`GramSolver`."""
        from textbayes.kernels.linear.gram_dual import add_columns

        (used, weights), found = self._in_use(), offset.copy()
        words = used < self._X.shape[1]
        add_columns(self._by_word.indptr, self._by_word.indices, self._by_word.data, used[words], weights[words], found)
        return found + self._dense_part(slice(None)) + self._b

    def predictors_of(self, rows: IntArray, offset: FloatArray) -> FloatArray:
        """See :class:`GramSolver`."""
        from textbayes.kernels.linear.gram_dual import add_rows

        weights, found, chosen = self.weights(), offset[rows], self._X[rows]
        add_rows(chosen.indptr, chosen.indices, chosen.data.astype(np.float32), weights, found)
        return found + self._dense_part(rows) + weights[-1]

    def _dense_part(self, rows: Any) -> Any:
        """What dense columns add to the predictors of some rows."""
        return 0.0 if self._vectors is None else _times(self._vectors[rows], self.weights()[self._X.shape[1] : -1])

    def weights(self) -> FloatArray:
        """See :class:`GramSolver`."""
        if self._all is None:
            self._all = np.zeros(self._n_columns + 1)
            used, weights = self._in_use()
            self._all[used], self._all[-1] = weights, self._b
        return self._all

    def _in_use(self) -> tuple[IntArray, FloatArray]:
        """The words that have a weight, and their weights.

        By the variables alone, so that a state that was restored goes on to the last bit.
        """
        from textbayes.kernels.linear.gram_dual import sum_rows

        if self._used is None:
            rows = self._read(np.flatnonzero(self._a)) if self._rows is None else self._rows
            signed = (self._a * self._y)[rows.judged]
            weights = sum_rows(rows.indptr, rows.indices, rows.data, signed, len(rows.columns))
            self._used = rows.columns, weights if self._roots is None else weights * self._roots[rows.columns]
        return self._used

    def _read(self, judged: IntArray) -> _JudgedRows:
        """Judged rows by the words that they have, which are few beside all: these fit into the cache."""
        from textbayes.kernels.linear.gram_dual import narrowed

        rows = scaled(self._X[judged], self._roots)
        if self._vectors is not None:
            rows = sparse.hstack([rows, self._vectors[judged].astype(np.float64)], format="csr")
        return _JudgedRows(judged, rows.indptr, rows.data, *narrowed(rows.indices, rows.shape[1]))

    def to_arrays(self) -> dict[str, AnyArray]:
        """See :class:`GramSolver`."""
        return {"y": self._y, "a": self._a, "c": self._c, "b": np.array([self._b])}

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """See :class:`GramSolver`."""
        self._y, self._a, self._c = (np.array(arrays[name], dtype=np.float64) for name in ("y", "a", "c"))
        self._b = float(arrays["b"][0])
        self._forget()


def is_small(n_rows: int) -> bool:
    """Whether the Gram matrix of so many rows is kept."""
    return n_rows <= _LARGEST_GRAM


def make_solver(X: sparse.csr_matrix, vectors: FloatArray | None = None) -> GramSolver | RowSolver:
    """The faster solver for a collection of this size; which one depends on nothing else, so that logs replay."""
    return GramSolver(X, vectors=vectors) if is_small(X.shape[0]) else RowSolver(X, vectors)


def _times(vectors: FloatArray, weights: FloatArray) -> FloatArray:
    """Their product in one order of sums, whatever the number of threads, so that logs replay to the last bit."""
    found: FloatArray = np.einsum("ij,j->i", vectors, weights)
    return found


def scaled(X: sparse.csr_matrix, factors: FloatArray | None) -> sparse.csr_matrix:
    """The matrix with its columns multiplied by factors, if there are any."""
    if factors is None:
        return X
    return sparse.csr_matrix((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)


WIDE = 1.959963984540054  # of a normal distribution, 95 % within
_MOST = 3000  # judged records that intervals go by
_AT_ONCE = 2048  # rows


def standard_errors(
    X: csr_matrix,
    rows: IntArray,
    judged: IntArray,
    weight: FloatArray,
    eta: FloatArray,
    roots: FloatArray | None = None,
    most: int = _MOST,
    vectors: FloatArray | None = None,
) -> FloatArray:
    """Posterior standard deviations of predictors by Laplace's approximation, the prior of the intercept being N(0, 1).

    With words scaled so that they have the prior N(0, 1) too, and W the curvatures of the judged records,
    x'(I + A'WA)⁻¹x = x'x − k'W^½ (I + W^½KW^½)⁻¹ W^½k (Woodbury), with a
    column of ones for the intercept.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    rows, judged : arrays of int
    weight, eta : arrays (n_judged,)
        Weights of the judged records in the likelihood, and their predictors.
    roots : array (n_words,), optional
        Prior standard deviations of the words, 1 if not given.
    most : int
        Judged records to go by, those with most curvature; the others make the deviations a little larger.
    vectors : array (n_rows, width), optional
        Further columns, which are dense.
    """
    chosen, A, root, factor = _curved(X, judged, weight, eta, roots, vectors, most)
    x = scaled(X[rows], roots)
    variance = np.asarray(x.multiply(x).sum(axis=1)).ravel() + 1.0
    if vectors is not None:
        variance += (vectors[rows] ** 2).sum(axis=1)
    for start in range(0, len(rows), _AT_ONCE):
        span = slice(start, start + _AT_ONCE)
        near, known = _over_own_columns(x[span], A)
        inner = (near @ known.T).toarray() + 1.0
        if vectors is not None:
            inner += vectors[rows[span]] @ vectors[chosen].T
        cross = inner * root
        variance[span] -= (linalg.solve_triangular(factor, cross.T, lower=True) ** 2).sum(axis=0)
    return np.sqrt(np.maximum(variance, 0.0))


def word_standard_errors(
    X: csr_matrix,
    columns: IntArray,
    judged: IntArray,
    weight: FloatArray,
    eta: FloatArray,
    roots: FloatArray | None = None,
    vectors: FloatArray | None = None,
) -> FloatArray:
    """Posterior standard deviations of the weights of some words, likewise.

    Parameters
    ----------
    X : csr_matrix (n_rows, n_words)
    columns, judged : arrays of int
    weight, eta : arrays (n_judged,)
    roots : array (n_words,), optional
    vectors : array (n_rows, width), optional
    """
    _, A, root, factor = _curved(X, judged, weight, eta, roots, vectors)
    cross = A[:, columns].toarray() * root[:, None]
    found = np.sqrt(np.maximum(1.0 - (linalg.solve_triangular(factor, cross, lower=True) ** 2).sum(axis=0), 0.0))
    return found if roots is None else found * roots[columns]


def _curved(
    X: csr_matrix,
    judged: IntArray,
    weight: FloatArray,
    eta: FloatArray,
    roots: FloatArray | None,
    vectors: FloatArray | None,
    most: int = _MOST,
) -> tuple[IntArray, csr_matrix, FloatArray, FloatArray]:
    """The judged records that count and their words, the roots of their curvatures, and the factor of I + W^½KW^½."""
    p = special.expit(eta)
    curvature = weight * p * (1.0 - p)
    first = np.argsort(-curvature, kind="stable")[:most]
    chosen, root = judged[first], np.sqrt(curvature[first])
    A = scaled(X[chosen], roots)
    (own,) = _over_own_columns(A)
    inner = (own @ own.T).toarray() + 1.0
    if vectors is not None:
        inner += vectors[chosen] @ vectors[chosen].T
    return chosen, A, root, linalg.cholesky(np.eye(len(first)) + root[:, None] * inner * root, lower=True)


def _over_own_columns(*parts: csr_matrix) -> list[csr_matrix]:
    """Rows over those columns alone that some of them have: what a product costs does not depend on the others."""
    from textbayes.kernels.linear.gram_dual import narrowed

    indices, columns = narrowed(np.concatenate([part.indices for part in parts]), parts[0].shape[1])
    owns = np.split(indices, np.cumsum([part.nnz for part in parts])[:-1])
    return [
        csr_matrix((part.data, own, part.indptr), shape=(part.shape[0], len(columns)))
        for part, own in zip(parts, owns, strict=True)
    ]
