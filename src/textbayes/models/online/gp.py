"""A Gaussian process over documents that learns online and keeps a bounded set of them (Csató & Opper); its kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse

from textbayes.core.array_fields import Array, Csr
from textbayes.core.codec import Fields, Number, Whole
from textbayes.core.errors import InputError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray, IntArray
from textbayes.core.validation import check_whole
from textbayes.models.online.base import (
    LinearPredictor,
    OnlinePosterior,
    WordRows,
    canonical_rows,
    check_words,
    new_words,
    saved_words,
)
from textbayes.models.online.likelihood import ClosedForm

gp_kernels = LazyModule("textbayes.kernels.online.gp")
rows_kernels = LazyModule("textbayes.kernels.online.document")

#: (documents A, documents B), both CSR over the same words → array (n_A, n_B); symmetric and positive semi-definite.
KernelFunction = Callable[[Any, Any], FloatArray]


@dataclass(frozen=True)
class Polynomial:
    """K(x, x') = (x·x' + 1)^degree; degree 1 is a linear model with a bias of variance 1 (GP-1), degree 2 is GP-2.

    >>> from scipy import sparse
    >>> Polynomial(2)(sparse.csr_matrix([[1.0, 2.0]]), sparse.csr_matrix([[3.0, 0.0]]))
    array([[16.]])
    """

    degree: int = 1

    def __post_init__(self) -> None:
        check_whole("degree", self.degree)

    def __call__(self, A: Any, B: Any) -> FloatArray:
        products = dot_products(A, B) + 1.0
        return products if self.degree == 1 else products**self.degree

    def diagonal(self, A: Any) -> FloatArray:
        """K(x, x) of each document."""
        return (_norms(A) + 1.0) ** self.degree


@dataclass(frozen=True)
class RBF:
    """K(x, x') = exp(−½ |x − x'|²/length²); length 1 is GP-R1.

    >>> from scipy import sparse
    >>> float(RBF()(sparse.csr_matrix([[1.0, 2.0]]), sparse.csr_matrix([[1.0, 0.0]]))[0, 0].round(4))  # exp(−2)
    0.1353
    """

    length: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.length < np.inf:
            raise InputError(f"length={self.length!r} is not usable; pass a positive number")

    def __call__(self, A: Any, B: Any) -> FloatArray:
        exponent = dot_products(A, B)
        exponent -= 0.5 * _norms(A)[:, None]
        exponent -= 0.5 * _norms(B)
        np.minimum(exponent, 0.0, out=exponent)  # rounding of a distance of 0
        exponent /= self.length**2
        return np.exp(exponent, out=exponent)

    def diagonal(self, A: Any) -> FloatArray:
        """K(x, x) of each document."""
        return np.ones(A.shape[0])


def dot_products(A: Any, B: Any) -> FloatArray:
    """A B' as a dense array, for CSR matrices."""
    B = B.tocsc()
    return rows_kernels.rows_times_columns(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, B.shape[0])


def _norms(A: Any) -> FloatArray:
    """|x|² of each document, summed in the order its words stand: the same bits whatever else is in A."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.bincount(row, A.data * A.data, minlength=A.shape[0]).astype(np.float64)


#: The paper's kernels by name: GP-1, GP-2 and GP-R1.
KERNELS: dict[str, KernelFunction] = {"linear": Polynomial(1), "quadratic": Polynomial(2), "rbf": RBF(1.0)}


_OF_WORDS = 0.5  # of the basis, at most, is for what is known of words
CHUNK = 128  # documents whose kernel values are computed together


class Pool(NamedTuple):
    """Documents that are or may come into the basis: those of before, then the new ones from ``first`` on.

    ``numbers`` says which of them is in each slot of the basis.
    """

    documents: Any
    first: int
    numbers: IntArray

    @property
    def n_docs(self) -> int:
        return int(self.documents.shape[0]) - self.first

    def basis(self, n_basis: int) -> Any:
        """The documents in the basis, in the order of their slots."""
        return self.documents[self.numbers[:n_basis]]


@dataclass(eq=False)
class GaussianProcess(OnlinePosterior):
    """f(x) with mean α'k(x) and covariance K(x, x') + k(x)'C k(x'), k(x) its kernel values with a basis of documents.

    A document is learnt through its projection on the basis unless that would change the mean of f by more than
    ``tolerance`` (the paper's ε); then it joins the basis, and if there are ``budget`` documents in it already, the
    one that is missed least leaves. O(budget²) a document.

    Attributes
    ----------
    kernel : function of two CSR matrices, such as ``Polynomial``
    words : array of the columns of X that the kernel sees
    basis : CSR matrix (n_basis, n_words)
    n_basis : int
    alpha : array (budget,), of which the first n_basis are in use
    covariance, inverse : arrays (budget, budget)
        Lower triangles of C + Q and of Q, the inverse of the basis's kernel matrix.
    tolerance : float
        A small one costs little: with a full basis a document that would be the least useful of it is never put in.
    jitter : float
        Variance that each document has to itself, added to the diagonal of K.

    References
    ----------
    Csató & Opper (2001), Sparse representation for Gaussian process models, NIPS 13; Chai, Ng & Chieu (2002), SIGIR,
    § 3.2, A.3 and A.4; Neal (1997), CRG-TR-97-2 (jitter).

    Examples
    --------
    >>> from textbayes.models.online import PAPER_PROBIT, RBF
    >>> X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), [-1, -1, 1, 1]  # exclusive or
    >>> process, _ = GaussianProcess.start(range(2), RBF(0.5), budget=4).learn(X, y, PAPER_PROBIT, passes=3)
    >>> (PAPER_PROBIT.predictive(*process.predict(X)) > 0.5).ravel()
    array([False, False,  True,  True])
    """

    fields: ClassVar[Fields] = {
        "kernel": None,  # a setting of the classifier
        "words": saved_words(),
        "basis": Csr(("n_basis", "n_words"), in_order=False),  # of a stream it is not
        "n_basis": Whole(0, 10**6),
        "alpha": Array(np.float64, ("budget",)),
        "covariance": Array(np.float64, ("budget", "budget")),
        "inverse": Array(np.float64, ("budget", "budget")),
        "tolerance": Number(0.0, 1e100),
        "jitter": Number(0.0, 1e100),
    }

    kernel: KernelFunction
    words: IntArray
    basis: Any
    n_basis: int
    alpha: FloatArray
    covariance: FloatArray
    inverse: FloatArray
    tolerance: float
    jitter: float

    @classmethod
    def start(
        cls,
        words: Any,
        kernel: KernelFunction | None = None,
        budget: int = 300,
        tolerance: float = 1e-4,
        jitter: float = 1e-4,
    ) -> Self:
        """The process before any document; the kernel is ``Polynomial(1)`` unless another is given."""
        words = check_words(words)
        if budget < 1:
            raise InputError(f"budget={budget} is given; the basis needs room for one document at least")
        if not (tolerance >= 0.0 and jitter >= 0.0):
            raise InputError(f"tolerance={tolerance!r} and jitter={jitter!r} must not be negative")
        empty = sparse.csr_matrix((0, len(words)))
        arrays = np.zeros(budget), np.zeros((budget, budget)), np.zeros((budget, budget))
        return cls(kernel or Polynomial(1), words, empty, 0, *arrays, float(tolerance), float(jitter))

    def check_state(self) -> None:
        """Refuse a state whose parts do not belong together."""
        check_words(self.words)
        if not 1 <= max(self.n_basis, 1) <= len(self.alpha):
            raise ValueError("its basis is larger than its budget")

    @property
    def mean(self) -> FloatArray:
        """α of the documents in the basis."""
        return self.alpha[: self.n_basis]

    @property
    def n_weights(self) -> int:
        return len(self.alpha)

    def copy(self) -> Self:
        arrays = {name: getattr(self, name).copy() for name in ("alpha", "covariance", "inverse")}
        return replace(self, **arrays)

    def predict(self, X: Any) -> LinearPredictor:
        """Mean and variance of f, jitter included: every document counts as a new one."""
        documents = self._documents(X)
        n_docs = documents.shape[0]
        mean, var = np.empty((2, n_docs, 1))
        for start in range(0, n_docs, CHUNK):
            chunk = slice(start, min(start + CHUNK, n_docs))
            part = documents[chunk]
            values = self._with_basis(part, self.basis), self._own(part)
            mean[chunk, 0], var[chunk, 0] = gp_kernels.predict_gp(*values, *self._arrays())
        return LinearPredictor(mean, var)

    @property
    def word_weights(self) -> FloatArray:
        """Σ α_i, then Σ α_i x_i: with a linear kernel the means of the bias and of the weights of ``words``.

        With others what the basis says of a word by itself, up to a factor.
        """
        weights = np.asarray(self.basis.T @ self.mean, dtype=np.float64)
        return np.concatenate([[self.mean.sum()], weights])

    def observe(self, words: IntArray, means: FloatArray, sds: FloatArray) -> Self:
        """The process after observing f at documents of one word each, N(mean, sd²): prior knowledge of words.

        A Gaussian observation of f moves the process as a document does, with d ln Z = (m − f)/(s² + var f). They take
        half of the basis at most, those that say most.

        Parameters
        ----------
        words : columns of X
        means, sds : arrays of their length
        """
        process = self.copy()
        order = np.argsort(-np.abs(means), kind="stable")[: max(1, int(_OF_WORDS * len(self.alpha)))]
        width = 1 + int(max(self.words.max(initial=0), words.max(initial=0)))
        single = (np.ones(len(order)), words[order], np.arange(len(order) + 1))
        rows = process._rows(sparse.csr_matrix(single, shape=(len(order), width)))
        for i, at in enumerate(order.tolist()):
            mean, var, memo = process._predict_one(rows, i)
            spread = var + sds[at] ** 2
            process._update_one(rows, i, memo, (means[at] - mean) / spread, -1.0 / spread)
        process._finalise(rows)
        return process

    def grow(self, words: Any) -> Self:
        """The same process with more words for the kernel to see, which no basis document has."""
        added = new_words(words, self.words)
        wider = sparse.csr_matrix(
            (self.basis.data, self.basis.indices, self.basis.indptr), (self.n_basis, len(self.words) + len(added))
        )
        return replace(self.copy(), words=np.concatenate([self.words, added]), basis=wider)

    def _documents(self, X: Any) -> Any:
        """The documents as far as they have the words of the process; ``WordRows`` have just these, counted from 1."""
        if isinstance(X, WordRows):
            begin, end = X.indptr[0], X.indptr[-1]
            parts = X.data[begin:end], X.indices[begin:end] - 1, X.indptr - begin
            return sparse.csr_matrix(parts, shape=(X.n_docs, len(self.words)))
        rows = canonical_rows(X)
        if len(self.words) and self.words.max() >= rows.shape[1]:
            raise InputError(f"X has {rows.shape[1]} columns, but the process uses column {self.words.max()}")
        return rows[:, self.words]

    def _rows(self, X: Any) -> Pool:
        documents = sparse.vstack([self.basis, self._documents(X)], format="csr")
        return Pool(documents, self.n_basis, np.arange(len(self.alpha)))

    def _arrays(self) -> tuple[FloatArray, FloatArray, FloatArray, int]:
        return self.alpha, self.covariance, self.inverse, self.n_basis

    def _kernel_values(self, documents: Any, basis: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """K of documents with the basis, padded to the budget, and with each other; and K(x, x) with jitter."""
        among = np.asarray(self.kernel(documents, documents), dtype=np.float64)
        return self._with_basis(documents, basis), among, np.diag(among) + self.jitter

    def _with_basis(self, documents: Any, basis: Any) -> FloatArray:
        cross = np.zeros((documents.shape[0], len(self.alpha)))
        if basis.shape[0]:
            cross[:, : basis.shape[0]] = self.kernel(documents, basis)
        return cross

    def _own(self, documents: Any) -> FloatArray:
        """K(x, x) with jitter; of a kernel that does not say it, from all values among the documents."""
        diagonal = getattr(self.kernel, "diagonal", None)
        own = np.diag(self.kernel(documents, documents)) if diagonal is None else diagonal(documents)
        return np.asarray(own, dtype=np.float64) + self.jitter

    def _learn_compiled(
        self, rows: Pool, y: FloatArray, closed: ClosedForm, forgetting_factor: float, log_prob: FloatArray, n_jobs: int
    ) -> None:
        step = CHUNK if forgetting_factor == 1.0 else 1
        for start in range(0, rows.n_docs, step):
            if forgetting_factor < 1.0:
                self._drift_in_place(forgetting_factor)
            numbers = rows.first + np.arange(start, min(start + step, rows.n_docs))
            values = self._kernel_values(rows.documents[numbers], rows.basis(self.n_basis))
            log_z = np.empty(len(numbers))
            outcomes = np.ascontiguousarray(y[start : start + step, 0])
            self.n_basis = gp_kernels.learn_gp(
                *values, numbers, outcomes, rows.numbers, *self._arrays(), self.jitter, self.tolerance,
                *closed, log_z,
            )  # fmt: skip
            log_prob[start : start + step, 0] = log_z

    def _predict_one(self, rows: Pool, i: int) -> tuple[FloatArray, FloatArray, Any]:
        document = rows.documents[[rows.first + i]]
        cross, _, own = self._kernel_values(document, rows.basis(self.n_basis))
        same = rows.numbers[: self.n_basis] == rows.first + i
        k, known = cross[0], bool(same.any())
        k[: self.n_basis] += self.jitter * same
        s, pending, factors = np.empty(len(k)), np.zeros((4, len(k))), np.zeros(4)
        mean, var, novelty = gp_kernels.look_gp(k, own[0], known, *self._arrays(), pending, factors, 0, s)
        return np.array([mean]), np.array([var]), (k, own[0], known, novelty, pending, factors, s)

    def _update_one(self, rows: Pool, i: int, memo: Any, d1: FloatArray, d2: FloatArray) -> None:
        k, own, known, novelty, pending, factors, s = memo
        slot, self.n_basis, n_pending = gp_kernels.take_gp(
            k, own, known, novelty, *self._arrays(), pending, factors, 0, s, d1[0], d2[0], self.tolerance
        )
        gp_kernels.fold(self.covariance, self.n_basis, pending, factors, n_pending)
        if slot >= 0:
            rows.numbers[slot] = rows.first + i

    def _finalise(self, rows: Pool) -> None:
        self.basis = rows.basis(self.n_basis)

    def _drift_in_place(self, forgetting_factor: float) -> None:
        """Between documents f ← ρ f + an independent draw from √(1 − ρ²) f₀: α ← ρ α, C ← ρ² C."""
        self.alpha *= forgetting_factor
        self.covariance[:] = self.inverse + forgetting_factor**2 * (self.covariance - self.inverse)
