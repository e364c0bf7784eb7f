"""A fitted ``TextCategorizer`` as arrays and JSON, and back, with everything checked that a model file could claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.ensemble import Ensemble
from textbayes.categorizer.knowledge import advice_state, restored_advice
from textbayes.categorizer.model_types import model_state, restored_model
from textbayes.categorizer.tables import audit_arrays, prior_arrays, restored_audit, restored_prior
from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.saved_arrays import saved_array
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, IntArray
from textbayes.decide import Rule, make_rule
from textbayes.posterior.calibration_band import CalibrationBand
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
from textbayes.text.fingerprint import restored_fingerprints
from textbayes.text.sentence_models import name_of
from textbayes.text.surface import restored_surface, surface_arrays
from textbayes.text.views import TextViews, ViewsWeighting

_MOST_TEXTS = 10**12  # that anybody could have read
VECTORIZERS: dict[str, Any] = {"TextVectorizer": TextVectorizer, "HashingTextVectorizer": HashingTextVectorizer}
SETTINGS: tuple[str, ...] = ("select", "select_k", "select_threshold", "cv", "random_state", "intervals")
SETTINGS += ("posterior_predictive", "keep_draws", "refit_k", "refit_by", "prior_weight", "n_jobs", "calibrate")
SETTINGS += ("class_weight", "preset", "budget", "embeddings")
_SAVED_VECTORIZERS = VECTORIZERS | {"TextViews": TextViews}


def state_of(model: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """State of a categorizer, a JSON-able description and named arrays; a parameter without such a form is refused."""
    vectorizer, vectorizer_arrays = model.vectorizer_.to_state()
    weighting, weighting_arrays = model.weighting_.to_state()
    given_model, arrays = model_state(model.model)
    space, rule = model.label_space_, model.rule
    given = {
        "vectorizer": model.vectorizer is not None,
        "weighting": model.weighting if isinstance(model.weighting, str | None) else True,
        "rule": rule if isinstance(rule, str) else clone(rule).to_state(),
        "model": given_model,
    }
    embeddings = None if model.embeddings is None else name_of(model.embeddings)
    fitted, fitted_arrays = model.model_.to_state()
    arrays |= under("fitted", fitted_arrays)
    arrays |= {"pool": model.pool_, **prior_arrays(model.prior_table_), **audit_arrays(model.prior_audit_)}
    if model.prior_weight_ is not None:
        arrays["prior_weight"] = model.prior_weight_
    if model.fingerprints_ is not None:
        arrays["training.fingerprints"] = model.fingerprints_
    if model.surface_:
        arrays |= under("surface", surface_arrays(model.surface_))
    if model.calibration_band_ is not None:
        arrays |= under("calibration_band", model.calibration_band_.to_arrays())
    arrays |= under("vectorizer", vectorizer_arrays) | under("weighting", weighting_arrays)
    meta = {
        "ensemble": fitted,
        "labels": {"kind": space.kind, "classes": space.classes.tolist()},
        "rule": model.rule_.to_state(),
        "held_out": model.held_out_,
        "label_counts": None if model.label_counts_ is None else model.label_counts_.tolist(),
        "vectorizer": {"class": type(model.vectorizer_).__name__, **vectorizer},
        "weighting": weighting,
        "choice": model.choice_,
        "copies": model.copies_,
        "columns": model.columns_,
        "settings": {name: _plain(getattr(model, name)) for name in SETTINGS} | {"embeddings": embeddings},
        "given": given,
        "prior_advice": advice_state(model.prior_advice_),
        "arrays": sorted(arrays),
    }
    return meta, arrays


def restore(model: Any, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Give an empty categorizer the state; what does not fit together is refused, since a file can claim anything."""
    from textbayes.categorizer.schema import label_space, read_description  # loads pydantic

    told = read_description(meta, arrays)
    model.vectorizer_ = _vectorizer(dict(told.vectorizer), part_of(arrays, "vectorizer"))
    views = isinstance(model.vectorizer_, TextViews)
    model.weighting_ = (ViewsWeighting if views else TermWeighting).from_state(
        told.weighting, part_of(arrays, "weighting")
    )
    model.label_space_ = label_space(told.labels)
    model.classes_ = model.label_space_.classes
    shape = (model.label_space_.n_columns, _n_columns(model.vectorizer_))
    if len(model.weighting_.idf_) != shape[1] or (views and not _same_views(model.vectorizer_, model.weighting_)):
        raise ModelFileError("the model's words and their weights do not belong together; was the file altered?")
    model.rule_ = Rule.from_state(told.rule, shape[0])
    band = part_of(arrays, "calibration_band")
    model.calibration_band_ = CalibrationBand.from_arrays(band, shape[0]) if band else None
    model.held_out_ = _held_out(told.held_out, model.label_space_)
    model.label_counts_ = _label_counts(told.label_counts, model)
    model.fingerprints_ = restored_fingerprints(arrays.get("training.fingerprints"))
    model.surface_ = restored_surface(part_of(arrays, "surface"))
    model.copies_ = None if told.copies is None else told.copies.model_dump()
    model.columns_ = None if told.columns is None else told.columns.model_dump()
    given = restored_model(told.given.model, arrays, shape[0], _n_given(model.vectorizer_))
    n_members = len(given) if isinstance(given, list) else None if given is None else 1
    model.choice_ = None if told.choice is None else told.choice.model_dump()
    # An automatic pool may turn a member of many round; what it is made of is merged, so the number is only told.
    least = 0.0 if told.choice is None else -1e6
    model.pool_ = saved_array(arrays, "pool", np.float64, (n_members,), least=least)
    fitted = part_of(arrays, "fitted")
    model.model_ = Ensemble.from_state(told.ensemble, fitted, model.label_space_, shape[1])
    model.prior_table_ = restored_prior(arrays)
    model.prior_audit_ = restored_audit(arrays, model.label_space_)
    model.prior_advice_ = restored_advice(dict(row) for row in told.prior_advice)
    model.prior_weight_ = None
    if "prior_weight" in arrays:
        model.prior_weight_ = saved_array(arrays, "prior_weight", np.float64, shape[:1], least=0.0, most=1.0)
    settings = {**dict(told.settings), "class_weight": _class_weight(told)}
    model.set_params(**settings, model=given, prior=model.prior_table_)
    model.set_params(rule=_given_rule(told.given.rule, shape[0]), weighting=_given_weighting(told.given, model))
    model.set_params(vectorizer=clone(model.vectorizer_) if told.given.vectorizer else None)


def _plain(value: Any) -> Any:
    """A setting as JSON; weights of classes as pairs, since a key would become a string and a class may be a number."""
    if isinstance(value, Mapping):
        return [[_plain(name), _plain(weight)] for name, weight in value.items()]
    return value.item() if isinstance(value, np.generic) else value


def _class_weight(told: Any) -> Any:
    given = told.settings.class_weight
    if given is None or isinstance(given, str):
        return given
    names = [name for name, _ in given]
    if not set(names) <= set(told.labels.classes) or len(set(names)) < len(names):
        raise ModelFileError("the model weighs classes that it does not have, or one twice; was the file altered?")
    return dict(given)


def _vectorizer(told: dict[str, Any], arrays: Mapping[str, AnyArray]) -> Any:
    name = told.pop("class", None)
    if not isinstance(name, str) or name not in _SAVED_VECTORIZERS:
        raise ModelFileError(f"the model's vectorizer {str(name)[:40]!r} is not known; was the file altered?")
    return _SAVED_VECTORIZERS[name].from_state(told, arrays)


def _same_views(vectorizer: TextViews, weighting: ViewsWeighting) -> bool:
    """Whether words and weights are of the same views, weighed as these say."""
    views = vectorizer.views
    return (
        weighting.bounds == vectorizer.bounds_.tolist()
        and list(weighting.factors) == [view.factor for view in views]
        and [one.get_params() for one in weighting.weightings_] == [view.weighting.get_params() for view in views]
    )


def _given_rule(told: str | dict[str, Any], n_labels: int) -> str | Rule:
    if isinstance(told, str) and told == "auto":
        return told
    rule = make_rule(told) if isinstance(told, str) else Rule.from_state(told)
    rule.check_params(n_labels)
    return told if isinstance(told, str) else rule


def _given_weighting(given: Any, model: Any) -> Any:
    if given.weighting is None:
        return None
    if given.weighting is True:
        return clone(model.weighting_)
    if TermWeighting(given.weighting).get_params() != model.weighting_.get_params():
        raise ModelFileError("the model's weighting is not the one it was given; was the file altered?")
    return given.weighting


def _label_counts(counts: list[int] | None, model: Any) -> IntArray | None:
    """Texts of each class, more than were weighed where the model has learnt on; older files do not say."""
    if counts is None:
        return None
    if len(counts) != len(model.classes_) or max(counts) > _MOST_TEXTS:
        raise ModelFileError("the model's numbers of texts of each label are not believable; was the file altered?")
    return np.array(counts, dtype=np.int64)


def _held_out(told: Any, space: LabelSpace) -> dict[str, Any]:
    """Cross-validated figures; older files have them over all labels only."""
    figures = told.model_dump(exclude_unset=True)
    if "labels" in figures and list(figures["labels"]) != space.class_names:
        raise ModelFileError("the model's held-out figures are of other labels; was the file altered?")
    return dict(figures)


def _n_columns(vectorizer: Any) -> int:
    if isinstance(vectorizer, TextViews):
        return int(vectorizer.bounds_[-1])
    return int(vectorizer.n_features) if isinstance(vectorizer, HashingTextVectorizer) else len(vectorizer.vocabulary_)


def _n_given(vectorizer: Any) -> int:
    """Of how many words a model is fitted again: those of a vocabulary that was given, without words added since."""
    given = getattr(vectorizer, "vocabulary", None)
    return _n_columns(vectorizer) if given is None else len(given)
