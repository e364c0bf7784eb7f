"""Array types and small records shared by all layers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
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


class _Missing(tuple[str, ...]):
    __slots__ = ()


# The labels of a text that lacks its label where the input has a place for one; equal to (), which says "none of them".
MISSING_LABEL: tuple[str, ...] = _Missing()
NO_FIELDS: Mapping[str, Any] = MappingProxyType({})  # one object for all documents without any: it costs nothing


class Document(NamedTuple):
    """One text with what is known of it.

    Parameters
    ----------
    id, text : str
    labels : tuple of str
        None, one or several.
    fields : mapping of str to str
        Columns of the input as they were, by name; those asked for with ``keep_fields``, else none.

    Examples
    --------
    >>> Document("7", "good film", ("pos",), {"year": "1999"}).fields["year"]
    '1999'
    """

    id: str
    text: str
    labels: tuple[str, ...] = ()
    fields: Mapping[str, str] = NO_FIELDS

    def __repr__(self) -> str:
        fields = f", fields={dict(self.fields)!r}" if self.fields else ""
        return f"Document(id={self.id!r}, text={self.text!r}, labels={self.labels!r}{fields})"

    def __hash__(self) -> int:
        return hash((self.id, self.text, self.labels))  # a mapping has no hash of its own

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled.
        return Document, (self.id, self.text, self.labels, *([dict(self.fields)] if self.fields else []))

    @property
    def lacks_label(self) -> bool:
        """Whether the input has a place for this text's label and it is empty there."""
        return isinstance(self.labels, _Missing)
