"""How a ``TextCategorizer`` trains its members: words are chosen and weighed anew in each fold; nothing leaks in."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer.knowledge import Knowledge, match_knowledge, weigh_knowledge
from textbayes.categorizer.pool import Pooling, samples
from textbayes.categorizer.presets import default_classifiers, default_weighting
from textbayes.categorizer.sampling import SamplingWatch, at_mode, fit_member
from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.decide import stratified_folds
from textbayes.inference import make_inference
from textbayes.inference.base import judges_of
from textbayes.knowledge import WordPriors
from textbayes.lexical import takes_counts
from textbayes.links import make_link
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.refit import top_words
from textbayes.posterior.intervals import PRACTICAL_SIZE
from textbayes.priors import make_prior
from textbayes.select import scores, select_per_label
from textbayes.text import TermWeighting
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.settle import settled

_DECIDING = (
    "select", "select_k", "select_threshold", "cv", "random_state", "average", "refit_k", "refit_by", "prior_weight",
)  # fmt: skip
Report = Callable[[str, int, int], None]


class Training:
    """The texts and labels of one fit and what is to be done with them.

    ``settings`` is the categorizer, of which the parameters are read and nothing is changed.
    """

    def __init__(
        self,
        settings: Any,
        counts: Any,
        indicator: BoolArray,
        space: LabelSpace,
        report: Report,
        watch: SamplingWatch,
        weight: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> None:
        self._settings, self._counts, self._indicator, self._space = settings, counts, indicator, space
        self._report, self._watch, self._weight, self._groups = report, watch, weight, groups
        n_folds = min(settings.cv, len(indicator))
        self._fold = stratified_folds(indicator, n_folds, settings.random_state, groups)
        self._n_folds = int(self._fold.max()) + 1  # fewer than asked for where groups are few

    def members(self) -> list[BayesLinearClassifier]:
        """The members; those that look for their scale have found it, once, on all texts."""
        members = self._members()
        if not any(isinstance(member, BayesLinearClassifierCV) for member in members):
            return members
        X = make_weighting(self._settings.weighting).fit_transform(self._counts)
        found = []
        for number, member in enumerate(members):
            self._report("looking for scales", number, len(members))
            if self._groups is not None and isinstance(member, BayesLinearClassifierCV):
                member.set_params(cv=self._fold)
            # A search is many fits: those of a member that samples are made at the mode.
            searched = settled(at_mode(member), X, sparse.csr_matrix(self._indicator), self._weight)
            found.append(searched.set_params(inference=member.inference))
        self._report("looking for scales", len(members), len(members))
        return found

    def _members(self) -> list[BayesLinearClassifier]:
        given = default_classifiers() if self._settings.classifier is None else self._settings.classifier
        members = list(given) if isinstance(given, Sequence) else [given]
        if not members or not all(isinstance(member, BayesLinearClassifier) for member in members):
            raise InputError(f"classifier={given!r} is not usable; pass a BayesLinearClassifier or a list of them")
        if any(member.class_weight is not None for member in members):
            raise InputError("a classifier has a class_weight of its own; give it to the TextCategorizer instead")
        if len({make_link(member.link).spec for member in members}) != 1:
            raise InputError("pooled classifiers must share one link; give them all the same")
        jobs = {} if self._settings.n_jobs is None else {"n_jobs": self._settings.n_jobs}
        return [clone(member).set_params(**jobs) for member in members]

    def mark(self, members: list[BayesLinearClassifier], table: WordPriors | None) -> str:
        """A digest of the words, labels and settings that decide what members say, to know an interrupted run again."""
        digest = hashlib.sha256()
        grouped = [] if self._groups is None else [self._groups]
        for array in (self._counts.data, self._counts.indices, self._counts.indptr, self._indicator, *grouped):
            digest.update(np.ascontiguousarray(array).tobytes())
        told = [getattr(self._settings, name) for name in _DECIDING]
        told += [make_weighting(self._settings.weighting).get_params(), None if table is None else table.to_csv()]
        if self._weight is not None:
            told.append(self._weight.tolist())
        for member in members:
            prior = make_prior(member.prior, member.scale, member.mean, member.sign)
            told += [make_link(member.link).spec, prior.name, member.fit_intercept, member.intercept_scale]
            told += [np.asarray(value).tolist() for value in vars(prior).values()]
            sampler: Any = make_inference(member.inference, member.tol, member.max_iter, 1)
            if sampler.samples:
                plan = sampler.plan
                told += [plan.chains, plan.warmup, plan.thin, sampler.plain_settings]
        digest.update(json.dumps(told, default=str).encode())
        return digest.hexdigest()

    def knowledge(self, table: WordPriors, member: BayesLinearClassifier, vectorizer: Any) -> Knowledge:
        """A prior file matched to the words, and how far each label follows it."""
        if judges_of(member.inference) > 1:
            raise NotSupportedError(
                f"a prior file with judges={judges_of(member.inference)} is not supported: what is known of labels is "
                "not known of each judge; leave out the file, or use judges=1"
            )
        self._report("weighing what is known", 0, 1)
        settings = self._settings
        matched = match_knowledge(table, vectorizer, self._space)
        X = make_weighting(settings.weighting).fit_transform(self._counts)
        known = weigh_knowledge(
            matched, settings.prior_weight, at_mode(member), X, self._indicator, self._n_folds, settings.random_state,
            self._weight, self._groups,
        )  # fmt: skip
        self._report("weighing what is known", 1, 1)
        return known

    def out_of_fold(
        self, members: list[BayesLinearClassifier], pooling: Pooling, knowledge: Knowledge | None, why: str = ""
    ) -> tuple[FloatArray, BoolArray]:
        """What members that did not see a text say of it (n_members, n_docs, n_columns), as ``pooling`` asks.

        Weights and words are chosen anew in each fold, so that nothing of the held-out texts leaks in. The second array
        (n_docs, n_columns) is False where the other folds held no text of a label: its score there means nothing, and a
        threshold that tried to include it would accept everything.
        """
        indicator, fold = self._indicator, self._fold
        said = np.empty((len(members), *indicator.shape))
        learnable = np.empty(indicator.shape, dtype=np.bool_)
        for k in range(self._n_folds):
            self._report("cross-validation", k, self._n_folds)
            held_out = fold == k
            learnable[held_out] = indicator[~held_out].any(axis=0) & ~indicator[~held_out].all(axis=0)
            name = f"{why}fold {k + 1} of {self._n_folds}"
            known = self._watch.recall(name)
            if known is None:
                weighting, fitted = self._fit(members, ~held_out, knowledge, name)
                X = weighting.transform(self._counts[held_out])
                known = np.stack([pooling.of(member, X) for member in fitted])
                self._watch.finish(name, known)
            said[:, held_out] = known
        self._report("cross-validation", self._n_folds, self._n_folds)
        return said, learnable

    def all_texts(
        self, members: list[BayesLinearClassifier], knowledge: Knowledge | None
    ) -> tuple[TermWeighting, list[BayesLinearClassifier]]:
        """The members, fitted on all texts, and the weighting of words that they know."""
        return self._fit(members, np.ones(len(self._indicator), dtype=np.bool_), knowledge, "all texts")

    def _fit(
        self, members: list[BayesLinearClassifier], rows: BoolArray, knowledge: Knowledge | None, stage: str
    ) -> tuple[TermWeighting, list[BayesLinearClassifier]]:
        """Weights, words and one binary regression per column, whatever the kind of labels."""
        settings, indicator = self._settings, self._indicator[rows]
        weighting = make_weighting(settings.weighting)
        X, labels = weighting.fit_transform(self._counts[rows]), sparse.csr_matrix(indicator)
        weight = None if self._weight is None else self._weight[rows]
        words = None
        if settings.select is not None:
            function = scores.get(settings.select)
            result = function(self._counts[rows] if takes_counts(function) else X, indicator)
            words = select_per_label(result, k=settings.select_k, threshold=settings.select_threshold)
        fitted = []
        for number, member in enumerate(members, start=1):
            name = stage if len(members) == 1 else f"{stage}, model {number}"
            fresh = clone(member) if knowledge is None else knowledge.inform(member, X)
            last = bool(rows.all())
            fresh = fit_member(fresh, X, labels, words, self._watch, name, last, weight)
            if settings.refit_k is not None:
                chosen = top_words(fresh, settings.refit_k, settings.refit_by, PRACTICAL_SIZE)
                again = f"{name}, refit"
                fresh = fit_member(copy.copy(fresh), X, labels, chosen, self._watch, again, last, weight)
            fitted.append(fresh)
        return weighting, fitted


def check_members_can_refit(members: Sequence[BayesLinearClassifier], by: str) -> None:
    """Refuse a ranking by draws of members that have none, before the long work begins."""
    if by != "mean" and not all(samples(member) for member in members):
        raise InputError(f"refit_by={by!r} ranks words by their draws; use classifiers with inference='gibbs'")


def make_weighting(weighting: TermWeighting | str | None) -> TermWeighting:
    """The weighting as given, by name, or the default one; not fitted."""
    if weighting is None:
        return default_weighting()
    return TermWeighting(weighting) if isinstance(weighting, str) else clone(weighting)
