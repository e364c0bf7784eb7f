"""Estimators as JSON and arrays, and back: every parameter, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from textbayes.core.codec import Part, read
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import AnyArray
from textbayes.core.validation import as_numbers
from textbayes.inference import BaseInference, inferences
from textbayes.kinds import kind_of, kinds, make_model
from textbayes.links import BaseLink
from textbayes.priors import BasePrior, priors

_OF_A_RUN = ("progress", "resume")  # what a sampler is told of one run, which is no setting
_OBJECTS: dict[str, tuple[type, Any]] = {"prior": (BasePrior, priors), "inference": (BaseInference, inferences)}


def model_state(model: Any) -> tuple[Any, dict[str, AnyArray]]:
    """A categorizer's ``model`` as JSON and arrays: a name, an estimator, or a list of them."""
    arrays: dict[str, AnyArray] = {}
    if isinstance(model, list | tuple):
        return [_one_state(one, f"model.{m}", arrays) for m, one in enumerate(model)], arrays
    return _one_state(model, "model", arrays), arrays


def _one_state(model: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
    if model is None or isinstance(model, str):
        return model
    kind = kind_of(model)
    if type(model) not in kind.saved_classes:
        names = " or ".join(cls.__name__ for cls in kind.saved_classes)
        raise InputError(f"a {type(model).__name__} cannot be kept in a model file; use a {names}")
    told, own = parameters_state(model, place)
    arrays |= own
    return {"kind": kind.name, "class": type(model).__name__, "parameters": told}


def parameters_state(
    estimator: Any, place: str, leave_out: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The parameters of an estimator as JSON and arrays; what has no plain form is refused by name."""
    arrays: dict[str, AnyArray] = {}
    parameters = estimator.get_params(deep=False).items()
    return {
        name: _plain(value, f"{place}.{name}", arrays) for name, value in parameters if name not in leave_out
    }, arrays


def _plain(value: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
    """A parameter as JSON; arrays go beside it, under the name of their place."""
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "biuf":
        arrays[place] = np.asarray(value, dtype=np.float64)
        return {"array": place}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biuf":
        return value.item()
    if isinstance(value, BaseLink):
        return value.spec
    for base, registry in _OBJECTS.values():
        if isinstance(value, base):
            return _object_state(value, registry, place, arrays)
    if isinstance(value, Mapping):  # weights of classes, which may be numbers: as pairs, since JSON's keys are texts
        return [[_plain(name, place, arrays), _plain(one, place, arrays)] for name, one in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(one, f"{place}.{i}", arrays) for i, one in enumerate(value)]
    if isinstance(value, str | bool | int | float | None):
        return value
    raise InputError(
        f"the {place.rpartition('.')[2]} of the classifier is a {type(value).__name__}, which a model file cannot "
        "keep; give it as a number, a name or an array"
    )


def _object_state(value: Any, registry: Any, place: str, arrays: dict[str, AnyArray]) -> dict[str, Any]:
    """A prior or an inference that was given as an object."""
    part = Part(registry)
    if not part.takes(value):
        raise InputError(
            f"the {place.rpartition('.')[2]} of the classifier is a {type(value).__name__}, which a model file cannot "
            f"keep: it is not registered; use one of {', '.join(registry.names())}"
        )
    if any(getattr(value, name, None) is not None for name in _OF_A_RUN):
        warnings.warn(
            "a sampler's progress and resume are of one run and not kept in a model file", UserWarning, stacklevel=2
        )
    return dict(part.write(value, place, arrays))


def restored_model(told: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int) -> Any:
    """The ``model`` of :func:`model_state`, for so many columns and features."""
    if told is None:
        return None
    if isinstance(told, list):
        if not told:
            raise ModelFileError("the model was given an empty list of models; was the file altered?")
        return [_restored(one, arrays, n_columns, n_features, f"model.{m}") for m, one in enumerate(told)]
    return _restored(told, arrays, n_columns, n_features, "model")


def _restored(told: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int, place: str) -> Any:
    try:
        if isinstance(told, str):
            make_model(told)
            return told
        name = told.get("kind") if isinstance(told, dict) else None
        if name not in kinds.names() or set(told) != {"kind", "class", "parameters"}:
            raise ModelFileError(f"the model is of kind {str(name)[:40]!r}, which is not known; was the file altered?")
        kind = kinds.get(name)
        classes = {cls.__name__: cls for cls in kind.saved_classes}
        if told["class"] not in classes or not isinstance(told["parameters"], dict):
            raise ModelFileError(
                f"the model is a {str(told['class'])[:40]!r}, which is not known; was the file altered?"
            )
        fields = kind.checked_parameters(told["class"], told["parameters"])
        by_class = fields.pop("class_weight", None)
        model = classes[told["class"]](**{key: _revived(key, fields[key], arrays, place) for key in fields})
        if by_class is not None:  # a dictionary is pairs in a file
            model.set_params(class_weight=dict(by_class) if isinstance(by_class, list) else by_class)
        kind.check_restored(model, n_columns, n_features)
        return model
    except (InputError, TypeError, ValueError) as error:  # a TypeError: a setting that this prior or inference has not
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"the model's settings cannot be used ({error}); was the file altered?") from error


def _revived(key: str, value: Any, arrays: Mapping[str, AnyArray], place: str) -> Any:
    if isinstance(value, list):
        return as_numbers(value, "a list of numbers")
    if not isinstance(value, dict):
        return value
    if key in _OBJECTS:
        return read({key: Part(_OBJECTS[key][1])}, {key: value}, arrays, f"the model's {key}", place)[key]
    return _array(arrays, value["array"])


def _array(arrays: Mapping[str, AnyArray], name: str) -> AnyArray:
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or not 1 <= array.ndim <= 2 or np.isnan(array).any():
        raise ModelFileError(f"the model's {name} is missing or no array of numbers; was the file altered?")
    return np.array(array)
