"""The seams of the house, as types. Implementations live one per file in the folder of the same name."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

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


@runtime_checkable
class ScoreFunction(Protocol):
    """Scores every word for every label at once: X (n_docs, n_features), Y indicator (n_docs, n_labels)."""

    def __call__(self, X: Matrix, Y: AnyArray) -> ScoreResult: ...


@runtime_checkable
class DecisionRule(Protocol):
    """Turns probabilities (n_docs, n_labels) into decisions, one threshold or more per label."""

    def fit(self, proba: FloatArray, Y: BoolArray) -> DecisionRule: ...
    def decide(self, proba: FloatArray) -> BoolArray: ...
