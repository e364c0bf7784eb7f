"""The classifiers that a ``TextCategorizer`` was given, as JSON and arrays, and back: every parameter or a refusal."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.types import AnyArray
from textbayes.core.validation import as_numbers
from textbayes.inference import BaseInference, inferences, make_inference
from textbayes.links import BaseLink, make_link
from textbayes.models.linear.classifier import BayesLinearClassifier, _per_label
from textbayes.priors import BasePrior, make_prior, priors
from textbayes.tune import BayesLinearClassifierCV

_KINDS = {kind.__name__: kind for kind in (BayesLinearClassifier, BayesLinearClassifierCV)}
_OF_A_RUN = ("progress", "resume")  # what a sampler is told of one run, which is no setting


def members_state(classifier: Any) -> tuple[Any, dict[str, AnyArray]]:
    """A classifier or a list of them as JSON and arrays; what has no plain form is refused by name."""
    arrays: dict[str, AnyArray] = {}
    if classifier is None:
        return None, arrays
    if isinstance(classifier, Sequence):
        return [_member_state(member, f"classifier.{m}", arrays) for m, member in enumerate(classifier)], arrays
    return _member_state(classifier, "classifier", arrays), arrays


def _member_state(member: Any, place: str, arrays: dict[str, AnyArray]) -> dict[str, Any]:
    if type(member).__name__ not in _KINDS:
        raise InputError(f"a {type(member).__name__} cannot be kept in a model file; use a {' or '.join(_KINDS)}")
    parameters = member.get_params(deep=False)
    told = {name: _plain(value, f"{place}.{name}", arrays) for name, value in parameters.items()}
    return {"class": type(member).__name__, **told}


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
    """Arguments of the constructor, read off the object."""
    sampler: Any = inference
    known = {**vars(inference)}
    if inference.samples:
        known |= {**sampler.plan._asdict(), **sampler.plain_settings}
        if any(getattr(sampler, name, None) is not None for name in _OF_A_RUN):
            warnings.warn(
                "a sampler's progress and resume are of one run and not kept in a model file", UserWarning, stacklevel=2
            )
    names = list(inspect.signature(type(inference).__init__).parameters)[1:]
    return {name: known[name] for name in names if name not in _OF_A_RUN}


def restored_members(told: Any, arrays: Mapping[str, AnyArray], link: BaseLink, shape: tuple[int, int]) -> Any:
    """The classifiers of :func:`members_state`, for a model of that link and so many labels and words."""
    if told is None:
        return None
    if isinstance(told, list):
        if not told:
            raise ModelFileError("the model was given an empty list of classifiers; was the file altered?")
        return [_restored(one, arrays, link, shape) for one in told]
    return _restored(told, arrays, link, shape)


def _restored(told: dict[str, Any], arrays: Mapping[str, AnyArray], link: BaseLink, shape: tuple[int, int]) -> Any:
    from textbayes.categorizer.schema import SavedMember, SavedSearch
    from textbayes.core.saved import read_saved  # loads pydantic

    kind = told.get("class")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ModelFileError(
            f"the model's classifier is a {str(kind)[:40]!r}, which is not known; was the file altered?"
        )
    schema = SavedMember if kind == BayesLinearClassifier.__name__ else SavedSearch
    fields = read_saved(schema, told, "the model's classifier").model_dump(exclude={"class_"}, exclude_unset=True)
    try:
        by_class = fields.pop("class_weight", None)
        member = _KINDS[kind](**{name: _revived(value, arrays) for name, value in fields.items()})
        member.set_params(class_weight=dict(by_class) if isinstance(by_class, list) else by_class)
        if isinstance(fields.get("cv"), dict | list):  # the fold of every document
            member.set_params(cv=member.cv.astype(np.int64))
        _check(member, link, *shape)
    except (InputError, TypeError) as error:  # a TypeError: a setting that this prior or inference does not have
        raise ModelFileError(f"the model's classifier cannot be used ({error}); was the file altered?") from error
    return member


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


def _check(member: BayesLinearClassifier, link: BaseLink, n_labels: int, n_words: int) -> None:
    """Refuse what could not be fitted to so many labels and words."""
    member._check_settings()
    if make_link(member.link) != link:
        raise InputError(f"its link is {make_link(member.link).spec}, that of the model {link.spec}")
    prior = make_prior(member.prior, member.scale, member.mean, member.sign)
    for name, value in vars(prior).items():
        if value.shape not in ((), (n_words,), (n_labels, n_words), (n_labels, 1)):
            raise InputError(f"prior {name} has shape {value.shape} for {n_labels} labels and {n_words} words")
    if member.fit_intercept:
        ends = (_per_label(getattr(member, name), name, n_labels) for name in ("intercept_scale", "intercept_mean"))
        prior.rescaled(*ends)
    make_inference(member.inference, member.tol, member.max_iter, 1).check(link, prior)
