"""Linear models whose labels tell of each other: a second pass over what a first said of all other labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from scipy import special

from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features
from textbayes.core.saved_arrays import saved_array
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Kind
from textbayes.kinds.linear import FittedLinear, LinearKind
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier

_LEAST_SLOPE = 0.05  # of the second pass on the first: below it the first could not be had back


def some_other_label(log_odds: FloatArray) -> FloatArray:
    """Probability of each document that some label other than this one applies, 1 − Π_{j≠k} (1 − p_j).

    Parameters
    ----------
    log_odds : array (n_docs, n_labels)
        Of every label by itself.
    """
    none = special.log_expit(-log_odds)
    return np.asarray(-np.expm1(none.sum(axis=1, keepdims=True) - none))


class FittedHinted(FittedLinear):
    """Labels' log-odds x·w + b, and a hint times the probability that a first pass gives to some other label.

    Parameters
    ----------
    space, weights
        As for :class:`FittedLinear`; weights and intercepts are those of the second pass.
    slope, offset : arrays (n_labels,)
        Second pass without the hint = slope · first pass + offset.
    hint : array (n_labels,)
    """

    kind = "hinted"

    def __init__(
        self, space: LabelSpace, *, slope: FloatArray, offset: FloatArray, hint: FloatArray, **weights: Any
    ) -> None:
        super().__init__(space, make_link("logit"), **weights)
        self.slope, self.offset, self.hint = slope, offset, hint

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        words = self.predictor(features)
        return np.asarray(words + self.hint * some_other_label((words - self.offset) / self.slope))

    def proba(self, features: Features, average: bool = True) -> FloatArray:
        return np.asarray(special.expit(self.scores(features)))

    def contributions(self, document: Features) -> Contributions:
        columns = document.weights.indices.astype(np.int64)
        parts = document.weights.data * self.coef[:, columns]
        hints = (self.scores(document) - self.predictor(document))[0]
        return Contributions(self.intercept.copy(), columns, parts, hints)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        meta, arrays = super().to_state()
        return meta, arrays | {"slope": self.slope, "offset": self.offset, "hint": self.hint}


def hinted(first: FittedLinear, slope: FloatArray, hint: FloatArray, offset: FloatArray) -> FittedHinted:
    """The model of a second pass: slope · first + hint · P(some other label) + offset, label by label.

    Parameters
    ----------
    first : FittedLinear
        With the logit link.
    slope, hint, offset : arrays (n_labels,)
    """
    steep = np.maximum(slope, _LEAST_SLOPE)
    coef = (first.coef.T * steep).T
    return FittedHinted(
        first.space, slope=steep, offset=offset, hint=hint, coef=coef, intercept=steep * first.intercept + offset
    )


class HintedKind(Kind):
    """Linear models of labels that tell of each other, as an automatic training makes them; none is trained by name."""

    name = "hinted"
    trains = False

    @property
    def estimator_class(self) -> type:
        return BayesLinearClassifier

    def owns(self, estimator: Any) -> bool:
        return False

    def fit(
        self, estimator: Any, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions
    ) -> NoReturn:
        raise NotSupportedError('a model of kind "hinted" is made by an automatic training; use --preset auto')

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedHinted:
        first = LinearKind().from_state(meta, arrays, space, n_features)
        if (
            space.kind != "multilabel"
            or first.draws is not None
            or first.link.name != "logit"
            or first.errors is not None
        ):
            raise ModelFileError("the model's labels cannot tell of each other; was the file altered?")
        shape = (space.n_columns,)
        slope = saved_array(arrays, "slope", np.float64, shape, least=_LEAST_SLOPE)
        offset, hint = (saved_array(arrays, name, np.float64, shape) for name in ("offset", "hint"))
        return FittedHinted(
            space, slope=slope, offset=offset, hint=hint, coef=first.coef, intercept=first.intercept,
            sharpness=first.sharpness, calibration=first.calibration, held_scale=first.held_scale,
        )  # fmt: skip


kinds.register("hinted")(HintedKind())
