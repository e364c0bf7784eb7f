"""A fitted ``BayesLinearClassifier`` by itself as arrays and JSON, and back: for users of matrices, not of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.model_types import model_state, restored_model
from textbayes.core.codec import Described, Field, Null, Whole, read, written
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.state import Part, part_of, under
from textbayes.core.types import AnyArray
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.gaussian import GaussianApproximation

_FIELDS: dict[str, Field] = {
    "model": Described(),
    "labels": Part(LabelSpace),
    "n_features": Whole(1),
    "fitted": Described(),
    "approximation": Described() | Null(),
    "n_iter": Whole(0),
}


def classifier_state(classifier: BayesLinearClassifier) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The parameters of a fitted classifier, its weights, and its posterior as far as it has one."""
    check_is_fitted(classifier)
    if type(classifier) is not BayesLinearClassifier:
        raise InputError(f"a {type(classifier).__name__} cannot be kept by itself; save a BayesLinearClassifier")
    given, arrays = model_state(classifier)
    fitted, own = classifier.to_state()
    approximation, more = None, {}
    if classifier.approximation_ is not None:
        approximation, more = classifier.approximation_.to_state()
    values = {
        "model": given,
        "labels": classifier.label_space_,
        "n_features": int(classifier.n_features_in_),
        "fitted": fitted,
        "approximation": approximation,
        "n_iter": int(classifier.n_iter_),
    }
    meta, _ = written(values, _FIELDS)
    return meta, arrays | under("fitted", own) | under("approximation", more)


def restored_classifier(meta: Any, arrays: Mapping[str, AnyArray]) -> BayesLinearClassifier:
    """The classifier of :func:`classifier_state`; what does not fit together is refused."""
    found = read(_FIELDS, meta, arrays, "the classifier")
    space, n_features = found["labels"], found["n_features"]
    classifier = restored_model(found["model"], arrays, space.n_columns, n_features)
    if type(classifier) is not BayesLinearClassifier:
        raise ModelFileError("the file holds no BayesLinearClassifier; was it altered?")
    fitted = BayesLinearClassifier.from_state(found["fitted"], part_of(arrays, "fitted"), space, n_features)
    classifier.n_iter_ = found["n_iter"]
    for name, value in vars(fitted).items():
        if name.endswith("_"):
            setattr(classifier, name, value)
    if found["approximation"] is not None:
        classifier.approximation_ = GaussianApproximation.from_state(
            found["approximation"], part_of(arrays, "approximation")
        )
    return classifier
