"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer.inputs import as_texts, weighed
from textbayes.categorizer.knowledge import read_prior, words_known
from textbayes.categorizer.pool import at_the_mean, drawn, make_pooling, shared_out
from textbayes.categorizer.presets import default_vectorizer
from textbayes.categorizer.sampling import SamplingWatch
from textbayes.categorizer.settings import NestedParameters, check_settings, rule_for
from textbayes.categorizer.state import restore, state_of
from textbayes.categorizer.training import Training, check_members_can_refit
from textbayes.categorizer.words import ExplainsWords
from textbayes.core.errors import InputError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.labels import encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.decide import Rule
from textbayes.decide.folds import group_codes
from textbayes.evaluate import evaluate
from textbayes.knowledge import WordPriors
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.posterior.intervals import mixture_standard_errors, pooled_standard_errors
from textbayes.posterior.mixture import pooled_draws
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.fingerprint import text_fingerprints

if TYPE_CHECKING:  # loads numba, which is slow
    from textbayes.posterior.draws import Draws

Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)`` while a long job runs."""


@dataclass(frozen=True)
class Assessment:
    """What is thought of some texts: probabilities and decisions, one row per text, one column per label column.

    ``known_words`` (n_docs,) counts the different words of each text that have a weight: where it is 0, the answer is
    that for any text. Unpacks into the first two: ``proba, decisions = model.assess(texts)``.
    """

    proba: FloatArray
    decisions: BoolArray
    known_words: IntArray

    def __iter__(self) -> Iterator[Any]:
        return iter((self.proba, self.decisions))


class TextCategorizer(ExplainsWords, ClassifierMixin, NestedParameters):
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
    classifier : BayesLinearClassifier, a list of them, or None
        The model. One is used as it is. Several of one link are pooled: their linear predictors are added with weights
        that fit held-out texts best, which averages their errors and calibrates them. The default pools a logistic
        regression with a Laplace prior and one with a Gaussian prior. A ``BayesLinearClassifierCV`` looks for its scale
        once, on all texts.
    rule : str, Rule or "auto"
        How probabilities become decisions (``textbayes.decide``), such as ``"fixed:threshold=0.3"``; ``"auto"`` takes
        the likelier class for one label per text, and for many labels thresholds per label.
    prior : WordPriors or path, optional
        What is known of words before any text: means, scales, families and signs (``textbayes.knowledge``).
    prior_weight : "auto" or float
        How far to follow it, from 0 (not at all) to 1; "auto" chooses for each label by cross-validation with the
        first classifier, so that bad advice is turned down.
    calibrate : bool
        Where there is one classifier: find the factor of its linear predictors (``calibration_``) with which
        probabilities fit held-out texts best. Its weights stay as they are. A pool needs none.
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
    coef_, intercept_ : the linear model, one row per label (one for two classes); of several members their pool
    pool_ : weights of the members; 1 if there is one
    calibration_ : factor of the linear predictors when probabilities are made of them; 1 without ``calibrate``
    sharpness_ : of the probabilities of classes that exclude each other, where members sample; else 1
    rule_ : the fitted decision rule
    standard_errors_ : of the weights, with ``intervals`` or draws; NaN for words that have none
    draws_ : the posterior as ``Draws`` where members sample, else None
    prior_table_ : the prior as it was read; None without one
    prior_weight_ : how far each label follows the prior; None without one
    prior_audit_ : what became of the prior of each word, in the first classifier; the most surprising first
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
        classifier: BayesLinearClassifier | Sequence[BayesLinearClassifier] | None = None,
        rule: str | Rule = "auto",
        prior: WordPriors | str | Path | None = None,
        prior_weight: float | str = "auto",
        calibrate: bool = False,
        class_weight: Any = None,
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
        self.classifier = classifier
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
        sampling: SamplingWatch | None = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> TextCategorizer:
        """Learn from texts and their labels: one label each, a list of labels each, or an indicator matrix.

        A text counts ``sample_weight`` times for the classifiers and the pool; the decision rule and the held-out
        figures count it once, or not at all where its weight is 0.

        ``groups``, one value per text, keeps texts of one group (an author, a thread, a patient) in one fold of the
        cross-validation, so that figures and thresholds are of texts of other groups than those learnt from.

        ``sampling`` is told how it goes where members sample, and may resume what was interrupted, see
        ``textbayes.store.checkpoint.RunFolder``.
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
        watch = sampling or SamplingWatch()
        training = Training(self, counts, indicator, space, report, watch, weight, grouped)
        members = training.members()
        if sampling is not None:
            watch.begin(space.column_names, training.mark(members, table))
        check_members_can_refit(members, self.refit_by)
        pooling = make_pooling(members, space, self.average, weight, self.calibrate)
        knowledge = None if table is None else training.knowledge(table, members[0], self.vectorizer_)
        held_out, learnable = training.out_of_fold(members, pooling, knowledge)
        pool = pooling.fit(held_out, indicator, learnable)
        if knowledge is not None and self.prior_weight == "auto" and knowledge.weight.any():
            # Weights were chosen label by label with one member; what counts is the pool, and labels side by side.
            without, _ = training.out_of_fold(members, pooling, None, "without the prior, ")
            pool_without = pooling.fit(without, indicator, learnable)
            losses = [
                pooling.loss(said, weights, indicator, learnable)
                for said, weights in ((held_out, pool), (without, pool_without))
            ]
            if losses[0] >= losses[1]:
                knowledge, held_out, pool = knowledge.turned_down(), without, pool_without
        sharpness = pooling.sharpness(held_out, pool, indicator, learnable)
        calibration = pooling.calibration(held_out, pool, indicator, learnable)
        proba = pooling.probabilities(calibration * held_out, pool, sharpness)
        rule.fit(proba, indicator & learnable)
        report("fitting all texts", 0, 1)
        members = [member.set_params(intervals=self.intervals) for member in members]
        self.weighting_, fitted = training.all_texts(members, knowledge)
        self.prior_table_, self.prior_weight_ = table, None
        self.prior_audit_, self.prior_advice_ = [], []
        if knowledge is not None:
            X, terms = self.weighting_.transform(counts), self.vectorizer_.get_feature_names_out()
            self.prior_weight_ = knowledge.weight
            self.prior_audit_ = knowledge.audit(fitted[0], members[0], X, indicator, terms, space, weight)
            self.prior_advice_ = knowledge.advice(counts, space)
        report("fitting all texts", 1, 1)
        self.standard_errors_, self.draws_ = self._spread(pool, fitted)
        # A pool of linear models is a linear model, and the mean of a mixture is the mean of the means.
        self.coef_ = sum(weight * member.coef_ for weight, member in zip(pool, fitted, strict=True))
        self.intercept_ = sum(weight * member.intercept_ for weight, member in zip(pool, fitted, strict=True))
        self.link_, self.pool_, self.sharpness_, self.rule_ = pooling.link, pool, sharpness, rule
        self.calibration_ = calibration
        # Honest for probabilities, a little kind to thresholds that were tuned on them.
        self.held_out_ = evaluate(indicator, proba, rule.decide(proba), space.class_names, kind=space.kind)
        self.held_out_proba_, self.label_counts_ = proba, space.counts(indicator)
        self.fingerprints_ = text_fingerprints(texts)
        self.label_space_, self.classes_ = space, space.classes
        return self

    def _spread(self, pool: FloatArray, fitted: list[BayesLinearClassifier]) -> tuple[FloatArray | None, Draws | None]:
        """Standard errors of the pool's weights, where they are known, and its draws, where it has some."""
        if fitted[0].draws_ is not None:
            members = [drawn(member) for member in fitted]
            return mixture_standard_errors(pool, members), pooled_draws(pool, members, self.keep_draws)
        if not self.intervals:
            return None, None
        known = [member.approximation_ for member in fitted if member.approximation_ is not None]
        return pooled_standard_errors(pool, known), None

    # -- use ------------------------------------------------------------------------------------------------------
    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions in one pass; one column per label, for two classes that of the second alone."""
        check_is_fitted(self, "coef_")
        X = self._features(texts)
        if self.draws_ is not None and self.average:
            proba = shared_out(self.draws_.probability(X, self.link_), self.label_space_, self.sharpness_)
        else:
            proba = at_the_mean(self._predictor(X), self.link_, self.label_space_, self.sharpness_)
        return Assessment(proba, self.rule_.decide(proba), self._known_words(X))

    def decision_function(self, texts: Iterable[str]) -> FloatArray:
        """Log-odds of every label by itself, in the order of ``classes_``; for two classes a vector of the second's."""
        check_is_fitted(self, "coef_")
        X = self._features(texts)
        if self.draws_ is not None and self.average:
            log_odds = np.asarray(special.logit(self.draws_.probability(X, self.link_)))
        else:
            log_odds = self.link_.log_odds(self._predictor(X))
        return log_odds[:, 0] if self.label_space_.kind == "binary" else log_odds

    def _features(self, texts: Iterable[str]) -> Any:
        return self.weighting_.transform(self.vectorizer_.transform(as_texts(texts)))

    def _predictor(self, X: Any) -> FloatArray:
        """The linear predictors that probabilities are made of, calibrated where that was asked for."""
        return np.asarray(self.calibration_ * (np.asarray(X @ self.coef_.T) + self.intercept_))

    def _known_words(self, X: Any) -> IntArray:
        """How many different words of each text have a weight for some label."""
        return np.asarray((X != 0.0) @ (self.coef_ != 0.0).any(axis=0).astype(np.int64))

    def predict_interval(self, texts: Iterable[str], level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval that holds each label's own probability with probability ``level``, from draws.

        One column per label, for two classes that of the second. Where classes exclude each other, an interval is that
        of one label against all others, while the probabilities of ``predict_proba`` are shared out among them.
        """
        check_is_fitted(self, "coef_")
        if self.draws_ is None:
            raise InputError("this model has no draws to take intervals from; train it with inference='gibbs'")
        return self.draws_.probability_interval(self._features(texts), self.link_, level)

    def predict_proba(self, texts: Iterable[str]) -> FloatArray:
        """Probability of each class, in the order of ``classes_``; rows add up to one unless labels are many."""
        proba = self.assess(texts).proba
        return np.hstack([1.0 - proba, proba]) if self.label_space_.kind == "binary" else proba

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
        """What a model file holds: a JSON-able description and named arrays."""
        check_is_fitted(self, "coef_")
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
