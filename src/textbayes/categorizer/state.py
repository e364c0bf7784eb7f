"""A fitted ``TextCategorizer`` as arrays and JSON, and back, with everything checked that a model file could claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.ensemble import Ensemble
from textbayes.categorizer.knowledge import Advice
from textbayes.categorizer.model_types import model_state, restored_model
from textbayes.categorizer.schema import CATEGORIZER, SETTINGS, read_description
from textbayes.core.array_fields import Column, Table
from textbayes.core.codec import Arrays, Field, Null, Sizes, written
from textbayes.core.errors import ModelFileError
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray
from textbayes.decide import Rule, make_rule
from textbayes.knowledge import WordPrior, WordPriors
from textbayes.models.linear.audit import AuditRow
from textbayes.text import TermWeighting
from textbayes.text.copies import FINGERPRINTS
from textbayes.text.packed import Strings
from textbayes.text.sentences import name_of
from textbayes.text.surface import FormsField
from textbayes.text.views import TextViews, ViewsWeighting

_TEXT = Strings("n_rows")
_NUMBER = Column(np.float64)
_COUNT = Column(np.int64, least=0, most=2.0**53)
_STANCES = ("for", "against")


class _PriorRow(NamedTuple):
    """A row of a prior table: an empty text stands for None."""

    word: str
    label: str
    family: str
    source: str
    stance: str
    mean: float | None
    scale: float | None
    sign: float | None


class PriorTable(Field):
    """A prior table."""

    _rows = Table(
        {
            **dict.fromkeys(("word", "label", "family", "source", "stance"), _TEXT),
            "mean": Column(np.float64, lacking=None),
            "scale": Column(np.float64, most=np.inf, lacking=None),
            "sign": Column(np.float64, lacking=None),
        },
        _PriorRow,
    )

    def takes(self, value: Any) -> bool:
        return isinstance(value, WordPriors)

    def is_meant(self, saved: Any) -> bool:
        return self._rows.is_meant(saved)

    def write(self, value: WordPriors, place: str, arrays: dict[str, AnyArray]) -> Any:
        rows = [
            _PriorRow(row.word, row.label, row.family or "", row.source, *_mean(row.mean), row.scale, row.sign)
            for row in value
        ]
        return self._rows.write(rows, place, arrays)

    def read(self, saved: Any, place: str, arrays: Arrays, sizes: Sizes) -> Any:
        rows: Sequence[_PriorRow] = self._rows.read(saved, place, arrays, sizes)
        if not {row.stance for row in rows} <= {"", *_STANCES}:
            raise ValueError("is neither for nor against a label")
        return WordPriors(
            WordPrior(
                row.word, row.label, row.stance or row.mean, row.scale, row.family or None,
                None if row.sign is None else int(row.sign), row.source,
            )
            for row in rows
        )  # fmt: skip


def _mean(mean: float | str | None) -> tuple[str, float | None]:
    return (mean, None) if isinstance(mean, str) else ("", mean)


AUDIT = Table(
    {
        **dict.fromkeys(("word", "label", "source"), _TEXT),
        "prior_mean": _NUMBER,
        "prior_scale": Column(np.float64, least=0.0, most=np.inf),
        "posterior": _NUMBER,
        "shift": Column(np.float64, least=-np.inf, most=np.inf),
        "n_documents": _COUNT,
        "p_value": Column(np.float64, least=0.0, most=1.0),
        "conflict": Column(np.bool_),
    },
    AuditRow,
)
ADVICE = Table(
    {
        "label": _TEXT,
        "weight": Column(np.float64, least=0.0, most=1.0),
        "why": _TEXT,
        **dict.fromkeys(("words", "not_in_texts"), _COUNT),
        **dict.fromkeys(("tried", "change", "error"), Column(np.float64, lacking=np.nan)),
    },
    Advice,
)


_FIELDS: dict[str, Field] = CATEGORIZER | {
    "prior": PriorTable() | Null(),
    "audit": AUDIT | Null(),
    "prior_advice": ADVICE | Null(),
    "fingerprints": FINGERPRINTS | Null(),
    "surface": FormsField() | Null(),
}


def state_of(model: Any) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """State of a categorizer, a JSON-able description and named arrays; a parameter without such a form is refused."""
    given_model, model_arrays = model_state(model.model)
    ensemble, fitted = model.model_.to_state()
    settings = {name: getattr(model, name) for name in SETTINGS}
    if model.embeddings is not None:
        settings["embeddings"] = name_of(model.embeddings)
    if model.encoder is not None:
        settings["encoder"] = name_of(model.encoder)
    given = {
        "vectorizer": model.vectorizer is not None,
        "weighting": model.weighting if isinstance(model.weighting, str | None) else True,
        "rule": model.rule,
        "model": given_model,
    }
    values = {
        "ensemble": ensemble,
        "labels": model.label_space_,
        "rule": model.rule_,
        "calibration_band": model.calibration_band_,
        "held_out": model.held_out_,
        "label_counts": None if model.label_counts_ is None else model.label_counts_.tolist(),
        "vectorizer": model.vectorizer_,
        "weighting": model.weighting_,
        "settings": settings,
        "given": given,
        "choice": model.choice_,
        "copies": model.copies_,
        "columns": model.columns_,
        "pool": model.pool_ if model.label_pool_ is None else model.label_pool_,
        "prior_weight": model.prior_weight_,
        "prior": model.prior_table_,
        "audit": model.prior_audit_ or None,
        "prior_advice": model.prior_advice_ or None,
        "fingerprints": model.fingerprints_,
        "surface": model.surface_ or None,
    }
    meta, arrays = written(values, {name: field for name, field in _FIELDS.items() if name != "arrays"})
    arrays |= under("fitted", fitted) | model_arrays
    return meta | {"arrays": sorted(arrays)}, arrays


def restore(model: Any, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> None:
    """Give an empty categorizer the state; what does not fit together is refused, since a file can claim anything."""
    found = read_description(_FIELDS, meta, arrays)
    space, given, settings = found["labels"], found["given"], found["settings"]
    model.label_space_, model.classes_, model.rule_ = space, space.classes, found["rule"]
    model.vectorizer_, model.weighting_ = found["vectorizer"], found["weighting"]
    n_features = _n_columns(model.vectorizer_)
    if len(model.weighting_.idf_) != n_features or not _same_views(model.vectorizer_, model.weighting_):
        raise ModelFileError("the model's words and their weights do not belong together; was the file altered?")
    counts = found["label_counts"]
    model.label_counts_ = None if counts is None else np.array(counts, dtype=np.int64)
    for name in ("held_out", "fingerprints", "copies", "columns", "choice", "prior_weight"):
        setattr(model, f"{name}_", found[name])
    model.pool_, model.label_pool_ = _pools(found["pool"], space.n_columns, settings["pool"])
    model.calibration_band_, model.surface_ = found["calibration_band"], found["surface"] or {}
    model.prior_table_, model.prior_audit_ = found["prior"], found["audit"] or []
    model.prior_advice_ = found["prior_advice"] or []
    given_model = restored_model(given["model"], arrays, space.n_columns, _n_given(model.vectorizer_))
    _check_together(model, given_model, settings)
    model.model_ = Ensemble.from_state(found["ensemble"], part_of(arrays, "fitted"), space, n_features)
    tree = model.model_.label_tree
    model.set_params(label_tree=None if tree is None else tree.parents)
    model.set_params(**settings, model=given_model, prior=model.prior_table_)
    model.set_params(rule=_given_rule(given["rule"], space.n_columns), weighting=_given_weighting(given, model))
    model.set_params(vectorizer=clone(model.vectorizer_) if given["vectorizer"] else None)


def _check_together(model: Any, given_model: Any, settings: Mapping[str, Any]) -> None:
    """Refuse parts of a file that cannot be of one model."""
    space = model.label_space_
    if "labels" in model.held_out_ and list(model.held_out_["labels"]) != space.class_names:
        raise ModelFileError("the model's held-out figures are of other labels; was the file altered?")
    if model.label_counts_ is not None and len(model.label_counts_) != len(space.classes):
        raise ModelFileError("the model's numbers of texts are of other labels; was the file altered?")
    if not {row.label for row in model.prior_audit_} <= set(space.column_names):
        raise ModelFileError("the model's audit of its prior is of labels that it does not have; was the file altered?")
    # An automatic pool may turn a member round; what it is made of is merged, so the number only describes it.
    if model.choice_ is None:
        n_members = len(given_model) if isinstance(given_model, list) else None if given_model is None else 1
        turned = model.label_pool_ is None and (model.pool_ < 0.0).any()
        if n_members not in (None, len(model.pool_)) or turned:
            raise ModelFileError("the weights of the model's members are not theirs; was the file altered?")
    if settings["select"] is None and (settings["select_k"] or settings["select_threshold"]) is not None:
        raise ModelFileError("the model's words are to be chosen by no score; was the file altered?")
    weights = settings["class_weight"]
    if isinstance(weights, dict) and not set(weights) <= set(space.classes.tolist()):
        raise ModelFileError("the model weighs classes that it does not have; was the file altered?")


def _pools(pool: AnyArray, n_columns: int, kind: str) -> tuple[AnyArray, AnyArray | None]:
    """Mean weight of each member, and its weights by label where they differ by label."""
    if pool.ndim == 1:
        return pool, None
    if pool.ndim != 2 or pool.shape[1] != n_columns or kind == "shared":
        raise ModelFileError("the weights of the model's members are not of its labels; was the file altered?")
    return pool.mean(axis=1), pool


def _same_views(vectorizer: Any, weighting: Any) -> bool:
    """Whether words and weights are of the same views, weighed as these say."""
    if not isinstance(vectorizer, TextViews):
        return not isinstance(weighting, ViewsWeighting)
    views = vectorizer.views
    return (
        isinstance(weighting, ViewsWeighting)
        and weighting.bounds == vectorizer.bounds_.tolist()
        and list(weighting.factors) == [view.factor for view in views]
        and [one.get_params() for one in weighting.weightings_] == [view.weighting.get_params() for view in views]
    )


def _given_rule(rule: str | Rule, n_labels: int) -> str | Rule:
    if rule != "auto":
        make_rule(rule).check_params(n_labels)
    return rule


def _given_weighting(given: Mapping[str, Any], model: Any) -> Any:
    if given["weighting"] is None:
        return None
    if given["weighting"] is True:
        return clone(model.weighting_)
    if TermWeighting(given["weighting"]).get_params() != model.weighting_.get_params():
        raise ModelFileError("the model's weighting is not the one it was given; was the file altered?")
    return given["weighting"]


def _n_columns(vectorizer: Any) -> int:
    return int(vectorizer.n_features) if hasattr(vectorizer, "n_features") else len(vectorizer.get_feature_names_out())


def _n_given(vectorizer: Any) -> int:
    """Of how many words a model is fitted again: those of a vocabulary that was given, without words added since."""
    given = getattr(vectorizer, "vocabulary", None)
    return _n_columns(vectorizer) if given is None else len(given)
