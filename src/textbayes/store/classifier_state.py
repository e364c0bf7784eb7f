"""A fitted ``BayesLinearClassifier`` by itself as arrays and JSON, and back: for users of matrices, not of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.model_types import model_state, restored_model
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.gaussian import GaussianApproximation

_FIELDS = {"model", "labels", "n_features", "fitted", "approximation", "n_iter"}


def classifier_state(classifier: BayesLinearClassifier) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The parameters of a fitted classifier, its weights, and its posterior as far as it has one."""
    check_is_fitted(classifier)
    if type(classifier) is not BayesLinearClassifier:
        raise InputError(f"a {type(classifier).__name__} cannot be kept by itself; save a BayesLinearClassifier")
    given, arrays = model_state(classifier)
    space = classifier.label_space_
    fitted, own = classifier.to_state()
    arrays |= {f"fitted.{name}": array for name, array in own.items()}
    approximation = None
    if classifier.approximation_ is not None:
        approximation, more = classifier.approximation_.to_state()
        arrays |= {f"approximation.{name}": array for name, array in more.items()}
    meta = {
        "model": given,
        "labels": {"kind": space.kind, "classes": space.classes.tolist()},
        "n_features": int(classifier.n_features_in_),
        "fitted": fitted,
        "approximation": approximation,
        "n_iter": int(classifier.n_iter_),
    }
    return meta, arrays


def restored_classifier(meta: Any, arrays: Mapping[str, AnyArray]) -> BayesLinearClassifier:
    """The classifier of :func:`classifier_state`; what does not fit together is refused."""
    from textbayes.categorizer.schema import SavedLabels, label_space  # loads pydantic
    from textbayes.core.saved import read_saved

    if not isinstance(meta, dict) or set(meta) != _FIELDS or type(meta["n_features"]) is not int:
        raise ModelFileError("the classifier is not described as it must be; was the file altered?")
    labels = read_saved(SavedLabels, meta["labels"], "the classifier's labels")
    space = label_space(labels)
    n_features = meta["n_features"]
    classifier = restored_model(meta["model"], arrays, space.n_columns, n_features)
    if type(classifier) is not BayesLinearClassifier or not isinstance(meta["fitted"], dict):
        raise ModelFileError("the file holds no BayesLinearClassifier; was it altered?")

    fitted = BayesLinearClassifier.from_state(meta["fitted"], part_of(arrays, "fitted"), space, n_features)
    classifier.n_iter_ = int(meta["n_iter"])
    for name, value in vars(fitted).items():
        if name.endswith("_"):
            setattr(classifier, name, value)
    if meta["approximation"] is not None:
        classifier.approximation_ = GaussianApproximation.from_state(
            meta["approximation"], part_of(arrays, "approximation")
        )
    return classifier
