"""The words behind a ``TextCategorizer``: why a text has its labels, and what each label goes by."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.explain import Explanations, explain_column, mirror
from textbayes.categorizer.presets import default_classifiers
from textbayes.core.errors import InputError
from textbayes.core.frames import make_frame
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.decide import Rule
from textbayes.links import BaseLink
from textbayes.posterior.intervals import PRACTICAL_SIZE, SampledWord, WordInterval, sampled_words, word_intervals

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws


class ExplainsWords:
    """What a categorizer says of words; it needs no more than a fitted linear model and the words of its columns."""

    coef_: FloatArray
    intercept_: FloatArray
    standard_errors_: FloatArray | None
    draws_: Draws | None
    pool_: FloatArray
    calibration_: float
    rule_: Rule
    classifier: Any
    link_: BaseLink
    label_space_: LabelSpace
    classes_: AnyArray
    vectorizer_: Any
    weighting_: Any

    @abstractmethod
    def assess(self, texts: Any) -> Any:
        """Probabilities and decisions of texts."""

    def explain(self, text: str, labels: Sequence[str] | None = None, top: int | None = None) -> Explanations:
        """Why the text has its labels: each word's part in the log-odds, largest first.

        Parts and base add up to the log-odds that the probability is made of; of a calibrated model they are weights
        times ``calibration_``. Of a sampled model they are those at the posterior mean.

        Without ``labels``, the labels decided on, or the likeliest where there is none. Either of two classes can be
        explained.
        """
        check_is_fitted(self, "coef_")
        _check_top(top)
        counts = self.vectorizer_.transform([text])
        row = self.weighting_.transform(counts)
        words = self.vectorizer_.get_feature_names_out()[row.indices]
        occurrences = np.asarray(counts[0, row.indices].todense()).ravel()
        assessed = self.assess([text])
        proba, decisions, factor = assessed.proba[0], assessed.decisions[0], self.calibration_
        told = Explanations()
        for column, mirrored in self._to_explain(labels, proba, decisions):
            name = self.label_space_.column_names[column]
            parts = factor * row.data * self.coef_[column, row.indices]
            one = explain_column(
                self.link_, factor * self.intercept_[column], parts, words, occurrences, name, proba[column],
                decisions[column], top,
            )._replace(
                threshold=self.rule_.threshold_of(column), rule=self.rule_.reason(column, mirrored),
                known_words=int(assessed.known_words[0]), calibration=factor,
            )  # fmt: skip
            told.append(mirror(one, str(self.classes_[0])) if mirrored else one)
        return told

    def _to_explain(
        self, labels: Sequence[str] | None, proba: FloatArray, decisions: BoolArray
    ) -> list[tuple[int, bool]]:
        if labels is not None:
            return [self._column(label) for label in ([labels] if isinstance(labels, str) else labels)]
        if self.label_space_.kind == "binary":
            return [(0, not decisions[0])]
        chosen = np.flatnonzero(decisions)
        columns = chosen if len(chosen) else np.array([proba.argmax()])
        return [(int(j), False) for j in columns[np.argsort(-proba[columns], kind="stable")]]

    @property
    def weights_said(self) -> str:
        """What the weights in ``coef_`` are: those of one model, of a pool and of which, or posterior means."""
        check_is_fitted(self, "coef_")
        names = member_names(self.classifier, len(self.pool_))
        shares = " + ".join(f"{share:.2f} × {name}" for share, name in zip(self.pool_, names, strict=True))
        if self.draws_ is not None:
            return "posterior mean" if len(names) == 1 else f"posterior mean of the mixture ({shares})"
        if len(names) == 1:
            return f"weight ({names[0]})" + (", before calibration" if self.calibration_ != 1.0 else "")
        return f"weight in the pool ({shares})"

    def top_words(self, label: str, k: int | None = 20, as_frame: bool = False) -> Any:
        """The words with the largest weights for a label, by size, with their sign; either of two classes.

        Pairs of a word and its weight, or with ``as_frame`` a pandas ``DataFrame``. What weights they are,
        ``weights_said`` says.
        """
        check_is_fitted(self, "coef_")
        _check_top(k)
        column, mirrored = self._column(label)
        weights = -self.coef_[column] if mirrored else self.coef_[column]
        order = np.argsort(-np.abs(weights), kind="stable")[:k]
        names = self.vectorizer_.get_feature_names_out()
        found = [(str(names[j]), float(weights[j])) for j in order if weights[j] != 0.0]
        return make_frame(found, ["word", "weight"]) if as_frame else found

    def word_intervals(
        self,
        label: str,
        k: int | None = 20,
        as_frame: bool = False,
        *,
        level: float | None = None,
        by: str = "mean",
        size: float = PRACTICAL_SIZE,
    ) -> Any:
        """The most telling words of a label, each with the interval that holds its weight with that probability.

        The model must have been trained with ``intervals``, or sampled; ``level`` is 0.9, or 0.95 of a sampled one,
        if not given. A sampled one says more of each word, and ranks words by the size of their mean, by how sure their
        sign is ("sign"), or by how sure it is that their weight exceeds ``size`` ("inclusion"); see
        ``textbayes.posterior.intervals.sampled_words``. With ``as_frame`` the rows are a pandas ``DataFrame``.
        """
        check_is_fitted(self, "coef_")
        _check_top(k)
        column, mirrored = self._column(label)
        names = self.vectorizer_.get_feature_names_out()
        found: Sequence[WordInterval | SampledWord]
        if self.draws_ is not None:
            found = sampled_words(names, self.draws_, column, 0.95 if level is None else level, k, by, size, mirrored)
            return make_frame(found, SampledWord._fields) if as_frame else found
        if by != "mean":
            raise InputError(f"by={by!r} ranks words by their draws; train the model with inference='gibbs'")
        if self.standard_errors_ is None:
            raise InputError("this model was trained without intervals; train it with intervals=True")
        weights = -self.coef_[column] if mirrored else self.coef_[column]
        found = word_intervals(names, weights, self.standard_errors_[column], 0.9 if level is None else level, k)
        return make_frame(found, WordInterval._fields) if as_frame else found

    def _column(self, label: str) -> tuple[int, bool]:
        """The column of a label, and whether it speaks of the other of two classes."""
        names, classes = self.label_space_.column_names, [str(name) for name in self.classes_]
        if str(label) not in classes:
            raise InputError(f"label {label!r} is not known; choose one of {', '.join(classes)}")
        return (names.index(str(label)), False) if str(label) in names else (0, True)


def _check_top(top: int | None) -> None:
    if top is not None and (not isinstance(top, numbers.Integral) or top < 1):
        raise InputError(f"{top} words were asked for; pass a number from 1 on, or None for all")


def member_names(classifier: Any, n_members: int) -> list[str]:
    """What the members of a pool are called: by the families of their priors, or by number where these are lost."""
    given = default_classifiers() if classifier is None else classifier
    members = list(given) if isinstance(given, Sequence) else [given]
    if len(members) != n_members:
        return [f"model {number}" for number in range(1, n_members + 1)]
    return [member.prior if isinstance(member.prior, str) else member.prior.name for member in members]
