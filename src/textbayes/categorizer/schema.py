"""The schema of what a model file says of a ``TextCategorizer``: one line for each field.

A field that files written before it lack is ``… | None = None``. Parts that have a ``from_state`` of their own
(vectorizer, weighting, rule, draws) are checked there, arrays where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.saved import (
    Jobs,
    Name,
    Real,
    Saved,
    Share,
    Text,
    WholeFrom0,
    WholeFrom1,
    read_saved,
    sorted_and_distinct,
)
from textbayes.core.types import AnyArray
from textbayes.select import scores

_Signed = Annotated[Real, Field(ge=-1e100, le=1e100)]
_Ends = Annotated[list[Share], Field(min_length=2, max_length=2)]  # of an interval
_Loss = Annotated[float, Field(ge=0.0, le=1e4)]


def _is_class_weight(pair: list[Any]) -> list[Any]:
    name, weight = pair
    if not isinstance(name, str | int | float) or type(weight) not in (int, float) or not 0.0 <= weight <= 1e100:
        raise ValueError("a class and its weight, a number from 0 on, are needed")
    return pair


ClassWeight = Annotated[list[Any], Field(min_length=2, max_length=2), AfterValidator(_is_class_weight)]


_Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]


class SavedLabels(Saved):
    """The classes, in sorted order, all of one type."""

    kind: Literal["binary", "multiclass", "multilabel"]
    classes: Annotated[list[Text] | list[bool] | list[_Whole] | list[float], sorted_and_distinct]

    @model_validator(mode="after")
    def _together(self) -> Any:
        n = len(self.classes)
        if not {"binary": n == 2, "multiclass": n > 2, "multilabel": n > 0}[self.kind]:
            raise ValueError(f"{n} classes are not {self.kind}")
        if len({str(name) for name in self.classes}) < n:
            raise ValueError("two classes have one name")
        return self


class SavedSettings(Saved):
    """Parameters of the categorizer that are numbers and words."""

    select: Text | None
    select_k: WholeFrom1 | None
    select_threshold: _Signed | None
    cv: Annotated[int, Field(ge=2, le=2**31)]
    random_state: Annotated[int, Field(ge=0, lt=2**63)]
    intervals: bool
    average: bool
    keep_draws: WholeFrom1
    refit_k: WholeFrom1 | None
    refit_by: Literal["mean", "sign", "inclusion"]
    prior_weight: Literal["auto"] | Share
    n_jobs: Jobs | None
    calibrate: bool
    class_weight: Literal["balanced"] | list[ClassWeight] | None
    preset: Literal["auto", "linear"] = "linear"
    budget: Literal["quick", "normal", "thorough"] = "normal"
    embeddings: Annotated[Text, Field(min_length=1, max_length=200)] | None = "auto"

    @model_validator(mode="after")
    def _together(self) -> Any:
        if self.select is None and (self.select_k is not None or self.select_threshold is not None):
            raise ValueError("words are to be chosen by no score")
        if self.select is not None and self.select not in scores.names():
            raise ValueError(f"there is no score {self.select!r}")
        if self.n_jobs == 0:
            raise ValueError("n_jobs is 0")
        return self


class SavedGiven(Saved):
    """Parameters as they were given, where what was fitted does not tell: None stands for the default.

    ``weighting`` is a scheme's name, or an object like the fitted one; ``rule`` a name, or the state of a rule.
    """

    vectorizer: bool
    weighting: Text | Literal[True] | None
    rule: Text | dict[str, Any]
    model: list[dict[str, Any] | Text] | dict[str, Any] | Text | None


class SavedAdvice(Saved):
    """Use that was made of the prior of a label; None where a number is not known."""

    label: Text
    weight: Share
    why: Text
    words: WholeFrom0
    not_in_texts: WholeFrom0
    tried: float | None
    change: float | None
    error: float | None


class SavedLabelFigures(Saved):
    """Figures of one label; None where nothing can be said."""

    precision: Share | None
    recall: Share | None
    f1: Share | None
    log_loss: _Loss | None
    brier: Share | None
    ece: Share | None
    tp: WholeFrom0
    fp: WholeFrom0
    fn: WholeFrom0
    tn: WholeFrom0
    support: WholeFrom0


class SavedFigures(Saved):
    """Cross-validated figures, as ``textbayes.evaluate.evaluate`` has them."""

    n_docs: WholeFrom0 | None = None
    n_labels: WholeFrom1 | None = None
    kind: Literal["binary", "multiclass", "multilabel"] | None = None
    micro_precision: Share | None = None
    macro_precision: Share | None = None
    micro_recall: Share | None = None
    macro_recall: Share | None = None
    micro_f1: Share | None
    macro_f1: Share | None
    accuracy: Share | None = None
    accuracy_interval: _Ends | None = None
    subset_accuracy: Share | None = None
    subset_accuracy_interval: _Ends | None = None
    micro_f1_interval: _Ends | None = None
    log_loss: _Loss | None
    log_loss_per: Literal["text", "decision"]
    brier: Share | None = None
    ece: Share | None = None
    labels: dict[Text, SavedLabelFigures] | None = None


class SavedMember(Saved):
    """A fitted model: its type, and what was fitted, which that type checks itself."""

    type: Name
    state: dict[str, Any]


class SavedEnsemble(Saved):
    """Fitted models whose scores are added."""

    is_softmax: bool
    calibration: Annotated[float, Field(ge=0.0, le=1000.0)]
    inverse_temperature: Annotated[float, Field(ge=0.01, le=100.0)]
    members: Annotated[list[SavedMember], Field(min_length=1)]


class SavedChosenView(Saved):
    """A view of the texts that an automatic training chose."""

    name: Text
    words: WholeFrom0
    scheme: Text
    pairs: bool = True  # files that do not say are of views that had them


class SavedChosenMember(Saved):
    """A member of an automatic pool."""

    name: Text
    scale: Annotated[float, Field(gt=0.0, le=1e9)] | None
    log_loss: _Loss | None
    weight: _Signed


class SavedEmbeddings(Saved):
    """What became of a sentence model: log-losses of the pool with it and without, None where it was not tried."""

    model: Text
    outcome: Literal["kept", "left out", "too long"]
    log_loss: _Loss | None
    log_loss_without: _Loss | None


class SavedUnlabelled(Saved):
    """What became of unlabelled texts: log-losses of the pool with their members and without, None if not known."""

    n_texts: WholeFrom1
    outcome: Literal["kept", "left out", "too few"]
    log_loss: _Loss | None
    log_loss_without: _Loss | None


class SavedChoice(Saved):
    """What an automatic training chose, and how well it did."""

    n_texts: WholeFrom1
    n_folds: WholeFrom1 | None = None
    n_held_out: WholeFrom1 | None = None
    log_loss: _Loss | None
    label_stacking: bool
    left_out: list[Text]
    interrupted: bool
    n_done: WholeFrom1 | None = None
    n_planned: WholeFrom1 | None = None
    views: Annotated[list[SavedChosenView], Field(min_length=1, max_length=20)]
    members: Annotated[list[SavedChosenMember], Field(min_length=1, max_length=100)]
    embeddings: SavedEmbeddings | None = None
    unlabelled: SavedUnlabelled | None = None


class SavedCopies(Saved):
    """Training texts that are copies of others."""

    identical: WholeFrom0
    near: WholeFrom0


_ColumnName = Annotated[Text, Field(max_length=2_000)]


class SavedColumns(Saved):
    """Columns of the file that the training texts came from; see ``textbayes.data.layout.Columns``."""

    text: Annotated[list[_ColumnName], Field(min_length=1, max_length=1_000)]
    label: Annotated[list[_ColumnName], Field(max_length=1_000)]
    id: _ColumnName | None
    label_separator: Annotated[Text, Field(min_length=1, max_length=100)] | None
    format: Name | None
    sheet: Name | None
    header_row: WholeFrom1 | None
    delimiter: Annotated[Text, Field(min_length=1, max_length=1)] | None
    encoding: Name | None
    line_end: Literal["\n", "\r\n"] | None


class SavedCategorizer(Saved):
    """Saved description of a whole categorizer."""

    ensemble: SavedEnsemble
    labels: SavedLabels
    rule: dict[str, Any]
    held_out: SavedFigures
    label_counts: Annotated[list[WholeFrom0], Field(min_length=1)] | None = None
    vectorizer: dict[str, Any]
    weighting: dict[str, Any]
    settings: SavedSettings
    given: SavedGiven
    choice: SavedChoice | None = None
    copies: SavedCopies | None = None
    columns: SavedColumns | None = None
    prior_advice: list[SavedAdvice]
    arrays: Annotated[list[Text], sorted_and_distinct]


def read_description(meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> SavedCategorizer:
    """The checked description of a categorizer, which names all of its arrays."""
    told = read_saved(SavedCategorizer, meta, "the model")
    if set(told.arrays) != set(arrays):
        odd = sorted(set(told.arrays) ^ set(arrays))[0]
        raise ModelFileError(f"the model lacks the array {odd!r}, or does not know of it; was the file altered?")
    return told


def label_space(labels: SavedLabels) -> LabelSpace:
    """The labels of a categorizer."""
    text = isinstance(labels.classes[0], str)
    return LabelSpace(np.array(labels.classes, dtype=object if text else None), labels.kind)
