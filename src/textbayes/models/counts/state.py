"""A fitted ``BayesCountClassifier`` as arrays and JSON, and back, with what a file could claim checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.saved_arrays import saved_array, saved_csr
from textbayes.core.state import part_of, plain, under
from textbayes.core.types import AnyArray
from textbayes.models.counts import make_count_model
from textbayes.models.counts.base import CountSums, DocumentStore, estimate_arrays, settings_of
from textbayes.models.counts.draws import Sampling
from textbayes.models.counts.families import count_models

_PARAMETERS = ("beta", "prediction", "class_prior", "cv", "random_state", "n_jobs")


def state_of_classifier(classifier: Any, statistics: bool) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A JSON-able description and named arrays."""
    space = classifier.label_space_
    settings: dict[str, Any] = {}
    arrays: dict[str, AnyArray] = {}
    for name, value in settings_of(classifier.model_).items():
        if isinstance(value, Sampling):
            settings[name] = {"sampling": asdict(value)}
        elif isinstance(value, (np.ndarray, list)):
            arrays[f"setting.{name}"] = np.asarray(value, dtype=np.float64)
        else:
            settings[name] = plain(value)
    meta = {
        "model": classifier.model_.name,
        "settings": settings,
        "labels": {"kind": space.kind, "classes": space.classes.tolist()},
        "parameters": {name: plain(getattr(classifier, name)) for name in _PARAMETERS},
        "n_features": int(classifier.n_features_in_),
    }
    arrays |= under("estimate", estimate_arrays(classifier.estimate_))
    arrays |= {"class_log_prior": classifier.class_log_prior_, "class_count": classifier.class_count_}
    if statistics and classifier.statistics_ is not None:
        arrays |= under("statistics", _statistics_arrays(classifier.statistics_))
    return meta, arrays


def check_saved_classifier(meta: Any, arrays: Mapping[str, AnyArray], classes: list[Any], n_features: int) -> None:
    """Refuse the state of a classifier in a file that is not one of these classes and so many words."""
    known = {"model", "settings", "labels", "parameters", "n_features"}
    if not isinstance(meta, dict) or set(meta) != known or meta["n_features"] != n_features:
        raise ModelFileError("the model's count model is not described, or of other words; was the file altered?")
    labels = meta["labels"]
    if not isinstance(labels, dict) or labels.get("classes") != classes or len(classes) < 2:
        raise ModelFileError("the model's count model is of other labels; was the file altered?")
    if not isinstance(meta["settings"], dict) or not isinstance(meta["parameters"], dict):
        raise ModelFileError("the model's count model has no settings; was the file altered?")
    if meta["model"] not in count_models.names():
        raise ModelFileError("the model's count model is not known; was the file altered?")
    estimate: Any = count_models.get(meta["model"]).estimate_class
    needed = {f"estimate.{name}" for name in estimate._fields if name not in estimate._field_defaults}
    missing = (needed | {"class_log_prior", "class_count"}) - set(arrays)
    if missing:
        raise ModelFileError(f"the model has no array {min(missing)}; was the file altered?")
    shape = len(classes), n_features
    for name, array in arrays.items():
        first, _, last = name.partition(".")
        if first == "statistics" and last in _OF_DOCUMENTS:
            continue  # checked where they are put together
        sampled = first == "estimate" and last in _OF_DRAWS and array.ndim == 3 and array.shape[1:] == shape
        form = sampled or array.shape in _shapes(name, shape)
        if array.dtype != np.float64 or not np.isfinite(array).all() or not form:
            raise ModelFileError(f"the model's {name} has not the form that it must have; was the file altered?")
        if first == "estimate" and last in ("rates", "values", "deltas") and not (array >= 0.0).all():
            raise ModelFileError(f"the model's {name} has values below 0; was the file altered?")
    if "estimate.rates" in arrays and not (arrays["estimate.rates"] > 0.0).all():
        raise ModelFileError("the model's estimate.rates has values of 0; was the file altered?")


_OF_DRAWS = ("draws", "rate_draws", "delta_draws", "r_hat", "effective")
_OF_DOCUMENTS = ("data", "indices", "indptr", "code", "weight", "omega")


def _shapes(name: str, shape: tuple[int, int]) -> list[tuple[int, ...]]:
    """The shapes that an array of a saved classifier of so many classes and words can have."""
    n_classes, n_words = shape
    if name.startswith("setting."):
        return [(n_words,), shape, (n_classes, 1)]
    if name in ("class_log_prior", "class_count"):
        return [(n_classes,)]
    if name == "estimate.beta":
        return [(k,) for k in range(2, 9)]
    by_name = {"documents": (n_classes,), "words": (n_classes,), "words_squared": (n_classes,), "with_word": (n_words,)}
    last = name.partition(".")[2]
    if name.startswith("statistics."):
        return [by_name.get(last, shape), (0,), (0, 0), (n_classes, 0)]
    return [(n_words,), shape] if last == "weights" else [shape]


def restore_classifier(cls: type, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    """The classifier described; what does not fit together is refused, since a file can claim anything."""
    try:
        classes = meta["labels"]["classes"]
        check_saved_classifier(meta, arrays, classes, int(meta["n_features"]))
        settings = {name: _setting(name, value) for name, value in meta["settings"].items()}
        settings |= {name: np.array(value) for name, value in part_of(arrays, "setting").items()}
        model = make_count_model(meta["model"], **settings)
        parameters = {name: _tupled(value) for name, value in meta["parameters"].items() if name in _PARAMETERS}
        classifier = cls(model=model, **parameters)
        text = all(isinstance(name, str) for name in classes)
        names = np.array(classes, dtype=object if text else None)
        classifier.label_space_ = LabelSpace(names, "binary" if len(classes) == 2 else "multiclass")
        classifier.classes_, classifier.n_features_in_ = classifier.label_space_.classes, int(meta["n_features"])
        classifier.model_ = model
        classifier.class_log_prior_, classifier.class_count_ = (
            np.array(arrays[name], dtype=np.float64) for name in ("class_log_prior", "class_count")
        )
        found = part_of(arrays, "estimate")
        kind: Any = model.estimate_class
        classifier.estimate_ = kind(**{name: found.get(name) for name in kind._fields})
        classifier.statistics_ = _statistics(part_of(arrays, "statistics"), len(classes), classifier.n_features_in_)
    except (KeyError, TypeError, InputError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"the count classifier cannot be read ({error}); was the file altered?") from error
    return classifier


def _statistics_arrays(stats: Any) -> dict[str, AnyArray]:
    if isinstance(stats, CountSums):
        return dict(stats._asdict())
    X = stats.X
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return parts | {"code": stats.code, "weight": stats.weight, "omega": stats.omega}


def _statistics(parts: Mapping[str, AnyArray], n_classes: int, n_features: int) -> Any:
    if not parts:
        return None
    if "counts" in parts:
        return CountSums(*(np.array(parts[name]) for name in CountSums._fields))
    shape = (len(parts["code"]), n_features)
    rows = {f"X.{name}": parts[name] for name in ("data", "indices", "indptr")}
    X = saved_csr(rows, "X", shape, least=0.0, in_order=False)
    code = saved_array(parts, "code", np.int64, shape[:1], least=0, most=n_classes - 1)
    weight, omega = (saved_array(parts, name, np.float64, shape[:1], least=0.0) for name in ("weight", "omega"))
    return DocumentStore(X, code, weight, omega, n_classes)


def _setting(name: str, value: Any) -> Any:
    if name == "sampling" and value is not None:
        told = dict(value["sampling"])
        return Sampling(**({"random_state": told.pop("seed")} if "seed" in told else {}), **told)  # its name of before
    return _tupled(value)


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
