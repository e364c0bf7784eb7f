"""The fitted model of a categorizer: linear models of one link merged into one, or members of any kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from textbayes.categorizer.pool import Pooling, PosteriorPool, drawn
from textbayes.core.errors import ModelFileError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, FittedModel, WordWeights
from textbayes.core.saved_arrays import saved_array
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.kinds import Fitted, kinds
from textbayes.kinds.linear import FittedLinear
from textbayes.posterior.intervals import mixture_standard_errors, pooled_draws, pooled_standard_errors


class FittedPool(Fitted):
    """Fitted members of any kinds whose scores are added: Σ_m weight_m · scores_m, times a factor that calibrates.

    Parameters
    ----------
    space : LabelSpace
    members : fitted models
    pool : array (n_members,)
    joint : bool
        Whether exclusive classes are normalised as a softmax of the scores.
    calibration : float
    typical : array (n_members, n_features) or None
        What a word is in a text that has it, on average, in the units of each member: weights times it can be added.
    """

    kind = "pool"

    def __init__(
        self,
        space: LabelSpace,
        members: Sequence[FittedModel],
        pool: FloatArray,
        joint: bool,
        calibration: float = 1.0,
        typical: FloatArray | None = None,
    ) -> None:
        super().__init__(space)
        self.members, self.pool, self.joint = list(members), pool, joint
        self.calibration, self.typical = calibration, typical
        self.uses_lengths = any(member.uses_lengths for member in self.members)

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        parts = [member.scores(features, average) for member in self.members]
        return np.asarray(self.calibration * np.tensordot(self.pool, np.stack(parts), axes=1))

    def contributions(self, document: Features) -> Contributions:
        factors = self.calibration * self.pool
        told = [member.contributions(document) for member in self.members]
        columns = np.unique(np.concatenate([one.columns for one in told]))
        parts = np.zeros((self.space.n_columns, len(columns)))
        for factor, one in zip(factors, told, strict=True):
            parts[:, np.searchsorted(columns, one.columns)] += factor * one.parts
        base = sum(factor * one.base for factor, one in zip(factors, told, strict=True))
        return Contributions(np.asarray(base), columns, parts)

    def words(self) -> WordWeights:
        if len(self.members) == 1:
            return self.members[0].words()
        assert self.typical is not None
        total, spread = 0.0, 0.0
        for share, typical, member in zip(self.pool, self.typical, self.members, strict=True):
            told = member.words()
            total = total + share * typical * told.weights
            # Members learn from the same texts and are taken to err together.
            spread = spread + share * typical * (np.nan if told.errors is None else np.nan_to_num(told.errors))
        errors = None if np.isnan(np.sum(spread)) else np.where(np.asarray(spread) > 0.0, spread, np.nan)
        return WordWeights(np.asarray(total), errors, "log-odds that the word adds to a text that has it, on average")

    def word_totals(self, features: Features) -> FloatArray:
        parts = [member.word_totals(features) for member in self.members]
        return np.asarray(self.calibration * np.tensordot(self.pool, np.stack(parts), axes=1))

    def known_words(self) -> BoolArray:
        return np.asarray(np.any([member.known_words() for member in self.members], axis=0))

    @property
    def has_posterior(self) -> bool:
        return len(self.members) == 1 and self.calibration == 1.0 and self.members[0].has_posterior

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        if self.has_posterior:
            return self.members[0].probability_interval(features, level)
        return super().probability_interval(features, level)

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """Every member after more documents; their weights in the pool stay."""
        members = [member.update(features, indicator, weight) for member in self.members]
        return type(self)(self.space, members, self.pool, self.joint, self.calibration, self.typical)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        told: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for number, member in enumerate(self.members):
            meta, own = member.to_state()
            told.append({"kind": member.kind, "state": meta})
            arrays |= under(str(number), own)
        if self.typical is not None:
            arrays["typical"] = self.typical
        return {"joint": self.joint, "calibration": self.calibration, "members": told}, arrays

    @classmethod
    def from_state(
        cls,
        meta: Mapping[str, Any],
        arrays: Mapping[str, AnyArray],
        pool: FloatArray,
        space: LabelSpace,
        n_features: int,
    ) -> FittedPool:
        """The pool of a file."""
        from textbayes.categorizer.schema import SavedPool
        from textbayes.core.saved import read_saved  # loads pydantic

        told = read_saved(SavedPool, meta, "the model's pool")
        if len(told.members) != len(pool):
            raise ModelFileError("the model's members and their weights differ in number; was the file altered?")
        if len(pool) == 1 and pool[0] != 1.0:
            raise ModelFileError("the model's only member has another weight than 1; was the file altered?")
        members = []
        for number, one in enumerate(told.members):
            if one.kind not in kinds.names():
                raise ModelFileError(f"the model has a member of kind {one.kind!r}, which this version does not know")
            members.append(kinds.get(one.kind).from_state(one.state, part_of(arrays, str(number)), space, n_features))
        typical = None
        if "typical" in arrays:
            typical = saved_array(arrays, "typical", np.float64, (len(members), n_features), least=0.0)
        elif len(members) > 1:
            raise ModelFileError("the model has no array typical; was the file altered?")
        return cls(space, members, pool, told.joint, told.calibration, typical)


def pooled_model(
    pooling: Pooling,
    fitted: Sequence[FittedModel],
    pool: FloatArray,
    sharpness: float,
    calibration: float,
    keep_draws: int,
    features: Features,
) -> FittedModel:
    """The model that members, their weights and what was found on held-out texts make.

    Parameters
    ----------
    pooling : Pooling
    fitted : sequence of FittedModel
        The members, fitted on all texts.
    pool : array (n_members,)
        Their weights.
    sharpness, calibration : float
        Found on held-out texts.
    keep_draws : int
        Draws kept of a mixture of posteriors.
    features : Features
        The training texts.
    """
    linear = [member for member in fitted if isinstance(member, FittedLinear)]
    if isinstance(pooling, PosteriorPool):
        merged = _merged(linear, pool)
        draws = [drawn(member) for member in linear]
        merged.errors = mixture_standard_errors(pool, draws)
        merged.draws, merged.sharpness = pooled_draws(pool, draws, keep_draws), sharpness
        return merged
    if pooling.linear:
        merged = _merged(linear, pool)
        merged.calibration = calibration
        return merged
    typical = np.stack([_typical(member, features) for member in fitted]) if len(fitted) > 1 else None
    return FittedPool(pooling.space, fitted, pool, pooling.joint, calibration, typical)


def _merged(members: Sequence[FittedLinear], pool: FloatArray) -> FittedLinear:
    """A pool of linear models is a linear model, and the mean of a mixture is the mean of the means."""
    first = members[0]
    coef = sum(weight * member.coef for weight, member in zip(pool, members, strict=True))
    intercept = sum(weight * member.intercept for weight, member in zip(pool, members, strict=True))
    merged = FittedLinear(first.space, first.link, coef=np.asarray(coef), intercept=np.asarray(intercept))
    merged.held_scale = max(member.held_scale for member in members)
    estimators = [member.estimator for member in members if member.estimator is not None]
    known = [one.approximation_ for one in estimators if one.approximation_ is not None]
    if len(known) == len(members):
        merged.errors = pooled_standard_errors(pool, known)
        merged.shifts = np.asarray(sum(a * one.mean_shifts()[0] for a, one in zip(pool, known, strict=True)))
    ends = [member.intercept_errors for member in members if member.intercept_errors is not None]
    if len(ends) == len(members):
        merged.intercept_errors = np.tensordot(pool, ends, axes=1)
    return merged


def _typical(member: FittedModel, features: Features) -> FloatArray:
    """Mean value of each word in the texts that have it: in counts, or in weights."""
    matrix = (features.counts if member.reads == "counts" else features.weights).tocsc()
    n = np.maximum(np.diff(matrix.indptr), 1)
    return np.asarray(np.asarray(matrix.sum(axis=0)).ravel() / n, dtype=np.float64)
