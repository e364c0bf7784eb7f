"""Arrays of a file: what would be read outside of an array is refused first."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.array_fields import saved_array, saved_csr
from textbayes.core.errors import ModelFileError

MATRIX = sparse.csr_matrix(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [3.0, 0.0, 4.0]]))


def parts(**changes):
    return {f"w.{name}": changes.get(name, getattr(MATRIX, name).copy()) for name in ("data", "indices", "indptr")}


def test_a_sound_matrix_comes_back():
    np.testing.assert_array_equal(saved_csr(parts(), "w", (3, 3)).toarray(), MATRIX.toarray())
    empty = saved_csr(
        {"w.data": np.zeros(0), "w.indices": np.zeros(0, np.int32), "w.indptr": np.zeros(3, np.int32)}, "w", (2, 0)
    )
    assert empty.shape == (2, 0)


@pytest.mark.parametrize("pointers", [[0, 2, 2, 0], [0, 2, 2, -1], [0, 5, 2, 4], [1, 2, 2, 4], [0, 2, 2, 5], [0, 2, 4]])
def test_row_pointers_that_are_none(pointers):
    with pytest.raises(ModelFileError, match="w"):
        saved_csr(parts(indptr=np.array(pointers, dtype=np.int32)), "w", (3, 3))


@pytest.mark.parametrize("columns", [[1, 2, 0, 3], [-1, 2, 0, 2], [2, 1, 0, 2], [1, 1, 0, 2], [1, 2, 0]])
def test_columns_that_are_none(columns):
    with pytest.raises(ModelFileError, match="w"):
        saved_csr(parts(indices=np.array(columns, dtype=np.int32)), "w", (3, 3))


def test_order_can_be_left_free_but_places_cannot():
    turned = np.array([2, 1, 0, 2], dtype=np.int32)
    assert saved_csr(parts(indices=turned), "w", (3, 3), in_order=False).toarray()[0].tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ModelFileError):
        saved_csr(parts(indices=turned + 1), "w", (3, 3), in_order=False)


@pytest.mark.parametrize("array", [[np.nan], [np.inf], [1e200], [1], [[1.0]], [True]])
def test_arrays_of_other_values_types_and_shapes(array):
    with pytest.raises(ModelFileError, match="the model's x"):
        saved_array({"x": np.array(array)}, "x", np.float64, (None,))
    with pytest.raises(ModelFileError, match="no array y"):
        saved_array({"x": np.array(array)}, "y", np.float64, (None,))
