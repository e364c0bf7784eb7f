"""Training of an ensemble: members are fitted fold by fold, weighed by what they say of held-out texts, and merged.

The same steps train every plan, wherever the documents are. What a plan asks for beyond them (a choice of term weights
and scales, neural networks that must be worth their cost, pruning, label stacking, a threshold for rare labels) is one
function each (``automatic``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer.automatic import (
    approve_view,
    best_encoder,
    choose_scheme,
    describe,
    lexicon_found,
    prune,
    settle_view,
    stack_labels,
    threshold_of_rare,
    useful_members,
)
from textbayes.categorizer.encoders import half_precision_cost
from textbayes.categorizer.ensemble import Ensemble, Part
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.knowledge import Advice, Knowledge, choose_prior_weight
from textbayes.categorizer.label_tree import in_agreement
from textbayes.categorizer.member_scores import (
    Setting,
    Weighed,
    cross_fitted,
    cross_validate,
    ensemble_loss,
    expected_weights,
    parts_of,
    probabilities,
    setting_of,
    with_top_k,
)
from textbayes.categorizer.model_types import parameters_state
from textbayes.categorizer.plan import Member, Plan
from textbayes.categorizer.sources import Group, Source, Target, TextSource
from textbayes.categorizer.stackers import stacker_for
from textbayes.categorizer.stacking import Stack
from textbayes.categorizer.unlabelled import approve_unlabelled, settle_unlabelled
from textbayes.core.cross_validation import Folds
from textbayes.core.folds import joined_groups
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.decide import LabelTree
from textbayes.knowledge import MatchedPriors, WordPriors
from textbayes.models.base import SamplingCallback
from textbayes.models.linear.audit import AuditRow
from textbayes.models.linear.model import LinearModel
from textbayes.posterior.calibration_band import Refits
from textbayes.posterior.recalibration import Recalibration, check_enough
from textbayes.priors import make_prior
from textbayes.text.copies import Copies
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.classifier import finalised


class TrainingData(NamedTuple):
    """Texts, their labels as an indicator (n_docs, n_columns), how much each counts, and what shares a fold.

    These are texts of one group, and copies of one text. ``unlabelled`` are further texts, whose labels are not known;
    ``label_tree`` is that of the labels.
    """

    texts: list[str]
    indicator: BoolArray
    space: LabelSpace
    weight: FloatArray | None
    groups: IntArray | None
    copies: Copies
    unlabelled: Sequence[str] = ()
    label_tree: LabelTree | None = None

    @property
    def firsts(self) -> IntArray | None:
        """The place of the first text that each is a copy of; None where none is."""
        return self.copies.first if self.copies.n_identical or self.copies.n_near else None

    def together(self) -> IntArray:
        """Numbers of what counts together in held-out figures: texts of one group, or copies of one text."""
        if self.groups is None:
            return self.copies.first
        return joined_groups(self.groups, self.firsts, 2)


@dataclass(frozen=True)
class Trained:
    """Outcome of a training.

    Parameters
    ----------
    ensemble : Ensemble
    vectorizer, weighting : fitted
        None where the source does not have them.
    weights : array (n_members,)
        Mean weight of each member.
    held_out : array (n_held_out, n_columns)
        Probabilities of training texts by members that had not seen them, with the weights that the ensemble has.
    judged : array (n_held_out, n_columns)
        The same with weights fitted to the other parts of these texts: what held-out figures are of.
    part : array (n_held_out,)
        The part of each of these texts.
    label_seen : boolean array (n_held_out, n_columns)
        False where they mean nothing, since the other folds had no text of the label.
    tested : boolean array (n_docs,) or None
        Which of the training texts these are; None for all.
    prior_weight, prior_audit, prior_advice
        How far each label follows a prior file, what became of it, and why.
    choice : dict or None
        What an automatic training chose, JSON-able.
    rare_threshold : float or None
        Probability above which labels are assigned that no held-out text tests; None leaves them to the rule.
    scales : dict
        Of each label, the scales that members looked for, in their order; empty where none did.
    refits : Refits or None
        How far fits to other texts differ, where intervals are asked for.
    label_weights : array (n_members, n_columns) or None
        Weights of named members by label, where these differ.
    """

    ensemble: Ensemble
    vectorizer: Any
    weighting: Any
    weights: FloatArray
    held_out: FloatArray
    judged: FloatArray
    part: IntArray
    label_seen: BoolArray
    tested: BoolArray | None = None
    prior_weight: FloatArray | None = None
    prior_audit: list[AuditRow] = field(default_factory=list)
    prior_advice: list[Advice] = field(default_factory=list)
    choice: dict[str, Any] | None = None
    rare_threshold: float | None = None
    scales: dict[str, list[float]] = field(default_factory=dict)
    refits: Refits | None = None
    label_weights: FloatArray | None = None

    def of_tested(self, rows: AnyArray) -> AnyArray:
        """The rows, one for each training text, of those that were held out."""
        return rows if self.tested is None else rows[self.tested]

    def of_all(self, rows: AnyArray, missing: Any) -> AnyArray:
        """Rows of held-out texts with one for every training text, where it was not held out of a missing value."""
        if self.tested is None:
            return rows
        found = np.full((len(self.tested), *rows.shape[1:]), missing)
        found[self.tested] = rows
        return found


class PriorFile(NamedTuple):
    """A prior file found in the words and labels of a training, and how far to follow it: "auto" or a number.

    ``by_view`` has it in the words of each view, where there are several.
    """

    table: WordPriors
    matched: MatchedPriors
    weight: float | str
    by_view: Sequence[MatchedPriors] | None = None


class StepsTold(SamplingCallback):
    """Callback that reports the steps of long fits."""

    def __init__(self, report: Progress) -> None:
        self._report = report

    def step(self, what: str, done: int, total: int | None) -> None:
        self._report(what, done, total)


def train(
    plan: Plan,
    source: Source,
    target: Target,
    report: Progress = silent,
    sampling: SamplingCallback | None = None,
    prior: PriorFile | None = None,
    keep_partial: bool = False,
) -> Trained:
    """Fit an ensemble to documents.

    Parameters
    ----------
    plan : Plan
    source : Source
    target : Target
    report : Progress
    sampling : SamplingCallback, optional
        Follows the sampling of named models, and may resume it.
    prior : PriorFile, optional
        Knowledge that becomes the prior of the members.
    keep_partial : bool
        Whether Ctrl-C in the cross-validation ends it with the members that are done, where there are any; otherwise,
        and at any other time, it ends the training.
    """
    at, watch = setting_of(plan, target), sampling or StepsTold(report)
    held, method = at.held, target.settings.calibrate
    if isinstance(method, str):
        check_enough(method, len(held.indicator))
    members = prepared_members(at, source, report)
    scales = scales_found(plan.members, members, target.space)
    if plan.together:  # their links may have been looked for
        settings, estimators = target.settings, [member.estimator for member in members]
        chosen = settings.posterior_predictive, settings.calibrate, settings.pool
        plan = replace(plan, stacker=stacker_for(estimators, target.space, *chosen))
        at = at._replace(plan=plan)
        if sampling is not None:
            sampling.begin(target.space.column_names, fingerprint(at, source, members, prior))
    choose_scheme(at, source)
    knowledge = None if prior is None else weigh_prior(at, source, members, prior, report, watch)
    members, scores = cross_validate(at, source, members, report, watch, knowledge, keep_partial=keep_partial)
    n_done = len(members)
    members, scores = best_encoder(at, members, scores)
    members, scores, sentences = approve_view(at, members, scores, plan.sentences)
    members, scores, encoder = approve_view(at, members, scores, plan.tokens)
    members, scores, unlabelled = approve_unlabelled(at, members, scores)
    stack = plan.stacker.fit(scores, held, expected_weights(members))
    if knowledge is not None and prior is not None and prior.weight == "auto" and knowledge.weight.any():
        # Weights were chosen label by label with one member; what counts is the ensemble, and labels side by side.
        _, without = cross_validate(at, source, members, report, watch, name="without the prior")
        stack_without = plan.stacker.fit(without, held, expected_weights(members))
        if ensemble_loss(at, scores, stack) >= ensemble_loss(at, without, stack_without):
            knowledge, scores, stack = knowledge.with_zero_weight(), without, stack_without
    before = Weighed(members, scores, stack)
    members, scores, stack = useful_members(at, before) if plan.automatic else before
    stack = plan.stacker.finish(stack, scores, held)
    source, members, encoder = settle_view(source, members, plan.tokens, encoder)
    source, members, sentences = settle_view(source, members, plan.sentences, sentences)
    source, members, knowledge, unlabelled = settle_unlabelled(at, source, members, knowledge, unlabelled)
    proba, part = probabilities(at, source, scores, stack), parts_of(held)
    judged = cross_fitted(at, scores, part, expected_weights(members))
    ensemble, group, features = fit_all(at, source, members, stack, knowledge, report, watch)
    threshold, choice = None, None
    found: dict[str, Any] = {}
    if plan.automatic and target.space.kind == "multilabel":
        first = stack.scores(scores)
        if plan.label_stacking:
            ensemble, proba, judged = stack_labels(at, ensemble, first, proba, judged, part)
        threshold = threshold_of_rare(at, source, members, stack, ensemble.label_stacking, first, report)
    if isinstance(method, str):
        ensemble.recalibration, proba, judged = recalibrated(method, held, proba, judged, part)
    if (tree := target.label_tree) is not None:
        ensemble.label_tree = tree
        proba, judged = (in_agreement(tree, one, held) for one in (proba, judged))
    if plan.automatic:
        stacked = ensemble.label_stacking is not None
        choice = describe(at, source, before, Weighed(members, scores, stack), judged, part, n_done, stacked)
        if encoder is not None:
            encoder["half_precision"] = half_precision_cost(group.models)
        choice |= {"embeddings": sentences, "encoder": encoder, "unlabelled": unlabelled}
    if knowledge is not None:
        found = prior_found(at, source, members, group, knowledge, features)
    elif plan.prior is not None:
        found = lexicon_found(at, source, before, ensemble)
    refits = None
    if target.settings.intervals and not ensemble.has_posterior:
        refits = refitted(at, source, members, stack, knowledge, ensemble.recalibration, report)
    tested = None if target.folds.held_out.all() else target.folds.held_out
    vectorizer, weighting = source.reader(group.weightings)
    return Trained(
        ensemble, vectorizer, weighting, stack.weights.mean(axis=1), proba, judged, part, held.label_seen, tested,
        choice=choice, rare_threshold=threshold, scales=scales, refits=refits,
        label_weights=stack.weights.astype(np.float64) if target.settings.pool != "shared" else None, **found,
    )  # fmt: skip


def recalibrated(
    method: str, held: HeldOut, proba: FloatArray, judged: FloatArray, part: IntArray
) -> tuple[Recalibration, FloatArray, FloatArray]:
    """The map of probabilities that fits held-out texts, and what it makes of theirs.

    Parameters
    ----------
    method : {"beta", "isotonic"}
    held : HeldOut
    proba, judged, part : arrays (n_held_out, n_columns), (n_held_out, n_columns), (n_held_out,)
        As of ``Trained``. Those that are judged have the map that was fitted to the other parts.
    """

    def fitted(rows: Any) -> Recalibration:
        some = held.of_rows(rows)
        return Recalibration.fit(method, judged[rows], some.indicator, some.label_seen, some.weight)

    kind, whole, after = held.space.kind, fitted(slice(None)), np.empty_like(judged)
    for rows in (part == number for number in np.unique(part)):
        after[rows] = fitted(~rows).apply(judged[rows], kind)
    return whole, whole.apply(proba, kind), after


_REFIT_PARTS, _REFIT_TESTED = 6, 2  # of the texts; parts that are scored by fits to the others
_MOST_REFITTED = 6_000  # texts that take part; more of them would differ less


def refitted(
    at: Setting,
    source: Source,
    members: list[Member],
    stack: Stack,
    knowledge: Knowledge | None,
    recalibration: Recalibration | None,
    report: Progress,
) -> Refits | None:
    """How far the log-odds of an ensemble differ between fits to different texts; None where texts are too few.

    Some parts of the texts are scored by fits that lack, beside that part, one of the others in turn. The weights of
    members are those of the ensemble; label stacking is left out.
    """
    target, plan = at.target, replace(at.plan, scales=())  # scales are known by now
    used = np.zeros(len(target.indicator), dtype=np.bool_)
    rng = np.random.default_rng(target.settings.random_state)
    used[rng.permutation(len(used))[:_MOST_REFITTED]] = True
    number = np.full(len(used), -1)
    together = target.together(used)
    number[used] = Folds.stratified(target.indicator[used], _REFIT_PARTS, 0, together).number
    parts = range(int(number.max()) + 1)
    if len(parts) < 3:
        return None
    members = [replace(one, estimator=one.estimator.at_mode()) if one.estimator.samples else one for one in members]
    turns = [(part, left_out) for part in parts[:_REFIT_TESTED] for left_out in parts if left_out != part]
    proba: dict[int, list[FloatArray]] = {part: [] for part in parts[:_REFIT_TESTED]}
    for done, (part, left_out) in enumerate(turns):
        report("refits for intervals", done, len(turns))
        learnt = used & (number != part) & (number != left_out)
        folds = Folds(np.where(number == part, 0, -1), len(parts), [learnt])
        inside = setting_of(plan, replace(target, folds=folds))
        _, scores = cross_validate(inside, source, members, silent, SamplingCallback(), knowledge)
        found = plan.stacker.probabilities(scores, stack)
        if recalibration is not None:
            found = recalibration.apply(found, target.space.kind)
        proba[part].append(np.where(target.indicator[learnt].any(axis=0), found, np.nan))
    report("refits for intervals", len(turns), len(turns))
    each = [Refits.of_parts(one) for one in proba.values()]
    return Refits(*(np.concatenate(arrays) for arrays in zip(*each, strict=True)))


def prepared_members(at: Setting, source: Source, report: Progress) -> list[Member]:
    """The members, not fitted; those that look for their scale have found it, once, on all texts."""
    settings, target = at.target.settings, at.target
    members = at.plan.members
    if settings.n_jobs is not None:
        members = [member.with_params(n_jobs=settings.n_jobs) for member in members]
    searching = [isinstance(member.estimator, BayesLinearClassifierCV) for member in members]
    if not any(searching) or not isinstance(source, TextSource):
        return members
    rows, found = np.ones(len(target.indicator), dtype=np.bool_), []
    X = source.features((0,), source.weightings((0,), rows), rows).weights
    for number, (member, searches) in enumerate(zip(members, searching, strict=True)):
        report("looking for scales", number, len(members))
        found.append(replace(member, estimator=_with_scale_found(member.estimator, X, target)) if searches else member)
    report("looking for scales", len(members), len(members))
    return found


def scales_found(planned: Sequence[Member], members: Sequence[Member], space: LabelSpace) -> dict[str, list[float]]:
    """Of each label, the scales that members looked for and found; empty where none looked."""
    pairs = [(one.estimator, other.estimator) for one, other in zip(planned, members, strict=True)]
    found: list[Any] = [
        make_prior(new.prior, new.scale)
        for old, new in pairs
        if isinstance(old, BayesLinearClassifierCV) and not isinstance(new, BayesLinearClassifierCV)
    ]
    columns = [np.broadcast_to(np.asarray(one.scale, dtype=float), (space.n_columns, 1))[:, 0] for one in found]
    return {name: [float(one[j]) for one in columns] for j, name in enumerate(space.column_names)} if found else {}


def _with_scale_found(estimator: BayesLinearClassifierCV, X: Any, target: Target) -> Any:
    one = clone(estimator)
    if isinstance(one.cv, int | float) and (target.groups is not None or target.copies is not None):
        folds = Folds.stratified(target.indicator, one.cv, one.random_state, target.groups, target.copies)
        one.set_params(cv=folds.number)
    elif target.groups is not None:
        one.set_params(cv=target.folds.number)
    # A search is many fits: those of a member that samples are made at the mode.
    searched = finalised(one.at_mode(), X, sparse.csr_matrix(target.indicator), target.weight)
    return searched.set_params(inference=one.inference)


def fingerprint(at: Setting, source: Source, members: Sequence[Member], prior: PriorFile | None) -> str:
    """A digest of the words, labels and settings that decide what members say, to know an interrupted run again."""
    if not isinstance(source, TextSource):
        return ""
    digest, target = hashlib.sha256(), at.target
    counts = source.blocks[0]
    arrays = [counts.data, counts.indices, counts.indptr, target.indicator, target.folds.number]
    settings = target.settings._replace(keep_draws=0, n_jobs=None, intervals=False)
    described: list[Any] = [list(settings), repr(at.plan.stacker), source.views[0].weighting.get_params()]
    described.append(None if prior is None else [prior.table.to_csv(), prior.weight])
    if target.weight is not None:
        described.append(target.weight.tolist())
    for member in members:
        parameters, own = parameters_state(member.estimator, "member", leave_out=("n_jobs", "intervals", "inference"))
        described += [parameters, member.estimator.sampling_settings()]
        arrays += own.values()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(json.dumps(described, default=str).encode())
    return digest.hexdigest()


def weigh_prior(
    at: Setting, source: Source, members: list[Member], prior: PriorFile, report: Progress, watch: SamplingCallback
) -> Knowledge:
    """How far each label follows a prior file."""
    report("weighing the prior file", 0, 1)
    target, matched, first = at.target, prior.matched, members[0].estimator
    n_columns = target.space.n_columns
    if prior.weight != "auto":
        known = Knowledge(matched, np.full(n_columns, float(prior.weight)), told=True, by_view=prior.by_view)
    elif first.weighs_prior_by_label and isinstance(source, TextSource):
        rows = np.ones(len(target.indicator), dtype=np.bool_)
        X = source.features((0,), source.weightings((0,), rows), rows).weights
        known = choose_prior_weight(
            matched, first.at_mode(), X, target.indicator, target.folds.n_cut, target.settings.random_state,
            target.weight, target.groups, target.copies,
        )._replace(by_view=prior.by_view)  # fmt: skip
    else:
        # As far as the ensemble predicts held-out texts best; whether at all is seen later.
        tried = [Knowledge(matched, np.full(n_columns, share)) for share in (1.0, 0.5)]
        losses = []
        for known in tried:
            name = f"prior at {known.weight[0]:g}"
            _, scores = cross_validate(at, source, members, report, watch, known, name=name)
            losses.append(ensemble_loss(at, scores, at.plan.stacker.fit(scores, at.held)))
        known = tried[int(np.argmin(losses))]
    report("weighing the prior file", 1, 1)
    return known


def prior_found(
    at: Setting, source: Source, members: Sequence[Member], group: Group, knowledge: Knowledge, features: Features
) -> dict[str, Any]:
    """What became of a prior file that members have as their prior: its weight, why, and its audit."""
    target, terms = at.target, source.vectorizer.get_feature_names_out()
    with_table = [m for m, one in enumerate(members) if knowledge.applies_to(one.estimator, one.views)]
    if knowledge.by_view is not None and isinstance(source, TextSource):  # the audit is of plain words
        with_table = [m for m in with_table if members[m].views == (0,)]
        features, terms = features.columns(np.arange(source.bounds[1])), terms[: source.bounds[1]]
        features = replace(features, counts=source.blocks[0])
    audit = []
    if with_table:
        model, member = group.models[with_table[0]], members[with_table[0]].estimator
        audit = knowledge.audit(model, member, features, target.indicator, terms, target.space, target.weight)
    advice = knowledge.advice(features.counts, target.space)
    return {"prior_weight": knowledge.weight, "prior_audit": audit, "prior_advice": advice}


def fit_all(
    at: Setting,
    source: Source,
    members: list[Member],
    stack: Stack,
    knowledge: Knowledge | None,
    report: Progress,
    watch: SamplingCallback,
) -> tuple[Ensemble, Group, Features]:
    """The members fitted to all texts and combined, with the weighting of words and the texts as they are read."""
    rows, steps = np.ones(len(at.target.indicator), dtype=np.bool_), len(members)
    groups = [members] if at.plan.together else [[member] for member in members]
    weightings = None if at.plan.together else source.all_weightings()
    parts: list[Part] = []
    at = with_top_k(at, source, members, rows, knowledge)
    for own in groups:
        report("fitting all texts", len(parts), steps)
        group = source.fit(own, rows, at.target, "all texts", watch, knowledge, weightings)
        columns = source.columns(group.views)
        parts += [Part(model, np.ones(at.target.space.n_columns), columns) for model in group.models]
    whole = Group(group.views, group.weightings if weightings is None else weightings, [part.model for part in parts])
    features = source.everything(whole)
    shrink = None
    if at.plan.automatic:
        assert isinstance(source, TextSource)
        texts, n_words = source.some_texts(whole, features), source.n_words

        def shrink(merged: LinearModel) -> None:
            merged.intercept_ = prune(texts, merged.coef_[:, :n_words], merged.intercept_)

    ensemble = at.plan.stacker.combine(parts, stack, features, at.target.settings.keep_draws, shrink)
    report("fitting all texts", steps, steps)
    return ensemble, whole, features
