"""Estimators as JSON and arrays, and back: every parameter, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import AnyArray
from textbayes.core.validation import as_numbers
from textbayes.inference import BaseInference, inferences
from textbayes.kinds import kind_of, kinds, make_model
from textbayes.links import BaseLink
from textbayes.priors import BasePrior, priors

_OF_A_RUN = ("progress", "resume")  # what a sampler is told of one run, which is no setting


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
    if isinstance(value, BasePrior):
        return {"prior": _registered(value, priors, place), "settings": _prior_settings(value, place, arrays)}
    if isinstance(value, BaseInference):
        name = _registered(value, inferences, place)
        settings = _inference_settings(value).items()
        return {"inference": name, "settings": {key: _plain(one, f"{place}.{key}", arrays) for key, one in settings}}
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


def _registered(value: Any, registry: Any, place: str) -> str:
    name = str(value.name)
    if name not in registry.names() or registry.get(name) is not type(value):
        raise InputError(
            f"the {place.rpartition('.')[2]} of the classifier is a {type(value).__name__}, which a model file cannot "
            f"keep: it is not registered; use one of {', '.join(registry.names())}"
        )
    return name


def _prior_settings(prior: BasePrior, place: str, arrays: dict[str, AnyArray]) -> dict[str, Any]:
    settings = {name: _plain(value, f"{place}.{name}", arrays) for name, value in vars(prior).items()}
    if "family" in settings:  # numbers of priors by name, and names may be added: those of today go with them
        settings["family"] = {"names": priors.names(), "numbers": settings["family"]}
    return settings


def _inference_settings(inference: BaseInference) -> dict[str, Any]:
    """Parameters of an inference, without those of one run."""
    given = inference.get_params(deep=False)
    if any(given.get(name) is not None for name in _OF_A_RUN):
        warnings.warn(
            "a sampler's progress and resume are of one run and not kept in a model file", UserWarning, stacklevel=2
        )
    return {name: value for name, value in given.items() if name not in _OF_A_RUN}


def restored_model(told: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int) -> Any:
    """The ``model`` of :func:`model_state`, for so many columns and features."""
    if told is None:
        return None
    if isinstance(told, list):
        if not told:
            raise ModelFileError("the model was given an empty list of models; was the file altered?")
        return [_restored(one, arrays, n_columns, n_features) for one in told]
    return _restored(told, arrays, n_columns, n_features)


def _restored(told: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int) -> Any:
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
        model = classes[told["class"]](**{key: _revived(value, arrays) for key, value in fields.items()})
        if by_class is not None:  # a dictionary is pairs in a file
            model.set_params(class_weight=dict(by_class) if isinstance(by_class, list) else by_class)
        kind.check_restored(model, n_columns, n_features)
        return model
    except (InputError, TypeError, ValueError) as error:  # a TypeError: a setting that this prior or inference has not
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"the model's settings cannot be used ({error}); was the file altered?") from error


def _revived(value: Any, arrays: Mapping[str, AnyArray]) -> Any:
    if isinstance(value, list):
        return as_numbers(value, "a list of numbers")
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _array(arrays, value["array"])
    settings = {name: _revived(one, arrays) for name, one in value["settings"].items()} if "settings" in value else {}
    if "prior" in value:
        return priors.get(value["prior"])(**settings)
    if "inference" in value:
        return inferences.get(value["inference"])(**settings)
    numbers = np.asarray(_revived(value["numbers"], arrays), dtype=np.int64)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(value["names"])):
        raise ModelFileError("the model's prior has families that there are not; was the file altered?")
    return np.array(value["names"])[numbers]


def _array(arrays: Mapping[str, AnyArray], name: str) -> AnyArray:
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or not 1 <= array.ndim <= 2 or np.isnan(array).any():
        raise ModelFileError(f"the model's {name} is missing or no array of numbers; was the file altered?")
    return np.array(array)
