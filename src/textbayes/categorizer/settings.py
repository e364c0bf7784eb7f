"""The parameters of a ``TextCategorizer``: checked before the long work begins, and reached by name, defaults too."""

from __future__ import annotations

import contextlib
import numbers
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from textbayes.categorizer.knowledge import check_prior
from textbayes.categorizer.model_types import make_model
from textbayes.categorizer.prepare import make_weighting, uses_auto
from textbayes.categorizer.presets import BUDGETS, POOLS, PRESETS, default_models, default_rule, default_vectorizer
from textbayes.categorizer.sources import BY_CV
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace, check_class_weight
from textbayes.core.machine import DEVICES, on_card
from textbayes.core.state import Part
from textbayes.core.validation import check_choice
from textbayes.decide import Rule, make_rule
from textbayes.models.linear.words import check_refit
from textbayes.posterior.recalibration import METHODS
from textbayes.text import TermWeighting, TextVectorizer, vectorizers
from textbayes.text.base import BaseTextVectorizer

_PARTS = ("vectorizer", "weighting", "model", "rule")


class NestedParameters(BaseEstimator):
    """Parameters of the parts of a categorizer, ``vectorizer__min_df``, also where a part is the default or a name.

    Members of an ensemble are numbered: ``model__0__scale`` is that of the first. Setting a parameter of a part that
    was not given makes it the default with that change. Automatic training chooses views and models by itself: parts
    that were not given to it have no parameters.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of the parts as well."""
        found: dict[str, Any] = super().get_params(deep)
        if deep:
            for name in _PARTS:
                if not self._is_chosen(name):
                    found |= _parameters_of(name, _part(name, getattr(self, name)))
        return found

    def _is_chosen(self, part: str) -> bool:
        """Whether automatic training chooses a part."""
        return part != "rule" and getattr(self, part) is None and uses_auto(self)

    def set_params(self, **params: Any) -> Self:
        """Change parameters, ``vectorizer__min_df=1`` those of parts."""
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        nested: dict[str, dict[str, Any]] = {}
        present = self.get_params()
        for name in sorted(params.keys() - own.keys()):
            part, _, rest = name.partition("__")
            if name not in present:
                if part in _PARTS and self._is_chosen(part):
                    raise InputError(
                        f"TextCategorizer has no parameter {name!r} with preset='auto', which chooses {part} "
                        f"by itself; pass a {part}, or preset='linear'"
                    )
                known = ", ".join(one for one in present if one.partition("__")[0] == part) or "none"
                raise InputError(f"TextCategorizer has no parameter {name!r}; of {part} it has: {known}")
            if not _same(params[name], present[name]):  # else a part that was not given would be from now on
                nested.setdefault(part, {})[rest] = params[name]
        for part, changes in nested.items():
            setattr(self, part, _changed(_part(part, getattr(self, part)), changes))
        return self


def _same(value: Any, other: Any) -> bool:
    return value is other or (type(value) is type(other) and np.array_equal(value, other))


def _part(name: str, given: Any) -> Any:
    """A part as the object it stands for: the default where none is given, else what a name means; copies of both."""
    if name == "vectorizer" and given is None:
        return default_vectorizer()
    if name == "weighting" and (given is None or isinstance(given, str)):
        return make_weighting(given)
    if name == "model" and given is None:
        return default_models()
    if name == "model" and isinstance(given, str):
        with contextlib.suppress(InputError):
            return make_model(given)
    if name == "rule" and isinstance(given, str) and given != "auto":
        with contextlib.suppress(InputError):  # what is no rule is refused by ``fit``, as all parameters are
            return make_rule(given)
    return given


def _parameters_of(name: str, part: Any) -> dict[str, Any]:
    if isinstance(part, list | tuple):
        found: dict[str, Any] = {}
        for number, member in enumerate(part):
            found |= _parameters_of(f"{name}__{number}", member)
        return found
    if not hasattr(part, "get_params"):
        return {}
    return {f"{name}__{key}": value for key, value in part.get_params().items()}


def _changed(part: Any, changes: dict[str, Any]) -> Any:
    if not isinstance(part, list | tuple):
        return part.set_params(**changes)
    members = [clone(member) for member in part]
    for name, value in changes.items():
        number, _, rest = name.partition("__")
        members[int(number)].set_params(**{rest: value})
    return members


def rule_for(rule: str | Rule, space: LabelSpace) -> Rule:
    """The decision rule that is asked for, not fitted; one that cannot be used with these labels is refused."""
    made = default_rule(space) if isinstance(rule, str) and rule == "auto" else make_rule(rule)
    made.check_params(space.n_columns)
    return made


def check_settings(model: Any) -> None:
    """Refuse parameters that make no sense, before any text is read."""
    if not isinstance(model.cv, numbers.Integral) or model.cv < 2:
        raise InputError(f"cv={model.cv!r} is not usable; pass a whole number of folds from 2 on")
    if model.select is None and (model.select_k is not None or model.select_threshold is not None):
        raise InputError("select_k and select_threshold choose words by a score; name it with select")
    k = model.select_k
    if k not in (None, BY_CV) and (not isinstance(k, numbers.Integral) or int(k) < 1):
        raise InputError(f"select_k={k!r} is not usable; pass a number of words from 1 on, or 'cv' to have it found")
    if model.vectorizer is not None and not _is_registered(model.vectorizer):
        raise InputError(
            f"vectorizer is a {type(model.vectorizer).__name__}, which a model file cannot hold; pass a textbayes "
            "TextVectorizer or HashingTextVectorizer, or use make_pipeline(vectorizer, BayesLinearClassifier())"
        )
    if not isinstance(model.weighting, TermWeighting | str | None):
        raise InputError(
            f"weighting={model.weighting!r} is not usable; pass the name of a scheme, such as 'tfidf1', or a "
            "TermWeighting"
        )
    if not isinstance(model.random_state, numbers.Integral) or model.random_state < 0:
        raise InputError(f"random_state={model.random_state!r} is not usable; pass a whole number from 0 on")
    if not isinstance(model.keep_draws, numbers.Integral) or model.keep_draws < 1:
        raise InputError(f"keep_draws={model.keep_draws!r} is not usable; pass a whole number from 1 on")
    if not (isinstance(model.rule, str) and model.rule == "auto"):
        make_rule(model.rule)
    check_choice("calibrate", model.calibrate, (False, True, *METHODS))
    check_choice("pool", model.pool, POOLS)
    several = isinstance(model.model, list | tuple) and len(model.model) > 1
    if model.pool != "shared" and not (several or (model.model is None and model.preset == "linear")):
        raise InputError(
            f"pool={model.pool!r} is for several models that are named: model=['svm', 'online']; automatic training "
            "weighs its members label by label as it is"
        )
    check_choice("preset", model.preset, PRESETS)
    check_choice("budget", model.budget, BUDGETS)
    check_choice("device", model.device, DEVICES)
    if model.device == "cuda":
        on_card(model.device)  # refused before the texts are read
    _check_one_view(model)
    _check_network(model, "embeddings", "the name or folder of a sentence-transformers model", "one more view")
    _check_network(model, "encoder", "the folder of an encoder", "one more member")
    check_class_weight(model.class_weight)
    if not model.refit and model.refit_k is None:
        raise InputError("refit=False keeps the weights of the first words; say how many with refit_k")
    check_refit(1 if model.refit_k is None else model.refit_k, model.refit_by)
    check_prior(model.prior, model.prior_weight, model.vectorizer)


def _is_registered(vectorizer: Any) -> bool:
    """Whether a model file can keep a vectorizer of one view."""
    single = isinstance(vectorizer, BaseTextVectorizer) and isinstance(getattr(vectorizer, "name", None), str)
    return single and Part(vectorizers, fitted=False).takes(vectorizer)


def _check_network(model: Any, name: str, wanted: str, what: str) -> None:
    given = getattr(model, name)
    if given is None or given in ("auto", "off"):
        return
    if not isinstance(given, str | Path) or not str(given).strip():
        raise InputError(f"{name}={given!r} is not usable; pass 'auto', 'off', or {wanted}")
    if not uses_auto(model):
        asked = "preset" if model.model is None else "model"
        raise InputError(
            f"{name}={str(given)!r} asks for {what} in an automatic training, and {asked} for another training; leave "
            "out one of the two"
        )


def _check_one_view(model: Any) -> None:
    """Refuse what is of one view of words where an automatic training reads several."""
    if not uses_auto(model):
        return
    asked = [name for name in ("weighting", "select", "refit_k") if getattr(model, name) is not None]
    if model.vectorizer is not None and not isinstance(model.vectorizer, TextVectorizer):
        asked.append("vectorizer")
    if asked:
        value = getattr(model, asked[0])
        given = repr(value) if isinstance(value, str | int) else f"a {type(value).__name__}"
        raise NotSupportedError(
            f"{asked[0]} ({given}) is of one view of words, and preset='auto' reads texts in several; use "
            "preset='linear', or leave it out"
        )
