"""Fitted members added up: what the answers of a ``TextCategorizer`` are made of."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from textbayes.categorizer.schema import ENSEMBLE
from textbayes.categorizer.scorer import NO_PARTS, NO_PARTS_OF_TREE, LabelStacking, check_tree
from textbayes.core.codec import read, written
from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace, normalise_classes
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide import LabelTree
from textbayes.links.base import BaseLink
from textbayes.models import model_types
from textbayes.models.base import TextModel
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.model import LinearModel
from textbayes.models.weights import WeightsClassifier
from textbayes.posterior.intervals import Uncertainty
from textbayes.posterior.recalibration import Recalibration


class Part(NamedTuple):
    """A fitted member of an ensemble, its weight for each label (n_columns,), and the columns that it reads."""

    model: TextModel
    weight: FloatArray
    columns: IntArray | None = None


_KEPT = ("is_softmax", "calibration", "inverse_temperature", "typical", "recalibration", "label_tree")


class Ensemble:
    """Fitted members whose scores are added up with weights, and what turns the sum into probabilities.

    Linear members with the same link are merged into one linear model (:func:`merge_linear`), so that neither scoring
    nor the model file grows with their number.

    Parameters
    ----------
    space : LabelSpace
    parts : sequence of Part
    is_softmax : bool
        Whether exclusive classes are normalised as a softmax of the scores, and not by their own probabilities.
    calibration : float
        Factor of the scores, of a linear model of its predictors.
    inverse_temperature : float
        Power of each class's own probability before those of exclusive classes are normalised.
    label_stacking : LabelStacking or None
    recalibration : Recalibration or None
        Beta or isotonic map of the probabilities.
    label_tree : LabelTree or None
        Tree that the probabilities agree with.
    typical : array (n_parts, n_features) or None
        Mean value of each word in the texts that have it, in the units of each part: times it, weights of different
        parts can be added.
    """

    def __init__(
        self,
        space: LabelSpace,
        parts: Sequence[Part],
        *,
        is_softmax: bool = False,
        calibration: float = 1.0,
        inverse_temperature: float = 1.0,
        label_stacking: LabelStacking | None = None,
        recalibration: Recalibration | None = None,
        typical: FloatArray | None = None,
        label_tree: LabelTree | None = None,
    ) -> None:
        self.space, self.parts, self.is_softmax = space, list(parts), is_softmax
        self.calibration, self.inverse_temperature = calibration, inverse_temperature
        self.typical = typical
        self.label_stacking, self.recalibration = label_stacking, recalibration
        self.label_tree = label_tree

    @classmethod
    def of(cls, model: TextModel) -> Self:
        """The ensemble of one fitted model, which answers as the model does."""
        space = model.label_space_
        return cls(space, [Part(model, np.ones(space.n_columns))], is_softmax=model.is_softmax)

    @property
    def members(self) -> list[TextModel]:
        """The fitted members; those that are merged are one."""
        return [part.model for part in self.parts]

    @property
    def single(self) -> TextModel | None:
        """The only member, or the linear model that all are merged into; None where there are several."""
        return self.parts[0].model if len(self.parts) == 1 else None

    @property
    def linear(self) -> LinearModel | None:
        """The linear model that all members are merged into, if they are, before calibration."""
        return self.single if isinstance(self.single, LinearModel) else None

    @property
    def uses_lengths(self) -> bool:
        """Whether the lengths of documents matter, which cost a reading of the texts."""
        return any(part.model.uses_lengths for part in self.parts)

    @property
    def reads(self) -> str:
        """What the weights of words multiply: "weights" or "counts"."""
        return self.single.reads if self.single is not None else "weights"

    @property
    def has_posterior(self) -> bool:
        """Whether intervals of probabilities come from a posterior; others have them from held-out texts."""
        as_it_is = self.calibration == 1.0 and self.recalibration is None and self.label_tree is None
        return self.single is not None and as_it_is and self.single.has_posterior

    def scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Log-odds of every column (n_docs, n_columns); averaged over the posterior where there is one.

        Parameters
        ----------
        features : Features
        posterior_predictive : bool
            Average over the posterior rather than score at its mean.
        """
        scores = self._member_scores(features, posterior_predictive)
        return scores if self.label_stacking is None else scores + self.label_stacking.added(scores)

    def proba(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Probabilities of every column; those of exclusive classes add up to one, others agree with a label tree."""
        found = self.own_proba(features, posterior_predictive)
        if self.recalibration is not None:
            found = self.recalibration.apply(found, self.space.kind)
        return found if self.label_tree is None else self.label_tree.coherent(found, self.space.class_names)

    def own_proba(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Probabilities before a beta or isotonic calibration and a label tree."""
        linear = self.calibrated()
        if self.space.kind == "multiclass":
            if linear is not None:
                return normalise_classes(linear.log_proba(features, posterior_predictive), self.inverse_temperature)
            scores = self.scores(features, posterior_predictive)
            own = scores if self.is_softmax else np.asarray(special.log_expit(scores))
            return normalise_classes(own, self.inverse_temperature)
        if linear is not None and self.label_stacking is None:
            return linear.own_proba(features, posterior_predictive)
        return np.asarray(special.expit(self.scores(features, posterior_predictive)))

    def contributions(self, document: Features) -> Contributions:
        """The parts that words have in the scores of one document."""
        linear = self.calibrated()
        if linear is not None:
            found = linear.contributions(document)
            if self.label_stacking is None:
                return found
            scores = self._member_scores(document)
            return found._replace(label_effects=self.label_stacking.added(scores)[0])
        parts = [part.model.contributions(self._read(part, document)) for part in self.parts]
        columns = [
            one.columns if part.columns is None else part.columns[one.columns]
            for part, one in zip(self.parts, parts, strict=True)
        ]
        words = np.unique(np.concatenate(columns))
        total, base = np.zeros((self.space.n_columns, len(words))), np.zeros(self.space.n_columns)
        for part, own, one in zip(self.parts, columns, parts, strict=True):
            weight = self.calibration * part.weight
            total[:, np.searchsorted(words, own)] += weight[:, None] * one.parts
            base += weight * one.base
        return Contributions(base, words, total)

    def word_weights(self) -> WordWeights:
        """Weights of single words; of several members what a word adds to a text that has it, on average."""
        if self.single is not None:
            return self.single.word_weights()
        assert self.typical is not None
        total, spread = 0.0, 0.0
        for part, typical in zip(self.parts, self.typical, strict=True):
            found, share = part.model.word_weights(), part.weight[:, None] * typical
            total = total + share * self._wide(part, found.weights)
            # Members learn from the same texts and are taken to err together.
            own = np.nan if found.errors is None else self._wide(part, np.nan_to_num(found.errors))
            spread = spread + share * own
        errors = None if np.isnan(np.sum(spread)) else np.where(np.asarray(spread) > 0.0, spread, np.nan)
        return WordWeights(np.asarray(total), errors, "log-odds that the word adds to a text that has it, on average")

    def word_totals(self, features: Features) -> FloatArray:
        """Sum of each word's contributions to the scores of these documents, (n_columns, n_features)."""
        linear = self.calibrated()
        if linear is not None:
            return linear.word_totals(features)
        parts = [
            part.weight[:, None] * self._wide(part, part.model.word_totals(self._read(part, features)))
            for part in self.parts
        ]
        return np.asarray(self.calibration * np.sum(parts, axis=0))

    def known_words(self) -> BoolArray:
        """Mask of the features that say something of some label, (n_features,)."""
        known = [self._wide(part, part.model.known_words()[None]) > 0.0 for part in self.parts]
        return np.asarray(np.any(known, axis=0)[0])

    def probability_interval(self, features: Features, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends of the credible interval of each probability, of an ensemble that ``has_posterior``."""
        if self.single is None or not self.has_posterior:
            raise NotSupportedError(
                "this model has no credible intervals of probabilities; use a model that samples, or --model online"
            )
        return self.single.probability_interval(features, level, self.inverse_temperature)

    def uncertainty(self, features: Features) -> Uncertainty:
        """The parts of the uncertainty of each label's own yes or no, of an ensemble that ``has_posterior``."""
        if self.label_tree is not None:
            raise NotSupportedError(NO_PARTS_OF_TREE)
        if self.single is None or not self.has_posterior:
            raise NotSupportedError(NO_PARTS)
        return self.single.uncertainty(features)

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """The ensemble after more documents: every member learns them, and their weights stay.

        Parameters
        ----------
        features : Features
        indicator : boolean array (n_docs, n_columns)
        weight : array (n_docs,), optional
            How much each document counts.
        """
        if self.label_stacking is not None:
            raise NotSupportedError(
                "a model whose labels are features of each other cannot be updated; train it again with all texts"
            )
        after = copy.copy(self)
        after.parts = [
            part._replace(model=part.model.update(self._read(part, features), indicator, weight)) for part in self.parts
        ]
        return after

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """A JSON-able description and named arrays."""
        members: list[dict[str, Any]] = []
        of_members: dict[str, AnyArray] = {}
        for number, part in enumerate(self.parts):
            state, own = part.model.to_state()
            members.append({"type": part.model.model_type, "state": state, "columns": part.columns})
            of_members |= under(str(number), own)
        values = {name: getattr(self, name) for name in _KEPT}
        stacking = None if self.label_stacking is None else self.label_stacking._asdict()
        weights = np.stack([part.weight for part in self.parts])
        values |= {"members": members, "weights": weights, "label_stacking": stacking}
        meta, arrays = written(values, ENSEMBLE)
        return meta, arrays | of_members

    @classmethod
    def from_state(cls, meta: Any, arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int) -> Self:
        """The ensemble of a file, everything checked that it could claim.

        Parameters
        ----------
        meta, arrays : mappings
            As ``to_state`` gave them.
        space : LabelSpace
        n_features : int
        """
        what, n_columns = "the model's ensemble", space.n_columns
        found = read(ENSEMBLE, meta, arrays, what, n_columns=n_columns, n_features=n_features)
        members, weights, typical = found["members"], found["weights"], found["typical"]
        if len(weights) != len(members) or (typical is None) != (len(members) == 1):
            raise ModelFileError("the weights of the model's members are not theirs; was the file altered?")
        parts = []
        for number, member in enumerate(members):
            if member["type"] not in model_types.names():
                raise ModelFileError(f"the model is of type {member['type']!r}, which this version does not know")
            columns = member["columns"]
            if columns is not None and (np.diff(columns) <= 0).any():
                raise ModelFileError("the model's columns are not in order; was the file altered?")
            if typical is not None and len(typical) != len(members):
                raise ModelFileError("the model's typical values are of other members; was the file altered?")
            width = n_features if columns is None else len(columns)
            own = part_of(arrays, str(number))
            model = model_types.get(member["type"]).from_state(member["state"], own, space, width)
            parts.append(Part(model, weights[number], columns))
        made = cls(
            space, parts, is_softmax=found["is_softmax"], calibration=found["calibration"],
            inverse_temperature=found["inverse_temperature"], typical=typical,
            recalibration=found["recalibration"], label_tree=found["label_tree"],
        )  # fmt: skip
        check_tree(made.label_tree, space)
        if found["label_stacking"] is not None:
            made.label_stacking = LabelStacking(**found["label_stacking"])
            made.label_stacking.check_model(space, None if made.linear is None else made.linear.link_)
        return made

    def calibrated(self) -> LinearModel | None:
        """The one linear model as its probabilities are made: with the calibration in its weights."""
        linear = self.linear
        if linear is None or self.calibration == 1.0:
            return linear
        kept = vars(self).get("_scaled")
        if kept is None or kept[0] is not linear:
            kept = self._scaled = (linear, linear.scaled(self.calibration))
        return kept[1]

    def _member_scores(self, features: Features, posterior_predictive: bool = True) -> FloatArray:
        """Scores before label stacking."""
        linear = self.calibrated()
        if linear is not None:
            return linear.scores(features, posterior_predictive)
        parts = []
        for part in self.parts:
            scores = part.model.scores(self._read(part, features), posterior_predictive)
            parts.append(part.weight * (scores if self.is_softmax else log_odds(part.model, scores)))
        return np.asarray(self.calibration * np.sum(parts, axis=0))

    def _read(self, part: Part, features: Features) -> Features:
        """The columns that a part reads."""
        return features if part.columns is None else features.columns(part.columns)

    def _wide(self, part: Part, values: AnyArray) -> FloatArray:
        """Values of a part's columns, (n_rows, n_own), among those of all columns, 0 elsewhere."""
        if part.columns is None:
            return np.asarray(values, dtype=np.float64)
        assert self.typical is not None
        wide = np.zeros((len(values), self.typical.shape[1]))
        wide[:, part.columns] = values
        return wide


def log_odds(model: TextModel, scores: FloatArray) -> FloatArray:
    """Scores of a model as log-odds of every column: those of a softmax against all other classes.

    Parameters
    ----------
    model : TextModel
    scores : array (n_docs, n_columns)
        By the model.
    """
    if not (model.is_softmax and model.label_space_.kind == "multiclass"):
        return scores
    log_proba = special.log_softmax(scores, axis=1)
    return np.asarray(log_proba - np.log(np.maximum(-np.expm1(log_proba), 1e-300)))


def merge_linear(
    space: LabelSpace, link: BaseLink, parts: Sequence[Part], n_features: int, bias: FloatArray | None = None
) -> BayesLinearClassifier:
    """Linear models with one link, times their weights, as one linear model over all columns.

    Standard errors are upper bounds, since members learn from the same texts and are taken to err together; there are
    some where every member has them.

    Parameters
    ----------
    space : LabelSpace
    link : BaseLink
    parts : sequence of Part
        Of linear models.
    n_features : int
    bias : array (n_columns,), optional
        Added to the intercepts.
    """
    models: list[Any] = [part.model for part in parts]
    # Laid out word by word, so that scoring reads one run of memory per word for all labels.
    coef = np.zeros((n_features, space.n_columns)).T
    intercept = np.zeros(space.n_columns) if bias is None else bias.copy()
    for part, model in zip(parts, models, strict=True):
        start = 0
        for run in _runs(part.columns, n_features):
            width = run.stop - run.start
            coef[:, run] += part.weight[:, None] * model.coef_[:, start : start + width]
            start += width
        intercept += part.weight * model.intercept_
    merged = BayesLinearClassifier.of_weights(space, link, coef, intercept)
    merged.held_scale_ = max((model.held_scale_ for model in models), default=1.0)
    _add_errors(merged, parts)
    return merged


def _add_errors(merged: BayesLinearClassifier, parts: Sequence[Part]) -> None:
    """Give merged weights upper bounds on their standard errors, where all fitted members have errors.

    Members learn from the same documents and err together, how much so their posteriors do not say: each is one under
    a prior of its own. The standard deviation of a sum is at most the sum of the standard deviations, and as large
    where all err in step. Weights that are computed, such as those of naive Bayes, are taken as known. A word that a
    member holds adds nothing; its error is NaN where every member that counts holds it.
    """
    fitted: list[tuple[Part, Any]] = [(part, part.model) for part in parts if isinstance(part.model, WeightsClassifier)]
    if not fitted or any(model.standard_errors_ is None for _, model in fitted):
        return
    shape = merged.coef_.shape
    errors, shifts, known = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    of_intercept = np.zeros(shape[0])
    for part, model in fitted:
        columns: Any = slice(0, shape[1]) if part.columns is None else part.columns
        weight = np.abs(part.weight)[:, None]
        errors[:, columns] += weight * np.nan_to_num(model.standard_errors_)
        known[:, columns] |= ~np.isnan(model.standard_errors_) & (weight > 0.0)
        if model.mean_shifts_ is not None:
            shifts[:, columns] += part.weight[:, None] * model.mean_shifts_
        of_intercept += weight[:, 0] * model.intercept_errors_
    merged.standard_errors_, merged.mean_shifts_ = np.where(known, errors, np.nan), shifts
    merged.intercept_errors_ = of_intercept


def _runs(columns: IntArray | None, n_features: int) -> list[slice]:
    """Columns, in order, as runs of neighbours: a slice copies nothing."""
    if columns is None:
        return [slice(0, n_features)]
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    return [slice(int(run[0]), int(run[-1]) + 1) for run in runs if len(run)]
