"""Count models: which class would write a document with these counts; of several labels each against all others."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features, WordWeights
from textbayes.core.state import part_of, under
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.kinds import kinds
from textbayes.kinds.base import FitOptions, Fitted, Kind, labels_for
from textbayes.knowledge import MatchedPriors, count_priors
from textbayes.models.counts import make_count_model
from textbayes.models.counts.base import DocumentStore
from textbayes.models.counts.classifier import BayesCountClassifier
from textbayes.models.counts.state import check_saved_classifier

_REST, _LABEL = "no", "yes"  # of one label against all others


class FittedCounts(Fitted):
    """One count classifier over the classes, or one for each label.

    Parameters
    ----------
    space : LabelSpace
    classifiers : list of BayesCountClassifier
    length : float
        Thousands of words of a typical document, for which words' log-ratios are told.
    """

    kind = "counts"
    reads = "counts"
    uses_lengths = True

    def __init__(self, space: LabelSpace, classifiers: list[BayesCountClassifier], length: float) -> None:
        super().__init__(space)
        self.classifiers, self.length = classifiers, length
        self.is_softmax = space.kind == "multiclass"

    def scores(self, features: Features, average: bool = True) -> FloatArray:
        if self.is_softmax:
            return self.classifiers[0].predict_joint_log_proba(features.counts, features.lengths)
        columns = [one.decision_function(features.counts, features.lengths) for one in self.classifiers]
        return np.stack(columns, axis=1)

    def contributions(self, document: Features) -> Contributions:
        """Contribution of each word: the score with its count less that without it, in a document of this length."""
        columns = document.counts.indices.astype(np.int64)
        length = float(document.lengths[0])
        parts = self._of_single_words(columns, np.asarray(document.counts.data, dtype=np.float64), length)
        total = self.scores(document)[0]
        if not length > 0.0:
            return Contributions(total, columns[:0], parts[:, :0])
        return Contributions(total - parts.sum(axis=1), columns, parts)

    def words(self) -> WordWeights:
        """Log-ratios of a word that occurs once: for the label against the others, as often as they are."""
        n_features = self.classifiers[0].n_features_in_
        parts = self._of_single_words(np.arange(n_features), np.ones(n_features), self.length)
        if self.is_softmax:
            shares = np.exp(self.classifiers[0].class_log_prior_)
            others = (shares @ parts - shares[:, None] * parts) / np.maximum(1.0 - shares, 1e-12)[:, None]
            parts = parts - others
        return WordWeights(parts, None, "log-ratio of one occurrence")

    def known_words(self) -> BoolArray:
        return np.ones(self.classifiers[0].n_features_in_, dtype=np.bool_)

    def _of_single_words(self, columns: IntArray, values: FloatArray, length: float) -> FloatArray:
        """Contribution of each word by itself to every score, (n_columns, n_words); models add up over the words."""
        if not length > 0.0 or not len(columns):
            return np.zeros((self.space.n_columns, len(columns)))
        n_words, n_features = len(columns), self.classifiers[0].n_features_in_
        # The last row is a document of the same length without any known word.
        indptr = np.append(np.arange(n_words + 1), n_words)
        single = sparse.csr_matrix((values, columns, indptr), shape=(n_words + 1, n_features))
        lengths = np.full(n_words + 1, length)
        scores = [one.model_.class_scores(single, lengths, one.estimate_) for one in self.classifiers]
        parts = [(one[:-1] - one[-1]).T for one in scores]
        return parts[0] if self.is_softmax else np.stack([one[1] - one[0] for one in parts])

    def update(self, features: Features, indicator: BoolArray, weight: FloatArray | None = None) -> Self:
        """Exactly the model of all documents, the earlier ones and these."""
        learnt = []
        for one, labels in zip(self.classifiers, _labels(indicator, self.space), strict=True):
            after = copy.copy(one)
            learnt.append(after.partial_fit(features.counts, labels, sample_weight=weight, lengths=features.lengths))
        return type(self)(self.space, learnt, self.length)

    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        told: list[dict[str, Any]] = []
        arrays: dict[str, AnyArray] = {}
        for number, one in enumerate(self.classifiers):
            meta, own = one.to_state(statistics=True)
            told.append(meta)
            arrays |= under(str(number), own)
        return {"length": self.length, "classifiers": told}, arrays


def _labels(indicator: BoolArray, space: LabelSpace) -> list[Any]:
    """Labels of each classifier: one of all classes, or yes and no for each label."""
    if space.kind != "multilabel":
        return [labels_for(indicator, space)]
    return [np.where(column, _LABEL, _REST) for column in indicator.T]


def _names(space: LabelSpace) -> Any:
    """Classes of each classifier."""
    return [_REST, _LABEL] if space.kind == "multilabel" else space.classes


@dataclass(frozen=True)
class InformedCounts:
    """An estimator, and what a prior file says of the words of every column, (n_columns, n_features)."""

    estimator: BayesCountClassifier
    log_ratios: FloatArray
    pseudo_counts: FloatArray
    rates: FloatArray

    def for_classes(self, rows: FloatArray, other: float | FloatArray, number: int, space: LabelSpace) -> FloatArray:
        """A row for each class of classifier ``number``; of two classes the first is told nothing."""
        if space.kind == "multiclass":
            return rows
        return np.stack([np.broadcast_to(other, rows[number].shape), rows[number]])

    def made(self, number: int, space: LabelSpace) -> BayesCountClassifier:
        """The estimator of one classifier, with its model told."""
        model = make_count_model(self.estimator.model)
        known = {one.name for one in fields(model)}
        ratios = self.for_classes(self.log_ratios, 0.0, number, space)
        worth = self.for_classes(self.pseudo_counts, 1.0, number, space)
        changes: dict[str, Any] = {}
        if "rate_means" in known:
            changes["rate_means"] = self.rates * np.exp(ratios)
            if "pseudo_counts" in known:
                changes["pseudo_counts"] = worth
        elif model.name == "complement":
            raise NotSupportedError(
                "the complement model scores a class by the other classes and cannot use prior weights of words; use "
                "counts:model=multinomial, or another"
            )
        else:
            changes["pseudo_counts"] = worth * np.exp(ratios)
        beta = "auto" if self.estimator.beta is None and "beta" in known else self.estimator.beta
        told = copy.copy(self.estimator)
        return told.set_params(model=replace(model, **changes), beta=beta)


class CountsKind(Kind):
    """p(class | counts) ∝ p(class) p(counts | class): from multinomial to Dirichlet–negative-binomial."""

    name = "counts"
    reads = "counts"
    uses_lengths = True

    @property
    def estimator_class(self) -> type:
        return BayesCountClassifier

    def is_softmax(self, estimator: Any, space: LabelSpace) -> bool:
        return space.kind == "multiclass"

    def fit(
        self, estimator: Any, features: Features, indicator: BoolArray, space: LabelSpace, options: FitOptions
    ) -> FittedCounts:
        given = _labels(indicator, space)
        learnt = []
        for number, labels in enumerate(given):
            one = estimator.made(number, space) if isinstance(estimator, InformedCounts) else copy.copy(estimator)
            one.fit_classes(
                features.counts, labels, _names(space), sample_weight=options.weight, lengths=features.lengths,
                groups=options.groups,
            )  # fmt: skip
            learnt.append(one)
        mean = float(features.lengths.mean()) if features.n_docs else 0.0
        return FittedCounts(space, learnt, max(mean, 1e-3))

    def fit_parts(
        self, estimator: BayesCountClassifier, parts: Iterable[tuple[Features, BoolArray, Any]], space: LabelSpace
    ) -> FittedCounts:
        """The model that :meth:`fit` makes of all documents, from documents that come in parts.

        Parameters
        ----------
        estimator : BayesCountClassifier
        parts : iterable of (Features, indicator, weights or None)
        space : LabelSpace
        """
        learnt = [copy.copy(estimator) for _ in range(space.n_columns if space.kind == "multilabel" else 1)]
        lengths = []
        for features, indicator, weight in parts:
            lengths.append(features.lengths)
            for one, labels in zip(learnt, _labels(indicator, space), strict=True):
                one.gather(features.counts, labels, _names(space), sample_weight=weight, lengths=features.lengths)
            if isinstance(learnt[0].statistics_, DocumentStore):
                raise NotSupportedError(
                    f"count model {self.describe(estimator)!r} keeps all documents in memory; use "
                    "counts:model=poisson, or train in memory (without --out-of-core)"
                )
        for one in learnt:
            one.settle()
        return FittedCounts(space, learnt, max(float(np.concatenate(lengths).mean()), 1e-3))

    def informed(
        self, estimator: BayesCountClassifier, matched: MatchedPriors, features: Features, weight: FloatArray
    ) -> InformedCounts:
        return InformedCounts(estimator, *count_priors(matched, features.counts, features.lengths, weight))

    def describe(self, estimator: BayesCountClassifier) -> str:
        return estimator.model if isinstance(estimator.model, str) else str(estimator.model.name)

    def check_restored(self, estimator: BayesCountClassifier, n_columns: int, n_features: int) -> None:
        if isinstance(estimator.beta, np.ndarray):
            estimator.set_params(beta=tuple(float(one) for one in estimator.beta))
        estimator.check_settings()

    def from_state(
        self, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray], space: LabelSpace, n_features: int
    ) -> FittedCounts:
        told, length = meta.get("classifiers"), meta.get("length")
        n = space.n_columns if space.kind == "multilabel" else 1
        if set(meta) != {"classifiers", "length"} or not isinstance(told, list) or len(told) != n:
            raise ModelFileError("the model's count models are not those of its labels; was the file altered?")
        if type(length) is not float or not 0.0 < length < 1e9:
            raise ModelFileError(f"the model's texts have a length of {length!r:.40}; was the file altered?")
        names = [_REST, _LABEL] if space.kind == "multilabel" else space.classes.tolist()
        learnt = []
        for number, one in enumerate(told):
            own = part_of(arrays, str(number))
            check_saved_classifier(one, names, n_features)
            learnt.append(BayesCountClassifier.from_state(one, own))
        return FittedCounts(space, learnt, length)


kinds.register("counts")(CountsKind())
