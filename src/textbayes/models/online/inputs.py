"""Labels and documents as they come in: one document a call is told at a glance, and not checked at length."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import BoolArray, FloatArray
from textbayes.models.online.likelihood import OnlineLikelihood


def is_checked(estimator: Any, X: Any) -> bool:
    """Whether X needs no conversion: a CSR matrix of floats with the columns that a fitted estimator knows.

    The posteriors see to the order of its columns and to infinities. Where columns have names, scikit-learn compares
    them.
    """
    return (
        isinstance(X, (sparse.csr_matrix, sparse.csr_array))
        and X.dtype == np.float64
        and X.shape[1:] == (estimator.n_features_in_,)
        and X.shape[0] > 0
        and not hasattr(estimator, "feature_names_in_")
    )


def single_outcomes(y: Any, space: LabelSpace) -> FloatArray | None:
    """Outcomes −1 and +1 of one label of exclusive classes, (1, n_columns); None where it takes a longer look."""
    if space.kind == "multilabel" or not isinstance(y, (list, np.ndarray)) or len(y) != 1:
        return None
    label = y[0] if isinstance(y, list) else y.tolist()[0]
    names = space.classes.tolist()
    if not isinstance(label, (str, int)) or label not in names:
        return None
    position = names.index(label)
    if space.kind == "binary":
        return np.array([[1.0 if position else -1.0]])
    outcomes = np.full((1, len(names)), -1.0)
    outcomes[0, position] = 1.0
    return outcomes


def encode_first(labels: Any, classes: Any) -> tuple[BoolArray, LabelSpace]:
    """Labels of the first call of ``partial_fit``; a matrix tells its classes by its columns."""
    if classes is None:
        if sparse.issparse(labels) or np.ndim(labels) == 2:
            return encode_labels(labels)
        raise InputError("classes must be passed on the first call to partial_fit: all labels that there will be")
    names = list(dict.fromkeys(np.asarray(classes).tolist()))
    indicator, space = encode_labels(labels, names)
    return (indicator, space) if space.kind == "multilabel" else encode_labels(labels, sorted(names))


def encode_known(labels: Any, known: LabelSpace) -> tuple[BoolArray, LabelSpace]:
    """Labels of a model whose classes are settled; others are refused, and so is another kind of labels."""
    indicator, space = encode_labels(labels, known.classes.tolist())
    if space.kind != known.kind:
        given = "lists or a matrix of labels" if space.kind == "multilabel" else "one label per document"
        raise InputError(f"y holds {given}, but the model learns {known.kind} labels; pass labels as at first")
    return indicator, known


@lru_cache(maxsize=16)
def named_likelihood(link: str, noise: float) -> OnlineLikelihood:
    """The likelihood of a link given by name; the same object each time, since it never changes."""
    return OnlineLikelihood(link, noise)
