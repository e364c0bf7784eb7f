"""Labels as users write them, turned into an indicator matrix and back.

Three kinds: ``binary`` (two classes, one column: the second class in sorted order is the positive one), ``multiclass``
(exactly one of several) and ``multilabel`` (none, one or several).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse, special

from textbayes.core.codec import Arrays, Choice, Field, Flag, List, Number, Sizes, Text, Whole, sorted_and_distinct
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.state import with_fields
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import is_number

Kind = Literal["binary", "multiclass", "multilabel"]
Layout = Literal["vector", "lists", "matrix"]
_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


class _Classes(Field):
    """Classes in sorted order, all of one type."""

    def takes(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.ndim == 1

    def is_meant(self, saved: Any) -> bool:
        return isinstance(saved, list)

    def write(self, value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
        return value.tolist()

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        if {*map(type, saved)} not in ({str}, {bool}, {int}, {float}):
            raise ValueError("texts, whole numbers or yes and no are needed, all of one type")
        item = {str: Text(), bool: Flag(), int: Whole(-(2**63), 2**63 - 1), float: Number()}[type(saved[0])]
        List(item).read(saved, place, arrays, sizes)
        sorted_and_distinct(saved)
        if len({str(name) for name in saved}) < len(saved):
            raise ValueError("two classes have one name")
        return np.array(saved, dtype=object if isinstance(saved[0], str) else None)


@with_fields({"classes": _Classes(), "kind": Choice("binary", "multiclass", "multilabel")})
class LabelSpace(NamedTuple):
    """Space of labels that can be predicted: ``classes`` in sorted order and how many of them a document carries."""

    classes: AnyArray
    kind: Kind

    def check_state(self) -> None:
        """Refuse another number of classes than the kind has."""
        n = len(self.classes)
        if not {"binary": n == 2, "multiclass": n > 2, "multilabel": n > 0}[self.kind]:
            raise ValueError(f"{n} classes are not {self.kind}")

    @property
    def n_columns(self) -> int:
        """Columns of the indicator matrix: 1 for binary, else one per class."""
        return 1 if self.kind == "binary" else len(self.classes)

    @property
    def column_names(self) -> list[str]:
        """The label each indicator column stands for."""
        columns = self.classes[1:] if self.kind == "binary" else self.classes
        return [str(name) for name in columns]

    @property
    def class_names(self) -> list[str]:
        """All classes by name: those of the columns, and of two classes the first as well."""
        return [str(name) for name in self.classes]

    def both_columns(self, proba: FloatArray) -> FloatArray:
        """Probabilities (n_docs, n_columns), with a column for the first of two classes as well."""
        return np.concatenate((1.0 - proba, proba), axis=1) if self.kind == "binary" else proba

    def counts(self, indicator: BoolArray) -> IntArray:
        """Number of documents of each class, of two classes either."""
        found = indicator.sum(axis=0, dtype=np.int64)
        return np.append(len(indicator) - found, found) if self.kind == "binary" else found

    def likeliest(self, log_odds: FloatArray) -> AnyArray:
        """The likelier class by log-odds (n_docs,) or (n_docs, n_columns); multi-label: 1 for all likelier than not."""
        if self.kind == "binary":
            return self.classes[(log_odds > 0.0).astype(int)]
        if self.kind == "multiclass":
            return self.classes[log_odds.argmax(axis=1)]
        return (log_odds > 0.0).astype(int)

    def decode(self, decisions: BoolArray) -> list[tuple[str, ...]]:
        """Per document the names of the labels decided on (for binary: always one of the two)."""
        names = [str(name) for name in self.classes]
        if self.kind == "binary":
            return [(names[int(row[0])],) for row in decisions]
        return [tuple(names[j] for j in np.flatnonzero(row)) for row in decisions]


def normalise_classes(log_prob: FloatArray, inverse_temperature: float = 1.0) -> FloatArray:
    """Probabilities of exclusive classes from logarithms of each one's own: p_k^c / Σ_j p_j^c, (..., n_classes).

    ``log_prob`` may have any constant of the document added, as scores of a softmax have. Logarithms keep classes apart
    where all are nearly impossible.

    >>> normalise_classes(np.log([[0.2, 0.2, 0.1]])).round(9).tolist()
    [[0.4, 0.4, 0.2]]
    """
    return np.asarray(special.softmax(inverse_temperature * log_prob, axis=-1))


def encode_labels(labels: Any, classes: Iterable[Any] | None = None) -> tuple[BoolArray, LabelSpace]:
    """Indicator matrix and label space of labels given as a vector, as lists of labels, or as an indicator matrix.

    A vector of scalars is binary or multi-class; a sequence of lists, tuples or sets, or a 0/1 matrix of two
    dimensions (an array, a sparse matrix or nested lists), is multi-label. A matrix has the classes ``0 … k−1`` unless
    ``classes`` names them. Labels are strings, whole numbers or booleans, all of one kind.
    """
    layout, labels = label_layout(labels)
    if layout == "matrix":
        return _from_matrix(labels, classes)
    if len(labels) == 0:
        raise InputError("no labels were given; pass one label, or a list of labels, per document")
    return _from_lists(list(labels), classes) if layout == "lists" else _from_vector(labels, classes)


def label_layout(labels: Any) -> tuple[Layout, Any]:
    """Whether labels are a vector, lists or an indicator matrix, and the labels as a list, an array or sparse."""
    if isinstance(labels, (str, bytes, Mapping)) or labels is None:
        raise InputError(
            f"labels are given as {type(labels).__name__}; pass one label, or a list of labels, per document"
        )
    if hasattr(labels, "to_numpy"):
        labels = labels.to_numpy()
    if not sparse.issparse(labels) and not isinstance(labels, (list, tuple, np.ndarray)):
        labels = np.asarray(labels) if hasattr(labels, "__array__") else list(labels)
    if sparse.issparse(labels) or (isinstance(labels, np.ndarray) and labels.ndim == 2) or _is_nested_matrix(labels):
        return "matrix", labels
    return ("lists" if any(isinstance(label, _COLLECTIONS) for label in labels) else "vector"), labels


def _is_nested_matrix(labels: Any) -> bool:
    """Rows of two numbers or more, all 0 or 1 and of one length: a matrix, not lists of the labels 0 and 1."""
    if isinstance(labels, np.ndarray) or not labels or not all(isinstance(row, (list, tuple)) for row in labels):
        return False
    width = len(labels[0])
    return width > 1 and all(len(row) == width and all(_is_bit(value) for value in row) for row in labels)


def _is_bit(value: Any) -> bool:
    return isinstance(value, (bool, int, np.integer, np.bool_)) and value in (0, 1)


def _from_matrix(matrix: Any, classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    array = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    if not array.size:
        raise InputError(f"the label matrix has shape {array.shape}; at least one document and one label are needed")
    if not np.isin(array, (0, 1)).all():
        raise InputError("a label matrix must hold only 0 and 1: one row per document, one column per label")
    names = np.arange(array.shape[1]) if classes is None else _class_array(list(classes))
    if len(names) != array.shape[1]:
        raise InputError(f"the label matrix has {array.shape[1]} columns but {len(names)} classes are named")
    return array.astype(np.bool_), LabelSpace(names, "multilabel")


def _from_lists(labels: Sequence[Any], classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    _refuse_missing(labels)
    rows = [tuple(row) if isinstance(row, _COLLECTIONS) else (row,) for row in labels]
    names_given = [name for row in rows for name in row]
    _refuse_missing(names_given)
    _check_kind(names_given)
    found = sorted(set(names_given))
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
    return indicator, LabelSpace(_class_array(names), "multilabel")


def _from_vector(labels: Any, classes: Iterable[Any] | None) -> tuple[BoolArray, LabelSpace]:
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    _refuse_missing(values)
    _check_kind(values)
    found = sorted(set(values))
    if classes is not None:
        names = list(classes)
        unseen = [name for name in found if name not in names]
        if unseen:
            raise InputError(f"label {unseen[0]!r} is not among the classes {_listed(names)}")
        found = names
    if len(found) < 2:
        raise InputError(f"only one class, {found[0]!r}, was given; a classifier needs documents of at least two")
    position = {name: j for j, name in enumerate(found)}
    codes = np.fromiter((position[value] for value in values), dtype=np.int64, count=len(values))
    space = LabelSpace(_class_array(found), "binary" if len(found) == 2 else "multiclass")
    if space.kind == "binary":
        return (codes == 1)[:, None], space
    return codes[:, None] == np.arange(len(found)), space


def _refuse_missing(values: Sequence[Any]) -> None:
    """Refuse None, NaN, empty strings and what pandas writes for a missing value, naming the first."""
    missing = [i for i, value in enumerate(values) if is_missing(value)]
    if missing:
        value = values[missing[0]]
        first = "NaN" if isinstance(value, float) else repr(value)
        raise InputError(
            f"{len(missing):,} of {len(values):,} labels are missing (the first, at index {missing[0]}, is {first}); "
            "leave these texts out, pass them as unlabelled, or give a list of labels for each text, "
            "empty where it has none (multi-label)"
        )


def is_missing(value: Any) -> bool:
    """Whether a label is None, NaN, an empty string or what pandas writes for a missing value."""
    if value is None or (isinstance(value, float) and np.isnan(value)) or (isinstance(value, str) and not value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")  # of pandas, which is not imported for their sake


def _check_kind(values: Sequence[Any]) -> None:
    """Labels of one kind that sorts, compares and can be written to a model file."""
    kinds = {_kind(value) for value in values}
    if "infinity" in kinds:
        raise InputError("labels contain infinity; use strings, whole numbers or booleans")
    odd = kinds - {"str", "bool", "number"}
    if odd:
        raise InputError(f"labels of type {min(odd)} were given; use strings, whole numbers or booleans")
    if len(kinds) > 1:
        raise InputError(f"labels mix types ({', '.join(sorted(kinds))}); make them all strings or all numbers")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "str"
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, numbers.Real):
        return "number" if np.isfinite(float(value)) else "infinity"
    return type(value).__name__


def _class_array(names: Sequence[Any]) -> AnyArray:
    """Classes as an array; strings as objects, so that one long name does not widen them all."""
    if names and all(isinstance(name, str) for name in names):
        return np.array(names, dtype=object)
    return np.asarray(names)


def _listed(names: Sequence[Any], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def check_class_weight(class_weight: Any) -> None:
    """Refuse what is neither None, "balanced" nor a number for each class."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise InputError(f"class_weight={class_weight!r} is not usable; pass 'balanced' or {{class: weight}}")
    for name, value in class_weight.items():
        if not is_number(value) or not 0.0 <= float(value) < np.inf:
            raise InputError(f"class_weight gives {name!r} the weight {value!r}; pass a number from 0 on")


def document_weights(
    class_weight: Any, indicator: BoolArray, space: LabelSpace, sample_weight: FloatArray | None = None
) -> FloatArray | None:
    """Each document's own weight times that of its class; None where all count alike.

    ``"balanced"`` gives all classes the same weight in sum, N/(number of classes · N_c), N counting documents by their
    own weights; classes that a mapping leaves out have weight 1.

    >>> space = LabelSpace(np.array(["no", "yes"]), "binary")
    >>> document_weights("balanced", np.array([[True], [False], [False], [False]]), space).round(2).tolist()
    [2.0, 0.67, 0.67, 0.67]
    """
    check_class_weight(class_weight)
    if class_weight is None:
        return sample_weight
    if space.kind == "multilabel":
        raise NotSupportedError(
            "class_weight is for one label per document; where a document has many, let the decision rule set a "
            "threshold for each label, such as rule='max_f1', or pass sample_weight"
        )
    codes = indicator[:, 0].astype(np.int64) if space.kind == "binary" else indicator.argmax(axis=1)
    own = np.ones(len(codes)) if sample_weight is None else sample_weight
    n_classes = len(space.classes)
    if isinstance(class_weight, str):
        sums = np.bincount(codes, own, minlength=n_classes)
        of_class = np.divide(own.sum(), n_classes * sums, out=np.zeros(n_classes), where=sums > 0.0)
    else:
        names = space.classes.tolist()
        unknown = [name for name in class_weight if name not in names]
        if unknown:
            listed = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
            raise InputError(f"class_weight names {unknown[0]!r}, which is not among the classes {listed}")
        of_class = np.array([float(class_weight.get(name, 1.0)) for name in names])
    return np.asarray(own * of_class[codes])
