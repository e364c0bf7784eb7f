"""The seams of the house, as types. Implementations live one per file in the folder of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.frames import make_frame
from textbayes.core.types import AnyArray, BoolArray, FloatArray, Matrix


@runtime_checkable
class Link(Protocol):
    """What turns a linear predictor eta into p(y | eta), y ∈ {−1, +1}; all methods work elementwise on arrays."""

    name: str
    log_concave: bool

    @property
    def spec(self) -> str: ...
    def log_prob(self, eta: FloatArray, y: FloatArray) -> FloatArray: ...
    def score(self, eta: FloatArray, y: FloatArray) -> FloatArray: ...
    def curvature(self, eta: FloatArray, y: FloatArray) -> FloatArray: ...
    def hessian(self, eta: FloatArray, y: FloatArray) -> FloatArray: ...
    def probability(self, eta: FloatArray) -> FloatArray: ...


@runtime_checkable
class Prior(Protocol):
    """What is believed of each weight before the data; hyperparameters are scalars or length-p arrays."""

    name: str
    proper: bool
    smooth: bool
    log_concave: bool

    def neg_log(self, w: FloatArray) -> FloatArray: ...
    def neg_grad(self, w: FloatArray) -> FloatArray: ...
    def local(self, w: FloatArray) -> LocalPenalty: ...
    def variance(self, w: FloatArray) -> FloatArray: ...


class LocalPenalty(NamedTuple):
    """Σ_j l1_j |w_j − center_j| + ½ l2_j (w_j − center_j)²: how a prior looks to a kernel, arrays of length p."""

    center: FloatArray
    l1: FloatArray
    l2: FloatArray


class ScoreResult(NamedTuple):
    """Word scores, one row per label; ``p_values`` is None where the score has no null distribution."""

    scores: FloatArray
    p_values: FloatArray | None

    def to_frame(self, words: Sequence[str] | None = None, labels: Sequence[str] | None = None) -> Any:
        """A pandas ``DataFrame`` with a row for each label and word, the highest scores of each label first.

        ``words`` and ``labels`` name the columns and rows of the scores; numbers if not given.
        """
        n_labels, n_words = self.scores.shape
        names = list(range(n_labels)) if labels is None else list(labels)
        terms = list(range(n_words)) if words is None else list(words)
        if (len(names), len(terms)) != (n_labels, n_words):
            raise InputError(
                f"{len(terms)} words and {len(names)} labels are named; the scores are of {n_words} and {n_labels}"
            )
        rows = [
            (names[k], terms[j], float(self.scores[k, j]), *([] if self.p_values is None else [self.p_values[k, j]]))
            for k in range(n_labels)
            for j in np.argsort(-self.scores[k], kind="stable")
        ]
        return make_frame(rows, ["label", "word", "score", *([] if self.p_values is None else ["p_value"])])


@runtime_checkable
class ScoreFunction(Protocol):
    """Scores every word for every label at once: X (n_docs, n_features), Y indicator (n_docs, n_labels)."""

    def __call__(self, X: Matrix, Y: AnyArray) -> ScoreResult: ...


@runtime_checkable
class DecisionRule(Protocol):
    """Turns probabilities (n_docs, n_labels) into decisions, one threshold or more per label."""

    def fit(self, proba: FloatArray, Y: BoolArray) -> DecisionRule: ...
    def decide(self, proba: FloatArray) -> BoolArray: ...
