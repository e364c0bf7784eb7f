"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.attributes import FittedAttributes
from textbayes.categorizer.inputs import as_texts, weighed
from textbayes.categorizer.knowledge import read_prior, words_known
from textbayes.categorizer.pool import make_pooling
from textbayes.categorizer.pooled import pooled_model
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.settings import NestedParameters, check_settings, rule_for
from textbayes.categorizer.state import restore, state_of
from textbayes.categorizer.training import Training, members_of
from textbayes.categorizer.words import ExplainsWords
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import encode_labels
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.decide import Rule
from textbayes.decide.folds import group_codes
from textbayes.evaluate import evaluate
from textbayes.kinds import kind_of
from textbayes.kinds.sampling import SamplingCallback
from textbayes.knowledge import WordPriors
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.fingerprint import text_fingerprints

Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)`` while a long job runs."""


@dataclass(frozen=True)
class Assessment:
    """Probabilities and decisions for some texts, one row per text and one column per label column.

    ``known_words`` (n_docs,) counts the different words of each text that have a weight: where it is 0, the answer is
    that for any text. Unpacks into the first two: ``proba, decisions = model.assess(texts)``.
    """

    proba: FloatArray
    decisions: BoolArray
    known_words: IntArray

    def __iter__(self) -> Iterator[Any]:
        return iter((self.proba, self.decisions))


class TextCategorizer(FittedAttributes, ExplainsWords, ClassifierMixin, NestedParameters):
    """Categorise texts with calibrated probabilities, decisions tuned for each label, and words as reasons.

    Labels may be one per text (two classes or more) or lists of none, one or several. Thresholds are chosen on
    probabilities of training texts that the model did not see (cross-validation), never on the texts to categorise.

    Parameters
    ----------
    vectorizer : TextVectorizer or None
        Words of a text; the default takes runs of letters, without English stop words, stemmed, in ≥ 2 texts.
    weighting : TermWeighting, str or None
        Their weights; default ``tfidf1`` with cosine norm.
    select : str or None
        Score function by which each label chooses its own words (``textbayes.select``); None uses all words.
    select_k, select_threshold : words per label at most; least score
    model : str, estimator, a list of them, or None
        The model: a kind by name with parameters of its estimator after a colon (``"counts:model=poisson"``, see
        ``textbayes.kinds``), or an estimator. One is used as it is. Several are pooled: their log-odds are added with
        weights that fit held-out texts best, which averages their errors and calibrates them; linear models of one link
        make a linear model. The default pools a logistic regression with a Laplace prior and one with a Gaussian prior.
        A ``BayesLinearClassifierCV`` looks for its scale once, on all texts.
    rule : str, Rule or "auto"
        How probabilities become decisions (``textbayes.decide``), such as ``"fixed:threshold=0.3"``; ``"auto"`` takes
        the likelier class for one label per text, and for many labels thresholds per label.
    prior : WordPriors or path, optional
        What is known of words before any text: means, scales, families and signs (``textbayes.knowledge``).
    prior_weight : "auto" or float
        How far to follow it, from 0 (not at all) to 1; "auto" chooses by cross-validation, for linear models label by
        label with the first, so that bad advice is turned down.
    calibrate : bool
        Where there is one model: find the factor of its log-odds (``calibration_``) with which probabilities fit
        held-out texts best. Its weights stay as they are. A pool needs none.
    class_weight : None, "balanced" or dict
        How much texts count by their class, where each has one; "balanced" gives all classes the same weight in sum.
    intervals : bool
        Keep standard errors of the weights (``word_intervals``). Those of a pool are upper bounds: its members learn
        from the same texts and are taken to err together. Members that sample have their spread from draws, unasked.
    average : bool
        Where members sample (``inference="gibbs"``): probabilities are averaged over the draws, and thresholds chosen
        for such; if False, they are those at the posterior means. Of several such members the posteriors are mixed,
        with weights that add up to one and fit held-out texts best.
    keep_draws : int
        Draws of each label that the model keeps, of all chains and members together; they take 4 bytes a word each.
    refit_k, refit_by : int or None; {"mean", "sign", "inclusion"}
        Rank the words of each label by a first fit, keep so many, and fit again with these (``models.linear.refit``).
    cv : int
        Folds for the held-out probabilities that pool and rule learn from.
    random_state : int
        Of the folds.
    n_jobs : int or None
        Threads over labels; None is 1, −1 all cores.

    Attributes
    ----------
    model_ : the fitted model, whatever its kind (``textbayes.core.protocols.FittedModel``)
    coef_, intercept_ : of linear models, one row per label (one for two classes); of several members their pool
    pool_ : weights of the members; 1 if there is one
    calibration_ : factor of the linear predictors when probabilities are made of them; 1 without ``calibrate``
    sharpness_ : of the probabilities of classes that exclude each other, where members sample; else 1
    rule_ : the fitted decision rule
    standard_errors_ : of the weights, with ``intervals`` or draws; NaN for words that have none
    draws_ : the posterior as ``Draws`` where members sample, else None
    prior_table_ : the prior as it was read; None without one
    prior_weight_ : how far each label follows the prior; None without one
    prior_audit_ : what became of the prior of each word, in the first model; the most surprising first
    prior_advice_ : what was done with the prior, label by label
    held_out_ : figures of the cross-validation, over all labels and for each, as ``textbayes.evaluate.evaluate`` has
        them
    held_out_proba_ : what models that had not seen a training text said of it; model files do not keep it
    label_counts_ : training texts of each class; None if the model was loaded from a file without them
    fingerprints_ : of the texts it was trained on, to know them again; None if it was loaded from a file without them
    classes_, label_space_, vectorizer_, weighting_, link_

    Examples
    --------
    >>> texts = ["wheat and corn prices", "corn harvest falls", "bank raises rates", "the bank cuts its rates"] * 5
    >>> model = TextCategorizer().fit(texts, ["grain", "grain", "money", "money"] * 5)
    >>> model.predict(["corn prices rise"]).tolist()
    ['grain']
    >>> model.explain("corn prices rise")[0].contributions[0].word
    'corn'
    """

    def __init__(
        self,
        vectorizer: TextVectorizer | None = None,
        weighting: TermWeighting | str | None = None,
        select: str | None = None,
        select_k: int | None = None,
        select_threshold: float | None = None,
        model: Any = None,
        rule: str | Rule = "auto",
        prior: WordPriors | str | Path | None = None,
        prior_weight: float | str = "auto",
        calibrate: bool = False,
        class_weight: str | dict[Any, float] | None = None,
        intervals: bool = False,
        average: bool = True,
        keep_draws: int = 1_000,
        refit_k: int | None = None,
        refit_by: str = "mean",
        cv: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.select = select
        self.select_k = select_k
        self.select_threshold = select_threshold
        self.model = model
        self.rule = rule
        self.prior = prior
        self.prior_weight = prior_weight
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.intervals = intervals
        self.average = average
        self.keep_draws = keep_draws
        self.refit_k = refit_k
        self.refit_by = refit_by
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- training -------------------------------------------------------------------------------------------------
    @all_or_nothing
    def fit(
        self,
        texts: Iterable[str],
        labels: Any,
        progress: Progress | None = None,
        sampling: SamplingCallback | None = None,
        sample_weight: ArrayLike | None = None,
        groups: Iterable[Hashable] | None = None,
    ) -> TextCategorizer:
        """Learn from texts and their labels: one label each, a list of labels each, or an indicator matrix.

        Parameters
        ----------
        texts : iterable of str
        labels : sequence of labels, of lists of labels, or array (n_texts, n_labels)
        progress : function of (what, done, total), optional
        sampling : SamplingCallback, optional
            Is told how it goes where members sample, and may resume what was interrupted, see
            ``textbayes.store.checkpoint.RunFolder``.
        sample_weight : array (n_texts,), optional
            How often a text counts for the classifiers and the pool; the decision rule and the held-out figures count
            it once, or not at all where its weight is 0.
        groups : sequence of n_texts values, optional
            Texts of one group (an author, a thread) share a fold: figures and thresholds are of groups not learnt from.
        """
        texts = as_texts(texts)
        check_settings(self)
        indicator, space = encode_labels(labels)
        check_same_length(texts, "texts", indicator, "labels")
        rule = rule_for(self.rule, space)
        grouped = None if groups is None else group_codes(groups, len(texts))
        texts, indicator, weight, grouped = weighed(texts, indicator, space, sample_weight, self.class_weight, grouped)
        report = progress or _silent
        report("reading words", 0, 1)
        self.vectorizer_ = default_vectorizer() if self.vectorizer is None else clone(self.vectorizer)
        counts = self.vectorizer_.fit_transform(texts)
        table = None if self.prior is None else read_prior(self.prior)
        if table is not None and (missing := words_known(table, self.vectorizer_)):
            # No training text has them, but later ones may: their weights stay at the prior mean.
            counts = self.vectorizer_.add_terms(missing).transform(texts)
        report("reading words", 1, 1)
        watch = sampling or SamplingCallback()
        lengths = self._lengths(texts, counts)
        training = Training(self, counts, lengths, indicator, space, report, watch, weight, grouped)
        members = training.members()
        if sampling is not None:
            watch.begin(space.column_names, training.fingerprint(members, table))
        pooling = make_pooling(members, space, self.average, weight, self.calibrate)
        knowledge = None if table is None else training.knowledge(table, members, self.vectorizer_, pooling)
        held_out, learnable = training.out_of_fold(members, pooling, knowledge)
        pool = pooling.fit(held_out, indicator, learnable)
        if knowledge is not None and self.prior_weight == "auto" and knowledge.weight.any():
            # Weights were chosen label by label with one member; what counts is the pool, and labels side by side.
            without, _ = training.out_of_fold(members, pooling, None, "without the prior, ")
            pool_without = pooling.fit(without, indicator, learnable)
            losses = [
                pooling.loss(scores, weights, indicator, learnable)
                for scores, weights in ((held_out, pool), (without, pool_without))
            ]
            if losses[0] >= losses[1]:
                knowledge, held_out, pool = knowledge.with_zero_weight(), without, pool_without
        sharpness = pooling.sharpness(held_out, pool, indicator, learnable)
        calibration = pooling.calibration(held_out, pool, indicator, learnable)
        proba = pooling.probabilities(calibration * held_out, pool, sharpness)
        rule.fit(proba, indicator & learnable)
        report("fitting all texts", 0, 1)
        self.weighting_, fitted, features = training.all_texts(members, knowledge)
        self.prior_table_, self.prior_weight_ = table, None
        self.prior_audit_, self.prior_advice_ = [], []
        if knowledge is not None:
            terms = self.vectorizer_.get_feature_names_out()
            self.prior_weight_ = knowledge.weight
            self.prior_audit_ = knowledge.audit(fitted[0], members[0], features, indicator, terms, space, weight)
            self.prior_advice_ = knowledge.advice(counts, space)
        report("fitting all texts", 1, 1)
        self.model_ = pooled_model(pooling, fitted, pool, sharpness, calibration, self.keep_draws, features)
        self.pool_, self.rule_ = pool, rule
        # Honest for probabilities, a little kind to thresholds that were tuned on them.
        self.held_out_ = evaluate(indicator, proba, rule.decide(proba), space.class_names, kind=space.kind)
        self.held_out_proba_, self.label_counts_ = proba, space.counts(indicator)
        self.fingerprints_ = text_fingerprints(texts)
        self.label_space_, self.classes_ = space, space.classes
        return self

    def _lengths(self, texts: list[str], counts: Any) -> FloatArray:
        """Lengths of texts in thousands of words; the sums of their counts where no model asks, or words are hashed."""
        exact = any(kind_of(member).uses_lengths for member in members_of(self))
        if exact and isinstance(self.vectorizer_, TextVectorizer):
            return self.vectorizer_.document_lengths(texts)
        return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel() / 1000.0

    @all_or_nothing
    def update(self, texts: Iterable[str], labels: Any, sample_weight: ArrayLike | None = None) -> TextCategorizer:
        """Learn more texts, as far as the model can: what it knows becomes the prior of what the texts say.

        Exact for count models; online models learn on as they did; linear and multinomial ones take their weights and
        standard errors as a Gaussian prior, so they must have been fitted with ``intervals``. Words, their weights, the
        labels and the decision rule stay as they are: words that no text had are left out, and other labels refused.
        Arguments are as for :meth:`fit`.
        """
        check_is_fitted(self, "model_")
        texts = as_texts(texts)
        indicator, space = encode_labels(labels, self.classes_.tolist())
        if space.kind != self.label_space_.kind:
            raise InputError(
                f"the labels are {space.kind}, those of the model {self.label_space_.kind}; pass labels as at first"
            )
        check_same_length(texts, "texts", indicator, "labels")
        texts, indicator, weight, _ = weighed(texts, indicator, space, sample_weight, self.class_weight, None)
        self.model_ = self.model_.update(self.features(texts), indicator, weight)
        if self.label_counts_ is not None:
            self.label_counts_ = self.label_counts_ + space.counts(indicator)
        if self.fingerprints_ is not None:
            self.fingerprints_ = np.unique(np.concatenate([self.fingerprints_, text_fingerprints(texts)]))
        return self

    def partial_fit(
        self, texts: Iterable[str], labels: Any, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Learn more texts (:meth:`update`); the first call fits.

        The first texts settle words and their weights, so they should be many and have all labels; ``classes``, where
        given, are checked to be among theirs. Other arguments are as for :meth:`fit`.
        """
        if hasattr(self, "model_"):
            return self.update(texts, labels, sample_weight)
        fitted = self.fit(texts, labels, sample_weight=sample_weight)
        missing = set() if classes is None else {str(name) for name in classes} - set(self.label_space_.class_names)
        if missing:
            raise InputError(f"no text of the first call has the label {min(missing)!r}; words are learnt from these")
        return fitted

    # -- use ------------------------------------------------------------------------------------------------------
    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions in one pass; one column per label, for two classes that of the second alone."""
        check_is_fitted(self, "model_")
        features = self.features(texts)
        proba = self.model_.proba(features, self.average)
        return Assessment(proba, self.rule_.decide(proba), self._known_words(features))

    def decision_function(self, texts: Iterable[str]) -> FloatArray:
        """Log-odds of every label by itself, in the order of ``classes_``; for two classes a vector of the second's.

        Where the model is a distribution over exclusive classes, their scores up to a constant of the text.
        """
        check_is_fitted(self, "model_")
        scores = self.model_.scores(self.features(texts), self.average)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def features(self, texts: Iterable[str]) -> Features:
        """Texts as the model sees them: counts of its words, their weights, and lengths."""
        check_is_fitted(self, "model_")
        texts = as_texts(texts)
        counts = self.vectorizer_.transform(texts)
        return Features(counts, self.weighting_.transform(counts), self._lengths(texts, counts))

    def _known_words(self, features: Features) -> IntArray:
        """Number of different words of each text that say something of some label."""
        return np.asarray((features.weights != 0.0) @ self.model_.known_words().astype(np.int64))

    def predict_interval(self, texts: Iterable[str], level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval that holds each label's own probability with probability ``level``.

        One column per label, for two classes that of the second. Where classes exclude each other, an interval is that
        of one label against all others, while the probabilities of ``predict_proba`` are normalised. Of a model fitted
        with ``intervals`` words are taken to err independently; a sampled one has its intervals from draws.
        """
        check_is_fitted(self, "model_")
        return self.model_.probability_interval(self.features(texts), level)

    def predict_proba(self, texts: Iterable[str]) -> FloatArray:
        """Probability of each class, in the order of ``classes_``; rows add up to one unless labels are many."""
        return self.label_space_.both_columns(self.assess(texts).proba)

    def predict(self, texts: Iterable[str]) -> AnyArray:
        """The label of each text; where a text may have many, an indicator matrix in the order of ``classes_``."""
        proba, decisions = self.assess(texts)
        if self.label_space_.kind == "multilabel":
            return decisions.astype(int)
        if self.label_space_.kind == "binary":
            return self.classes_[decisions[:, 0].astype(int)]
        # A rule may say yes to several classes or to none: of those it favours, the likeliest.
        return self.classes_[(proba + 2.0 * decisions).argmax(axis=1)]

    def predict_labels(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The names of the labels decided on for each text: one, or none to several where labels are many."""
        return self.label_space_.decode(self.assess(texts).decisions)

    # -- state: arrays and JSON -----------------------------------------------------------------------------------
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """State of the model for a model file: a JSON-able description and named arrays."""
        check_is_fitted(self, "model_")
        return state_of(self)

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> TextCategorizer:
        """The categorizer a state was taken from; it scores the same to the last bit."""
        model = cls()
        restore(model, meta, arrays)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags


def _silent(what: str, done: int, total: int) -> None:
    """No progress wanted."""
