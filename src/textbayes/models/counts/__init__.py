"""Count models: how often words occur in documents of a class, and a classifier over them.

``count_models.names()`` lists the models; one file in ``families/`` adds one. A model is settings and pure functions
over statistics that add up exactly; ``BayesCountClassifier`` is the estimator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textbayes.core.errors import InputError
from textbayes.core.lazy import on_first_use
from textbayes.models.counts.base import BaseCountModel as BaseCountModel
from textbayes.models.counts.families import count_models as count_models

if TYPE_CHECKING:
    from textbayes.models.counts.classifier import BayesCountClassifier as BayesCountClassifier


def make_count_model(model: str | BaseCountModel[Any, Any], **settings: Any) -> BaseCountModel[Any, Any]:
    """Make the count model of that name with the settings given; an object is returned as it is, with its own.

    >>> make_count_model("poisson", pseudo_counts=2.0)
    Poisson(pseudo_counts=2.0, rate_means=None)
    """
    if isinstance(model, BaseCountModel):
        if settings:
            raise InputError("a model object brings its own settings; give the model by name to set them here")
        return model
    if not isinstance(model, str):
        names = ", ".join(count_models.names())
        raise InputError(f"model={model!r} is neither the name of a count model nor one; names: {names}")
    cls = count_models.get(model)
    unknown = sorted(set(settings) - set(cls.__dataclass_fields__))
    if unknown:
        raise InputError(
            f"count model {model!r} has no setting {unknown[0]!r}; it has: {', '.join(cls.__dataclass_fields__)}"
        )
    return cls(**settings)


__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.models.counts.classifier": ("BayesCountClassifier",),
    },
    own=("BaseCountModel", "count_models", "make_count_model"),
)
