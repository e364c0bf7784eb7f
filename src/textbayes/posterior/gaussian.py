"""Gaussian posteriors of all labels: standard errors, variances of predictors, state.

The covariance Σ of one label's active words and intercept is held in one of two forms. ``PrimalForm`` has one row for
each active word and is exact. ``DualForm`` has one for each document instead (Woodbury's identity), for labels with
more active words than that, such as every word of a Gaussian prior. Where there are too many documents as well, those
that tell most are taken in full and the others by their mean and its diagonal spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from textbayes.core.array_fields import Array, Csr
from textbayes.core.codec import TINY, Flag, Number, restoring
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.state import from_state, to_state, with_fields
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray

_COLUMNS = Array(np.int64, ("size",), least=0, most=lambda sizes: sizes["n_features"] - 1)
_DOCUMENTS_AT_ONCE = 1024  # of a batch whose variances are asked for
_WORDS_AT_ONCE = 1024
_REPRESENTATIVES = 512  # documents; more of them cost much and change the variances little
_ROUNDING = 1e-9
LEAST_PRECISION = 1e-8  # of a free weight that no document tells anything of: a standard error of 10,000


@with_fields(
    {
        "columns": _COLUMNS,
        "root": Array(np.float64, ("n_rows", "n_rows"), copy=False),
        "log_det": Number(),
        "shift": Array(np.float64, ("n_rows",)),
    }
)
class PrimalForm(NamedTuple):
    """Covariance as Σ = root·rootᵀ over the active words and, as the last row, the intercept where it has one."""

    columns: IntArray
    root: FloatArray
    log_det: float
    shift: FloatArray  # mean − mode, like the rows of root

    def check_state(self) -> None:
        """Refuse a state whose parts do not belong together."""
        _check_columns(self.columns)
        if len(self.root) not in (len(self.columns), len(self.columns) + 1):
            raise ValueError("the approximation's root does not belong to the rest")

    @property
    def exact(self) -> bool:
        """Nothing was left out."""
        return True

    def variance(self, X: Any) -> FloatArray:
        """Variance of x'w + b for each row of X (n_docs, n_features) in CSC."""
        words, size = X[:, self.columns].tocsr(), len(self.columns)
        out = np.empty(X.shape[0])
        for rows in _batches(X.shape[0], _DOCUMENTS_AT_ONCE):
            spread = words[rows] @ self.root[:size]
            if len(self.root) > size:
                spread += self.root[size]
            out[rows] = np.einsum("ij,ij->i", spread, spread)
        return out

    def covariance(self) -> FloatArray:
        """Covariance Σ, the intercept first; zeros where it is held."""
        size = len(self.columns)
        by_word = np.vstack(
            [self.root[size:] if len(self.root) > size else np.zeros_like(self.root[:1]), self.root[:size]]
        )
        return by_word @ by_word.T

    def standard_errors(self) -> tuple[FloatArray, float]:
        """Standard errors of the active words, and of the intercept (0 where it is held)."""
        every = np.sqrt(np.einsum("ij,ij->i", self.root, self.root))
        size = len(self.columns)
        return every[:size], float(every[size]) if len(every) > size else 0.0


@with_fields(
    {
        "columns": _COLUMNS,
        "diagonal": Array(np.float64, ("size",), least=TINY),
        "documents": Csr((None, "size"), in_order=False),
        "inverse": Array(np.float64, ("n_docs", "n_docs"), copy=False),
        "coupling": Array(np.float64, ("size",)),
        "intercept_var": Number(0.0),
        "log_det": Number(),
        "exact": Flag(),
    }
)
class DualForm(NamedTuple):
    """Covariance of precision D + VᵀV over the active words, V = √Ω X in CSR, bordered by the intercept.

    With A = D + VᵀV, h the border and c the corner, g = A⁻¹h and s = c − h'g,

        Var(x'w + b) = x'A⁻¹x + (1 − x'g)²/s,      x'A⁻¹x = x'D⁻¹x − |L⁻¹V D⁻¹x|²,      LLᵀ = I + V D⁻¹Vᵀ.
    """

    columns: IntArray
    diagonal: FloatArray
    documents: Any
    inverse: FloatArray  # L⁻¹
    coupling: FloatArray  # g
    intercept_var: float  # 1/s; 0 where there is no intercept
    log_det: float
    exact: bool

    def check_state(self) -> None:
        """Refuse a state whose parts do not belong together."""
        _check_columns(self.columns)
        if self.documents.shape[0] != len(self.inverse):
            raise ValueError("the approximation's documents do not belong to the rest")

    def variance(self, X: Any) -> FloatArray:
        """Variance of x'w + b for each row of X (n_docs, n_features) in CSC."""
        words = X[:, self.columns].tocsr()
        out = np.empty(X.shape[0])
        for rows in _batches(X.shape[0], _DOCUMENTS_AT_ONCE):
            some = words[rows]
            scaled = some @ sparse.diags(1.0 / self.diagonal)
            seen = (scaled @ self.documents.T).toarray() @ self.inverse.T
            of_words = np.asarray(scaled.multiply(some).sum(axis=1)).ravel() - np.einsum("ij,ij->i", seen, seen)
            out[rows] = of_words + (1.0 - some @ self.coupling) ** 2 * self.intercept_var
        return out

    def covariance(self) -> FloatArray:
        """Covariance Σ, the intercept first; zeros where it is held."""
        seen = self.inverse @ (self.documents @ sparse.diags(1.0 / self.diagonal)).toarray()
        border = np.concatenate([[1.0], -self.coupling])
        cov = np.outer(border, border) * self.intercept_var
        cov[1:, 1:] += np.diag(1.0 / self.diagonal) - seen.T @ seen
        return cov

    def standard_errors(self) -> tuple[FloatArray, float]:
        """Standard errors of the active words, and of the intercept (0 where it is held)."""
        var = 1.0 / self.diagonal + self.coupling**2 * self.intercept_var
        by_word = self.documents.tocsc()
        for words in _batches(len(var), _WORDS_AT_ONCE):
            seen = self.inverse @ by_word[:, words]
            var[words] -= np.einsum("ij,ij->j", seen, seen) / self.diagonal[words] ** 2
        return np.sqrt(var), float(np.sqrt(self.intercept_var))


def primal_form(columns: IntArray, precision: FloatArray, least: FloatArray, check: bool) -> PrimalForm:
    """Make the form of a precision matrix, raised where a direction is less certain than under ``least``.

    ``check`` says that this can happen: documents alone have no curvature to hold, say, two words that occur in the
    same of them apart.

    Parameters
    ----------
    columns : array of int
        The active words.
    precision : array
        The matrix, of the intercept as well where it is not held.
    least : array
        A diagonal precision.
    check : bool
    """
    unit = 1.0 / np.sqrt(least)
    scaled = precision * unit * unit[:, None]
    log_det = float(np.log(least).sum())
    try:
        if check:
            linalg.cholesky(scaled - (1.0 - _ROUNDING) * np.eye(len(scaled)), lower=True)
        factor = linalg.cholesky(scaled, lower=True)
        inverse = linalg.solve_triangular(factor, np.eye(len(scaled)), lower=True)
        root, log_det = unit[:, None] * inverse.T, log_det + 2.0 * float(np.log(np.diag(factor)).sum())
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(scaled)
        values = np.maximum(values, 1.0)
        root, log_det = unit[:, None] * vectors / np.sqrt(values), log_det + float(np.log(values).sum())
    return PrimalForm(columns, root, log_det, np.zeros(len(root)))


def dual_form(
    columns: IntArray, X: Any, omega: FloatArray, diagonal: FloatArray, corner: float | None, limit: int
) -> DualForm:
    """Make the form of documents X in CSR, their information omega and the prior's diagonal precision.

    ``corner`` is the intercept's precision beside what the documents say, None where there is none. Of more documents
    than ``limit``, the 512 of the largest omega·x'D⁻¹x are taken in full; the others count as often as they are by
    their mean document, and what each word varies around it on the diagonal alone.

    Parameters
    ----------
    columns : array of int
        The active words.
    X : sparse matrix (n_docs, n_active)
    omega : array (n_docs,)
    diagonal : array (n_active,)
    corner : float or None
    limit : int
    """
    spread = np.asarray(X.multiply(X) @ (1.0 / diagonal)).ravel() + (corner is not None)
    order = np.argsort(-omega * spread, kind="stable")
    n_full = len(order) if len(order) <= limit else min(_REPRESENTATIVES, limit)
    full, rest = np.sort(order[:n_full]), order[n_full:]
    root = np.sqrt(omega[full])
    documents = (sparse.diags(root) @ X[full]).tocsr()
    left = float(omega[rest].sum())
    if left > 0.0:
        average = np.asarray(X[rest].T @ omega[rest]).ravel() / left
        around = np.asarray(X[rest].multiply(X[rest]).T @ omega[rest]).ravel() - left * average**2
        diagonal = diagonal + np.maximum(around, 0.0)
        documents = sparse.vstack([documents, sparse.csr_matrix(np.sqrt(left) * average)]).tocsr()
        root = np.append(root, np.sqrt(left))
    gram = (documents @ sparse.diags(1.0 / diagonal) @ documents.T).toarray()
    factor = linalg.cholesky(gram + np.eye(len(root)), lower=True)
    inverse = linalg.solve_triangular(factor, np.eye(len(root)), lower=True)
    log_det = float(np.log(diagonal).sum()) + 2.0 * float(np.log(np.diag(factor)).sum())
    coupling, intercept_var = np.zeros(len(columns)), 0.0
    if corner is not None:
        # A⁻¹V'r = D⁻¹V'(I + V D⁻¹V')⁻¹r for h = V'r, so that s = corner + |L⁻¹r|² without a difference.
        half = inverse @ root
        coupling = documents.T @ (inverse.T @ half) / diagonal
        intercept_var = 1.0 / max(corner + float(half @ half), LEAST_PRECISION)
        log_det -= float(np.log(intercept_var))
    return DualForm(columns, diagonal, documents, inverse, coupling, intercept_var, log_det, left == 0.0)


def _check_columns(columns: IntArray) -> None:
    if (np.diff(columns) <= 0).any():
        raise ValueError("the approximation's columns are not in order")


_FORMS: dict[str, type[PrimalForm] | type[DualForm]] = {"primal": PrimalForm, "dual": DualForm}


def _batches(n: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


LARGEST = 2000  # rows of a label's matrix: a second or two of work


class GaussianApproximation:
    """Per label a Gaussian for the active words and the intercept; the other words stay at their prior means.

    Attributes
    ----------
    forms : the covariance of each label, ``PrimalForm`` or ``DualForm``
    n_features : int
    log_det : array (n_labels,)
        Logarithm of the determinant of each precision matrix.
    exact : array (n_labels,) of bool
        False where there were too many documents and some are summed up by their mean and the spread around it.
    """

    def __init__(self, forms: list[PrimalForm | DualForm], n_features: int) -> None:
        self.forms, self.n_features = forms, n_features

    def __repr__(self) -> str:
        sizes = [len(form.columns) for form in self.forms]
        return f"GaussianApproximation({len(sizes)} labels, {min(sizes)} to {max(sizes)} active words)"

    @property
    def log_det(self) -> FloatArray:
        return np.array([form.log_det for form in self.forms])

    @property
    def exact(self) -> BoolArray:
        return np.array([form.exact for form in self.forms])

    def standard_errors(self) -> tuple[FloatArray, FloatArray]:
        """Posterior standard deviations of the weights (n_labels, n_features) and of the intercepts (n_labels,).

        NaN for a word that is held, by a kink at its prior mean, by a sign at 0 or because the label may not use it: no
        Gaussian describes it. 0 for an intercept that is held or not there.
        """
        words, intercepts = np.full((len(self.forms), self.n_features), np.nan), np.empty(len(self.forms))
        for label, form in enumerate(self.forms):
            words[label, form.columns], intercepts[label] = form.standard_errors()
        return words, intercepts

    def mean_shifts(self) -> tuple[FloatArray, FloatArray]:
        """Estimates of mean − mode of the weights (n_labels, n_features) and of the intercepts (n_labels,).

        0 where none was asked for, or none can be had, see ``laplace_approximation``.
        """
        words, intercepts = np.zeros((len(self.forms), self.n_features)), np.zeros(len(self.forms))
        for label, form in enumerate(self.forms):
            if isinstance(form, PrimalForm):
                size = len(form.columns)
                words[label, form.columns] = form.shift[:size]
                intercepts[label] = form.shift[size:].sum()
        return words, intercepts

    def variance(self, X: Any) -> FloatArray:
        """Variance of eta = x'w + b, (n_docs, n_labels), for documents X (n_docs, n_features), sparse or dense.

        A document costs its active words times the size of a label's matrix.
        """
        columns = sparse.csc_matrix(X, dtype=np.float64)
        if columns.shape[1] != self.n_features:
            raise InputError(f"X has {columns.shape[1]} features; the approximation is of {self.n_features}")
        out = np.empty((columns.shape[0], len(self.forms)))
        for label, form in enumerate(self.forms):
            out[:, label] = form.variance(columns)
        return np.maximum(out, 0.0)  # rounding

    def covariance(self, label: int) -> tuple[IntArray, FloatArray]:
        """The active words of a label, and the covariance (1 + n_words, 1 + n_words), the intercept first.

        What ``online.full_from_batch`` goes on from.
        """
        form = self.forms[label]
        if len(form.columns) > LARGEST:
            raise NotSupportedError(
                f"label {label} has {len(form.columns)} active words, too many for a matrix of all pairs; use "
                "standard_errors, or variance of the documents in question"
            )
        return form.columns, form.covariance()

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A JSON-able description and named arrays."""
        described: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for label, form in enumerate(self.forms):
            meta, parts = to_state(form, str(label))
            described.append({"form": "primal" if isinstance(form, PrimalForm) else "dual"} | meta)
            arrays |= parts
        return {"n_features": self.n_features, "labels": described}, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> GaussianApproximation:
        """The approximation a state was taken from; what does not fit together is refused."""
        what = "the model's intervals"
        with restoring(what):
            n_features, forms = int(meta["n_features"]), []
            for label, described in enumerate(meta["labels"]):
                own = dict(described)
                form = _FORMS[own.pop("form")]
                forms.append(from_state(form, own, arrays, what, str(label), n_features=n_features))
            return cls(forms, n_features)
