"""The words behind a ``TextCategorizer``: why a text has its labels, and what each label goes by."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.explain import (
    Explanation,
    Explanations,
    MergedWords,
    Rival,
    against_others,
    as_one_distribution,
    changed,
    explanation,
    mirror,
    rivals_of,
)
from textbayes.categorizer.model_types import make_model
from textbayes.categorizer.presets import default_models
from textbayes.categorizer.scorer import Assessment
from textbayes.categorizer.summary import model_html
from textbayes.core.errors import InputError, did_you_mean
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Contributions, Features
from textbayes.core.tables import make_frame
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_choice
from textbayes.decide import Rule
from textbayes.links import BaseLink
from textbayes.models.linear.model import LinearModel
from textbayes.posterior.intervals import PRACTICAL_SIZE, SampledWord, WordInterval, sampled_words, word_intervals
from textbayes.text.sentences import MEANING
from textbayes.text.surface import common_forms, gather, shown_names, token_columns, word_columns, word_keys


class LabelWord(NamedTuple):
    """A word of a label: its weight, what it adds to the log-odds of the training texts on average, and its texts."""

    word: str
    weight: float
    contribution: float | None
    texts: int | None


class MeanPart(NamedTuple):
    """A word's part in the log-odds of a label: its mean over texts, that over those with it, and their number."""

    word: str
    contribution: float
    part: float
    texts: int


class FittedAttributes:
    """Weights, link, draws and calibration of ``model_``, as far as it has them."""

    model_: Any

    @property
    def coef_(self) -> FloatArray:
        return self._weights().coef_

    @property
    def intercept_(self) -> FloatArray:
        return self._weights().intercept_

    @property
    def link_(self) -> BaseLink:
        return self._weights().link_

    @property
    def draws_(self) -> Any:
        linear = self._fitted().linear
        return None if linear is None else linear.draws_

    @property
    def standard_errors_(self) -> FloatArray | None:
        errors: FloatArray | None = self._fitted().word_weights().errors
        return errors

    @property
    def calibration_(self) -> float:
        return float(self._fitted().calibration)

    @property
    def inverse_temperature_(self) -> float:
        return float(self._fitted().inverse_temperature)

    def _fitted(self) -> Any:
        if "model_" not in vars(self):
            raise AttributeError("this TextCategorizer is not fitted; call fit first")
        return self.model_

    def _weights(self) -> LinearModel:
        fitted = self._fitted().linear
        if fitted is None:
            raise AttributeError("this model is not linear and has no such weights; see top_words and explain")
        return fitted


class ExplainsWords(FittedAttributes):
    """Words and explanations of a categorizer, whatever the kind of its model."""

    pool_: FloatArray
    label_pool_: FloatArray | None
    rule_: Rule
    model: Any
    posterior_predictive: bool
    label_space_: LabelSpace
    classes_: AnyArray
    vectorizer_: Any
    weighting_: Any
    choice_: dict[str, Any] | None
    copies_: dict[str, int] | None
    surface_: dict[str, str]
    columns_: dict[str, Any] | None = None

    @abstractmethod
    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions in one pass."""

    @abstractmethod
    def features(self, texts: Iterable[str]) -> Features:
        """Texts as the model sees them."""

    def explain(
        self, text: str, labels: Sequence[str] | None = None, top: int | None = None, merge: bool = True
    ) -> Explanations:
        """Explain the labels of a text: each word's part in the log-odds, largest first.

        Parts and base add up to the log-odds that the probability is made of; of a calibrated model they are weights
        times ``calibration_``. Where classes exclude each other, they are those of a class against the others, each as
        likely as it is for this text, and the likeliest others stand beside them (``rivals``).

        Without ``labels``, the labels decided on, or the likeliest where there is none. Either of two classes can be
        explained.

        Parameters
        ----------
        text : str
        labels : sequence of str or None
            The labels to explain.
        top : int or None
            Words listed for each label at most; None for all.
        merge : bool
            Add up what belongs to one word: its forms and the views that read it (a stem, the headline), under the form
            that the text has most. False gives every column of the model by itself, under its own name.
        """
        check_is_fitted(self, "model_")
        _check_top(top)
        features = self.features([text])
        told = self.model_.contributions(features)
        counts = np.asarray(features.counts[0, told.columns].todense(), dtype=np.float64).ravel()
        counts[~self.word_columns()[told.columns]] = 1.0
        if self.label_space_.kind == "multiclass" and not self.model_.is_softmax:
            told = as_one_distribution(told, self.inverse_temperature_)
        by_column, by_encoder = told, token_columns(self.vectorizer_, features.n_features)[told.columns]
        if merge:
            gathered = gather(self.vectorizer_, told.columns, counts, common_forms([text], self.vectorizer_), text)
            words, counts = gathered.forms, gathered.occurrences(counts)
            counts[[form == MEANING for form in words]] = 1.0  # a vector is one, whatever it has of numbers
            parts = [np.bincount(gathered.word, row, len(words)) for row in told.parts]
            told = told._replace(parts=np.array(parts))
        else:
            words = self.vectorizer_.get_feature_names_out()[told.columns].tolist()
        proba, (decisions,) = assessed = self.assess([text])
        known, tree = int(assessed.known_words[0]), self.model_.label_tree
        mapped, own = self.model_.recalibration is not None, proba
        if mapped or tree is not None:
            own = self.model_.own_proba(features, self.posterior_predictive)
        by = " and ".join(["calibration"] * mapped + ["the label tree"] * (tree is not None))
        alone = self.rule_.decide(proba)
        both = self.label_space_.both_columns(proba)[0].tolist()
        found = Explanations()
        for column, mirrored in self._to_explain(labels, proba[0], decisions):
            one = self._explained(told, column, own[0], words, counts, top)._replace(
                decision=bool(decisions[column]), known_words=known, calibration=self.calibration_,
                encoder=self._by_encoder(by_column, column, by_encoder),
                threshold=self.rule_.threshold_of(column), rule=self.rule_.reason(column, mirrored),
            )  # fmt: skip
            if decisions[column] and not alone[0, column]:
                one = one._replace(rule=self._given_with(column, alone[0]))
            one = mirror(one, str(self.classes_[0])) if mirrored else one
            if mapped or abs(own[0, column] - proba[0, column]) > 1e-9:  # rounded otherwise
                one = changed(one, dict(zip(self.label_space_.class_names, both, strict=True)), by)
            found.append(one if known else one._replace(decision=False))  # as classify: nothing speaks for a label
        return found

    def _explained(
        self, told: Contributions, column: int, proba: FloatArray, words: list[str], counts: FloatArray, top: int | None
    ) -> Explanation:
        """The explanation of a column, whose log-odds are those of its probability."""
        names, p = self.label_space_.class_names, float(proba[column])
        base, parts = float(told.base[column]), told.parts[column]
        rivals: tuple[Rival, ...] = ()
        if self.label_space_.kind == "multiclass":
            base, parts = against_others(told, column)
            rivals = rivals_of(column, names, proba)
        one = explanation(self.label_space_.column_names[column], p, base, parts, words, counts, top)
        if told.label_effects is not None:
            effect = float(told.label_effects[column])
            one = one._replace(other_labels=effect, log_odds=one.log_odds + effect)
        if 0.0 < p < 1.0 and abs(special.expit(one.log_odds) - p) > 1e-9:  # probabilities not averaged, scores are
            gap = float(special.logit(p)) - one.log_odds
            one = one._replace(base=one.base + gap, log_odds=one.log_odds + gap)
        if self.label_space_.kind == "binary":
            rivals = (Rival(names[0], 1.0 - p, -one.log_odds),)
        return one._replace(rivals=rivals)

    def _given_with(self, column: int, alone: BoolArray) -> str:
        """Reason a label is given for that its own probability does not decide on: a label below it."""
        names = self.label_space_.class_names
        below = [name for name, given in zip(names, alone, strict=True) if given]
        return f"given with {next(one for one in below if names[column] in self.model_.label_tree.above(one))}"

    def _by_encoder(self, told: Contributions, column: int, by_encoder: BoolArray) -> float | None:
        """The sum of the parts of a column's log-odds that an encoder has; None where there is none."""
        if not by_encoder.any():
            return None
        exclusive = self.label_space_.kind == "multiclass"
        parts = against_others(told, column)[1] if exclusive else told.parts[column]
        return float(parts[by_encoder].sum())

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
    def weights_description(self) -> str:
        """Description of the weights of words: those of one model, of a pool and of which, or posterior means."""
        check_is_fitted(self, "model_")
        names = self.member_names()
        shares = " + ".join(f"{share:.2f} × {name}" for share, name in zip(self.pool_, names, strict=True))
        description = str(self.model_.word_weights().description)
        if description == "posterior mean":
            return description if len(names) == 1 else f"{description} of the mixture ({shares})"
        if len(names) == 1:
            return f"{description} ({names[0]})" + (
                ", before calibration" if self.calibration_ != 1.0 or self.model_.recalibration is not None else ""
            )
        return f"{description} in the pool ({shares})" if description == "weight" else f"{description} ({shares})"

    def member_names(self) -> list[str]:
        """Names of the members of the pool: their kinds, or numbers where these are lost."""
        if self.choice_ is not None:  # of an automatic training
            return [str(member["name"]) for member in self.choice_["members"]]
        return _member_names(self.model, len(self.pool_))

    def top_words(self, label: str, n: int | None = 10, as_frame: bool = False) -> Any:
        """The words with the largest weights for a label, the strongest evidence for it first; either of two classes.

        Pairs of a word and its weight, or with ``as_frame`` a pandas ``DataFrame``. Words with negative weights, the
        strongest first, follow where there are fewer than ``n`` with positive ones. What weights they are,
        ``weights_description`` says. Each column of the model is listed by itself, stems as whole words: "party" and
        "party (stem)" may both occur; ``get_feature_names_out`` of the vectorizer has the names of the columns.

        Parameters
        ----------
        label : str
        n : int or None
            Words at most; None for all that have a weight.
        as_frame : bool
            Give a pandas ``DataFrame``.

        Examples
        --------
        >>> from textbayes import TextCategorizer
        >>> texts = ["a fine, warm film", "dull and slow", "warm and funny", "slow, dull film"] * 5
        >>> model = TextCategorizer(preset="linear").fit(texts, ["pos", "neg", "pos", "neg"] * 5)
        >>> sorted(word for word, weight in model.top_words("neg", n=2))
        ['dull', 'slow']
        """
        weights = np.where(self.word_columns(), self._weights_for(label, n), 0.0)
        order = np.lexsort((-np.abs(weights), weights <= 0.0))[:n]  # stable: positive ones, then by size
        kept = [j for j in order if weights[j] != 0.0]
        names = self.vectorizer_.get_feature_names_out()[kept]
        words = shown_names([str(name) for name in names], self.vectorizer_, self.surface_)
        found = list(zip(words, weights[kept].tolist(), strict=True))
        return make_frame(found, ["word", "weight"]) if as_frame else found

    def label_words(self, label: str, k: int | None = 20, as_frame: bool = False, *, by: str = "contribution") -> Any:
        """The words that a label goes by, with their weights and how frequent they are; either of two classes.

        A weight alone says little: the largest are those of misspellings and of names met twice. The contribution is
        what a word adds to the log-odds of the training texts on average, were all as long as the usual one: its weight
        times its mean weight in a text (``TermWeighting.mean_weights``), or times the share of texts that have it where
        the model counts words. Forms of a word and the views that read it are one, under the commonest form in the
        training texts; ``top_words`` has every column by itself.

        Parameters
        ----------
        label : str
        k : int or None
            Words at most; None for all that have a weight.
        as_frame : bool
            Give a pandas ``DataFrame``.
        by : {"contribution", "weight"}
            "contribution": two thirds speak for the label, the strongest first, and the others against it. "weight": by
            size, whatever the sign; also where a model file of an earlier version does not say how frequent words are,
            and there are neither contributions nor texts.

        Returns
        -------
        list of LabelWord or DataFrame
        """
        check_choice("by", by, ("contribution", "weight"))
        weights = self._weights_for(label, k)
        frequency, n_docs = self.weighting_.document_frequency_, self.weighting_.n_docs_
        merged = self.merged_words()
        values = merged.weight(weights)
        added = None
        if frequency is not None:
            counted = self.model_.reads == "counts"
            added = merged.added(weights * (frequency / n_docs if counted else self.weighting_.mean_weights()))
        if added is None or by == "weight":
            order = np.argsort(-np.abs(values), kind="stable")
        else:
            order = _for_and_against(added, k)
        found = [
            LabelWord(
                merged.forms[j],
                float(values[j]),
                None if added is None else float(added[j]),
                None if added is None else int(merged.counts[j]),
            )
            for j in order[:k]
            if values[j] != 0.0
        ]
        return make_frame(found, LabelWord._fields) if as_frame else found

    def mean_parts(
        self, texts: Iterable[str], labels: Sequence[str] | None = None, k: int | None = 20
    ) -> dict[str, list[MeanPart]]:
        """The words that the answers to given texts rest on: of each label, the means of what :meth:`explain` finds.

        Of texts that were held out of the training it says what the model makes of new texts. A fine-tuned encoder has
        no weights of words, so that this is the only list in which it has a part. Two thirds of the words speak for the
        label, the strongest first, and the others against it.

        Parameters
        ----------
        texts : iterable of str
        labels : sequence of str or None
            All if not given; either of two classes.
        k : int or None
            Words of each label at most; None for all.
        """
        check_is_fitted(self, "model_")
        _check_top(k)
        names = [str(name) for name in self.classes_] if labels is None else [str(label) for label in labels]
        sums: list[dict[str, float]] = [{} for _ in names]
        rows: list[dict[str, int]] = [{} for _ in names]
        forms: dict[str, Counter[str]] = {}
        n_texts = 0
        for text in texts:
            n_texts += 1
            for explained, total, n in zip(self.explain(text, names), sums, rows, strict=True):
                words = [one.word for one in explained.contributions]
                for one, key in zip(explained.contributions, word_keys(words, self.vectorizer_), strict=True):
                    total[key] = total.get(key, 0.0) + one.log_odds
                    n[key] = n.get(key, 0) + 1
                    forms.setdefault(key, Counter())[one.word] += 1
        found = {}
        for name, total, n in zip(names, sums, rows, strict=True):
            keys = sorted(total)
            added = np.array([total[key] for key in keys]) / max(n_texts, 1)
            found[name] = [
                MeanPart(min(forms[key], key=lambda form: (-forms[key][form], form)), part, total[key] / n[key], n[key])
                for key, part in ((keys[j], float(added[j])) for j in _for_and_against(added, k))
            ]
        return found

    def word_columns(self) -> BoolArray:
        """Mask of the columns that stand for words, (n_features,): the numbers of sentence vectors do not."""
        return word_columns(self.vectorizer_, len(self.weighting_.idf_))

    def words_with_weight(self) -> BoolArray:
        """Mask of the columns that stand for words and say something of some label, (n_features,)."""
        return np.asarray(self.model_.known_words() & self.word_columns())

    def _weights_for(self, label: str, k: int | None) -> FloatArray:
        """Weights of all columns for a label, either of two classes, of which ``k`` are to be shown."""
        check_is_fitted(self, "model_")
        _check_top(k)
        column, mirrored = self._column(label)
        return np.asarray(self.model_.word_weights().weights[column] * (-1.0 if mirrored else 1.0))

    def merged_words(self) -> MergedWords:
        """The words of all labels, found once for each fitted model."""
        kept = vars(self).get("_words_of_model")
        if kept is None or kept[0] is not self.model_:
            frequency = self.weighting_.document_frequency_
            # A word that was told of, but is in no text, counts a little: it has a weight.
            counts = np.ones(len(self.weighting_.idf_)) if frequency is None else np.maximum(frequency, 0.5)
            kept = self._words_of_model = (self.model_, MergedWords.of(self, counts, self.surface_))
        return kept[1]

    def word_intervals(
        self,
        label: str,
        k: int | None = 20,
        as_frame: bool = False,
        *,
        level: float | None = None,
        by: str = "mean",
        size: float = PRACTICAL_SIZE,
        whole: bool = True,
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
        whole : bool
            Show stems as whole words, as ``top_words`` does; False gives the names of the columns.
        """
        check_is_fitted(self, "model_")
        _check_top(k)
        column, mirrored = self._column(label)
        found: Sequence[WordInterval | SampledWord]
        names = self.vectorizer_.get_feature_names_out()
        if self.draws_ is not None:
            found = sampled_words(names, self.draws_, column, 0.95 if level is None else level, k, by, size, mirrored)
            found = self._whole(found) if whole else found
            return make_frame(found, SampledWord._fields) if as_frame else found
        if by != "mean":
            raise InputError(
                f"by={by!r} ranks words by their draws, and this model was not sampled; train it with "
                "inference='gibbs' (textbayes train --inference gibbs)"
            )
        told = self.model_.word_weights()
        if told.errors is None:
            raise InputError("this model was trained without intervals; train it with intervals=True")
        sign = -1.0 if mirrored else 1.0
        weights, errors = sign * told.weights[column], told.errors[column]
        shifts = None if told.shifts is None else sign * told.shifts[column]
        found = word_intervals(names, weights, errors, 0.9 if level is None else level, k, shifts)
        found = self._whole(found) if whole else found
        return make_frame(found, WordInterval._fields) if as_frame else found

    def _whole(self, found: Sequence[Any]) -> list[Any]:
        """Rows with the words of their columns as people read them."""
        words = shown_names([one.word for one in found], self.vectorizer_, self.surface_)
        return [one._replace(word=word) for one, word in zip(found, words, strict=True)]

    def _html_repr(self) -> str:
        """What notebooks show: figures, labels and members of a fitted model, else scikit-learn's diagram."""
        return model_html(self) if "model_" in vars(self) else str(super()._html_repr())  # type: ignore[misc]

    def _column(self, label: str) -> tuple[int, bool]:
        """The column of a label, and whether it speaks of the other of two classes."""
        names, classes = self.label_space_.column_names, [str(name) for name in self.classes_]
        if str(label) not in classes:
            raise InputError(
                f"label {label!r} is not known; choose one of {', '.join(classes)}{did_you_mean(label, classes)}"
            )
        return (names.index(str(label)), False) if str(label) in names else (0, True)


def _for_and_against(added: FloatArray, k: int | None) -> IntArray:
    """Words that add most, then those that take most away: two to one if there are enough of both."""
    order = np.argsort(-added, kind="stable")
    n_for, n_against = int((added > 0.0).sum()), int((added < 0.0).sum())
    k = n_for + n_against if k is None else k
    n_against = min(n_against, max(k // 3, k - n_for))
    return np.concatenate([order[: min(n_for, k - n_against)], order[::-1][:n_against]])


def _check_top(top: int | None) -> None:
    if top is not None and (not isinstance(top, numbers.Integral) or top < 1):
        raise InputError(f"{top} words were asked for; pass a number from 1 on, or None for all")


def _member_names(model: Any, n_members: int) -> list[str]:
    given = default_models() if model is None else model
    members = [make_model(one) for one in (given if isinstance(given, list | tuple) else [given])]
    if len(members) != n_members:
        return [f"model {number}" for number in range(1, n_members + 1)]
    return [member.description() for member in members]
