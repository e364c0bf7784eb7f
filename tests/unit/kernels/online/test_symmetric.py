"""Products and updates of symmetric matrices against NumPy, at every remainder of their blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.kernels.online.document import rows_times_columns
from textbayes.kernels.online.full import mirror, quadratic_form, subtract_outer, symmetric_times

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 21]


def lower_triangle(size, room):
    """A symmetric matrix, and its lower triangle in a larger array with rubbish elsewhere."""
    rng = np.random.default_rng(size)
    A = rng.normal(size=(size, size))
    A = A + A.T
    stored = np.full((size + room, size + room), np.nan)
    stored[:size, :size] = np.where(np.tri(size, dtype=bool), A, np.nan)
    return A, stored


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("room", [0, 3])
def test_products(size, room):
    A, stored = lower_triangle(size, room)
    x, out = np.random.default_rng(1).normal(size=size + room), np.full(size + room, 7.0)
    symmetric_times(stored, size, x, out)
    np.testing.assert_allclose(out[:size], A @ x[:size], atol=1e-12)
    assert (out[size:] == 7.0).all()
    np.testing.assert_allclose(quadratic_form(stored, size, x), x[:size] @ A @ x[:size], atol=1e-11)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n_vectors", [0, 4, 12])
def test_outer_products(size, n_vectors):
    A, stored = lower_triangle(size, 2)
    rng = np.random.default_rng(2)
    vectors, factors = rng.normal(size=(n_vectors, size + 2)), rng.normal(size=n_vectors)
    used = vectors[:, :size]
    wanted = A - (used.T * factors) @ used
    subtract_outer(stored, size, vectors, factors)
    np.testing.assert_allclose(np.tril(stored[:size, :size]), np.tril(wanted), atol=1e-12)
    assert np.isnan(stored[size:]).all()
    whole = np.ascontiguousarray(stored[:size, :size])
    mirror(whole)
    np.testing.assert_allclose(whole, wanted, atol=1e-12)
    assert (whole == whole.T).all()


def test_dot_products_of_documents():
    A, B = (sparse.random(n, 30, density=0.2, random_state=n, format="csr") for n in (7, 11))
    columns = B.tocsc()
    found = rows_times_columns(A.indptr, A.indices, A.data, columns.indptr, columns.indices, columns.data, 11)
    np.testing.assert_allclose(found, (A @ B.T).toarray(), atol=1e-15)
