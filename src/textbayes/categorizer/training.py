"""Training of the members of a ``TextCategorizer``; words are chosen and weighed anew in each fold: nothing leaks."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer.knowledge import Knowledge, choose_prior_weight, match_knowledge
from textbayes.categorizer.pool import Pooling
from textbayes.categorizer.presets import default_models, default_weighting
from textbayes.core.errors import InputError
from textbayes.core.executor import spread
from textbayes.core.folds import joined_groups, label_seen, stratified_folds
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features, FittedModel
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kinds import FitOptions, kind_of, make_model
from textbayes.kinds.sampling import SamplingCallback, at_mode
from textbayes.kinds.settings import parameters_state
from textbayes.knowledge import WordPriors
from textbayes.lexical import takes_counts
from textbayes.select import scores, select_per_label
from textbayes.text import TermWeighting
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.classifier import finalised

_DECIDING = (
    "select", "select_k", "select_threshold", "cv", "random_state", "average", "refit_k", "refit_by", "prior_weight",
)  # fmt: skip


class Training:
    """The texts and labels of one fit and what is to be done with them.

    Parameters
    ----------
    settings : TextCategorizer
        Its parameters are read and nothing is changed.
    counts, lengths : CSR matrix (n_docs, n_features), array (n_docs,)
    indicator, space : labels
    report : Progress
    watch : SamplingCallback
    weight, groups : arrays (n_docs,) or None
    copies : array (n_docs,) or None
        The place of the first text that each is a copy of.
    """

    def __init__(
        self,
        settings: Any,
        counts: Any,
        lengths: FloatArray,
        indicator: BoolArray,
        space: LabelSpace,
        report: Progress,
        watch: SamplingCallback,
        weight: FloatArray | None = None,
        groups: IntArray | None = None,
        copies: IntArray | None = None,
    ) -> None:
        self._settings, self._counts, self._lengths = settings, counts, lengths
        self._indicator, self._space = indicator, space
        self._report, self._watch, self._weight = report, watch, weight
        self._groups, self._copies = groups, copies
        self._fold = self._folds(settings.cv, settings.random_state)
        self._n_folds = int(self._fold.max()) + 1  # fewer than asked for where groups or different texts are few

    def _folds(self, n_folds: int, random_state: int | None) -> IntArray:
        n_folds = min(n_folds, len(self._indicator))
        return stratified_folds(self._indicator, n_folds, random_state, self._groups, self._copies)

    def members(self) -> list[Any]:
        """The members, not fitted; those that look for their scale have found it, once, on all texts."""
        members = members_of(self._settings)
        jobs = {} if self._settings.n_jobs is None else {"n_jobs": self._settings.n_jobs}
        members = [clone(member).set_params(**_known(member, jobs)) for member in members]
        settings = self._settings
        for member in members:
            kind_of(member).check(member, settings.select, settings.refit_k, settings.refit_by)
        if not any(isinstance(member, BayesLinearClassifierCV) for member in members):
            return members
        X = make_weighting(self._settings.weighting).fit_transform(self._counts)
        found = []
        for number, member in enumerate(members):
            self._report("looking for scales", number, len(members))
            if not isinstance(member, BayesLinearClassifierCV):
                found.append(member)
                continue
            if isinstance(member.cv, int) and (self._groups is not None or self._copies is not None):
                member.set_params(cv=self._folds(member.cv, member.random_state))
            elif self._groups is not None:
                member.set_params(cv=self._fold)
            # A search is many fits: those of a member that samples are made at the mode.
            searched = finalised(at_mode(member), X, sparse.csr_matrix(self._indicator), self._weight)
            found.append(searched.set_params(inference=member.inference))
        self._report("looking for scales", len(members), len(members))
        return found

    def fingerprint(self, members: Sequence[Any], table: WordPriors | None) -> str:
        """A digest of the words, labels and settings that decide what members say, to know an interrupted run again."""
        digest = hashlib.sha256()
        arrays = [self._counts.data, self._counts.indices, self._counts.indptr, self._indicator, self._fold]
        told = [getattr(self._settings, name) for name in _DECIDING]
        told += [make_weighting(self._settings.weighting).get_params(), None if table is None else table.to_csv()]
        if self._weight is not None:
            told.append(self._weight.tolist())
        for member in members:
            described, own = parameters_state(member, "member", leave_out=("n_jobs", "intervals", "inference"))
            told += [described, kind_of(member).sampling_settings(member)]
            arrays += own.values()
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(json.dumps(told, default=str).encode())
        return digest.hexdigest()

    def knowledge(self, table: WordPriors, members: Sequence[Any], vectorizer: Any, pooling: Pooling) -> Knowledge:
        """A prior file matched to the words, and how far each label follows it.

        Parameters
        ----------
        table : WordPriors
        members : sequence of estimators
        vectorizer : the fitted vectorizer
        pooling : Pooling
        """
        self._report("weighing what is known", 0, 1)
        settings, first = self._settings, members[0]
        matched = match_knowledge(table, vectorizer, self._space)
        if settings.prior_weight != "auto":
            known = Knowledge(matched, np.full(self._space.n_columns, float(settings.prior_weight)), told=True)
        elif kind_of(first).weighs_prior_by_label:
            X = make_weighting(settings.weighting).fit_transform(self._counts)
            known = choose_prior_weight(
                matched, at_mode(first), X, self._indicator, self._n_folds, settings.random_state, self._weight,
                self._groups, self._copies,
            )  # fmt: skip
        else:
            # As far as the members, pooled, predict held-out texts best; whether at all is seen later.
            tried = [Knowledge(matched, np.full(self._space.n_columns, share)) for share in (1.0, 0.5)]
            losses = [self._loss(members, pooling, known) for known in tried]
            known = tried[int(np.argmin(losses))]
        self._report("weighing what is known", 1, 1)
        return known

    def _loss(self, members: Sequence[Any], pooling: Pooling, knowledge: Knowledge) -> float:
        held_out, learnable = self.out_of_fold(members, pooling, knowledge, f"prior at {knowledge.weight[0]:g}, ")
        return pooling.loss(held_out, pooling.fit(held_out, self._indicator, learnable), self._indicator, learnable)

    def out_of_fold(
        self, members: Sequence[Any], pooling: Pooling, knowledge: Knowledge | None, why: str = ""
    ) -> tuple[FloatArray, BoolArray]:
        """Score each text by members that did not see it, (n_members, n_docs, n_columns), as ``pooling`` asks.

        Weights and words are chosen anew in each fold, so that nothing of the held-out texts leaks in. The second array
        (n_docs, n_columns) is False where the other folds held no text of a label: its score there means nothing, and a
        threshold that tried to include it would accept everything.

        Parameters
        ----------
        members : sequence of estimators
        pooling : Pooling
        knowledge : Knowledge or None
            A prior table and how far to follow it.
        why : str
            A prefix for the names of the stages.
        """
        indicator, fold = self._indicator, self._fold
        held_out = self.room((len(members), *indicator.shape))
        names = [f"{why}fold {k + 1} of {self._n_folds}" for k in range(self._n_folds)]
        recalled = [self._watch.recall(name) for name in names]
        missing = [(k, names[k]) for k, known in enumerate(recalled) if known is None]
        found: Iterator[FloatArray]
        if any(kind_of(member).samples(member) for member in members):
            found = (self.score_fold(*one, members, pooling, knowledge) for one in missing)  # chains are spread instead
        else:
            whole = copy.copy(self)
            whole._report, whole._watch, whole._counts = silent, SamplingCallback(), None  # the counts travel apart
            found = spread(_score_fold, missing, whole, self._counts, members, pooling, knowledge)
        for k, (name, known) in enumerate(zip(names, recalled, strict=True)):
            self._report("cross-validation", k, self._n_folds)
            if known is None:
                known = next(found)
                self._watch.finish(name, known)
            held_out[:, fold == k] = known
        self._report("cross-validation", self._n_folds, self._n_folds)
        return held_out, label_seen(indicator, fold)

    def score_fold(
        self, k: int, name: str, members: Sequence[Any], pooling: Pooling, knowledge: Knowledge | None
    ) -> FloatArray:
        """Scores of the texts of one fold by members that learnt from the others, (n_members, n_texts, n_columns).

        Parameters
        ----------
        k : int
        name : str
            Of the stage.
        members, pooling, knowledge
            As for :meth:`out_of_fold`.
        """
        left_out = self._fold == k
        weighting, fitted = self._fit(members, ~left_out, knowledge, name)
        return self._scores(fitted, left_out, weighting, pooling)

    def room(self, shape: tuple[int, ...]) -> FloatArray:
        """An array for numbers of all texts, to be filled in."""
        return np.empty(shape)

    def _scores(
        self, fitted: Sequence[FittedModel], rows: BoolArray, weighting: TermWeighting, pooling: Pooling
    ) -> FloatArray:
        """Scores of some texts by every member, (n_members, n_rows, n_columns)."""
        features = self._features(rows, weighting)
        return np.stack([pooling.member_scores(member, features) for member in fitted])

    def all_texts(
        self, members: Sequence[Any], knowledge: Knowledge | None
    ) -> tuple[TermWeighting, list[FittedModel], Features]:
        """The members fitted on all texts, the weighting of words that they know, and the texts as they saw them."""
        rows = np.ones(len(self._indicator), dtype=np.bool_)
        weighting, fitted = self._fit(members, rows, knowledge, "all texts")
        return weighting, fitted, self._features(rows, weighting)

    def _features(self, rows: BoolArray, weighting: TermWeighting) -> Features:
        counts = self._counts if rows.all() else self._counts[rows]
        return Features(counts, weighting.transform(counts), self._lengths[rows])

    def _fit(
        self, members: Sequence[Any], rows: BoolArray, knowledge: Knowledge | None, stage: str
    ) -> tuple[TermWeighting, list[FittedModel]]:
        """Weights of words, words chosen, and every member fitted to some of the texts."""
        indicator = self._indicator[rows]
        counts = self._counts if rows.all() else self._counts[rows]
        weighting = make_weighting(self._settings.weighting)
        features = Features(counts, weighting.fit_transform(counts), self._lengths[rows])
        options = self._options(features, indicator, rows)
        fitted = []
        for number, member in enumerate(members, start=1):
            kind = kind_of(member)
            name = stage if len(members) == 1 else f"{stage}, model {number}"
            told = member if knowledge is None else knowledge.inform(member, features)
            fitted.append(kind.fit(told, features, indicator, self._space, replace(options, stage=name)))
        return weighting, fitted

    def _options(self, features: Features, indicator: BoolArray, rows: BoolArray) -> FitOptions:
        settings, words, last = self._settings, None, bool(rows.all())
        if settings.select is not None:
            function = scores.get(settings.select)
            result = function(features.counts if takes_counts(function) else features.weights, indicator)
            words = select_per_label(result, k=settings.select_k, threshold=settings.select_threshold)
        weight = None if self._weight is None else self._weight[rows]
        return FitOptions(
            weight, words, settings.intervals and last, settings.refit_k, settings.refit_by, last=last,
            watch=self._watch, groups=self._together(rows),
        )  # fmt: skip

    def _together(self, rows: BoolArray) -> IntArray | None:
        """For folds inside a fit: numbers of what shares a fold among some texts; None where every text is alone."""
        together = self._copies
        if self._groups is not None:
            together = joined_groups(self._groups, self._copies, self._n_folds)
        if together is None or len(np.unique(together[rows])) < 2:  # nothing to tell from another
            return None
        return together[rows]


def _score_fold(
    one: tuple[int, str], training: Training, counts: Any, members: Sequence[Any], pooling: Pooling,
    knowledge: Knowledge | None,
) -> FloatArray:  # fmt: skip
    whole = copy.copy(training)
    whole._counts = counts
    return whole.score_fold(*one, members, pooling, knowledge)


def members_of(settings: Any) -> list[Any]:
    """The estimators that a categorizer's ``model`` stands for: the default ones, one, or several to be pooled."""
    given = default_models() if settings.model is None else settings.model
    members = [make_model(one) for one in (given if isinstance(given, list | tuple) else [given])]
    if not members:
        raise InputError("model=[] is empty; pass a model, its name, or a list of some")
    if any(getattr(member, "class_weight", None) is not None for member in members):
        raise InputError("a model has a class_weight of its own; give it to the TextCategorizer instead")
    return members


def _known(member: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Of parameters those that an estimator has."""
    own = member.get_params(deep=False)
    return {name: value for name, value in parameters.items() if name in own}


def make_weighting(weighting: TermWeighting | str | None) -> TermWeighting:
    """The weighting as given, by name, or the default one; not fitted."""
    if weighting is None:
        return default_weighting()
    return TermWeighting(weighting) if isinstance(weighting, str) else clone(weighting).set_output(transform="default")
