"""The registry of the kinds, and the estimators that names stand for."""

from __future__ import annotations

from typing import Any

from textbayes.core.errors import InputError
from textbayes.core.registry import Registry
from textbayes.core.specs import name_and_parameters
from textbayes.kinds.base import Kind

kinds: Registry[Kind] = Registry("kind of model", "textbayes.kinds")


def kind_of(estimator: Any) -> Kind:
    """The kind that an estimator belongs to."""
    for name in kinds.names():
        if kinds.get(name).owns(estimator):
            return kinds.get(name)
    raise InputError(
        f"a {type(estimator).__name__} is no model that TextCategorizer knows; pass an estimator of a kind: "
        f"{', '.join(f'{name} ({kinds.get(name).estimator_class.__name__})' for name in kinds.names())}"
    )


def make_model(model: Any) -> Any:
    """The estimator that a name stands for, with parameters after a colon: ``counts:model=poisson``; or itself.

    >>> make_model("linear:prior=gaussian,scale=2")
    BayesLinearClassifier(prior='gaussian', scale=2, tol=0.001)
    """
    if isinstance(model, str):
        name, parameters = name_and_parameters(model)
        kind = kinds.get(name)
        return kind.make(**parameters)
    kind_of(model)
    return model


def make_trained(model: str) -> Any:
    """:func:`make_model` of a kind that learns from labels; others, such as clusters, are refused."""
    name, _ = name_and_parameters(model)
    if not kinds.get(name).trains:
        trained = [one for one in kinds.names() if kinds.get(one).trains]
        raise InputError(f"model {name!r} is not trained by name; choose one of {', '.join(trained)}")
    return make_model(model)
