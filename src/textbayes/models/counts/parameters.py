"""What the parameters of a count classifier stand for: its model and the prior of its classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.types import FloatArray
from textbayes.core.validation import as_numbers, check_choice
from textbayes.models.counts import make_count_model
from textbayes.models.counts.base import BaseCountModel
from textbayes.models.counts.draws import Sampling

_PREDICTIONS = ("mode", "mean", "integrated")


def made_model(
    model: Any, beta: Any, prediction: str, random_state: Any, n_jobs: int | None
) -> BaseCountModel[Any, Any]:
    """The count model that the parameters of a classifier describe.

    Parameters
    ----------
    model, beta, prediction, random_state, n_jobs
        As of :class:`~textbayes.models.counts.classifier.BayesCountClassifier`.
    """
    check_choice("prediction", prediction, _PREDICTIONS)
    made = make_count_model(model)
    if beta is None and isinstance(model, str) and hasattr(made, "beta"):
        beta = "auto"
    changes: dict[str, Any] = {}
    if beta is not None:
        changes["beta"] = "auto" if isinstance(beta, str) and beta == "cv" else beta
    if prediction != "mode":
        given = getattr(made, "sampling", None) or Sampling(random_state=int(random_state), n_jobs=n_jobs)
        changes["sampling"] = replace(given, integrate=prediction == "integrated")
    unknown = [name for name in changes if not hasattr(made, name)]
    if unknown:
        what = "constants beta" if unknown[0] == "beta" else f"prediction={prediction!r}"
        raise NotSupportedError(
            f"count model {made.name!r} has no {what}; leave it out, or use one of the Dirichlet models"
        )
    return replace(made, **changes) if changes else made


def log_class_prior(class_prior: Any, count: FloatArray) -> FloatArray:
    """Logarithms of p(c): shares of the documents of each class, equal, or given.

    Parameters
    ----------
    class_prior : {"counts", "uniform"} or array (n_classes,)
    count : array (n_classes,)
        Documents of each class.
    """
    n_classes = len(count)
    if isinstance(class_prior, str):
        check_choice("class_prior", class_prior, ("counts", "uniform"))
        if class_prior == "uniform":
            return np.full(n_classes, -np.log(n_classes))
        if not count.all():  # half a document each, where a class has none yet
            count = count + 0.5
        return np.log(count / count.sum())
    given = as_numbers(class_prior, "class_prior")
    if given.shape != (n_classes,) or not (given > 0.0).all() or not np.isclose(given.sum(), 1.0):
        raise InputError(
            f"class_prior={class_prior!r} is not usable; pass {n_classes} positive numbers that add up to 1"
        )
    return np.log(given)
