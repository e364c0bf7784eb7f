"""Weights of documents by their class, for classes of which there are too few or whose errors cost more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray
from textbayes.core.validation import is_number


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
