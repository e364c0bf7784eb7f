"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.core.validation import check_same_length
from textbayes.decide import Rule, make_rule, stratified_folds
from textbayes.evaluate import evaluate
from textbayes.explain import Explanation, explain_column, mirror
from textbayes.linear import BayesLinearClassifier
from textbayes.links import make_link
from textbayes.pool import fit_pool, pooled_probabilities, probabilities
from textbayes.presets import default_classifiers, default_rule, default_vectorizer, default_weighting
from textbayes.select import scores, select_per_label
from textbayes.text import TermWeighting, TextVectorizer

Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)`` while a long job runs."""


class Assessment(NamedTuple):
    """What is thought of some texts: probabilities and decisions, one row per text, one column per label column."""

    proba: FloatArray
    decisions: BoolArray


class TextCategorizer(ClassifierMixin, BaseEstimator):
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
        Laplace prior and one with a Gaussian prior.
    rule : str, Rule or "auto"
        How probabilities become decisions (``textbayes.decide``); ``"auto"`` takes the likelier class for one label
        per text, and for many labels thresholds per label.
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
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    # -- training -------------------------------------------------------------------------------------------------
    def fit(self, texts: Iterable[str], labels: Any, progress: Progress | None = None) -> TextCategorizer:
        """Learn from texts and their labels: one label each, a list of labels each, or an indicator matrix."""
        texts, labels = _as_texts(texts), labels if sparse.issparse(labels) else _as_labels(labels)
        check_same_length(texts, "texts", labels, "labels")
        indicator, space = encode_labels(labels)
        report = progress or _silent
        report("reading words", 0, 1)
        self.vectorizer_ = default_vectorizer() if self.vectorizer is None else clone(self.vectorizer)
        counts = self.vectorizer_.fit_transform(texts)
        report("reading words", 1, 1)
        members = self._members()
        held_out, learnable = self._out_of_fold(members, counts, indicator, report)
        link = make_link(members[0].link)
        pool = fit_pool(held_out, indicator, link, space)
        rule = _make_rule(self.rule, space)
        proba = pooled_probabilities(held_out, pool, link, space)
        rule.fit(proba, indicator & learnable)
        report("fitting all texts", 0, 1)
        self.weighting_, fitted = self._fit_members(members, counts, indicator)
        report("fitting all texts", 1, 1)
        # A pool of linear models is a linear model.
        self.coef_ = sum(weight * member.coef_ for weight, member in zip(pool, fitted, strict=True))
        self.intercept_ = sum(weight * member.intercept_ for weight, member in zip(pool, fitted, strict=True))
        self.link_, self.pool_, self.rule_ = link, pool, rule
        self.held_out_ = _held_out_figures(indicator, proba, rule.decide(proba), space)
        self.label_space_, self.classes_ = space, space.classes
        return self

    def _members(self) -> list[BayesLinearClassifier]:
        given = self.classifier
        if given is None:
            members = default_classifiers()
        else:
            members = [clone(member) for member in (given if isinstance(given, (list, tuple)) else [given])]
        if len({make_link(member.link).spec for member in members}) != 1:
            raise InputError("pooled classifiers must share one link; give them all the same")
        for member in members:
            member.set_params(n_jobs=self.n_jobs if self.n_jobs is not None else member.n_jobs)
        return members

    def _fit_members(
        self, members: list[BayesLinearClassifier], counts: Any, indicator: BoolArray
    ) -> tuple[TermWeighting, list[BayesLinearClassifier]]:
        """Weights, words and one binary regression per column, whatever the kind of labels."""
        weighting = _make_weighting(self.weighting)
        X = weighting.fit_transform(counts)
        words = None
        if self.select is not None:
            result = scores.get(self.select)(X, indicator)
            words = select_per_label(result, k=self.select_k, threshold=self.select_threshold)
        return weighting, [clone(member).fit(X, sparse.csr_matrix(indicator), words=words) for member in members]

    def _out_of_fold(
        self, members: list[BayesLinearClassifier], counts: Any, indicator: BoolArray, report: Progress
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
            learnable[held_out] = indicator[~held_out].any(axis=0)
            weighting, fitted = self._fit_members(members, counts[~held_out], indicator[~held_out])
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
        decisions = self.assess(texts).decisions
        if self.label_space_.kind == "multilabel":
            return decisions.astype(int)
        if self.label_space_.kind == "binary":
            return self.classes_[decisions[:, 0].astype(int)]
        return self.classes_[decisions.argmax(axis=1)]

    def predict_labels(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The names of the labels decided on for each text: one, or none to several where labels are many."""
        return self.label_space_.decode(self.assess(texts).decisions)

    def explain(self, text: str, labels: Sequence[str] | None = None, top: int | None = None) -> list[Explanation]:
        """Why the text has its labels: each word's part in the log-odds, largest first.

        Without ``labels``, the labels decided on, or the likeliest where there is none. Either of two classes can be
        explained.
        """
        check_is_fitted(self, "coef_")
        counts = self.vectorizer_.transform(_as_texts([text]))
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
            return [self._column(label) for label in labels]
        if self.label_space_.kind == "binary":
            return [(0, not decisions[0])]
        chosen = np.flatnonzero(decisions)
        columns = chosen if len(chosen) else np.array([proba.argmax()])
        return [(int(j), False) for j in columns[np.argsort(-proba[columns], kind="stable")]]

    def top_words(self, label: str, k: int = 20) -> list[tuple[str, float]]:
        """The words with the largest weights for a label, by size, with their sign; either of two classes."""
        check_is_fitted(self, "coef_")
        column, mirrored = self._column(label)
        weights = -self.coef_[column] if mirrored else self.coef_[column]
        order = np.argsort(-np.abs(weights), kind="stable")[:k]
        names = self.vectorizer_.get_feature_names_out()
        return [(str(names[j]), float(weights[j])) for j in order if weights[j] != 0.0]

    def _column(self, label: str) -> tuple[int, bool]:
        """The column of a label, and whether it speaks of the other of two classes."""
        names, classes = self.label_space_.column_names, [str(name) for name in self.classes_]
        if str(label) not in classes:
            raise InputError(f"label {label!r} is not known; choose one of {', '.join(classes)}")
        return (names.index(str(label)), False) if str(label) in names else (0, True)

    # -- state: arrays and JSON -----------------------------------------------------------------------------------
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """What a model file holds: a JSON-able description and named arrays."""
        check_is_fitted(self, "coef_")
        vectorizer, vectorizer_arrays = self.vectorizer_.to_state()
        weighting, weighting_arrays = self.weighting_.to_state()
        space = self.label_space_
        meta = {
            "link": self.link_.spec,
            "labels": {"kind": space.kind, "classes": space.classes.tolist()},
            "rule": self.rule_.to_state(),
            "held_out": self.held_out_,
            "vectorizer": vectorizer,
            "weighting": weighting,
        }
        coef = sparse.csr_matrix(self.coef_)
        arrays = {"coef.data": coef.data, "coef.indices": coef.indices, "coef.indptr": coef.indptr}
        arrays |= {"intercept": self.intercept_, "pool": self.pool_}
        arrays |= {f"vectorizer.{name}": array for name, array in vectorizer_arrays.items()}
        arrays |= {f"weighting.{name}": array for name, array in weighting_arrays.items()}
        return meta, arrays

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> TextCategorizer:
        """The categorizer a state was taken from; it scores the same to the last bit."""

        def part(name: str) -> dict[str, AnyArray]:
            return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}

        model = cls()
        model.vectorizer_ = TextVectorizer.from_state(meta["vectorizer"], part("vectorizer"))
        model.weighting_ = TermWeighting.from_state(meta["weighting"], part("weighting"))
        model.label_space_ = LabelSpace(np.asarray(meta["labels"]["classes"]), meta["labels"]["kind"])
        model.classes_, model.link_ = model.label_space_.classes, make_link(meta["link"])
        model.rule_, model.held_out_ = Rule.from_state(meta["rule"]), dict(meta["held_out"])
        model.intercept_, model.pool_ = arrays["intercept"], arrays["pool"]
        shape = (len(model.intercept_), len(model.vectorizer_.get_feature_names_out()))
        coef = sparse.csr_matrix((arrays["coef.data"], arrays["coef.indices"], arrays["coef.indptr"]), shape=shape)
        model.coef_ = np.ascontiguousarray(coef.toarray().T).T
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
    if isinstance(texts, (str, bytes)):
        raise InputError("one text was given where a list of texts is needed; wrap it in a list: [text]")
    return list(texts)


def _as_labels(labels: Any) -> Any:
    if isinstance(labels, (str, bytes)) or labels is None:
        raise InputError(f"labels is {labels!r}; pass one label, or a list of labels, per text")
    return labels if isinstance(labels, np.ndarray) else list(labels)


def _silent(what: str, done: int, total: int) -> None:
    """No progress wanted."""
