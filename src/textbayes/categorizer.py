"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from textbayes.categorizer_knowledge import (
    Knowledge,
    check_prior,
    match_knowledge,
    read_prior,
    weigh_knowledge,
    words_known,
)
from textbayes.categorizer_state import VECTORIZERS, restore, state_of
from textbayes.categorizer_words import ExplainsWords
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.core.validation import check_same_length
from textbayes.decide import Rule, make_rule, stratified_folds
from textbayes.evaluate import evaluate
from textbayes.intervals import pooled_standard_errors
from textbayes.knowledge import WordPriors
from textbayes.linear import BayesLinearClassifier
from textbayes.links import make_link
from textbayes.pool import fit_pool, pool_loss, pooled_probabilities, probabilities
from textbayes.presets import default_classifiers, default_rule, default_vectorizer, default_weighting
from textbayes.select import scores, select_per_label
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.settle import settled

Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)`` while a long job runs."""


class Assessment(NamedTuple):
    """What is thought of some texts: probabilities and decisions, one row per text, one column per label column."""

    proba: FloatArray
    decisions: BoolArray


class TextCategorizer(ExplainsWords, ClassifierMixin, BaseEstimator):
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
        The model. Several of one link are pooled: their linear predictors are added with weights that fit held-out
        texts best, which averages their errors and calibrates them. The default pools a logistic regression with a
        Laplace prior and one with a Gaussian prior. A ``BayesLinearClassifierCV`` looks for its scale once, on all
        texts.
    rule : str, Rule or "auto"
        How probabilities become decisions (``textbayes.decide``); ``"auto"`` takes the likelier class for one label
        per text, and for many labels thresholds per label.
    prior : WordPriors or path, optional
        What is known of words before any text: means, scales, families and signs (``textbayes.knowledge``).
    prior_weight : "auto" or float
        How far to follow it, from 0 (not at all) to 1; "auto" chooses for each label by cross-validation with the
        first classifier, so that bad advice is turned down.
    intervals : bool
        Keep standard errors of the weights (``word_intervals``). Those of a pool are upper bounds: its members learn
        from the same texts and are taken to err together.
    cv : int
        Folds for the held-out probabilities that pool and rule learn from.
    random_state : int
        Of the folds.
    n_jobs : int or None
        Threads over labels; None is 1, −1 all cores.

    Attributes
    ----------
    coef_, intercept_ : the pooled linear model, one row per label (one for two classes)
    pool_ : weights of the members
    rule_ : the fitted decision rule
    standard_errors_ : of the weights, with ``intervals``; NaN for words that have none
    prior_weight_ : how far each label follows the prior; None without one
    prior_audit_ : what became of the prior of each word, in the first classifier; the most surprising first
    held_out_ : figures of the cross-validation: micro and macro F1 or accuracy, log-loss
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
        intervals: bool = False,
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
        self.intervals = intervals
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- training -------------------------------------------------------------------------------------------------
    def fit(self, texts: Iterable[str], labels: Any, progress: Progress | None = None) -> TextCategorizer:
        """Learn from texts and their labels: one label each, a list of labels each, or an indicator matrix."""
        texts = _as_texts(texts)
        self._check_settings()
        indicator, space = encode_labels(labels)
        check_same_length(texts, "texts", indicator, "labels")
        report = progress or _silent
        report("reading words", 0, 1)
        self.vectorizer_ = default_vectorizer() if self.vectorizer is None else clone(self.vectorizer)
        counts = self.vectorizer_.fit_transform(texts)
        table = None if self.prior is None else read_prior(self.prior)
        if table is not None and (missing := words_known(table, self.vectorizer_)):
            # No training text has them, but later ones may: their weights stay at the prior mean.
            counts = self.vectorizer_.add_terms(missing).transform(texts)
        report("reading words", 1, 1)
        members = self._settled_members(counts, indicator, report)
        knowledge = None if table is None else self._knowledge(table, members[0], counts, indicator, space, report)
        held_out, learnable = self._out_of_fold(members, counts, indicator, knowledge, report)
        link = make_link(members[0].link)
        pool = fit_pool(held_out, indicator, link, space, learnable)
        if knowledge is not None and self.prior_weight == "auto" and knowledge.weight.any():
            # Weights were chosen label by label with one member; what counts is the pool, and labels side by side.
            without, _ = self._out_of_fold(members, counts, indicator, None, report)
            pool_without = fit_pool(without, indicator, link, space, learnable)
            losses = [
                pool_loss(eta, weights, indicator, link, space, learnable)
                for eta, weights in ((held_out, pool), (without, pool_without))
            ]
            if losses[0] >= losses[1]:
                knowledge, held_out, pool = knowledge.turned_down(), without, pool_without
        rule = _make_rule(self.rule, space)
        proba = pooled_probabilities(held_out, pool, link, space)
        rule.fit(proba, indicator & learnable)
        report("fitting all texts", 0, 1)
        members = [member.set_params(intervals=self.intervals) for member in members]
        self.weighting_, fitted = self._fit_members(members, counts, indicator, knowledge)
        self.prior_weight_, self.prior_audit_ = None, []
        if knowledge is not None:
            X, terms = self.weighting_.transform(counts), self.vectorizer_.get_feature_names_out()
            self.prior_weight_ = knowledge.weight
            self.prior_audit_ = knowledge.audit(fitted[0], X, indicator, terms, space)
        report("fitting all texts", 1, 1)
        self.standard_errors_ = None
        if self.intervals:
            known = [member.approximation_ for member in fitted if member.approximation_ is not None]
            self.standard_errors_ = pooled_standard_errors(pool, known)
        # A pool of linear models is a linear model.
        self.coef_ = sum(weight * member.coef_ for weight, member in zip(pool, fitted, strict=True))
        self.intercept_ = sum(weight * member.intercept_ for weight, member in zip(pool, fitted, strict=True))
        self.link_, self.pool_, self.rule_ = link, pool, rule
        self.held_out_ = _held_out_figures(indicator, proba, rule.decide(proba), space)
        self.label_space_, self.classes_ = space, space.classes
        return self

    def _check_settings(self) -> None:
        if not isinstance(self.cv, numbers.Integral) or self.cv < 2:
            raise InputError(f"cv={self.cv!r} is not usable; pass a whole number of folds from 2 on")
        if self.select is None and (self.select_k is not None or self.select_threshold is not None):
            raise InputError("select_k and select_threshold choose words by a score; name it with select")
        if self.vectorizer is not None and type(self.vectorizer).__name__ not in VECTORIZERS:
            raise InputError(
                f"vectorizer is a {type(self.vectorizer).__name__}; pass a textbayes {' or '.join(VECTORIZERS)}, which "
                "can be written to a model file"
            )
        if not isinstance(self.weighting, TermWeighting | str | None):
            raise InputError(
                f"weighting={self.weighting!r} is not usable; pass the name of a scheme, such as 'tfidf1', or a "
                "TermWeighting"
            )
        if not isinstance(self.random_state, numbers.Integral) or self.random_state < 0:
            raise InputError(f"random_state={self.random_state!r} is not usable; pass a whole number from 0 on")
        check_prior(self.prior, self.prior_weight, self.vectorizer)

    def _members(self) -> list[BayesLinearClassifier]:
        given = default_classifiers() if self.classifier is None else self.classifier
        members = list(given) if isinstance(given, Sequence) else [given]
        if not members or not all(isinstance(member, BayesLinearClassifier) for member in members):
            raise InputError(f"classifier={given!r} is not usable; pass a BayesLinearClassifier or a list of them")
        if len({make_link(member.link).spec for member in members}) != 1:
            raise InputError("pooled classifiers must share one link; give them all the same")
        jobs = {} if self.n_jobs is None else {"n_jobs": self.n_jobs}
        return [clone(member).set_params(**jobs) for member in members]

    def _settled_members(self, counts: Any, indicator: BoolArray, report: Progress) -> list[BayesLinearClassifier]:
        """The members; those that look for their scale have found it, once, on all texts."""
        members = self._members()
        if not any(isinstance(member, BayesLinearClassifierCV) for member in members):
            return members
        X = _make_weighting(self.weighting).fit_transform(counts)
        found = []
        for number, member in enumerate(members):
            report("looking for scales", number, len(members))
            found.append(settled(member, X, sparse.csr_matrix(indicator)))
        report("looking for scales", len(members), len(members))
        return found

    def _knowledge(
        self,
        table: WordPriors,
        member: BayesLinearClassifier,
        counts: Any,
        indicator: BoolArray,
        space: LabelSpace,
        report: Progress,
    ) -> Knowledge:
        report("weighing what is known", 0, 1)
        matched = match_knowledge(table, self.vectorizer_, space)
        X = _make_weighting(self.weighting).fit_transform(counts)
        n_folds = min(self.cv, len(indicator))
        known = weigh_knowledge(matched, self.prior_weight, member, X, indicator, n_folds, self.random_state)
        report("weighing what is known", 1, 1)
        return known

    def _fit_members(
        self, members: list[BayesLinearClassifier], counts: Any, indicator: BoolArray, knowledge: Knowledge | None
    ) -> tuple[TermWeighting, list[BayesLinearClassifier]]:
        """Weights, words and one binary regression per column, whatever the kind of labels."""
        weighting = _make_weighting(self.weighting)
        X = weighting.fit_transform(counts)
        words = None
        if self.select is not None:
            result = scores.get(self.select)(X, indicator)
            words = select_per_label(result, k=self.select_k, threshold=self.select_threshold)
        fresh = [clone(member) if knowledge is None else knowledge.inform(member, X) for member in members]
        return weighting, [member.fit(X, sparse.csr_matrix(indicator), words=words) for member in fresh]

    def _out_of_fold(
        self,
        members: list[BayesLinearClassifier],
        counts: Any,
        indicator: BoolArray,
        knowledge: Knowledge | None,
        report: Progress,
    ) -> tuple[FloatArray, BoolArray]:
        """Linear predictors (n_members, n_docs, n_columns) of each text by models that did not see it.

        Weights and words are chosen anew in each fold, so that nothing of the held-out texts leaks in. The second array
        (n_docs, n_columns) is False where the other folds held no text of a label: its score there means nothing, and a
        threshold that tried to include it would accept everything.
        """
        n_folds = min(self.cv, len(indicator))
        fold = stratified_folds(indicator, n_folds, self.random_state)
        eta = np.empty((len(members), *indicator.shape))
        learnable = np.empty(indicator.shape, dtype=np.bool_)
        for k in range(n_folds):
            report("cross-validation", k, n_folds)
            held_out = fold == k
            learnable[held_out] = indicator[~held_out].any(axis=0) & ~indicator[~held_out].all(axis=0)
            weighting, fitted = self._fit_members(members, counts[~held_out], indicator[~held_out], knowledge)
            X = weighting.transform(counts[held_out])
            for m, member in enumerate(fitted):
                eta[m, held_out] = member.linear_predictor(X)
        report("cross-validation", n_folds, n_folds)
        return eta, learnable

    # -- use ------------------------------------------------------------------------------------------------------
    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions in one pass; one column per label, for two classes that of the second alone."""
        check_is_fitted(self, "coef_")
        X = self.weighting_.transform(self.vectorizer_.transform(_as_texts(texts)))
        eta = np.asarray(X @ self.coef_.T) + self.intercept_
        proba = probabilities(eta, self.link_, self.label_space_)
        return Assessment(proba, self.rule_.decide(proba))

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


def _held_out_figures(
    indicator: BoolArray, proba: FloatArray, decisions: BoolArray, space: LabelSpace
) -> dict[str, float]:
    """What cross-validation says of the model: honest for probabilities, a little kind to tuned thresholds."""
    summary = evaluate(indicator, proba, decisions, space.column_names, kind=space.kind)
    return {name: float(summary[name]) for name in ("accuracy", "micro_f1", "macro_f1", "log_loss") if name in summary}


def _make_weighting(weighting: TermWeighting | str | None) -> TermWeighting:
    if weighting is None:
        return default_weighting()
    return TermWeighting(weighting) if isinstance(weighting, str) else clone(weighting)


def _make_rule(rule: str | Rule, space: LabelSpace) -> Rule:
    return default_rule(space) if isinstance(rule, str) and rule == "auto" else make_rule(rule)


def _as_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, (str, bytes)) or texts is None:
        raise InputError(
            f"texts is {_shortened(texts)} where a list of texts is needed; wrap one text in a list: [text]"
        )
    return list(texts)


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _silent(what: str, done: int, total: int) -> None:
    """No progress wanted."""
