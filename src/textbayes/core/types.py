"""Array types and small records shared by all layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy import sparse

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
AnyArray: TypeAlias = npt.NDArray[Any]
if TYPE_CHECKING:
    Matrix: TypeAlias = sparse.csr_matrix | sparse.csc_matrix | sparse.csr_array | sparse.csc_array | AnyArray
else:
    Matrix = Any


class Document(NamedTuple):
    """One text with what is known of it."""

    id: str
    text: str
    labels: tuple[str, ...] = ()
