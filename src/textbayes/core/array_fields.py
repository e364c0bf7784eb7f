"""Fields whose values are arrays: of a type and shape, columns of a table, sparse matrices, hyperparameters.

They are checked before any kernel or SciPy reads them: a wrong index would be one outside of an array.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import EllipsisType
from typing import Any

import numpy as np

from textbayes.core.codec import ABSENT, Arrays, Field, Number, Sizes
from textbayes.core.errors import ModelFileError
from textbayes.core.lazy import LazyModule
from textbayes.core.machine import check_fits_memory
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


Length = int | str | Callable[[Sizes], int] | None


class Array(Field):
    """An array of a type, a shape and a range.

    A length is a number, the name of a size, a function of the sizes, or None where any will do. A name that is not
    known yet is the length that this array has. A shape that begins with ``...`` may have further axes before the
    others. The ends of the range may be functions of the sizes. Without ``copy`` the object has the file's own array,
    for large ones that are never changed.
    """

    def __init__(
        self,
        dtype: Any,
        shape: tuple[Any, ...],
        least: float | Callable[[Sizes], float] = -LARGEST,
        most: float | Callable[[Sizes], float] = LARGEST,
        copy: bool = True,
    ) -> None:
        self.dtype, self.shape, self.least, self.most, self.copy = np.dtype(dtype), shape, least, most, copy

    def takes(self, value: Any) -> bool:
        return (
            isinstance(value, np.ndarray) and value.dtype == self.dtype and value.ndim == len(self._shape(value.ndim))
        )

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        arrays[place] = value
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        named = self._shape(np.ndim(arrays.get(place, 0)))
        shape = tuple(_length(one, sizes) for one in named)
        least, most = (end(sizes) if callable(end) else end for end in (self.least, self.most))
        array = saved_array(arrays, place, self.dtype, shape, least=least, most=most)
        for name, length in zip(named, array.shape, strict=True):
            if isinstance(name, str) and sizes.setdefault(name, length) != length:
                raise ModelFileError(f"the model's {place} is not square; was the file altered?")
        return np.array(array) if self.copy else array

    def _shape(self, ndim: int) -> tuple[Length, ...]:
        """Lengths of the axes of an array with so many, those that are left open among them."""
        if not self.shape or self.shape[0] is not Ellipsis:
            return self.shape
        last = self.shape[1:]
        return (None,) * max(ndim - len(last), 0) + last


class Column(Array):
    """Values of a column of a table, as a list; ``lacking`` is the value that NaN stands for, if it may."""

    def __init__(
        self, dtype: Any, least: float = -LARGEST, most: float = LARGEST, lacking: float | EllipsisType | None = ...
    ) -> None:
        super().__init__(dtype, ("n_rows",), least, most)
        self.lacking, self._possible = lacking, min(max(least, 0.0), most)

    def takes(self, value: Any) -> bool:
        return isinstance(value, list)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return super().write(np.array([np.nan if one is None else one for one in value], self.dtype), place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        given = arrays
        if self.lacking is not ... and (array := arrays.get(place, np.zeros(0))).dtype == np.float64:
            given = {place: np.where(np.isnan(array), self._possible, array)}
        values = super().read(saved, place, given, sizes).tolist()
        if given is arrays:
            return values
        return [self.lacking if value != value else value for value in arrays[place].tolist()]


class Table(Field):
    """Rows with attributes of one name, an array or more for each column; read as rows that ``make`` makes."""

    def __init__(self, columns: Mapping[str, Field], make: Callable[..., Any]) -> None:
        self.columns, self.make = columns, make

    def takes(self, value: Any) -> bool:
        return isinstance(value, list | tuple)

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        for name, field in self.columns.items():
            field.write([getattr(row, name) for row in value], f"{place}.{name}", arrays)
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        own = dict(sizes)
        own.pop("n_rows", None)
        columns = [field.read(saved, f"{place}.{name}", arrays, own) for name, field in self.columns.items()]
        return [self.make(*row) for row in zip(*columns, strict=True)]


class Csr(Field):
    """A sparse matrix in CSR."""

    def __init__(self, shape: tuple[Length, Length], least: float = -LARGEST, in_order: bool = True) -> None:
        self.shape, self.least, self.in_order = shape, least, in_order

    def takes(self, value: Any) -> bool:
        return getattr(value, "format", None) == "csr"

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        arrays |= {f"{place}.{part}": getattr(value, part) for part in ("data", "indices", "indptr")}
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        n_rows, n_columns = (_length(one, sizes) for one in self.shape)
        if n_rows is None:
            n_rows = max(len(arrays.get(f"{place}.indptr", ())) - 1, 0)
        return saved_csr(arrays, place, (n_rows, int(n_columns or 0)), least=self.least, in_order=self.in_order)


class Dense(Csr):
    """A matrix with many zeros, stored as a sparse one and read laid out column by column.

    With ``nan_is_zero`` zeros that are stored stand for NaN, and all others are above 0.
    """

    def __init__(self, shape: tuple[Length, Length], nan_is_zero: bool = False) -> None:
        super().__init__(shape, least=0.0 if nan_is_zero else -LARGEST)
        self.nan_is_zero = nan_is_zero

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.ndim == 2

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return super().write(sparse.csr_matrix(np.nan_to_num(value) if self.nan_is_zero else value), place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        shape = tuple(int(_length(one, sizes) or 0) for one in self.shape)
        check_fits_memory(8 * shape[0] * shape[1], "the weights of the model")
        found = saved_dense(arrays, place, (shape[0], shape[1]), least=self.least)
        return np.where(found > 0.0, found, np.nan) if self.nan_is_zero else found


class Hyper(Number):
    """A hyperparameter: a number, a value for each word (n_features,), or a row for each label (n_labels, …)."""

    def takes(self, value: Any) -> bool:
        if isinstance(value, np.ndarray):
            return value.dtype.kind in "biuf" and value.ndim <= 2
        return super().takes(value)

    def is_meant(self, saved: Any) -> bool:
        return saved is ABSENT or super().is_meant(saved)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        if np.ndim(value) == 0:
            return super().write(value, place, arrays)
        arrays[place] = np.asarray(value, dtype=np.float64)
        return ABSENT

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if saved is not ABSENT:
            return super().read(saved, place, arrays, sizes)
        array = arrays.get(place)
        if array is None:
            raise ValueError("is missing")
        if array.dtype != np.float64 or not 1 <= array.ndim <= 2:
            raise ValueError("is no number, and no array of one or two dimensions")
        self.check(array)
        return np.array(array)


def _length(one: Length, sizes: Sizes) -> int | None:
    if callable(one):
        return one(sizes)
    return sizes.get(one) if isinstance(one, str) else one
