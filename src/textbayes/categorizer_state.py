"""A fitted ``TextCategorizer`` as arrays and JSON, and back, with everything checked that a model file could claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer_knowledge import advice_state, audit_state, restored_advice, restored_audit
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.decide import Rule
from textbayes.inference import BaseInference, inferences
from textbayes.linear import BayesLinearClassifier
from textbayes.links import BaseLink, make_link
from textbayes.text import HashingTextVectorizer, TermWeighting, TextVectorizer
from textbayes.text.fingerprint import restored_fingerprints
from textbayes.tune import BayesLinearClassifierCV

VECTORIZERS: dict[str, Any] = {"TextVectorizer": TextVectorizer, "HashingTextVectorizer": HashingTextVectorizer}
_SETTINGS: tuple[str, ...] = ("select", "select_k", "select_threshold", "cv", "random_state", "intervals")
_SETTINGS += ("average", "keep_draws", "refit_k", "refit_by", "calibrate")


def state_of(model: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """A JSON-able description and named arrays."""
    vectorizer, vectorizer_arrays = model.vectorizer_.to_state()
    weighting, weighting_arrays = model.weighting_.to_state()
    space = model.label_space_
    meta = {
        "link": model.link_.spec,
        "labels": {"kind": space.kind, "classes": space.classes.tolist()},
        "rule": model.rule_.to_state(),
        "held_out": model.held_out_,
        "label_counts": None if model.label_counts_ is None else model.label_counts_.tolist(),
        "vectorizer": {"class": type(model.vectorizer_).__name__, **vectorizer},
        "weighting": weighting,
        "settings": {name: getattr(model, name) for name in _SETTINGS} | {"class_weight": _pairs(model.class_weight)},
        "members": _members(model.classifier),
        "prior_audit": audit_state(model.prior_audit_),
        "prior_advice": advice_state(model.prior_advice_),
        "sharpness": model.sharpness_,
        "calibration": model.calibration_,
    }
    coef = sparse.csr_matrix(model.coef_)
    arrays = {"coef.data": coef.data, "coef.indices": coef.indices, "coef.indptr": coef.indptr}
    arrays |= {"intercept": model.intercept_, "pool": model.pool_}
    if model.standard_errors_ is not None:
        errors = sparse.csr_matrix(np.nan_to_num(model.standard_errors_))  # 0 stands for a word without one
        arrays |= {"errors.data": errors.data, "errors.indices": errors.indices, "errors.indptr": errors.indptr}
    if model.prior_weight_ is not None:
        arrays["prior_weight"] = model.prior_weight_
    if model.fingerprints_ is not None:
        arrays["training.fingerprints"] = model.fingerprints_
    if model.draws_ is not None:
        meta["draws"], drawn = model.draws_.to_state()
        arrays |= {f"draws.{name}": array for name, array in drawn.items()}
    arrays |= {f"vectorizer.{name}": array for name, array in vectorizer_arrays.items()}
    arrays |= {f"weighting.{name}": array for name, array in weighting_arrays.items()}
    return meta, arrays


def restore(model: Any, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Give an empty categorizer the state; what does not fit together is refused, since a file can claim anything."""

    def part(name: str) -> dict[str, AnyArray]:
        return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}

    described = dict(meta["vectorizer"])
    name = described.pop("class")
    if name not in VECTORIZERS:
        raise ModelFileError(f"the model's vectorizer {name!r} is not known; was the file altered?")
    model.vectorizer_ = VECTORIZERS[name].from_state(described, part("vectorizer"))
    model.weighting_ = TermWeighting.from_state(meta["weighting"], part("weighting"))
    model.label_space_ = _space(meta["labels"])
    model.classes_, model.link_ = model.label_space_.classes, make_link(meta["link"])
    model.rule_, model.held_out_ = Rule.from_state(meta["rule"]), dict(meta["held_out"])
    model.label_counts_ = _label_counts(meta.get("label_counts"), model)
    model.intercept_, model.pool_ = (_vector(arrays[key], key) for key in ("intercept", "pool"))
    model.prior_weight_ = _vector(arrays["prior_weight"], "prior_weight") if "prior_weight" in arrays else None
    model.prior_audit_ = restored_audit(meta.get("prior_audit", ()))
    model.sharpness_ = float(meta.get("sharpness", 1.0))
    if not 0.0 < model.sharpness_ < np.inf:
        raise ModelFileError(f"the model's sharpness is {model.sharpness_}; was the file altered?")
    model.prior_advice_ = restored_advice(meta.get("prior_advice", ()))
    model.calibration_ = float(meta.get("calibration", 1.0))
    if not 0.0 <= model.calibration_ < np.inf:
        raise ModelFileError(f"the model's calibration is {model.calibration_}; was the file altered?")
    n_words = len(model.weighting_.idf_)
    if len(model.intercept_) != model.label_space_.n_columns or n_words != _n_columns(model.vectorizer_):
        raise ModelFileError("the model's labels, words and weights do not belong together; was the file altered?")
    model.coef_ = _coef(part("coef"), (len(model.intercept_), n_words))
    errors = _coef(part("errors"), model.coef_.shape) if "errors.data" in arrays else None
    model.standard_errors_ = None if errors is None else np.where(errors > 0.0, errors, np.nan)
    model.draws_ = _draws(meta["draws"], part("draws"), model.coef_.shape) if "draws" in meta else None
    model.fingerprints_ = restored_fingerprints(arrays.get("training.fingerprints"))
    settings = {key: value for key, value in meta["settings"].items() if key in _SETTINGS}
    class_weight = meta["settings"].get("class_weight")
    settings["class_weight"] = dict(class_weight) if isinstance(class_weight, list) else class_weight
    model.set_params(**settings, rule=clone(model.rule_), classifier=_classifiers(meta))
    model.set_params(vectorizer=clone(model.vectorizer_), weighting=clone(model.weighting_))


def _members(classifier: Any) -> list[dict[str, Any]] | None:
    """Settings of the members as given, so that a loaded model can be trained again; None for the defaults.

    A prior or an inference given as an object has no plain form, a sampler excepted; such a model scores the same after
    a reload but forgets its members.
    """
    members = classifier if isinstance(classifier, (list, tuple)) else [classifier]
    if classifier is None or not all(isinstance(_plain(part), str | dict) for m in members for part in _parts(m)):
        return None
    return [
        {"class": type(member).__name__, **{k: _plain(v) for k, v in member.get_params(deep=False).items()}}
        for member in members
    ]


def _pairs(class_weight: Any) -> Any:
    """Weights of classes as pairs: in JSON a key would become a string, and a class may be a number."""
    return [list(pair) for pair in class_weight.items()] if isinstance(class_weight, Mapping) else class_weight


def _parts(member: Any) -> tuple[Any, Any]:
    return member.prior, member.inference


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, BaseInference) and value.samples:
        sampler: Any = value
        return {"inference": sampler.name, "settings": {**sampler.plan._asdict(), **sampler.plain_settings}}
    return value.spec if isinstance(value, BaseLink) else value


def _classifiers(meta: Mapping[str, Any]) -> list[BayesLinearClassifier] | None:
    members = meta["members"]
    return None if members is None else [_classifier(dict(params)) for params in members]


def _classifier(params: dict[str, Any]) -> BayesLinearClassifier:
    name = params.pop("class", BayesLinearClassifier.__name__)
    kinds = {kind.__name__: kind for kind in (BayesLinearClassifier, BayesLinearClassifierCV)}
    if name not in kinds:
        raise ModelFileError(f"the model's classifier {name!r} is not known; was the file altered?")
    if isinstance(params.get("inference"), dict):
        described = params["inference"]
        params["inference"] = inferences.get(described["inference"])(**described["settings"])
    return kinds[name](**params)


def _draws(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], shape: tuple[int, int]) -> Any:
    from textbayes.inference.gibbs.draws import Draws  # loads numba, which is slow

    draws = Draws.from_state(meta, arrays)
    if (len(draws.labels), draws.n_features) != shape:
        raise ModelFileError("the model's draws are of other labels or words than its weights; was the file altered?")
    return draws


def _space(labels: Mapping[str, Any]) -> LabelSpace:
    kind, classes = labels["kind"], labels["classes"]
    fits = {"binary": len(classes) == 2, "multiclass": len(classes) > 2, "multilabel": len(classes) > 0}
    if not fits.get(kind, False):
        raise ModelFileError(f"the model claims {len(classes)} classes of kind {kind!r}; was the file altered?")
    text = all(isinstance(name, str) for name in classes)
    return LabelSpace(np.array(classes, dtype=object if text else None), kind)


def _label_counts(counts: Any, model: Any) -> IntArray | None:
    """Training texts of each class; older files do not say."""
    if counts is None:
        return None
    most = model.weighting_.n_docs_
    sound = isinstance(counts, list) and all(type(n) is int and 0 <= n <= most for n in counts)
    if not sound or len(counts) != len(model.classes_):
        raise ModelFileError("the model's numbers of texts of each label are not believable; was the file altered?")
    return np.array(counts, dtype=np.int64)


def _vector(array: AnyArray, name: str) -> FloatArray:
    if array.ndim != 1 or array.dtype != np.float64 or not np.isfinite(array).all():
        raise ModelFileError(f"the model's {name} is not a vector of finite numbers; was the file altered?")
    return array


def _n_columns(vectorizer: Any) -> int:
    return int(vectorizer.n_features) if isinstance(vectorizer, HashingTextVectorizer) else len(vectorizer.vocabulary_)


def _coef(parts: Mapping[str, AnyArray], shape: tuple[int, int]) -> FloatArray:
    """Weights laid out word by word; indices are checked, since unchecked ones would write outside of the array."""
    data = _vector(parts["data"], "weights")
    try:
        coef = sparse.csr_matrix((data, parts["indices"], parts["indptr"]), shape=shape)
        coef.check_format(full_check=True)
    except (ValueError, InputError) as error:
        raise ModelFileError(f"the model's weights are damaged ({error})") from error
    return np.ascontiguousarray(coef.toarray().T).T
