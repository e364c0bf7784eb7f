"""A fitted ``BayesCountClassifier`` as arrays and JSON, and back, with what a file could claim checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.codec import (
    Array,
    Choice,
    Field,
    Flag,
    Hyper,
    List,
    Null,
    Number,
    Text,
    Whole,
    read,
    restoring,
    written,
)
from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.state import Part
from textbayes.core.types import AnyArray
from textbayes.models.counts.base import CountSums, DocumentStore
from textbayes.models.counts.families import count_models

PARAMETERS: dict[str, Field] = {
    "beta": Choice("auto", "cv", "evidence") | Hyper() | List(Number(), make=tuple) | Null(),
    "prediction": Choice("mode", "mean", "integrated"),
    "class_prior": Choice("counts", "uniform") | Hyper(0.0, 1.0) | List(Number(0.0, 1.0), make=tuple),
    "cv": Whole(2) | Null(),
    "random_state": Whole(0, 2**63 - 1) | Null(),
    "n_jobs": Whole(-1024, 1024) | Null(),
}


def state_of_classifier(classifier: Any, statistics: bool) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A JSON-able description and named arrays."""
    kept = classifier.statistics_ if statistics else None
    values = {name: getattr(classifier, name) for name in PARAMETERS} | {
        "model": classifier.model_,
        "n_features": classifier.n_features_in_,
        "classes": classifier.classes_.tolist(),
        "class_log_prior": classifier.class_log_prior_,
        "class_count": classifier.class_count_,
        "estimate": classifier.estimate_,
        "sums": kept if isinstance(kept, CountSums) else None,
        "documents": kept if isinstance(kept, DocumentStore) else None,
    }
    return written(values, _fields(type(classifier.model_)))


def check_saved_classifier(meta: Any, classes: list[Any], n_features: int) -> None:
    """Refuse the state of a classifier in a file that is not one of these classes and so many words."""
    if not isinstance(meta, dict) or meta.get("classes") != classes or meta.get("n_features") != n_features:
        raise ModelFileError("the model's count model is of other words or labels; was the file altered?")


def restore_classifier(cls: type, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    """The classifier described; what does not fit together is refused, since a file can claim anything."""
    what = "the count classifier"
    with restoring(what):
        model_class, n_classes = count_models.get(meta["model"]["name"]), len(meta["classes"])
        found = read(_fields(model_class), meta, arrays, what, n_classes=n_classes)
        classifier = cls(model=found["model"], **{name: found[name] for name in PARAMETERS})
        classes = found["classes"]
        text = all(isinstance(name, str) for name in classes)
        names = np.array(classes, dtype=object if text else None)
        classifier.label_space_ = LabelSpace(names, "binary" if n_classes == 2 else "multiclass")
        classifier.classes_, classifier.n_features_in_ = classifier.label_space_.classes, found["n_features"]
        classifier.model_, classifier.estimate_ = found["model"], found["estimate"]
        classifier.class_log_prior_, classifier.class_count_ = found["class_log_prior"], found["class_count"]
        classifier.statistics_ = found["documents"] if found["sums"] is None else found["sums"]
        _check_statistics(classifier.statistics_, n_classes, found["n_features"])
        return classifier


def _fields(model_class: Any) -> dict[str, Field]:
    of_classifier: dict[str, Field] = {
        "model": Part(count_models),
        "n_features": Whole(1),
        "classes": List(Text() | Flag() | Number(), least=2),
        "class_log_prior": Array(np.float64, ("n_classes",)),
        "class_count": Array(np.float64, ("n_classes",), least=0.0),
        "estimate": Part(model_class.estimate_class),
        "sums": Part(CountSums) | Null(),
        "documents": Part(DocumentStore) | Null(),
    }
    return PARAMETERS | of_classifier


def _check_statistics(stats: CountSums | DocumentStore | None, n_classes: int, n_features: int) -> None:
    """Refuse sums of other classes or words; what a model does not need is empty."""
    if isinstance(stats, DocumentStore) and stats.n_classes != n_classes:
        raise ValueError("its documents are of other classes")
    if isinstance(stats, CountSums):
        by_name = {"counts": (n_classes, n_features), "with_word": (n_features,)}
        for name, array in stats._asdict().items():
            if array.size and array.shape not in (by_name.get(name, (n_classes,)), (n_classes, n_features)):
                raise ValueError(f"its {name} are of other classes or words")
