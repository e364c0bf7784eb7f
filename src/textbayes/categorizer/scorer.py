"""A trained model that answers and does nothing else: what ``textbayes classify`` loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self
from weakref import WeakKeyDictionary

import numpy as np
from scipy import special

from textbayes.categorizer.schema import SCORED_ENSEMBLE, SCORER, read_description
from textbayes.core.codec import read
from textbayes.core.errors import ModelFileError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.state import part_of
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide import LabelTree, Rule
from textbayes.links import BaseLink
from textbayes.models.saved_weights import read_for_scores
from textbayes.posterior.calibration_band import CalibrationBand, interval_within
from textbayes.posterior.intervals import label_probabilities
from textbayes.posterior.recalibration import Recalibration
from textbayes.text.batches import batches, check_texts, in_order
from textbayes.text.read_words import WordViews, read_word_views

if TYPE_CHECKING:
    from textbayes.categorizer.estimator import TextCategorizer


NO_PARTS = (
    "this model has no posterior to tell what it does not know from what cannot be known; train one that samples "
    "(--inference gibbs) or --model online"
)
NO_PARTS_OF_TREE = (
    "the parts of the uncertainty are those of each label by itself, and this model's labels agree with a label tree; "
    "train it without label_tree (--label-tree)"
)


@dataclass(frozen=True)
class Assessment:
    """Probabilities and decisions for some texts, one row per text and one column per label column.

    ``known_words`` (n_docs,) counts the different words, and pairs of words, of each text that have a weight: where it
    is 0, the answer is that for any text, or rests on a sentence vector alone. Unpacks into the first two:
    ``proba, decisions = model.assess(texts)``.
    """

    proba: FloatArray
    decisions: BoolArray
    known_words: IntArray

    def __iter__(self) -> Iterator[Any]:
        return iter((self.proba, self.decisions))


class LabelStacking(NamedTuple):
    """A second stage over labels that may go together: the scores of the others are a feature of each.

    Scores become slope · first + offset + effect · P(some other label applies), with P by the first scores. The weights
    of words have slope and offset in them, so that only the effect is added here.

    Attributes
    ----------
    slope, offset, effect : arrays (n_labels,)
    """

    slope: FloatArray
    offset: FloatArray
    effect: FloatArray

    def added(self, scores: FloatArray) -> FloatArray:
        """What the other labels of each document add to its scores, (n_docs, n_labels)."""
        return np.asarray(self.effect * some_other_label((scores - self.offset) / self.slope))

    def check_model(self, space: LabelSpace, link: BaseLink | None) -> None:
        """Refuse the stage of a file whose labels exclude each other, or whose scores are no log-odds of one model."""
        if space.kind != "multilabel" or link is None or link.name != "logit":
            raise ModelFileError("the model's labels cannot be stacked; was the file altered?")


def check_tree(tree: LabelTree | None, space: LabelSpace) -> None:
    """Refuse a label tree of a file that is of other labels, or of labels that exclude each other."""
    if tree is not None and (space.kind != "multilabel" or not tree.names <= set(space.class_names)):
        raise ModelFileError("the model's label tree is not of its labels; was the file altered?")


def decided(decisions: BoolArray, space: LabelSpace, tree: LabelTree | None) -> BoolArray:
    """Decisions of a rule (n_docs, n_columns), where there is a label tree with the labels above those decided on."""
    return decisions if tree is None else tree.closed(decisions, space.class_names)


def some_other_label(log_odds: FloatArray) -> FloatArray:
    """Probability of each document that some label other than this one applies, 1 − Π_{j≠k} (1 − p_j).

    Parameters
    ----------
    log_odds : array (n_docs, n_labels)
        Of every label by itself.
    """
    none = special.log_expit(-log_odds)
    return np.asarray(-np.expm1(none.sum(axis=1, keepdims=True) - none))


class Scorer:
    """The part of a linear ``TextCategorizer`` that scores texts, by itself where it is read from a model file.

    It cannot learn, explain or be saved. Nothing of scikit-learn is imported for it, which would take longer than to
    score some hundred texts.

    Parameters
    ----------
    space : LabelSpace
    rule : Rule
        Fitted.
    views : WordViews
        How texts are read, a block of columns each.
    coef, intercept : arrays (n_columns, n_words), (n_columns,)
    link : BaseLink
    inverse_temperature : float
        As of ``TextCategorizer``.
    band : CalibrationBand or None
        What held-out texts say of the probabilities.
    columns : dict or None
        Columns of the file it was trained on.
    label_stacking : LabelStacking or None
    recalibration : Recalibration or None
    label_tree : LabelTree or None

    Attributes
    ----------
    label_space_, rule_, classes_, columns_
        As of ``TextCategorizer``.
    """

    def __init__(
        self,
        space: LabelSpace,
        rule: Rule,
        views: WordViews,
        coef: FloatArray,
        intercept: FloatArray,
        link: BaseLink,
        inverse_temperature: float,
        band: CalibrationBand | None = None,
        columns: dict[str, Any] | None = None,
        label_stacking: LabelStacking | None = None,
        recalibration: Recalibration | None = None,
        label_tree: LabelTree | None = None,
    ) -> None:
        self.label_space_, self.rule_, self.columns_ = space, rule, columns
        self._views, self._intercept = views, intercept
        self._coef = np.ascontiguousarray(coef.T)  # a word's weights side by side
        self._has_weight = (coef != 0.0).any(axis=0)
        self._link, self._inverse_temperature, self._band = link, inverse_temperature, band
        self._label_stacking, self._recalibration = label_stacking, recalibration
        self._label_tree = label_tree

    @property
    def classes_(self) -> AnyArray:
        """All labels."""
        return self.label_space_.classes

    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions; one column per label, for two classes that of the second alone."""
        proba, known_words = self._assessed(texts)
        decisions = decided(self.rule_.decide(proba), self.label_space_, self._label_tree)
        return Assessment(proba, decisions, known_words)

    def probabilities(self, texts: Iterable[str]) -> FloatArray:
        """Probabilities, with the columns of :meth:`assess`."""
        return self._assessed(texts)[0]

    def predict_interval(self, texts: Iterable[str], level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval of each probability, see ``TextCategorizer.predict_interval``."""
        return interval_within(self._band, self.probabilities(texts), level)

    def predict_uncertainty(self, texts: Iterable[str]) -> NoReturn:
        """Refused: there is no posterior to take parts of the uncertainty from."""
        raise NotSupportedError(NO_PARTS)

    def _assessed(self, texts: Iterable[str]) -> tuple[FloatArray, IntArray]:
        found = list(in_order(self._scores, batches(check_texts(texts), least=1)))
        eta, known_words = (np.concatenate(parts) for parts in zip(*found, strict=True))
        eta = eta + self._intercept
        if self._label_stacking is not None:
            eta = eta + self._label_stacking.added(eta)
        proba = label_probabilities(eta, self._link, self.label_space_, self._inverse_temperature)
        if self._recalibration is not None:
            proba = self._recalibration.apply(proba, self.label_space_.kind)
        if self._label_tree is not None:
            proba = self._label_tree.coherent(proba, self.label_space_.class_names)
        return proba, known_words

    def _scores(self, texts: list[str]) -> tuple[FloatArray, IntArray]:
        """Weights of words times their coefficients, and how many words of a text have one, in the view with most."""
        from textbayes.kernels.text.ngrams import add_scores

        weights = self._views.weights(texts)
        eta, known_words = np.zeros((len(texts), self._coef.shape[1])), np.zeros(len(texts), dtype=np.int64)
        add_scores(*weights, self._coef, self._has_weight, eta, known_words)
        return eta, known_words

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Self | None:
        """The scoring part of what ``TextCategorizer.to_state`` gave; None of a model that scores in another way.

        Those are models of other kinds, with draws, or whose texts are not read as words of a vocabulary.
        """
        found = read_description(SCORER, meta, arrays)
        space, fitted = found["labels"], part_of(arrays, "fitted")
        what, n_columns = "the model's ensemble", space.n_columns
        ensemble = read(SCORED_ENSEMBLE, found["ensemble"], fitted, what, n_columns=n_columns)
        member, *others = ensemble["members"]
        if member["type"] != "linear" or others or member["columns"] is not None:
            return None
        views = read_word_views(found["vectorizer"], found["weighting"], arrays)
        if views is None:
            return None
        linear = read_for_scores(member["state"], part_of(fitted, "0"), n_columns, sum(views.widths))
        if linear["draws_"] is not None:
            return None
        stacking = None if ensemble["label_stacking"] is None else LabelStacking(**ensemble["label_stacking"])
        if stacking is not None:
            stacking.check_model(space, linear["link_"])
        check_tree(ensemble["label_tree"], space)
        factor = ensemble["calibration"]
        coef, intercept = linear["coef_"], linear["intercept_"]
        if factor != 1.0:
            coef, intercept = factor * coef, factor * intercept
        return cls(
            space, found["rule"], views, coef, intercept, linear["link_"], ensemble["inverse_temperature"],
            found["calibration_band"], found["columns"], stacking, ensemble["recalibration"], ensemble["label_tree"],
        )  # fmt: skip


def scorer_of(model: TextCategorizer) -> Scorer | None:
    """The part of a fitted model that scores texts; None of one that scores in another way, see :class:`Scorer`."""
    parts = (model.model_, model.rule_, model.vectorizer_, model.weighting_, model.calibration_band_)
    known = _SCORERS.get(model)
    if known is None or any(one is not other for one, other in zip(known[0], parts, strict=True)):
        known = _SCORERS[model] = (parts, _made_of(model))
    return known[1]


_SCORERS: WeakKeyDictionary[TextCategorizer, tuple[tuple[Any, ...], Scorer | None]] = WeakKeyDictionary()


def _made_of(model: TextCategorizer) -> Scorer | None:
    from textbayes.text.views import word_views  # imports scikit-learn

    ensemble: Any = model.model_
    linear = ensemble.calibrated()
    if linear is None or linear.draws_ is not None:
        return None
    views = word_views(model.vectorizer_, model.weighting_)
    if views is None:
        return None
    return Scorer(
        model.label_space_, model.rule_, views, linear.coef_, linear.intercept_, linear.link_,
        ensemble.inverse_temperature, model.calibration_band_, model.columns_, ensemble.label_stacking,
        ensemble.recalibration, ensemble.label_tree,
    )  # fmt: skip
