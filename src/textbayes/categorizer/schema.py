"""The fields of what a model file says of a ``TextCategorizer``: one line for each.

Parts that are classes declare their own fields (vectorizer, weighting, rule, labels); what reads a part by itself
(``Ensemble``, ``Scorer``) finds its fields here. Nothing is imported that scoring does not need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from textbayes.core.array_fields import Array
from textbayes.core.codec import (
    Choice,
    Described,
    Field,
    Flag,
    List,
    Named,
    Null,
    Number,
    Pairs,
    Record,
    Text,
    Unread,
    Whole,
    read,
    restoring,
    sorted_and_distinct,
)
from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.state import Part
from textbayes.core.types import AnyArray
from textbayes.data.layout import COLUMNS
from textbayes.decide import LabelTree, rules
from textbayes.posterior.calibration_band import CalibrationBand
from textbayes.posterior.recalibration import METHODS, Recalibration
from textbayes.select import scores
from textbayes.text import vectorizers, weightings

_FRACTION = Number(0.0, 1.0)
_LOSS = Number(0.0, 1e4)
_WEIGHT = Number(-1e100, 1e100)
_COUNT = Whole(0)
_MOST_TEXTS = 10**12  # that anybody could have read
LEAST_SLOPE = 0.05  # of label stacking on the words' scores: below it these could not be computed from its result


def _check_score(name: str) -> None:
    if name not in scores.names():
        raise ValueError(f"there is no score {name!r}")


def _check_jobs(n_jobs: int) -> None:
    if n_jobs == 0:
        raise ValueError("it is 0, which is no number of threads")


SETTINGS: dict[str, Field] = {  # parameters of the categorizer that are numbers and words
    "select": Null() | Text().where(_check_score),
    "select_k": Whole(1) | Choice("cv") | Null(),
    "select_threshold": _WEIGHT | Null(),
    "cv": Whole(2, 2**31),
    "random_state": Whole(0, 2**63 - 1),
    "intervals": Flag(),
    "posterior_predictive": Flag(),
    "keep_draws": Whole(1),
    "refit_k": Whole(1) | Null(),
    "refit_by": Choice("mean", "sign", "inclusion"),
    "refit": Flag(),
    "prior_weight": Choice("auto") | _FRACTION,
    "n_jobs": Null() | Whole(-1024, 1024).where(_check_jobs),
    "calibrate": Flag() | Choice(*METHODS),
    "pool": Choice("shared", "label", "best"),
    "class_weight": Choice("balanced", None) | Pairs(Text() | Flag() | Number(), Number(0.0, 1e100)),
    "preset": Choice("auto", "linear"),
    "budget": Choice("quick", "normal", "thorough"),
    "embeddings": Text(200, least=1) | Null(),
    "encoder": Text(200, least=1) | Null(),
}

# Parameters as they were given, where what was fitted does not tell: None stands for the default. A weighting is the
# name of a scheme, or True for one like the fitted one; a rule is a name, or a rule.
GIVEN: dict[str, Field] = {
    "vectorizer": Flag(),
    "weighting": Text() | Choice(True, None),
    "rule": Text() | Part(rules, fitted=False),
    "model": Text() | Described() | List(Text() | Described()) | Null(),
}

_LABEL_FIGURES: dict[str, Field] = {
    **dict.fromkeys(("precision", "recall", "f1"), _FRACTION | Null()),
    "log_loss": _LOSS | Null(),
    **dict.fromkeys(("brier", "ece"), _FRACTION | Null()),
    **dict.fromkeys(("tp", "fp", "fn", "tn", "support"), _COUNT),
}
_INTERVAL = List(_FRACTION, 2, 2)
_SHARES = ("accuracy", "subset_accuracy", "micro_f1", "macro_f1")
_OVERALL: dict[str, Field] = {
    "n_docs": _COUNT,
    "n_labels": Whole(1),
    "kind": Choice("binary", "multiclass", "multilabel"),
    **dict.fromkeys(("micro_precision", "macro_precision", "micro_recall", "macro_recall"), _FRACTION | Null()),
    **dict.fromkeys(("accuracy", "subset_accuracy", "brier", "ece"), _FRACTION | Null()),
    **dict.fromkeys([f"{name}_interval" for name in _SHARES], _INTERVAL | Null()),
    "log_loss_interval": List(_LOSS, 2, 2) | Null(),
    "labels": Named(Record(_LABEL_FIGURES)),
    # where the rule leaves decisions to people
    **dict.fromkeys(("unsure", "n_decided"), _COUNT | Null()),
    "accuracy_decided": _FRACTION | Null(),
    "n_updated": _COUNT,  # texts learnt since, of which the figures know nothing
    "scales": Named(List(Number(above=0.0))),  # that members looked for, by label
}
_SUMMARY: dict[str, Field] = {
    **dict.fromkeys(("micro_f1", "macro_f1"), _FRACTION | Null()),
    "log_loss": _LOSS | Null(),
    "log_loss_per": Choice("text", "decision"),
}
# Cross-validated figures, as ``textbayes.evaluate.evaluate`` has them; a model that was put together has a few.
FIGURES = Record({**_OVERALL, **_SUMMARY}, optional=_OVERALL)

_VIEW: dict[str, Field] = {"name": Text(), "words": _COUNT, "scheme": Text(), "pairs": Flag()}
_MEMBER: dict[str, Field] = {
    "name": Text(),
    "scale": Number(above=0.0, most=1e9) | Null(),
    "log_loss": _LOSS | Null(),
    "weight": _WEIGHT,
}
_EMBEDDINGS: dict[str, Field] = {
    "model": Text(),
    "outcome": Choice("kept", "left out", "too long"),
    "log_loss": _LOSS | Null(),
    "log_loss_without": _LOSS | Null(),
}
_UNLABELLED: dict[str, Field] = {
    "n_texts": Whole(0),
    "n_copies": Whole(0),
    "outcome": Choice("kept", "left out", "too few"),
    "log_loss": _LOSS | Null(),
    "log_loss_without": _LOSS | Null(),
}
CHOICE: dict[str, Field] = {  # what an automatic training chose, and how well it did
    "n_texts": Whole(1),
    "n_folds": Whole(1),
    "n_held_out": Whole(1),
    "log_loss": _LOSS | Null(),
    "label_stacking": Flag(),
    "left_out": List(Text()),
    "interrupted": Flag(),
    "n_done": Whole(1),
    "n_planned": Whole(1),
    "views": List(Record(_VIEW), 1, 20),
    "members": List(Record(_MEMBER), 1, 100),
    "embeddings": Record(_EMBEDDINGS) | Null(),
    "encoder": Record(_EMBEDDINGS | {"half_precision": _WEIGHT | Null()}, ["half_precision"]) | Null(),
    "unlabelled": Record(_UNLABELLED) | Null(),
}

_OF_LABELS = Array(np.float64, ("n_columns",))
_STACKING: dict[str, Field] = {
    "slope": Array(np.float64, ("n_columns",), least=LEAST_SLOPE),
    "offset": _OF_LABELS,
    "effect": _OF_LABELS,
}
_FITTED: dict[str, Field] = {
    "type": Text(100, least=1),
    "state": Described(),  # which the type reads
    "columns": Array(np.int64, ("width",), least=0, most=lambda sizes: sizes["n_features"] - 1) | Null(),
}
ENSEMBLE: dict[str, Field] = {  # fitted models whose scores are added
    "is_softmax": Flag(),
    "calibration": Number(0.0, 1000.0),
    "recalibration": Part(Recalibration) | Null(),
    "label_tree": Part(LabelTree) | Null(),
    "inverse_temperature": Number(0.01, 100.0),
    "members": List(Record(_FITTED), 1),
    "weights": Array(np.float64, (None, "n_columns")),
    "typical": Array(np.float64, (None, "n_features"), least=0.0) | Null(),
    "label_stacking": Record(_STACKING) | Null(),
}

CATEGORIZER: dict[str, Field] = {
    "ensemble": Described(),
    "labels": Part(LabelSpace),
    "rule": Part(rules),
    "calibration_band": Part(CalibrationBand) | Null(),
    "held_out": FIGURES,
    "label_counts": List(Whole(0, _MOST_TEXTS), 1) | Null(),
    "vectorizer": Part(vectorizers),
    "weighting": Part(weightings),
    "settings": Record(SETTINGS),
    "given": Record(GIVEN),
    "choice": Record(CHOICE) | Null(),
    "copies": Record({"identical": _COUNT, "near": _COUNT}) | Null(),
    "columns": Record(COLUMNS) | Null(),
    "pool": Array(np.float64, (..., None), least=-1e6),  # a row by member where weights differ by label
    "prior_weight": Array(np.float64, ("n_columns",), least=0.0, most=1.0) | Null(),
    "arrays": List(Text()).where(sorted_and_distinct),
}
ARRAYS_OF_TRAINING = ("prior", "audit", "prior_advice", "fingerprints", "surface")  # see ``state``
# What scores texts reads these parts by itself, or not at all.
SCORER: dict[str, Field] = CATEGORIZER | {
    **dict.fromkeys(("vectorizer", "weighting"), Described()),
    **dict.fromkeys(("pool", "prior_weight", *ARRAYS_OF_TRAINING), Unread()),
}


_SCORED_MEMBER = Record({**_FITTED, "columns": Null() | Array(np.int64, (None,))})
SCORED_ENSEMBLE: dict[str, Field] = ENSEMBLE | {
    "members": List(_SCORED_MEMBER, 1),
    **dict.fromkeys(("weights", "typical"), Unread()),
}


def read_description(fields: Mapping[str, Field], meta: Any, arrays: Mapping[str, AnyArray]) -> dict[str, Any]:
    """What a file says of a categorizer, by these fields; it names all of its arrays."""
    what = "the model"
    named = read({"arrays": fields["arrays"]}, {"arrays": _part(meta, "arrays")}, arrays, what)["arrays"]
    if set(named) != set(arrays):
        odd = sorted(set(named) ^ set(arrays))[0]
        raise ModelFileError(f"the model lacks the array {odd!r}, or does not know of it; was the file altered?")
    space = read({"labels": fields["labels"]}, {"labels": _part(meta, "labels")}, arrays, what)["labels"]
    found: dict[str, Any] = read(fields, meta, arrays, what, n_columns=space.n_columns)
    with restoring(what):
        found["rule"].check_labels(space.n_columns)
    return found


def _part(meta: Any, name: str) -> Any:
    return meta.get(name) if isinstance(meta, dict) else None
