"""What a ``TextCategorizer`` is told of words, matched to its own, weighed, and audited."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import AnyArray, BoolArray, FloatArray
from textbayes.knowledge import (
    AuditRow,
    MatchedPriors,
    WordPriors,
    audit_priors,
    choose_weight,
    informed,
    match_priors,
    with_words,
    words_of,
)
from textbayes.linear import BayesLinearClassifier
from textbayes.text import HashingTextVectorizer

_SHOWN = 5  # names of what was not found, in a warning


class Knowledge(NamedTuple):
    """A table matched to the words and labels of a model, and how far each label follows it."""

    matched: MatchedPriors
    weight: FloatArray

    def inform(self, member: BayesLinearClassifier, X: Any) -> BayesLinearClassifier:
        """A copy of a member, not fitted, that knows what the table says."""
        return informed(member, self.matched, X, self.weight)

    def turned_down(self) -> Knowledge:
        """The same table, followed by no label."""
        return self._replace(weight=np.zeros_like(self.weight))

    def audit(
        self, member: BayesLinearClassifier, X: Any, indicator: BoolArray, terms: AnyArray, space: LabelSpace
    ) -> list[AuditRow]:
        """Prior and posterior of every word of the table, of labels that follow it."""
        return audit_priors(member, X, indicator, self.matched, list(terms), space)


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


def words_known(table: WordPriors, vectorizer: Any) -> list[str]:
    """The words that a table speaks of and a fitted vectorizer has not met, as it would cut and stem them."""
    known = vectorizer.vocabulary_
    return [word for word in with_words(known, table, words_of(vectorizer)) if word not in known]


def match_knowledge(table: WordPriors, vectorizer: Any, space: LabelSpace) -> MatchedPriors:
    """Find the table's words and labels in the model; labels and words that are not found are warned of."""
    matched = match_priors(table, list(vectorizer.get_feature_names_out()), space, words_of(vectorizer))
    for what, names in (("labels", matched.unknown_labels), ("words", matched.unknown_words)):
        if names:
            shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
            warnings.warn(
                f"the prior speaks of {len(names)} {what} that the model does not have: {shown}",
                UserWarning,
                stacklevel=4,
            )
    return matched


def weigh_knowledge(
    matched: MatchedPriors,
    prior_weight: float | str,
    member: BayesLinearClassifier,
    X: Any,
    indicator: BoolArray,
    n_folds: int,
    random_state: int,
) -> Knowledge:
    """How far to follow the table: as told, or by cross-validation label by label."""
    if isinstance(prior_weight, str):
        chosen = choose_weight(member, X, indicator, matched, n_folds=n_folds, random_state=random_state)
        return Knowledge(matched, chosen.weight)
    return Knowledge(matched, np.full(matched.n_labels, float(prior_weight)))


def audit_state(rows: Sequence[AuditRow]) -> list[list[Any]]:
    """Rows as plain lists, for a model file."""
    return [list(row) for row in rows]


def restored_audit(rows: Any) -> list[AuditRow]:
    """The rows of a model file, each value made what it must be."""
    kinds = get_type_hints(AuditRow).values()  # str, float, int and bool make themselves of what they are given
    return [AuditRow(*(kind(value) for kind, value in zip(kinds, row, strict=True))) for row in rows]
