"""Covariance functions of documents, on sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import FloatArray

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
        if self.degree < 1 or self.degree != int(self.degree):
            raise InputError(f"degree={self.degree!r} is not usable; pass a whole number from 1 on")

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
    from textbayes.kernels.online.gp_products import rows_times_columns

    B = B.tocsc()
    return rows_times_columns(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, B.shape[0])


def _norms(A: Any) -> FloatArray:
    """|x|² of each document, summed in the order its words stand: the same bits whatever else is in A."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.bincount(row, A.data * A.data, minlength=A.shape[0]).astype(np.float64)


#: The paper's kernels by name: GP-1, GP-2 and GP-R1.
KERNELS: dict[str, KernelFunction] = {"linear": Polynomial(1), "quadratic": Polynomial(2), "rbf": RBF(1.0)}
