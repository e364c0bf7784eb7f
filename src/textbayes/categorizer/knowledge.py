"""Prior knowledge of words for a ``TextCategorizer``: matched to its words, weighed, and audited."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from textbayes.categorizer.model_types import make_model
from textbayes.core.errors import InputError, did_you_mean, plural
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray, Matrix
from textbayes.knowledge import (
    MatchedPriors,
    WordPriors,
    match_priors,
    table_prior,
    with_words,
    words_of,
)
from textbayes.links import make_link
from textbayes.models.base import TextModel
from textbayes.models.linear.audit import AuditRow, audit_priors
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.text import HashingTextVectorizer, load_stop_words
from textbayes.tune.prior_weight import WeightChoice, choose_weight

UNTESTED = "not tested: none of its words is in the texts"
_SHOWN = 5  # names of what was not found, in a warning
_SIGNIFICANT = 1.96  # standard errors beyond which a change is not put down to chance


def what_held_out_says(weight: float, change: float, error: float) -> str:
    """What held-out texts say of knowledge followed with a weight, by the change of their log-loss and its error.

    >>> what_held_out_says(0.5, -0.121, 0.030), what_held_out_says(0.5, 0.131, 0.430)
    ('supported by held-out texts', 'used, but held-out texts are inconclusive')
    """
    if not weight > 0.0:
        return "not supported by held-out texts"
    if not abs(change) > _SIGNIFICANT * error:
        return "used, but held-out texts are inconclusive"
    return "supported by held-out texts" if change < 0.0 else "used, but contradicted by held-out texts"


class Advice(NamedTuple):
    """Use that was made of a prior table for one label.

    ``weight`` is how far it is followed, and ``why`` the reason in words. ``words`` are those of the table that the
    model has, ``not_in_texts`` those of them that no training text has. ``change`` is what the held-out log-loss of the
    label becomes at the weight ``tried``, as a share of that without the table (below 0 is a gain), give or take
    ``error``; NaN where nothing was tried or no held-out text tests it.
    """

    label: str
    weight: float
    why: str
    words: int
    not_in_texts: int
    tried: float
    change: float
    error: float


class Knowledge(NamedTuple):
    """A table matched to the words and labels of a model, how far each label follows it, and figures behind it.

    ``told`` says that the weight is the user's; else it was chosen on held-out texts: label by label, with the figures
    of ``choice``, or for all labels at once. ``by_view`` is the table in the words of each view of an automatic
    training, whose regressions it informs; ``matched`` is that of the first view.
    """

    matched: MatchedPriors
    weight: FloatArray
    choice: WeightChoice | None = None
    pool_agrees: bool = True
    told: bool = False
    by_view: Sequence[MatchedPriors] | None = None

    def applies_to(self, model: TextModel, views: Sequence[int]) -> bool:
        """Whether a model that reads these views has the table as its prior."""
        if self.by_view is None:
            return True
        return model.weighs_prior_by_label and any(len(self.by_view[v].row) for v in views)

    def with_prior(self, model: TextModel, features: Features, views: Sequence[int] = (0,)) -> TextModel:
        """A copy of a model that reads these views, not fitted, that knows what the table says."""
        if not self.weight.any() or not self.applies_to(model, views):
            return model
        matched = self.matched if self.by_view is None else MatchedPriors.side_by_side([self.by_view[v] for v in views])
        return model.with_prior(matched, features, self.weight)

    def with_zero_weight(self) -> Knowledge:
        """The same table, followed by no label, since the pool of all members gains nothing by it."""
        return self._replace(weight=np.zeros_like(self.weight), pool_agrees=False)

    def audit(
        self,
        fitted: TextModel,
        member: Any,
        features: Features,
        indicator: BoolArray,
        terms: AnyArray,
        space: LabelSpace,
        sample_weight: FloatArray | None,
    ) -> list[AuditRow]:
        """The prior of every word of the table as it was given, however far it is followed, and the posterior.

        ``fitted`` is the first member, ``member`` the same without the table. Whether the texts contradict a prior is a
        question to a regression: of a model of another kind the posterior is its own, and a logistic regression that
        knows the same is asked.

        Parameters
        ----------
        fitted : TextModel
            The model that learnt with the table.
        member : estimator
            The one it was fitted from.
        features : Features
            The training texts.
        indicator : boolean array (n_docs, n_columns)
        terms : array (n_features,)
            The words of the columns.
        space : LabelSpace
        sample_weight : array (n_docs,) or None
        """
        if not isinstance(fitted, BayesLinearClassifier):
            return self.audit_by_regression(
                fitted.word_weights().weights, features, indicator, terms, space, sample_weight
            )
        return self._audit(fitted, member, features, indicator, terms, space, sample_weight)

    def audit_by_regression(
        self,
        weights: FloatArray,
        features: Features,
        indicator: BoolArray,
        terms: AnyArray,
        space: LabelSpace,
        sample_weight: FloatArray | None,
    ) -> list[AuditRow]:
        """The audit of a model that is no regression: one that knows the same is asked what the texts contradict.

        Parameters
        ----------
        weights : array (n_columns, n_features)
            The model's own weights of the words, which are the posterior of the audit.
        features, indicator, terms, space, sample_weight
            As for :meth:`audit`.
        """
        member = make_model("linear")
        fitted: Any = self.with_prior(member, features)
        asked = fitted.fit(features.weights, sparse.csr_matrix(indicator), sample_weight=sample_weight)
        column, told = {word: j for j, word in enumerate(terms)}, []
        for row in self._audit(asked, member, features, indicator, terms, space, sample_weight):
            posterior = float(weights[space.column_names.index(row.label), column[row.word]])
            told.append(row._replace(posterior=posterior, shift=(posterior - row.prior_mean) / row.prior_scale))
        return told

    def _audit(
        self, asked: BayesLinearClassifier, member: Any, features: Features, indicator: BoolArray, terms: AnyArray,
        space: LabelSpace, sample_weight: FloatArray | None,
    ) -> list[AuditRow]:  # fmt: skip
        default = make_prior(member.prior, member.scale, member.mean, member.sign)
        given = table_prior(self.matched, default, features.weights, link=make_link(member.link))
        return audit_priors(
            asked, features.weights, indicator, self.matched, list(terms), space, prior=given,
            sample_weight=sample_weight,
        )  # fmt: skip

    def advice(self, counts: Any, space: LabelSpace) -> list[Advice]:
        """Use that was made of the table, for each label that it speaks of, given ``counts`` of the training texts."""
        in_texts = np.asarray(counts.sum(axis=0)).ravel() > 0
        told = []
        for label in np.unique(self.matched.label):
            columns = self.matched.column[self.matched.label == label]
            followed = float(self.weight[label])
            missing = int((~in_texts[columns]).sum())
            name = space.column_names[label]
            untested = missing == len(columns) and not self.told
            why = UNTESTED if untested else self._why(label)
            told.append(Advice(name, followed, why, len(columns), missing, *self._figures(label)))
        return told

    def _why(self, label: int) -> str:
        if self.told:
            return "as requested"
        if self.choice is None:
            return "supported by held-out texts" if self.pool_agrees else "not supported by held-out texts"
        if self.choice.weight[label] > 0.0 and not self.pool_agrees:
            return "not used: it does not improve the ensemble"
        if np.isinf(self.choice.error[:, label]).any():
            return "no held-out text tests it: as for the other labels together"
        return what_held_out_says(self.choice.weight[label], *self._figures(label)[1:])

    def _figures(self, label: int) -> tuple[float, float, float]:
        """Weight, change and error at the weight chosen, or where that is 0 at the best of the others."""
        if self.choice is None or np.isinf(self.choice.error[:, label]).any():
            return np.nan, np.nan, np.nan
        grid, change, error = self.choice.grid, self.choice.change[:, label], self.choice.error[:, label]
        at = int(np.flatnonzero(grid == self.choice.weight[label])[0]) or 1 + int(change[1:].argmin())
        return float(grid[at]), float(change[at]), float(error[at])


def prior_advice(
    known: Knowledge, counts: Any, losses: FloatArray, without: FloatArray, label_seen: BoolArray, space: LabelSpace
) -> list[Advice]:
    """Use that was made of the file for each label that it speaks of.

    Parameters
    ----------
    known : Knowledge
        The file, and the weight that it has in the pool.
    counts : CSR matrix (n_docs, n_features)
        Counts of the words that it speaks of, among others.
    losses, without : arrays (n_docs, n_columns)
        Log-loss of every held-out decision in the pool, and in one without the file.
    label_seen : boolean array (n_docs, n_columns)
        False where a held-out decision means nothing.
    space : LabelSpace
    """
    rows = []
    for row in known.advice(counts, space):
        label = space.column_names.index(row.label)
        used = label_seen[:, label]
        tested = used.sum() > 1 and without[used, label].mean() > 0.0
        change = error = np.nan
        if tested:
            gap, base = losses[used, label] - without[used, label], float(without[used, label].mean())
            change, error = float(gap.mean()) / base, float(gap.std(ddof=1) / np.sqrt(used.sum())) / base
        why = what_held_out_says(row.weight, change, error) if tested else "no held-out text tests it"
        why = UNTESTED if row.why == UNTESTED else why
        rows.append(row._replace(why=why, tried=row.weight, change=change, error=error))
    return rows


def check_prior(prior: Any, prior_weight: Any, vectorizer: Any) -> None:
    """Refuse what cannot be used before the long work begins."""
    if prior is None:
        return
    if not isinstance(prior, (WordPriors, str, Path)):
        raise InputError(f"prior is a {type(prior).__name__}; pass WordPriors or the path of a prior file")
    if isinstance(vectorizer, HashingTextVectorizer):
        raise InputError("a prior speaks of words by name, which hashing forgets; use a TextVectorizer")
    if isinstance(prior_weight, str) and prior_weight == "auto":
        return
    if not isinstance(prior_weight, numbers.Real) or not 0.0 <= float(prior_weight) <= 1.0:
        raise InputError(f"prior_weight={prior_weight!r} is not usable; pass 'auto' or a number from 0 to 1")


def read_prior(prior: WordPriors | str | Path) -> WordPriors:
    """The table, read where a path was given."""
    return prior if isinstance(prior, WordPriors) else WordPriors.read(str(prior))


def keep_named_words(table: WordPriors, vectorizer: Any) -> None:
    """Take the words that a table names off the stop list of a vectorizer that is not fitted yet."""
    if getattr(vectorizer, "stop_words", None) is None:
        return
    left_out = load_stop_words(vectorizer.stop_words)
    named = {row.word.lower() for row in table}
    if not named.isdisjoint(left_out):
        vectorizer.set_params(stop_words=[word for word in left_out if word not in named])


def words_known(table: WordPriors, vectorizer: Any) -> list[str]:
    """The words that a table speaks of and a fitted vectorizer has not met, as it would cut and stem them."""
    known = vectorizer.vocabulary_
    return [word for word in with_words(known, table, words_of(vectorizer)) if word not in known]


def match_knowledge(table: WordPriors, vectorizer: Any, space: LabelSpace) -> MatchedPriors:
    """Find the table's words and labels in the model; labels and words that are not found are warned of."""
    matched = match_priors(table, list(vectorizer.get_feature_names_out()), space, words_of(vectorizer))
    for what, names in (("label", matched.unknown_labels), ("word", matched.unknown_words)):
        if names:
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            if what == "label":
                hint = did_you_mean(names[0], map(str, space.classes)) if len(names) == 1 else ""
                shown += f"{hint or '.'} {'Its' if len(names) == 1 else 'Their'} words are ignored"
            warnings.warn(
                f"the prior names {plural(len(names), what)} that the model does not have: {shown}",
                UserWarning,
                stacklevel=4,
            )
    return matched


def choose_prior_weight(
    matched: MatchedPriors,
    member: BayesLinearClassifier,
    X: Matrix | ArrayLike,
    indicator: BoolArray,
    n_folds: int,
    random_state: int,
    sample_weight: FloatArray | None = None,
    groups: Iterable[Hashable] | None = None,
    copies: IntArray | None = None,
) -> Knowledge:
    """Choose by cross-validation how far a linear model follows the prior table, label by label.

    Parameters
    ----------
    matched : MatchedPriors
        The table, found in the model's words and labels.
    member : BayesLinearClassifier
        The model to try the table with, not fitted.
    X : array or sparse matrix (n_docs, n_features)
    indicator : boolean array (n_docs, n_columns)
    n_folds, random_state : int
        The cross-validation and its seed.
    sample_weight : array (n_docs,), optional
    groups, copies : arrays (n_docs,), optional
        Documents of one group share a fold, and so do copies of one text.
    """
    chosen = choose_weight(
        member, X, indicator, matched, n_folds=n_folds, random_state=random_state, sample_weight=sample_weight,
        groups=groups, copies=copies,
    )  # fmt: skip
    return Knowledge(matched, chosen.weight, chosen)
