"""Members fitted fold by fold: their scores of held-out texts, and the log-loss of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from textbayes.categorizer.held_out import ENOUGH_TEXTS, HeldOut
from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.plan import Member, Plan
from textbayes.categorizer.sources import BY_CV, Source, Target, TextSource
from textbayes.categorizer.stackers import LabelWeights, row_blocks
from textbayes.categorizer.stacking import Stack, fit_stacking
from textbayes.core.cross_validation import Folds, out_of_fold
from textbayes.core.executor import executor_in_use, spread
from textbayes.core.folds import label_order
from textbayes.core.progress import Progress
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.models.base import SamplingCallback

_TO_COMPARE = 400_000  # texts × classes that a member's own weights are fitted to
_TOP_K = (10, 30, 100, 300, 1_000, 3_000, 10_000)  # words of each label that are tried, and all words
_INNER_FOLDS = 3
_PARTS = 10  # of few held-out texts, for weights that have not seen them; two of many
_MOST_SEARCHED = 16  # labels, when term weights and scales are chosen


class Task(NamedTuple):
    """Members that are fitted together in each fold, and what a prior file tells them; a name for checkpoints."""

    members: list[Member]
    knowledge: Knowledge | None = None
    name: str | None = None


class Setting(NamedTuple):
    """What all steps of a training share; it reaches each worker once."""

    plan: Plan
    target: Target
    held: HeldOut


class Weighed(NamedTuple):
    """Members, their scores of held-out texts (n_members, n_held_out, n_columns), and their weights."""

    members: list[Member]
    scores: FloatArray
    stack: Stack


def setting_of(plan: Plan, target: Target) -> Setting:
    """A plan and a target with the held-out texts."""
    return Setting(plan, target, HeldOut.of(target.indicator, target.folds.number, target.weight, target.space))


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
        tasks = (Task([member], knowledge) for member in spread(_with_scale, members, at, source))
    in_turn = any(member.estimator.samples for member in members)  # their chains are spread instead
    here = in_turn or executor_in_use() is None
    found = out_of_fold(
        _score_fold, at.target.folds, tasks, (at, source, watch if here else SamplingCallback()),
        allocate=source.allocate, keep_partial=keep_partial, report=report, in_turn=in_turn,
        checkpoint=watch if at.plan.together else None,  # members that are fitted one by one share names of folds
        total=at.target.folds.n * (1 if at.plan.together else len(members)),
    )  # fmt: skip
    done = [member for task, _ in found for member in task.members]
    return done, found[0][1] if len(found) == 1 else np.concatenate([scores for _, scores in found])


def _score_fold(task: Task, k: int, at: Setting, source: Source, watch: SamplingCallback) -> FloatArray:
    """Scores of the texts of one fold by members that were trained on the others."""
    train_rows, test_rows = at.target.folds.split(k)
    at = with_top_k(at, source, task.members, train_rows, task.knowledge)
    members = [member.for_folds() for member in task.members]
    stage = at.target.folds.name(k, task)
    group = source.fit(members, train_rows, at.target, stage, watch, task.knowledge)
    scores = source.scores(group, test_rows, at.plan.stacker.member_scores)
    return scores.astype(at.plan.stacker.dtype, copy=False)


def with_top_k(
    at: Setting, source: Source, members: Sequence[Member], rows: BoolArray, knowledge: Knowledge | None = None
) -> Setting:
    """The setting with the number of words of each label that predicts held-out texts best, where it is to be found.

    What is held out is a part of the texts that are learnt from, so that the number is a part of the training.

    Parameters
    ----------
    at, source, members, knowledge
        Of the training.
    rows : boolean array (n_docs,)
        The texts that are learnt from.
    """
    target, settings = at.target, at.target.settings
    if settings.select is None or settings.select_k != BY_CV:
        return at
    number = np.full(len(rows), -1)
    inner = Folds.stratified(target.indicator[rows], _INNER_FOLDS, settings.random_state, target.together(rows))
    number[rows] = inner.number
    folds = Folds(number, inner.n_cut, [rows & (number != k) for k in range(inner.n)])
    modes = [replace(one, estimator=one.estimator.at_mode()) if one.estimator.samples else one for one in members]
    inside = replace(target, indicator=target.indicator & rows[:, None], folds=folds)
    losses, settled = [], []
    for k in (*(k for k in _TOP_K if k < source.n_words), source.n_words):
        tried = setting_of(at.plan, replace(inside, settings=settings._replace(select_k=k)))
        [(_, scores)] = out_of_fold(
            _score_fold, folds, [Task(modes, knowledge)], (tried, source, SamplingCallback()), in_turn=True
        )
        # Calibrated: the log-loss of naive Bayes as it is falls with fewer words, whatever they say.
        losses.append(sum(alone_loss(own, tried.held) for own in scores))
        settled.append(at._replace(target=replace(target, settings=tried.target.settings)))
    return settled[int(np.argmin(losses))]


def _with_scale(member: Member, at: Setting, source: TextSource) -> Member:
    """A regression with the scale, of those planned, that gives the lowest log-loss of the first fold."""
    if len(at.plan.scales) < 2 or getattr(member.estimator, "prior", None) != "gaussian":
        return member
    tried = [member.with_params(scale=scale) for scale in at.plan.scales]
    losses = [first_fold_loss(one, at, source) for one in tried]
    return tried[int(np.argmin(losses))]


def first_fold_loss(member: Member, at: Setting, source: Source) -> float:
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


def expected_weights(members: Sequence[Member]) -> FloatArray:
    """Prior means of the members' weights: those that learn share one, equally or as they say; a lexicon has none."""
    share = np.array([member.share if member.learns else 0.0 for member in members])
    return np.asarray(share / max(share.sum(), 1.0))


def ensemble_loss(at: Setting, scores: FloatArray, stack: Stack) -> float:
    """Log-loss of an ensemble on held-out texts."""
    return at.held.total_loss(at.plan.stacker.probabilities(scores, stack))


def parts_of(held: HeldOut) -> IntArray:
    """The part of each held-out text, (n_held_out,): what is fitted to held-out texts is judged on the other parts.

    Whole folds make a part, so that texts of one group and copies of one text are in the same.
    """
    return np.asarray(held.fold % (_PARTS if len(held.fold) < ENOUGH_TEXTS else 2))


def cross_fitted(at: Setting, scores: FloatArray, part: IntArray, expected: FloatArray) -> FloatArray:
    """Probabilities of held-out texts by weights of the members that were fitted to the other parts of these texts.

    Parameters
    ----------
    at : Setting
    scores : array (n_members, n_held_out, n_columns)
    part : array (n_held_out,)
        The part of each text, two parts or more.
    expected : array (n_members,)
        Prior means of the weights.
    """
    proba, stacker = np.empty(at.held.indicator.shape), at.plan.stacker
    for rows in (part == number for number in np.unique(part)):
        others = at.held.of_rows(~rows)
        stack = stacker.fit(scores[:, ~rows], others, expected)
        proba[rows] = stacker.probabilities(scores[:, rows], stacker.finish(stack, scores[:, ~rows], others))
    return proba


def probabilities(at: Setting, source: Source, scores: FloatArray, stack: Stack) -> FloatArray:
    """Probabilities of held-out texts, block by block."""
    proba = source.allocate(at.held.indicator.shape, np.float64)
    for rows in row_blocks(proba.shape):
        proba[rows] = at.plan.stacker.probabilities(scores[:, rows], stack)
    return proba
