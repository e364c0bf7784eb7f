"""Training of an ensemble: members are fitted fold by fold, weighed by what they say of held-out texts, and merged.

The same steps train every plan, wherever the documents are. What a plan asks for beyond them (a choice of term weights
and scales, sentence vectors that must be worth their cost, pruning, label stacking, a threshold for rare labels) is one
function each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from textbayes.categorizer.ensemble import LEAST_SLOPE, Ensemble, LabelStacking, Part, some_other_label
from textbayes.categorizer.held_out import HeldOut
from textbayes.categorizer.knowledge import Advice, Knowledge, choose_prior_weight, prior_advice
from textbayes.categorizer.members import Member
from textbayes.categorizer.plan import Plan
from textbayes.categorizer.prune import prune
from textbayes.categorizer.rare import labels_to_thin, rare_threshold
from textbayes.categorizer.sources import Group, Source, Target, TextSource
from textbayes.categorizer.stackers import LabelWeights, row_blocks, stacker_for
from textbayes.categorizer.stacking import LEAST_WEIGHT, Stack, fit_stacking
from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.executor import spread
from textbayes.core.folds import label_order
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.evaluate.calibration import decision_losses
from textbayes.kinds import FitOptions, kind_of
from textbayes.kinds.linear import FittedLinear
from textbayes.kinds.sampling import SamplingCallback, at_mode
from textbayes.kinds.settings import parameters_state
from textbayes.knowledge import AuditRow, MatchedPriors, WordPriors
from textbayes.text import TermWeighting
from textbayes.text.copies import Copies
from textbayes.tune import BayesLinearClassifierCV
from textbayes.tune.classifier import finalised

_TO_COMPARE = 400_000  # texts × classes that a member's own weights are fitted to
_MOST_SEARCHED = 16  # labels, when term weights and scales are chosen
_SEED = 0  # of the texts that rare labels are made of
_LEAST_GAIN_OF_SENTENCES = 0.02  # of the log-loss: a member that says nothing may gain a little by being one more
_SURE = 2.0  # standard errors of what they gain, by text
_LEAST_GAIN_OF_LABELS = 0.002  # of the log-loss, by label stacking


class TrainingData(NamedTuple):
    """Texts, their labels as an indicator (n_docs, n_columns), how much each counts, and what shares a fold.

    These are texts of one group, and copies of one text.
    """

    texts: list[str]
    indicator: BoolArray
    space: LabelSpace
    weight: FloatArray | None
    groups: IntArray | None
    copies: Copies

    @property
    def firsts(self) -> IntArray | None:
        """The place of the first text that each is a copy of; None where none is."""
        return self.copies.first if self.copies.n_identical or self.copies.n_near else None


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
        Probabilities of training texts by members that had not seen them.
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
    """

    ensemble: Ensemble
    vectorizer: Any
    weighting: Any
    weights: FloatArray
    held_out: FloatArray
    label_seen: BoolArray
    tested: BoolArray | None = None
    prior_weight: FloatArray | None = None
    prior_audit: list[AuditRow] = field(default_factory=list)
    prior_advice: list[Advice] = field(default_factory=list)
    choice: dict[str, Any] | None = None
    rare_threshold: float | None = None

    def of_tested(self, rows: AnyArray) -> AnyArray:
        """The rows, one for each training text, of those that were held out."""
        return rows if self.tested is None else rows[self.tested]

    def held_out_of_all(self) -> FloatArray:
        """Held-out probabilities with a row for every training text, NaN where it was not held out."""
        if self.tested is None:
            return self.held_out
        proba = np.full((len(self.tested), *self.held_out.shape[1:]), np.nan)
        proba[self.tested] = self.held_out
        return proba


class Task(NamedTuple):
    """Members that are fitted together in each fold, and what a prior file tells them; a name for checkpoints."""

    members: list[Member]
    knowledge: Knowledge | None = None
    name: str | None = None


class PriorFile(NamedTuple):
    """A prior file found in the words and labels of a training, and how far to follow it: "auto" or a number."""

    table: WordPriors
    matched: MatchedPriors
    weight: float | str


class Setting(NamedTuple):
    """What all steps of a training share; it reaches each worker once."""

    plan: Plan
    target: Target
    held: HeldOut


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
    at, watch = setting_of(plan, target), sampling or SamplingCallback()
    held = at.held
    members = prepared_members(at, source, report)
    if plan.together:  # their links may have been looked for
        settings, estimators = target.settings, [member.estimator for member in members]
        plan = replace(plan, stacker=stacker_for(estimators, target.space, settings.average, settings.calibrate))
        at = at._replace(plan=plan)
        if sampling is not None:
            sampling.begin(target.space.column_names, fingerprint(at, source, members, prior))
    choose_scheme(at, source)
    knowledge = None if prior is None else weigh_prior(at, source, members, prior, report, watch)
    members, scores = cross_validate(at, source, members, report, watch, knowledge, keep_partial=keep_partial)
    n_done = len(members)
    members, scores, sentences = approve_sentences(at, members, scores)
    stack = plan.stacker.fit(scores, held, expected_weights(members))
    if knowledge is not None and prior is not None and prior.weight == "auto" and knowledge.weight.any():
        # Weights were chosen label by label with one member; what counts is the ensemble, and labels side by side.
        _, without = cross_validate(at, source, members, report, watch, name="without the prior")
        stack_without = plan.stacker.fit(without, held)
        if ensemble_loss(at, scores, stack) >= ensemble_loss(at, without, stack_without):
            knowledge, scores, stack = knowledge.with_zero_weight(), without, stack_without
    before = Weighed(members, scores, stack)
    members, scores, stack = useful_members(at, before) if plan.automatic else before
    stack = plan.stacker.finish(stack, scores, held)
    source, sentences = settle_sentences(at, source, members, sentences)
    proba = probabilities(at, source, scores, stack)
    ensemble, group, features = fit_all(at, source, members, stack, knowledge, report, watch)
    threshold, choice = None, None
    found: dict[str, Any] = {}
    if plan.automatic and target.space.kind == "multilabel":
        first = stack.scores(scores)
        if plan.label_stacking:
            ensemble, proba = stack_labels(ensemble, first, proba, held)
        threshold = threshold_of_rare(at, source, members, stack, ensemble.label_stacking, first, report)
    if plan.automatic:
        stacked = ensemble.label_stacking is not None
        choice = describe(at, source, before, Weighed(members, scores, stack), proba, n_done, stacked)
        choice["embeddings"] = sentences
    if knowledge is not None:
        terms = source.vectorizer.get_feature_names_out()
        audit = knowledge.audit(
            group.models[0], members[0].estimator, features, target.indicator, terms, target.space, target.weight
        )
        found = {"prior_weight": knowledge.weight, "prior_audit": audit}
        found["prior_advice"] = knowledge.advice(features.counts, target.space)
    elif plan.prior is not None:
        found = lexicon_found(at, source, before, ensemble)
    tested = None if target.folds.held_out.all() else target.folds.held_out
    vectorizer, weighting = source.reader(group.weightings)
    return Trained(
        ensemble, vectorizer, weighting, stack.weights.mean(axis=1), proba, held.label_seen, tested, choice=choice,
        rare_threshold=threshold, **found,
    )  # fmt: skip


def setting_of(plan: Plan, target: Target) -> Setting:
    """A plan and a target with the held-out texts."""
    return Setting(plan, target, HeldOut.of(target.indicator, target.folds.number, target.weight, target.space))


class Weighed(NamedTuple):
    """Members, their scores of held-out texts (n_members, n_held_out, n_columns), and their weights."""

    members: list[Member]
    scores: FloatArray
    stack: Stack


# -- before the cross-validation ---------------------------------------------------------------------------------------
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


def _with_scale_found(estimator: BayesLinearClassifierCV, X: Any, target: Target) -> Any:
    one = clone(estimator)
    if isinstance(one.cv, int) and (target.groups is not None or target.copies is not None):
        folds = Folds.stratified(target.indicator, one.cv, one.random_state, target.groups, target.copies)
        one.set_params(cv=folds.number)
    elif target.groups is not None:
        one.set_params(cv=target.folds.number)
    # A search is many fits: those of a member that samples are made at the mode.
    searched = finalised(at_mode(one), X, sparse.csr_matrix(target.indicator), target.weight)
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
        described += [parameters, kind_of(member.estimator).sampling_settings(member.estimator)]
        arrays += own.values()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(json.dumps(described, default=str).encode())
    return digest.hexdigest()


def choose_scheme(at: Setting, source: Source) -> None:
    """Weigh plain words by the scheme, of those planned, that gives the lowest log-loss of the first fold."""
    if len(at.plan.schemes) < 2 or not isinstance(source, TextSource):
        return
    view, losses = source.views[0], []
    for scheme in at.plan.schemes:
        view.weighting = TermWeighting(scheme)
        losses.append(_first_fold_loss(at.plan.members[0], at, source))
    view.weighting = TermWeighting(at.plan.schemes[int(np.argmin(losses))])


def _with_scale(member: Member, at: Setting, source: TextSource) -> Member:
    """A regression with the scale, of those planned, that gives the lowest log-loss of the first fold."""
    if len(at.plan.scales) < 2 or getattr(member.estimator, "prior", None) != "gaussian":
        return member
    tried = [member.with_params(scale=scale) for scale in at.plan.scales]
    losses = [_first_fold_loss(one, at, source) for one in tried]
    return tried[int(np.argmin(losses))]


def _first_fold_loss(member: Member, at: Setting, source: Source) -> float:
    """Log-loss of the first fold; where labels are many, of some of them of all sizes, which is as telling."""
    n_columns = at.target.space.n_columns
    if at.target.space.kind == "multilabel" and n_columns > _MOST_SEARCHED:
        labels = label_order(at.target.indicator)[::-1][np.linspace(0, n_columns - 1, _MOST_SEARCHED).astype(int)]
        held = at.held.of_labels(labels)
        target = replace(at.target, indicator=at.target.indicator[:, labels], space=held.space)
        at = at._replace(target=target, held=held, plan=replace(at.plan, stacker=LabelWeights(held.space)))
    scores = _score_fold(Task([member]), 0, at, source, SamplingCallback())
    return alone_loss(scores[0], at.held.of_rows(at.held.fold == 0))


def alone_loss(scores: FloatArray, held: HeldOut) -> float:
    """Mean log-loss of one member with weights of its own, fitted to the same scores: equally favourable to all.

    Parameters
    ----------
    scores : array (n_held_out, n_columns)
    held : HeldOut
    """
    args = held.indicator, held.space, held.label_seen, held.weight
    stack = fit_stacking(scores[None], *args, most=_TO_COMPARE)
    return held.log_loss(LabelWeights(held.space).probabilities(scores[None], stack))


def weigh_prior(
    at: Setting, source: Source, members: list[Member], prior: PriorFile, report: Progress, watch: SamplingCallback
) -> Knowledge:
    """How far each label follows a prior file."""
    report("weighing the prior file", 0, 1)
    target, matched, first = at.target, prior.matched, members[0].estimator
    n_columns = target.space.n_columns
    if prior.weight != "auto":
        known = Knowledge(matched, np.full(n_columns, float(prior.weight)), told=True)
    elif kind_of(first).weighs_prior_by_label and isinstance(source, TextSource):
        rows = np.ones(len(target.indicator), dtype=np.bool_)
        X = source.features((0,), source.weightings((0,), rows), rows).weights
        known = choose_prior_weight(
            matched, at_mode(first), X, target.indicator, target.folds.n_cut, target.settings.random_state,
            target.weight, target.groups, target.copies,
        )  # fmt: skip
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


# -- cross-validation --------------------------------------------------------------------------------------------------
def cross_validate(
    at: Setting,
    source: Source,
    members: list[Member],
    report: Progress,
    watch: SamplingCallback,
    knowledge: Knowledge | None = None,
    name: str | None = None,
    keep_partial: bool = False,
) -> tuple[list[Member], FloatArray]:
    """The members that were fitted in every fold, and their scores (n_members, n_held_out, n_columns).

    Parameters
    ----------
    at, source, members, report, watch
        Of the training.
    knowledge : Knowledge, optional
        A prior file, and how far to follow it.
    name : str, optional
        What is tried, in the names of checkpoints.
    keep_partial : bool
        As for :func:`train`.
    """
    tasks: Iterable[Task] = [Task(members, knowledge, name)]
    if not at.plan.together:
        tasks = (Task([member]) for member in spread(_with_scale, members, at, source))
    in_turn = any(member.samples for member in members)  # their chains are spread instead
    found = out_of_fold(
        _score_fold, at.target.folds, tasks, (at, source, watch if in_turn else SamplingCallback()),
        allocate=source.allocate, keep_partial=keep_partial, report=report, in_turn=in_turn,
        checkpoint=watch if at.plan.together else None,  # members that are fitted one by one share names of folds
        total=at.target.folds.n * (1 if at.plan.together else len(members)),
    )  # fmt: skip
    done = [member for task, _ in found for member in task.members]
    return done, found[0][1] if len(found) == 1 else np.concatenate([scores for _, scores in found])


def _score_fold(task: Task, k: int, at: Setting, source: Source, watch: SamplingCallback) -> FloatArray:
    """Scores of the texts of one fold by members that were trained on the others."""
    train_rows, test_rows = at.target.folds.split(k)
    members = [member.for_folds() for member in task.members]
    stage = at.target.folds.name(k, task)
    group = source.fit(members, train_rows, at.target, stage, watch, task.knowledge)
    scores = source.scores(group, test_rows, at.plan.stacker.member_scores)
    return scores.astype(at.plan.stacker.dtype, copy=False)


def expected_weights(members: Sequence[Member]) -> FloatArray:
    """Prior means of the members' weights: those that learn share one equally, and a lexicon has none."""
    learns = np.array([member.learns for member in members], dtype=np.float64)
    return np.asarray(learns / max(learns.sum(), 1.0))


def ensemble_loss(at: Setting, scores: FloatArray, stack: Stack) -> float:
    """Log-loss of an ensemble on held-out texts."""
    return at.held.total_loss(at.plan.stacker.probabilities(scores, stack))


def probabilities(at: Setting, source: Source, scores: FloatArray, stack: Stack) -> FloatArray:
    """Probabilities of held-out texts, block by block."""
    proba = source.allocate(at.held.indicator.shape, np.float64)
    for rows in row_blocks(proba.shape):
        proba[rows] = at.plan.stacker.probabilities(scores[:, rows], stack)
    return proba


# -- after it ----------------------------------------------------------------------------------------------------------
def useful_members(at: Setting, found: Weighed) -> Weighed:
    """Without the members whose weights are near zero; where none is better, the first keeps a trace."""
    members, scores, stack = found
    kept = np.flatnonzero(np.abs(stack.weights).max(axis=1) > LEAST_WEIGHT)
    kept = kept if len(kept) else np.array([0])  # the one that reads plain words
    if len(kept) < len(members):
        members, scores = [members[m] for m in kept], scores[kept]
        stack = at.plan.stacker.fit(scores, at.held, expected_weights(members))
    if np.abs(stack.weights).max() <= LEAST_WEIGHT:  # its words are known all the same
        stack = stack._replace(weights=np.full_like(stack.weights, LEAST_WEIGHT))
    return Weighed(members, scores, stack)


def approve_sentences(
    at: Setting, members: list[Member], scores: FloatArray
) -> tuple[list[Member], FloatArray, dict[str, Any] | None]:
    """Members and scores, without those of sentence vectors if the ensemble gains too little by them, and why.

    Every later text would have to be read by the sentence model, so that it must gain a little, and more than it would
    by chance: two standard errors. Weights are fitted to half of the folds, and compared on the other half.
    """
    words = np.array([member.views != (at.plan.sentences,) for member in members])
    if at.plan.sentences is None or words.all():
        return members, scores, None
    others = [member for member, reads_words in zip(members, words, strict=True) if reads_words]
    tried = [_cross_fitted(at, members, scores), _cross_fitted(at, others, scores[words])]
    losses = [_or_none(at.held.log_loss(proba)) for proba in tried]
    outcome = {"outcome": "kept", "log_loss": losses[0], "log_loss_without": losses[1]}
    before = at.held.text_losses(tried[1])
    gain = before - at.held.text_losses(tried[0])
    by_chance = _SURE * float(gain.std()) * np.sqrt(len(gain))
    if None not in losses and gain.sum() >= max(_LEAST_GAIN_OF_SENTENCES * before.sum(), by_chance):
        return members, scores, outcome
    return others, scores[words], outcome


def _cross_fitted(at: Setting, members: Sequence[Member], scores: FloatArray) -> FloatArray:
    """Probabilities of each half of the folds by weights that were fitted to the other."""
    proba, half = np.empty(at.held.indicator.shape), at.held.fold % 2 == 0
    for rows in (half, ~half):
        stack = at.plan.stacker.fit(scores[:, ~rows], at.held.of_rows(~rows), expected_weights(members))
        proba[rows] = at.plan.stacker.probabilities(scores[:, rows], stack)
    return proba


def settle_sentences(
    at: Setting, source: Source, members: Sequence[Member], outcome: dict[str, Any] | None
) -> tuple[Source, dict[str, Any] | None]:
    """What became of the sentence vectors; where no member reads them, texts are not read so from now on."""
    if at.plan.sentences is None or not isinstance(source, TextSource):
        return source, None
    vectorizer: Any = source.vectorizers[at.plan.sentences]
    if all(member.views != (at.plan.sentences,) for member in members):
        source = source.without_last_view()
        outcome = {"log_loss": None, "log_loss_without": None} | (outcome or {}) | {"outcome": "left out"}
    return source, {"model": vectorizer.name_, **(outcome or {})}


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
    for own in groups:
        report("fitting all texts", len(parts), steps)
        group = source.fit(own, rows, at.target, "all texts", watch, knowledge, weightings)
        columns = source.columns(group.views)
        parts += [Part(model, np.ones(at.target.space.n_columns), columns) for model in group.models]
    whole = Group(group.views, group.weightings if weightings is None else weightings, [part.model for part in parts])
    features = source.everything(whole)
    shrink = None
    if at.plan.automatic:
        n_words = source.n_words

        def shrink(merged: FittedLinear) -> None:
            merged.intercept = prune(features.weights[:, :n_words], merged.coef[:, :n_words], merged.intercept)

    ensemble = at.plan.stacker.combine(parts, stack, features, at.target.settings.keep_draws, shrink)
    report("fitting all texts", steps, steps)
    return ensemble, whole, features


def stack_labels(
    ensemble: Ensemble, log_odds: FloatArray, proba: FloatArray, held: HeldOut
) -> tuple[Ensemble, FloatArray]:
    """The ensemble with label stacking, and its held-out probabilities, where it lowers the log-loss enough.

    Parameters
    ----------
    ensemble : Ensemble
    log_odds, proba : arrays (n_held_out, n_labels)
    held : HeldOut
    """
    linear = ensemble.linear
    if linear is None:
        return ensemble, proba
    scores = np.stack([log_odds, some_other_label(log_odds)])
    expected = np.array([1.0, 0.0])
    found = fit_stacking(scores, held.indicator, held.space, held.label_seen, held.weight, expected)
    after = LabelWeights(held.space).probabilities(scores, found)
    if not held.log_loss(after) <= (1.0 - _LEAST_GAIN_OF_LABELS) * held.log_loss(proba):  # nor where neither is known
        return ensemble, proba
    slope = np.maximum(found.weights[0], LEAST_SLOPE)
    linear.coef = (linear.coef.T * slope).T
    linear.intercept = slope * linear.intercept + found.bias
    ensemble.label_stacking = LabelStacking(slope, found.bias, found.weights[1])
    return ensemble, after


def threshold_of_rare(
    at: Setting,
    source: Source,
    members: Sequence[Member],
    stack: Stack,
    stacking: LabelStacking | None,
    first: FloatArray,
    report: Progress,
) -> float | None:
    """The threshold of labels that no held-out text tests; None where nothing tells it."""
    indicator, weight = at.target.indicator, at.target.weight
    labels = labels_to_thin(indicator, at.held, _SEED)
    if not at.plan.rare_threshold or not len(labels) or not isinstance(source, TextSource):
        return None
    report("thresholds of rare labels", 0, 1)
    untested = at.held.untested()
    alone = int(next(label for label in label_order(indicator) if untested[label]))
    answered, held_out = at.target.folds.held_out, at.target.folds.number == 0
    place = np.cumsum(answered) - 1  # of a text among those that were held out
    rough = [member.for_folds() for member in members]
    rows = np.ones(len(held_out), dtype=np.bool_)
    read = {
        member.views: source.features(member.views, source.weightings(member.views, ~held_out), rows)
        for member in {member.views: member for member in members}.values()
    }

    def score(k: int, learnt: BoolArray, judged: BoolArray) -> FloatArray:
        total = np.full(int(judged.sum()), stack.bias[alone])
        label, space = indicator[:, [k]] & learnt[:, None], LabelSpace(at.target.space.classes[[k]], "multilabel")
        options = FitOptions(np.where(learnt, 1.0 if weight is None else weight, 0.0))  # others do not count
        for member, share in zip(rough, stack.weights[:, alone], strict=True):
            features = read[member.views]
            scores = member.fit(features, label, space, options).scores(features.rows(judged))
            total += share * scores[:, 0 if member.learns else k]
        if stacking is not None:
            others = first[place[judged]]
            others[:, k] = -np.inf
            other = some_other_label(others)[:, k]
            total = stacking.slope[alone] * total + stacking.offset[alone] + stacking.effect[alone] * other
        return total

    found = rare_threshold(indicator, labels, held_out, answered, score, _SEED)
    report("thresholds of rare labels", 1, 1)
    return found


def lexicon_found(at: Setting, source: Source, found: Weighed, ensemble: Ensemble) -> dict[str, Any]:
    """What became of a prior file that is a member: how far each label follows it, why, and its audit."""
    prior, (members, scores, stack) = at.plan.prior, found
    if prior is None or not isinstance(source, TextSource) or all(member.name != prior.name for member in members):
        return {}
    others = np.array([member.name != prior.name for member in members])
    rest = [member for member in members if member.name != prior.name]
    without = at.plan.stacker.fit(scores[others], at.held, expected_weights(rest))
    loss_with, loss_without = (
        decision_losses(at.held.indicator, at.plan.stacker.probabilities(own, one))
        for own, one in ((scores, stack), (scores[others], without))
    )
    known = Knowledge(prior.estimator.matched, np.clip(stack.weights[~others][0], 0.0, 1.0))
    (v,), rows = prior.views, np.ones(len(at.target.indicator), dtype=np.bool_)
    space, counts = at.target.space, source.blocks[v]
    advice = prior_advice(known, counts, loss_with, loss_without, at.held.label_seen, space)
    features = source.features(prior.views, source.weightings(prior.views, rows), rows)
    columns = slice(int(source.bounds[v]), int(source.bounds[v + 1]))
    audit = known.audit_by_regression(
        ensemble.words().weights[:, columns], features, at.target.indicator,
        source.vectorizer.get_feature_names_out()[columns], space, at.target.weight,
    )  # fmt: skip
    return {"prior_weight": known.weight, "prior_advice": advice, "prior_audit": audit}


def describe(
    at: Setting, source: Source, before: Weighed, after: Weighed, proba: FloatArray, n_done: int, stacked: bool
) -> dict[str, Any]:
    """What an automatic training chose, JSON-able."""
    assert isinstance(source, TextSource)
    names = [member.name for member in after.members]
    losses = [alone_loss(one, at.held) for one in after.scores]
    widths = np.diff(source.bounds).tolist()
    return {
        "n_texts": len(at.target.indicator),
        "n_folds": at.target.folds.n_cut,
        "n_held_out": len(proba),
        "log_loss": _or_none(at.held.log_loss(proba)),
        "label_stacking": stacked,
        "left_out": [member.name for member in before.members if member.name not in names],
        "interrupted": n_done < len(at.plan.members),
        "n_done": n_done,
        "n_planned": len(at.plan.members),
        "views": [
            {"name": view.name, "words": n, "scheme": view.weighting.scheme, "pairs": view.has_pairs}
            for view, n in zip(source.views, widths, strict=True)
        ],
        "members": [
            {"name": member.name, "scale": member.scale, "log_loss": _or_none(loss), "weight": float(share.mean())}
            for member, loss, share in zip(after.members, losses, after.stack.weights, strict=True)
        ],
    }


def _or_none(loss: float) -> float | None:
    return loss if np.isfinite(loss) else None
