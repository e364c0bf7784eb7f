"""The words behind a ``TextCategorizer``: why a text has its labels, and what each label goes by."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.explain import Explanation, explain_column, mirror
from textbayes.intervals import PRACTICAL_SIZE, SampledWord, WordInterval, sampled_words, word_intervals
from textbayes.links import BaseLink

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.inference.gibbs.draws import Draws


class ExplainsWords:
    """What a categorizer says of words; it needs no more than a fitted linear model and the words of its columns."""

    coef_: FloatArray
    intercept_: FloatArray
    standard_errors_: FloatArray | None
    draws_: Draws | None
    link_: BaseLink
    label_space_: LabelSpace
    classes_: AnyArray
    vectorizer_: Any
    weighting_: Any

    @abstractmethod
    def assess(self, texts: Any) -> Any:
        """Probabilities and decisions of texts."""

    def explain(self, text: str, labels: Sequence[str] | None = None, top: int | None = None) -> list[Explanation]:
        """Why the text has its labels: each word's part in the log-odds, largest first.

        Without ``labels``, the labels decided on, or the likeliest where there is none. Either of two classes can be
        explained.
        """
        check_is_fitted(self, "coef_")
        _check_top(top)
        counts = self.vectorizer_.transform([text])
        row = self.weighting_.transform(counts)
        words = self.vectorizer_.get_feature_names_out()[row.indices]
        occurrences = np.asarray(counts[0, row.indices].todense()).ravel()
        proba, decisions = self.assess([text])
        told = []
        for column, mirrored in self._to_explain(labels, proba[0], decisions[0]):
            name = self.label_space_.column_names[column]
            parts = row.data * self.coef_[column, row.indices]
            one = explain_column(
                self.link_, self.intercept_[column], parts, words, occurrences, name, proba[0, column],
                decisions[0, column], top,
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

    def top_words(self, label: str, k: int = 20) -> list[tuple[str, float]]:
        """The words with the largest weights for a label, by size, with their sign; either of two classes."""
        check_is_fitted(self, "coef_")
        _check_top(k)
        column, mirrored = self._column(label)
        weights = -self.coef_[column] if mirrored else self.coef_[column]
        order = np.argsort(-np.abs(weights), kind="stable")[:k]
        names = self.vectorizer_.get_feature_names_out()
        return [(str(names[j]), float(weights[j])) for j in order if weights[j] != 0.0]

    def word_intervals(
        self, label: str, level: float | None = None, k: int | None = 20, by: str = "mean", size: float = PRACTICAL_SIZE
    ) -> Sequence[WordInterval | SampledWord]:
        """The most telling words of a label, each with the interval that holds its weight with that probability.

        The model must have been trained with ``intervals``, or sampled; ``level`` is 0.9, or 0.95 of a sampled one,
        if not given. A sampled one says more of each word, and ranks words by the size of their mean, by how sure their
        sign is ("sign"), or by how sure it is that their weight exceeds ``size`` ("inclusion"); see
        ``textbayes.intervals.sampled_words``.
        """
        check_is_fitted(self, "coef_")
        _check_top(k)
        column, mirrored = self._column(label)
        names = self.vectorizer_.get_feature_names_out()
        if self.draws_ is not None:
            return sampled_words(names, self.draws_, column, 0.95 if level is None else level, k, by, size, mirrored)
        if by != "mean":
            raise InputError(f"by={by!r} ranks words by their draws; train the model with inference='gibbs'")
        if self.standard_errors_ is None:
            raise InputError("this model was trained without intervals; train it with intervals=True")
        weights = -self.coef_[column] if mirrored else self.coef_[column]
        return word_intervals(names, weights, self.standard_errors_[column], 0.9 if level is None else level, k)

    def _column(self, label: str) -> tuple[int, bool]:
        """The column of a label, and whether it speaks of the other of two classes."""
        names, classes = self.label_space_.column_names, [str(name) for name in self.classes_]
        if str(label) not in classes:
            raise InputError(f"label {label!r} is not known; choose one of {', '.join(classes)}")
        return (names.index(str(label)), False) if str(label) in names else (0, True)


def _check_top(top: int | None) -> None:
    if top is not None and top < 1:
        raise InputError(f"{top} words were asked for; pass a number from 1 on, or None for all")
