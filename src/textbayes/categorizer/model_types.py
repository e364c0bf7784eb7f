"""Models of a categorizer by name or as estimators, and their parameters in a model file: every one, or a refusal."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

from textbayes.core.codec import written
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.parameters import name_and_parameters
from textbayes.core.state import fields_of, from_state
from textbayes.core.types import AnyArray
from textbayes.links import is_searched
from textbayes.models import model_types
from textbayes.models.base import TextModel
from textbayes.tune import BayesLinearClassifierCV

_OF_A_RUN = ("progress", "resume")  # of a sampler for one run, which are no settings


def make_model(model: Any) -> Any:
    """The estimator that a name stands for, with parameters after a colon: ``counts:model=poisson``; or itself.

    >>> make_model("linear:prior=gaussian,scale=2")
    BayesLinearClassifier(prior='gaussian', scale=2, tol=0.001)
    """
    if isinstance(model, str):
        name, parameters = name_and_parameters(model)
        found = model_types.get(name)
        if name == "linear" and is_searched(parameters.get("link")):
            found = BayesLinearClassifierCV
        return found.from_name(**parameters)
    if not isinstance(model, TextModel):
        known = ", ".join(f"{name} ({model_types.get(name).__name__})" for name in model_types.names())
        raise InputError(f"a {type(model).__name__} is no model that TextCategorizer knows; pass one of these: {known}")
    return model


def make_trained(model: str) -> Any:
    """:func:`make_model` of a type that learns from labels; others, such as clusters, are refused."""
    name, _ = name_and_parameters(model)
    if not model_types.get(name).trains:
        trained = [one for one in model_types.names() if model_types.get(one).trains]
        raise InputError(f"model {name!r} is not trained by name; choose one of {', '.join(trained)}")
    return make_model(model)


def model_state(model: Any) -> tuple[Any, dict[str, AnyArray]]:
    """A categorizer's ``model`` as JSON and arrays: a name, an estimator, or a list of them."""
    arrays: dict[str, AnyArray] = {}
    if isinstance(model, list | tuple):
        return [_one_state(one, f"model.{m}", arrays) for m, one in enumerate(model)], arrays
    return _one_state(model, "model", arrays), arrays


def _one_state(model: Any, place: str, arrays: dict[str, AnyArray]) -> Any:
    if model is None or isinstance(model, str):
        return model
    known = _classes()
    if known.get(type(model).__name__) is not type(model):
        names = [name for name, cls in known.items() if isinstance(model, cls)] or list(known)
        raise InputError(
            f"a {type(model).__name__} cannot be kept in a model file; use a {' or '.join(names)}, or register it"
        )
    parameters, own = parameters_state(model, place)
    arrays |= own
    return {"class": type(model).__name__, "parameters": parameters}


def parameters_state(
    estimator: Any, place: str, leave_out: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The parameters of an estimator as JSON and arrays; what cannot be kept is refused by name."""
    if any(getattr(getattr(estimator, "inference", None), name, None) is not None for name in _OF_A_RUN):
        warnings.warn(
            "a sampler's progress and resume are of one run and not kept in a model file", UserWarning, stacklevel=2
        )
    fields = {name: field for name, field in fields_of(type(estimator)).items() if name not in leave_out}
    values = {name: getattr(estimator, name) for name in fields}
    for name, value in values.items():
        if not fields[name].takes(value):
            raise InputError(
                f"the {name} of the classifier is a {type(value).__name__}, which a model file cannot keep; give it as "
                "a name, a number or an array"
            )
    return written(values, fields, place)


def restored_model(saved: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int) -> Any:
    """The ``model`` of :func:`model_state`, for so many columns and features."""
    if saved is None:
        return None
    if isinstance(saved, list):
        if not saved:
            raise ModelFileError("the model was given an empty list of models; was the file altered?")
        return [_restored(one, arrays, n_columns, n_features, f"model.{m}") for m, one in enumerate(saved)]
    return _restored(saved, arrays, n_columns, n_features, "model")


def _restored(saved: Any, arrays: Mapping[str, AnyArray], n_columns: int, n_features: int, place: str) -> Any:
    try:
        if isinstance(saved, str):
            make_model(saved)
            return saved
        name = saved.get("class") if isinstance(saved, dict) else None
        if name not in (known := _classes()) or set(saved) != {"class", "parameters"}:
            raise ModelFileError(f"the model is a {str(name)[:40]!r}, which is not known; was the file altered?")
        model: TextModel = from_state(known[name], saved["parameters"], arrays, f"the model's {name}", place)
        model.check_shapes(n_columns, n_features)
        return model
    except (InputError, TypeError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"the model's settings cannot be used ({error}); was the file altered?") from error


def _classes() -> dict[str, type[TextModel]]:
    """The estimators that a model file can hold, by the names of their classes."""
    classes = [BayesLinearClassifierCV, *(model_types.get(name) for name in model_types.names())]
    return {cls.__name__: cls for cls in classes}
