"""The schema of what a model file says of labels and of linear models: their parameters, and what was fitted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from textbayes.core.saved import Jobs, Name, Positive, Saved, Text, sorted_and_distinct


def _is_class_weight(pair: list[Any]) -> list[Any]:
    name, weight = pair
    if not isinstance(name, str | int | float) or type(weight) not in (int, float) or not 0.0 <= weight <= 1e100:
        raise ValueError("a class and its weight, a number from 0 on, are needed")
    return pair


ClassWeight = Annotated[list[Any], Field(min_length=2, max_length=2), AfterValidator(_is_class_weight)]


_Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]


def _is_short(spec: str) -> str:
    """Links in links would nest without end: each is as short as one that a person writes."""
    if any(len(link) > 200 for link in spec.split(";")):
        raise ValueError("a link is longer than 200 characters")
    return spec


Link = Annotated[Text, Field(max_length=2**24), AfterValidator(_is_short)]  # of many labels each may have its own


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


class SavedLinear(Saved):
    """A fitted linear model, or several merged into one."""

    link: Link
    held_scale: Annotated[float, Field(gt=0.0, le=1e100)]
    draws: dict[str, Any] | None


class SavedArray(Saved):
    """A parameter that is an array of the file."""

    array: Text


_Number = int | Annotated[float, Field(allow_inf_nan=True)]
_Numbers = Annotated[list[_Number] | list[list[_Number]], Field(min_length=1)]
_Hyper = _Number | _Numbers | SavedArray
_MaxIter = Annotated[int, Field(ge=1, le=10**9)]


class _SavedParameters(Saved):
    link: Link
    prior: Name | dict[str, Any]  # an object, which ``core.codec`` checks
    mean: _Hyper
    sign: _Hyper
    inference: Name | dict[str, Any]
    fit_intercept: bool
    intercept_scale: Literal["auto"] | _Hyper
    intercept_mean: _Hyper
    tol: Positive
    max_iter: _MaxIter
    n_jobs: Jobs | None
    intervals: bool
    class_weight: Literal["balanced"] | list[ClassWeight] | None = None


class SavedClassifier(_SavedParameters):
    """Parameters of a ``BayesLinearClassifier``."""

    scale: _Hyper
    warm_start: bool
    word_scales: Literal["ratio"] | None = None


class SavedSearch(_SavedParameters):
    """Parameters of a ``BayesLinearClassifierCV``."""

    scales: Annotated[int, Field(ge=1, le=10_000)] | _Numbers | SavedArray
    method: Literal["cv", "evidence", "norm"]
    cv: Annotated[int, Field(ge=2, le=2**31)] | _Numbers | SavedArray
    scoring: Literal["log_loss", "f1"]
    rule: Literal["best", "one_se"]
    per_label: bool
    errors: Literal["documents", "folds"]
    search_tol: Positive
    random_state: Annotated[int, Field(ge=0, lt=2**63)] | None
