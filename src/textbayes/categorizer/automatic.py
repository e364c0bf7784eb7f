"""Steps that an automatic training takes beyond fitting and weighing its members, one function each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from textbayes.categorizer.ensemble import Ensemble, Part
from textbayes.categorizer.held_out import ENOUGH_TEXTS, HeldOut
from textbayes.categorizer.knowledge import Knowledge, prior_advice
from textbayes.categorizer.member_scores import (
    Setting,
    Weighed,
    alone_loss,
    cross_fitted,
    expected_weights,
    first_fold_loss,
    parts_of,
)
from textbayes.categorizer.plan import Member
from textbayes.categorizer.schema import LEAST_SLOPE
from textbayes.categorizer.scorer import LabelStacking, some_other_label
from textbayes.categorizer.sources import Source, TextSource
from textbayes.categorizer.stackers import LabelWeights
from textbayes.categorizer.stacking import LEAST_WEIGHT, Stack, fit_stacking
from textbayes.core.folds import label_order
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.evaluate.calibration import CLIP, decision_losses
from textbayes.models.base import FitOptions
from textbayes.text import TermWeighting

_SEED = 0  # of the texts that rare labels are made of
_LEAST_GAIN_OF_NETWORKS = 0.02  # of the log-loss: a member that says nothing may gain a little by being one more
_SURE = 2.0  # z score: of the gain by text, or of a permutation test
_LEAST_GAIN_OF_LABELS = 0.002  # of the log-loss, by label stacking


def choose_scheme(at: Setting, source: Source) -> None:
    """Weigh plain words by the scheme, of those planned, that gives the lowest log-loss of the first fold."""
    if len(at.plan.schemes) < 2 or not isinstance(source, TextSource):
        return
    view, losses = source.views[0], []
    for scheme in at.plan.schemes:
        view.weighting = TermWeighting(scheme)
        losses.append(first_fold_loss(at.plan.members[0], at, source))
    view.weighting = TermWeighting(at.plan.schemes[int(np.argmin(losses))])


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


def best_encoder(at: Setting, members: list[Member], scores: FloatArray) -> tuple[list[Member], FloatArray]:
    """Members and scores, with one of the encoders: that of the way to learn which held-out texts prefer."""
    tried = [m for m, member in enumerate(members) if member.views == (at.plan.tokens,)]
    if len(tried) < 2:
        return members, scores
    best = min(tried, key=lambda m: alone_loss(scores[m], at.held))
    kept = [m for m in range(len(members)) if m == best or m not in tried]
    return [members[m] for m in kept], scores[kept]


def approve_view(
    at: Setting, members: list[Member], scores: FloatArray, view: int | None
) -> tuple[list[Member], FloatArray, dict[str, Any] | None]:
    """Members and scores, without those of a view if the ensemble gains too little by them, and why.

    It is that of sentence vectors or of tokens: every later text would have to be read by a neural network, so that it
    must gain a little, and more than it would by chance: two standard errors. Weights are fitted to half of the folds,
    and compared on the other half.

    Tens of texts cannot show such a gain, whatever an encoder knows. With fewer than ``ENOUGH_TEXTS`` it is kept if
    what it says goes with the labels, which tens of texts do show, and if the ensemble loses nothing by it. Weights
    fitted to half of so few are too rough to say that, so that they are fitted to nine tenths.
    """
    words = np.array([member.views != (view,) for member in members])
    if view is None or words.all():
        return members, scores, None
    others = [member for member, reads_words in zip(members, words, strict=True) if reads_words]
    few = view == at.plan.tokens and len(at.held.fold) < ENOUGH_TEXTS
    part = parts_of(at.held) if few else at.held.fold % 2
    tried = [
        cross_fitted(at, scores, part, expected_weights(members)),
        cross_fitted(at, scores[words], part, expected_weights(others)),
    ]
    losses = [_or_none(at.held.log_loss(proba)) for proba in tried]
    outcome = {"outcome": "kept", "log_loss": losses[0], "log_loss_without": losses[1]}
    before = at.held.text_losses(tried[1])
    gain = before - at.held.text_losses(tried[0])
    if few:
        approved = gain.sum() >= 0.0 and max(permutation_z(own, at.held) for own in scores[~words]) >= _SURE
    else:
        by_chance = _SURE * float(gain.std()) * np.sqrt(len(gain))
        approved = gain.sum() >= max(_LEAST_GAIN_OF_NETWORKS * before.sum(), by_chance)
    return (members, scores, outcome) if approved and None not in losses else (others, scores[words], outcome)


def permutation_z(scores: FloatArray, held: HeldOut) -> float:
    """The z score of a permutation test: does what a member says go with the labels of the texts?

    That is the sum of its log-odds of the labels that texts have; mean and variance over all orders of the labels'
    rows are known (Hoeffding, 1951, A combinatorial central limit theorem).

    Parameters
    ----------
    scores : array (n_held_out, n_columns)
    held : HeldOut
    """
    labels = (held.indicator & held.label_seen).astype(np.float64)
    labels = labels if held.weight is None else labels * held.weight[:, None]
    product = labels @ scores.T.astype(np.float64)
    chance = product - product.mean(axis=0) - product.mean(axis=1)[:, None] + product.mean()
    variance = float((chance**2).sum()) / max(len(chance) - 1, 1)
    return float(np.trace(chance)) / np.sqrt(variance) if variance > 0.0 else 0.0


def settle_view(
    source: Source, members: list[Member], view: int | None, outcome: dict[str, Any] | None
) -> tuple[Source, list[Member], dict[str, Any] | None]:
    """What became of sentence vectors or of tokens; where no member reads them, texts are not read so from now on."""
    if view is None or not isinstance(source, TextSource):
        return source, members, None
    vectorizer: Any = source.vectorizers[view]
    if all(member.views != (view,) for member in members):
        source = source.without_view(view)
        members = [replace(member, views=tuple(w - (w > view) for w in member.views)) for member in members]
        outcome = {"log_loss": None, "log_loss_without": None} | (outcome or {}) | {"outcome": "left out"}
    return source, members, {"model": vectorizer.name_, **(outcome or {})}


def stack_labels(
    at: Setting, ensemble: Ensemble, log_odds: FloatArray, proba: FloatArray, judged: FloatArray, part: IntArray
) -> tuple[Ensemble, FloatArray, FloatArray]:
    """The ensemble with label stacking, and its held-out probabilities, where it lowers the log-loss enough.

    Parameters
    ----------
    at : Setting
    ensemble : Ensemble
    log_odds, proba : arrays (n_held_out, n_labels)
    judged, part : arrays (n_held_out, n_labels), (n_held_out,)
        Probabilities by weights fitted to other parts of these texts, and the part of each; the third that is returned.
    """
    linear, held = ensemble.linear, at.held
    if linear is None:
        return ensemble, proba, judged
    scores = np.stack([log_odds, some_other_label(log_odds)])
    expected = np.array([1.0, 0.0])
    found = fit_stacking(scores, held.indicator, held.space, held.label_seen, held.weight, expected)
    after = LabelWeights(held.space).probabilities(scores, found)
    if not held.log_loss(after) <= (1.0 - _LEAST_GAIN_OF_LABELS) * held.log_loss(proba):  # nor where neither is known
        return ensemble, proba, judged
    first = special.logit(np.clip(judged, CLIP, 1.0 - CLIP))
    judged = cross_fitted(at, np.stack([first, some_other_label(first)]), part, expected)
    slope = np.maximum(found.weights[0], LEAST_SLOPE)
    scaled = linear.scaled(slope)
    scaled.intercept_ = scaled.intercept_ + found.bias
    parts = [Part(scaled, np.ones(held.space.n_columns))]
    stacking = LabelStacking(slope, found.bias, found.weights[1])
    return Ensemble(held.space, parts, label_stacking=stacking), after, judged


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
        ensemble.word_weights().weights[:, columns], features, at.target.indicator,
        source.vectorizer.get_feature_names_out()[columns], space, at.target.weight,
    )  # fmt: skip
    return {"prior_weight": known.weight, "prior_advice": advice, "prior_audit": audit}


def describe(
    at: Setting,
    source: Source,
    before: Weighed,
    after: Weighed,
    judged: FloatArray,
    part: IntArray,
    n_done: int,
    stacked: bool,
) -> dict[str, Any]:
    """What an automatic training chose, JSON-able."""
    assert isinstance(source, TextSource)
    names = [member.name for member in after.members]
    losses = [at.held.log_loss(cross_fitted(at, one[None], part, np.ones(1))) for one in after.scores]
    widths = np.diff(source.bounds).tolist()
    return {
        "n_texts": len(at.target.indicator),
        "n_folds": at.target.folds.n_cut,
        "n_held_out": len(judged),
        "log_loss": _or_none(at.held.log_loss(judged)),
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


_CHANGE = 0.02  # root mean square of what scores may change by, as a share of their standard deviation
_LOOKED_AT = 1_000  # documents
_BLOCK = 8_192  # words at a time: there are as many weights of each as labels
_SMALL_PARTS = (0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001)  # log-odds that a word adds to a text that has it


def prune(X: Any, coef: FloatArray, intercept: FloatArray) -> FloatArray:
    """Leave out small weights, in place; returns intercepts that have taken over what those add on average.

    As many are left out as change scores of training documents by no more than a fiftieth of how much these differ.

    Parameters
    ----------
    X : CSR matrix (n_docs, n_features)
        The training documents.
    coef, intercept : arrays (n_labels, n_features), (n_labels,)
    """
    columns = X.tocsc()
    sums = np.asarray(columns.sum(axis=0)).ravel()
    n_docs = np.diff(columns.indptr)
    # A word that no training text has was told of: later texts may have it, as much as texts have of other words.
    unseen = sums.sum() / max(int(n_docs.sum()), 1)
    mean, typical = sums / X.shape[0], np.where(n_docs > 0, sums / np.maximum(n_docs, 1), unseen)
    some = columns[:: max(X.shape[0] // _LOOKED_AT, 1)]
    allowed = _CHANGE * float(np.asarray(some @ coef.T).std())
    blocks = [slice(start, start + _BLOCK) for start in range(0, coef.shape[1], _BLOCK)]

    def small(block: slice, least: float) -> BoolArray:
        return np.asarray(np.abs(coef[:, block]) * typical[block] < least)

    for least in _SMALL_PARTS:
        moved, change = np.zeros(len(coef)), np.zeros((some.shape[0], len(coef)))
        for block in blocks:
            left = np.where(small(block, least), coef[:, block], 0.0)
            moved += left @ mean[block]
            change += some[:, block] @ left.T
        if np.sqrt(np.mean((change - moved) ** 2)) <= allowed:
            for block in blocks:
                coef[:, block][small(block, least)] = 0.0
            return np.asarray(intercept + moved)
    return intercept


_FROM, _TO = 4, 40  # texts of the labels that are cut down
_MOST, _LEAST = 40, 5  # such labels: more add little, fewer say nothing
_LEAST_JUDGED = 2  # held-out texts of such a label: one may be that which is learnt
_LOG_ODDS = np.linspace(-9.0, 3.0, 49)

ScoreThinned = Callable[[int, BoolArray, BoolArray], FloatArray]
"""Log-odds of a label for the second documents after learning it from the first, its own among them marked as such."""


def labels_to_thin(indicator: BoolArray, held: HeldOut, random_state: int) -> IntArray:
    """The labels to cut down, none where no label needs it or too few could tell.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_labels)
    held : HeldOut
        The documents of these that were held out.
    random_state : int
    """
    size, n_judged = indicator.sum(axis=0), held.indicator.sum(axis=0)
    usable = label_order(indicator)
    usable = usable[((size >= _FROM) & (size <= _TO) & (n_judged >= _LEAST_JUDGED))[usable]]
    if not held.untested().any() or len(usable) < _LEAST:
        return usable[:0]
    rng = np.random.default_rng(random_state)
    return np.asarray(rng.choice(usable, min(len(usable), _MOST), replace=False))


def rare_threshold(
    indicator: BoolArray,
    labels: IntArray,
    held_out: BoolArray,
    answered: BoolArray,
    score: ScoreThinned,
    random_state: int,
) -> float:
    """Probability above which such labels should be assigned: the best mean F1 of labels cut down to one text each.

    A label with one text among n has about one in the next n: that many false positives count against it.

    Parameters
    ----------
    indicator : boolean array (n_docs, n_labels)
    labels : array
        The labels to cut down.
    held_out : boolean array (n_docs,)
        Documents to judge by that do not have the label; those that have it, but the one, are judged too.
    answered : boolean array (n_docs,)
        Documents that can be judged.
    score : function of label, documents to learn from, documents to score
    random_state : int
    """
    rng = np.random.default_rng(random_state)
    total = np.zeros(len(_LOG_ODDS))
    for k in labels:
        own = indicator[:, k]
        learnt = ~held_out & ~own
        learnt[rng.choice(np.flatnonzero(own))] = True
        judged = (held_out | own) & answered & ~learnt
        log_odds, right = score(int(k), learnt, judged), own[judged]
        recall = (log_odds[right, None] > _LOG_ODDS).mean(axis=0)
        false = (log_odds[~right, None] > _LOG_ODDS).sum(axis=0) * (len(own) / max((~right).sum(), 1))
        total += 2.0 * recall / (recall + false + 1.0)
    return float(special.expit(_LOG_ODDS[int(total.argmax())]))
