"""Arrays of a file, checked before any kernel or SciPy reads them: a wrong index would be one outside of an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import ModelFileError
from textbayes.core.lazy import LazyModule
from textbayes.core.types import AnyArray, FloatArray

sparse = LazyModule("scipy.sparse")  # most of what is read has none

LARGEST = 1e100  # of a weight: sums and squares of larger ones would leave the floats


def saved_array(
    arrays: Mapping[str, AnyArray],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    least: float = -LARGEST,
    most: float = LARGEST,
) -> AnyArray:
    """The array of that name, of this dtype and shape (None stands for any length), with all values in a range."""
    if name not in arrays:
        raise ModelFileError(f"the model has no array {name}; was the file altered?")
    array = np.asarray(arrays[name])
    fits = len(array.shape) == len(shape) and all(
        wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype != dtype:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ModelFileError(
            f"the model's {name} is {array.dtype} of shape {array.shape}, where {np.dtype(dtype)} of shape ({wanted}) "
            "is needed; was the file altered?"
        )
    # A NaN is in no range; the bounds of whole numbers are compared exactly.
    if array.size and not (array.min() >= least and array.max() <= most):
        raise ModelFileError(
            f"the model's {name} has values from {array.min():.3g} to {array.max():.3g}, where only {least:.3g} to "
            f"{most:.3g} are possible; was the file altered?"
        )
    return array


def saved_csr(
    arrays: Mapping[str, AnyArray],
    name: str,
    shape: tuple[int, int],
    *,
    least: float = -LARGEST,
    dtype: Any = np.float64,
    in_order: bool = True,
) -> Any:
    """The sparse matrix in ``name.data``, ``name.indices`` and ``name.indptr``.

    With ``in_order`` the columns of a row must be sorted, and none there twice.

    SciPy's own ``check_format`` checks no index of a matrix whose last row pointer is 0 or below.
    """
    data = saved_array(arrays, f"{name}.data", dtype, (None,), least=least)
    index_type = np.int64 if arrays.get(f"{name}.indices", data).dtype == np.int64 else np.int32
    indices = saved_array(arrays, f"{name}.indices", index_type, (len(data),), least=0, most=shape[1] - 1)
    indptr = saved_array(arrays, f"{name}.indptr", index_type, (shape[0] + 1,), least=0, most=len(data))
    rows = np.diff(indptr)
    if indptr[0] != 0 or indptr[-1] != len(data) or (rows < 0).any():
        raise ModelFileError(f"the model's {name} has rows that do not follow each other; was the file altered?")
    starts = np.zeros(len(data), dtype=np.bool_)
    starts[indptr[:-1][rows > 0]] = True
    if in_order and ((np.diff(indices) <= 0) & ~starts[1:]).any():
        raise ModelFileError(f"the model's {name} has a column twice, or out of order, in a row; was the file altered?")
    return sparse.csr_matrix((data, indices, indptr), shape=shape)


def saved_dense(
    arrays: Mapping[str, AnyArray], name: str, shape: tuple[int, int], *, least: float = -LARGEST
) -> FloatArray:
    """The matrix that :func:`saved_csr` reads, with all its zeros, laid out column by column."""
    matrix = saved_csr(arrays, name, shape, least=least)
    dense = np.zeros(shape[::-1]).T
    dense[np.repeat(np.arange(shape[0]), np.diff(matrix.indptr)), matrix.indices] = matrix.data
    return dense
