"""Labels as users write them, turned into an indicator matrix and back.

Three kinds: ``binary`` (two classes, one column: the second class in sorted order is the positive one), ``multiclass``
(exactly one of several) and ``multilabel`` (none, one or several).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, BoolArray

Kind = Literal["binary", "multiclass", "multilabel"]


class LabelSpace(NamedTuple):
    """What can be predicted: ``classes`` in sorted order and how many of them a document carries."""

    classes: AnyArray
    kind: Kind

    @property
    def n_columns(self) -> int:
        """Columns of the indicator matrix: 1 for binary, else one per class."""
        return 1 if self.kind == "binary" else len(self.classes)

    @property
    def column_names(self) -> list[str]:
        """The label each indicator column stands for."""
        columns = self.classes[1:] if self.kind == "binary" else self.classes
        return [str(name) for name in columns]

    def decode(self, decisions: BoolArray) -> list[tuple[str, ...]]:
        """Per document the names of the labels decided on (for binary: always one of the two)."""
        names = [str(name) for name in self.classes]
        if self.kind == "binary":
            return [(names[int(row[0])],) for row in decisions]
        return [tuple(names[j] for j in np.flatnonzero(row)) for row in decisions]


def encode_labels(labels: Any, classes: Iterable[Any] | None = None) -> tuple[BoolArray, LabelSpace]:
    """Indicator matrix and label space of labels given as a vector, as lists of labels, or as an indicator matrix.

    A vector of scalars is binary or multi-class; a sequence of lists, tuples or sets, or a 0/1 matrix of two
    dimensions, is multi-label (its classes are then ``0 … k−1`` unless ``classes`` names them).
    """
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2):
        return _from_matrix(labels, classes)
    labels = list(labels)
    if not labels:
        raise InputError("no labels were given; pass one label, or a list of labels, per document")
    if any(isinstance(label, (list, tuple, set, frozenset, np.ndarray)) for label in labels):
        return _from_lists(labels, classes)
    return _from_vector(labels, classes)


def _from_matrix(matrix: Any, classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    array = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    if not np.isin(array, (0, 1)).all():
        raise InputError("a label matrix must hold only 0 and 1: one row per document, one column per label")
    names = np.arange(array.shape[1]) if classes is None else np.asarray(list(classes))
    if len(names) != array.shape[1]:
        raise InputError(f"the label matrix has {array.shape[1]} columns but {len(names)} classes are named")
    return array.astype(np.bool_), LabelSpace(names, "multilabel")


def _from_lists(labels: Sequence[Any], classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    rows = [(label,) if isinstance(label, str) or not isinstance(label, Iterable) else tuple(label) for label in labels]
    found = sorted({name for row in rows for name in row})
    names = found if classes is None else list(classes)
    if not names:
        raise InputError("no document carries a label; at least one label with one document is needed")
    column = {name: j for j, name in enumerate(names)}
    indicator = np.zeros((len(rows), len(names)), dtype=np.bool_)
    for i, row in enumerate(rows):
        for name in row:
            if name not in column:
                raise InputError(f"label {name!r} is not among the classes {_listed(names)}")
            indicator[i, column[name]] = True
    return indicator, LabelSpace(np.asarray(names), "multilabel")


def _from_vector(labels: Sequence[Any], classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    array = np.asarray(labels)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InputError("labels contain NaN or infinity; every document needs a label")
    if array.dtype == object and any(label is None for label in labels):
        raise InputError("some labels are None; use an empty list for a document without labels (multi-label)")
    found, codes = np.unique(array, return_inverse=True)
    if classes is not None:
        names = np.asarray(list(classes))
        unseen = [name for name in found.tolist() if name not in names]
        if unseen:
            raise InputError(f"label {unseen[0]!r} is not among the classes {_listed(names.tolist())}")
        position = {name: j for j, name in enumerate(names.tolist())}
        codes = np.asarray([position[name] for name in found.tolist()])[codes]
        found = names
    if len(found) < 2:
        raise InputError(
            f"only one class, {found.tolist()[0]!r}, was given; a classifier needs documents of at least two"
        )
    if len(found) == 2:
        return (codes == 1)[:, None], LabelSpace(found, "binary")
    return codes[:, None] == np.arange(len(found)), LabelSpace(found, "multiclass")


def _listed(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
