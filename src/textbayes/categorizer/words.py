"""The words behind a ``TextCategorizer``: why a text has its labels, and what each label goes by."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.explain import Explanations, against_others, explanation, mirror
from textbayes.categorizer.presets import default_models
from textbayes.core.errors import InputError
from textbayes.core.frames import make_frame
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.decide import Rule
from textbayes.kinds import kind_of, make_model
from textbayes.posterior.intervals import PRACTICAL_SIZE, SampledWord, WordInterval, sampled_words, word_intervals

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws


class ExplainsWords:
    """Words and explanations of a categorizer, whatever the kind of its model."""

    model_: Any
    pool_: FloatArray
    rule_: Rule
    model: Any
    label_space_: LabelSpace
    classes_: AnyArray
    vectorizer_: Any

    @abstractmethod
    def assess(self, texts: Any) -> Any:
        """Probabilities and decisions of texts."""

    @property
    @abstractmethod
    def draws_(self) -> Draws | None:
        """Draws of the posterior, where there are some."""

    @property
    @abstractmethod
    def calibration_(self) -> float:
        """Factor of the log-odds when probabilities are made of them."""

    @abstractmethod
    def features(self, texts: Iterable[str]) -> Features:
        """Texts as the model sees them."""

    def explain(self, text: str, labels: Sequence[str] | None = None, top: int | None = None) -> Explanations:
        """Explain the labels of a text: each word's part in the log-odds, largest first.

        Parts and base add up to the log-odds that the probability is made of; of a calibrated model they are weights
        times ``calibration_``. Where the model is a distribution over exclusive classes, they are those of a class
        against the others, each as likely as it is for this text.

        Without ``labels``, the labels decided on, or the likeliest where there is none. Either of two classes can be
        explained.

        Parameters
        ----------
        text : str
        labels : sequence of str or None
            The labels to explain.
        top : int or None
            Words listed for each label at most; None for all.
        """
        check_is_fitted(self, "model_")
        _check_top(top)
        features = self.features([text])
        told = self.model_.contributions(features)
        words = self.vectorizer_.get_feature_names_out()[told.columns]
        occurrences = np.asarray(features.counts[0, told.columns].todense()).ravel()
        assessed = self.assess([text])
        proba, decisions = assessed.proba[0], assessed.decisions[0]
        found = Explanations()
        for column, mirrored in self._to_explain(labels, proba, decisions):
            base, parts = told.base[column], told.parts[column]
            if self.model_.joint and self.label_space_.kind == "multiclass":
                base, parts = against_others(told, column)
            one = explanation(
                self.label_space_.column_names[column], proba[column], decisions[column], float(base), parts, words,
                occurrences, top,
            )._replace(
                threshold=self.rule_.threshold_of(column), rule=self.rule_.reason(column, mirrored),
                known_words=int(assessed.known_words[0]), calibration=self.calibration_,
            )  # fmt: skip
            found.append(mirror(one, str(self.classes_[0])) if mirrored else one)
        return found

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
        """Description of the weights of words: those of one model, of a pool and of which, or posterior means."""
        check_is_fitted(self, "model_")
        names = member_names(self.model, len(self.pool_))
        shares = " + ".join(f"{share:.2f} × {name}" for share, name in zip(self.pool_, names, strict=True))
        said = str(self.model_.words().said)
        if said == "posterior mean":
            return said if len(names) == 1 else f"{said} of the mixture ({shares})"
        if len(names) == 1:
            return f"{said} ({names[0]})" + (", before calibration" if self.calibration_ != 1.0 else "")
        return f"{said} in the pool ({shares})" if said == "weight" else f"{said} ({shares})"

    def top_words(self, label: str, k: int | None = 20, as_frame: bool = False) -> Any:
        """The words with the largest weights for a label, by size, with their sign; either of two classes.

        Pairs of a word and its weight, or with ``as_frame`` a pandas ``DataFrame``. What weights they are,
        ``weights_said`` says.

        Parameters
        ----------
        label : str
        k : int or None
            Words at most; None for all that have a weight.
        as_frame : bool
            Give a pandas ``DataFrame``.
        """
        check_is_fitted(self, "model_")
        _check_top(k)
        column, mirrored = self._column(label)
        weights = self.model_.words().weights[column] * (-1.0 if mirrored else 1.0)
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

        Parameters
        ----------
        label : str
        k : int or None
            Words at most; None for all.
        as_frame : bool
            Give a pandas ``DataFrame``.
        level : float or None
            The probability that an interval holds.
        by : {"mean", "sign", "inclusion"}
            The ranking of the words; all but "mean" need a sampled model.
        size : float
            For ``by="inclusion"``: a smaller weight is as good as none.
        """
        check_is_fitted(self, "model_")
        _check_top(k)
        column, mirrored = self._column(label)
        names = self.vectorizer_.get_feature_names_out()
        found: Sequence[WordInterval | SampledWord]
        if self.draws_ is not None:
            found = sampled_words(names, self.draws_, column, 0.95 if level is None else level, k, by, size, mirrored)
            return make_frame(found, SampledWord._fields) if as_frame else found
        if by != "mean":
            raise InputError(f"by={by!r} ranks words by their draws; train the model with inference='gibbs'")
        told = self.model_.words()
        if told.errors is None:
            raise InputError("this model was trained without intervals; train it with intervals=True")
        weights = told.weights[column] * (-1.0 if mirrored else 1.0)
        found = word_intervals(names, weights, told.errors[column], 0.9 if level is None else level, k)
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


def member_names(model: Any, n_members: int) -> list[str]:
    """Names of the members of a pool: their kinds, or numbers where these are lost.

    Parameters
    ----------
    model : the ``model`` parameter of a ``TextCategorizer``
    n_members : int
        The number of members the fitted pool has.
    """
    given = default_models() if model is None else model
    members = [make_model(one) for one in (given if isinstance(given, list | tuple) else [given])]
    if len(members) != n_members:
        return [f"model {number}" for number in range(1, n_members + 1)]
    return [kind_of(member).describe(member) for member in members]
