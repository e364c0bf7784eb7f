"""Automatic training: members fitted fold by fold, pooled by what they said of texts they had not seen, merged."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from textbayes.categorizer.auto.advice import decision_losses, prior_advice
from textbayes.categorizer.auto.cross_validation import cross_validate
from textbayes.categorizer.auto.held_out import HeldOut
from textbayes.categorizer.auto.meaning import without_sentences
from textbayes.categorizer.auto.members import Member, Regression, Told, Weights
from textbayes.categorizer.auto.plan import Plan
from textbayes.categorizer.auto.prune import prune
from textbayes.categorizer.auto.rare import labels_to_thin, rare_threshold
from textbayes.categorizer.auto.second_pass import second_pass
from textbayes.categorizer.auto.stacking import LEAST_WEIGHT, PoolWeights
from textbayes.categorizer.knowledge import Knowledge
from textbayes.categorizer.trained import Trained
from textbayes.core.errors import is_interrupt
from textbayes.core.folds import label_order
from textbayes.core.labels import LabelSpace
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features, FittedModel
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kinds.hinted import FittedHinted, some_other_label
from textbayes.kinds.linear import FittedLinear
from textbayes.links import make_link
from textbayes.text import TermWeighting
from textbayes.text.views import TextViews, ViewsWeighting, side_by_side

_MOST_SEARCHED = 16  # labels, when weights and scales are chosen
_SEED = 0  # of the texts that rare labels are made of
_LEAST_GAIN_OF_MEANING = 0.02  # of the log-loss: a member that tells nothing may gain a little by being one more
_SURE = 2.0  # standard errors of what they gain, by text


class AutoTraining:
    """The texts and labels of one automatic training.

    Parameters
    ----------
    plan : Plan
    views, blocks : TextViews, list of CSR matrix
        The views, fitted, and counts of the words of each.
    indicator : boolean array (n_docs, n_columns)
    space : LabelSpace
    fold : array (n_docs,)
        The fold of each text; −1 for those that are only learnt from.
    weight : array (n_docs,) or None
        How much each text counts.
    n_jobs : int or None
    report : Progress
    keep_partial : bool
        Whether Ctrl-C in the cross-validation ends it with the members that are done, where there are any; otherwise,
        and at any other time, it ends the training.
    """

    def __init__(
        self,
        plan: Plan,
        views: TextViews,
        blocks: list[Any],
        indicator: BoolArray,
        space: LabelSpace,
        fold: IntArray,
        weight: FloatArray | None,
        n_jobs: int | None,
        report: Progress,
        keep_partial: bool = False,
    ) -> None:
        self._plan, self._indicator, self._space, self._fold = plan, indicator, space, fold
        self._views, self._blocks = views, blocks
        self._weight, self._n_jobs, self._report = weight, n_jobs, report
        self._keep_partial = keep_partial
        self._held = HeldOut.of(indicator, fold, weight, space)

    def run(self, n_folds: int) -> Trained:
        """Train on the texts.

        Parameters
        ----------
        n_folds : int
            Those that the texts were cut into, to be told; all may be held out, or some.
        """
        self._choose_scheme()
        tried, scores = self._out_of_fold()
        n_done = len(tried)
        tried, scores, embeddings = self._approved(tried, scores)
        pool = self._pool(tried, scores)
        losses = [self._held.log_loss_alone(one) for one in scores]
        kept = np.flatnonzero(np.abs(pool.weights).max(axis=1) > LEAST_WEIGHT)
        kept = kept if len(kept) else np.array([0])  # where no member tells anything: the one that reads plain words
        everybody, everything, whole_pool = tried, scores, pool
        if len(kept) < len(tried):
            tried, scores, losses = [tried[m] for m in kept], scores[kept], [losses[m] for m in kept]
            pool = self._pool(tried, scores)
        if np.abs(pool.weights).max() <= LEAST_WEIGHT:  # its words are known all the same
            pool = pool._replace(weights=np.full_like(pool.weights, LEAST_WEIGHT))
        embeddings = self._settle_meaning(tried, embeddings)
        views, log_odds = self._views, pool.scores(scores)
        model, weighting = self._all_texts(tried, pool, views)
        threshold = None
        if self._space.kind == "multilabel":
            first = log_odds
            if self._plan.second_pass:
                model, log_odds = second_pass(model, first, self._held)
            threshold = self._rare_threshold(tried, pool, model, first)
        held_out = self._held.probabilities(log_odds)
        told = [
            {"name": member.name, "scale": _scale(member), "log_loss": _or_none(loss), "weight": float(share.mean())}
            for member, loss, share in zip(tried, losses, pool.weights, strict=True)
        ]
        widths = np.diff(views.bounds_).tolist()
        choice = {
            "n_texts": len(self._indicator),
            "n_folds": n_folds,
            "n_held_out": len(held_out),
            "log_loss": _or_none(self._held.log_loss(log_odds)),
            "second_pass": isinstance(model, FittedHinted),
            "left_out": [member.name for member in everybody if member not in tried],
            "interrupted": n_done < len(self._plan.members),
            "n_done": n_done,
            "n_planned": len(self._plan.members),
            "views": [
                {"name": view.name, "words": n, "scheme": view.weighting.scheme, "pairs": view.has_pairs}
                for view, n in zip(views.views, widths, strict=True)
            ],
            "members": told,
            "embeddings": embeddings,
        }
        vectorizer = views.vectorizers_[0] if len(views.views) == 1 else views
        weights = pool.weights.mean(axis=1)
        tested = None if (self._fold >= 0).all() else self._fold >= 0
        return Trained(
            vectorizer, weighting, model, weights, held_out, self._held.learnable, tested, choice=choice,
            rare_threshold=threshold, **self._prior(everybody, everything, whole_pool, model),
        )  # fmt: skip

    def _prior(
        self, members: Sequence[Member], scores: FloatArray, pool: PoolWeights, model: FittedModel
    ) -> dict[str, Any]:
        """What became of a prior file: how far each label follows it, why, and its audit; nothing without one."""
        prior = self._plan.prior
        if prior is None or all(member is not prior for member in members):
            return {}
        others = np.array([member is not prior for member in members])
        without = self._pool([member for member in members if member is not prior], scores[others])
        loss_with, loss_without = (
            decision_losses(self._held.probabilities(log_odds), self._held.indicator)
            for log_odds in (pool.scores(scores), without.scores(scores[others]))
        )
        known = Knowledge(prior.matched, np.clip(pool.weights[~others][0], 0.0, 1.0))
        (v,), rows = prior.views, np.ones(len(self._indicator), dtype=np.bool_)
        advice = prior_advice(known, self._blocks[v], loss_with, loss_without, self._held.learnable, self._space)
        X = self._matrix(prior.views, self._weightings(prior.views, rows), rows)
        columns = slice(int(self._views.bounds_[v]), int(self._views.bounds_[v + 1]))
        features = Features(self._blocks[v], X, np.zeros(len(rows)))  # a regression reads no lengths
        audit = known.audit_by_regression(
            model.words().weights[:, columns], features, self._indicator,
            self._views.get_feature_names_out()[columns], self._space, self._weight,
        )  # fmt: skip
        return {"prior_weight": known.weight, "prior_advice": advice, "prior_audit": audit}

    def _approved(
        self, members: list[Member], scores: FloatArray
    ) -> tuple[list[Member], FloatArray, dict[str, Any] | None]:
        """Members and scores, without those of sentence vectors if the pool says too little more with them, and why.

        Every later text would have to be read by the sentence model, so that it must gain a little, and more than it
        would by chance: two standard errors. Weights of the pools are fitted to half of the folds, and held against the
        other half.
        """
        words = np.array([member.views != (self._plan.meaning,) for member in members])
        if words.all():
            return members, scores, None
        others = [member for member, kept in zip(members, words, strict=True) if kept]
        pools = [self._cross_fitted(members, scores), self._cross_fitted(others, scores[words])]
        losses = [_or_none(self._held.log_loss(log_odds)) for log_odds in pools]
        told = {"outcome": "kept", "log_loss": losses[0], "log_loss_without": losses[1]}
        before = self._held.text_losses(pools[1])
        gain = before - self._held.text_losses(pools[0])
        by_chance = _SURE * float(gain.std()) * np.sqrt(len(gain))
        if None not in losses and gain.sum() >= max(_LEAST_GAIN_OF_MEANING * before.sum(), by_chance):
            return members, scores, told
        return others, scores[words], told

    def _cross_fitted(self, members: Sequence[Member], scores: FloatArray) -> FloatArray:
        """Log-odds of each half of the folds by a pool that was fitted to the other."""
        log_odds, half = np.empty(self._held.indicator.shape), self._held.fold % 2 == 0
        for rows in (half, ~half):
            log_odds[rows] = self._pool(members, scores, ~rows).scores(scores[:, rows])
        return log_odds

    def _settle_meaning(self, members: Sequence[Member], told: dict[str, Any] | None) -> dict[str, Any] | None:
        """What became of the sentence vectors; where no member reads them, texts are not read so from now on."""
        if self._plan.meaning is None:
            return None
        sentences: Any = self._views.vectorizers_[self._plan.meaning]
        if all(member.views != (self._plan.meaning,) for member in members):
            self._views, self._blocks = without_sentences(self._views, self._blocks)
            told = {"log_loss": None, "log_loss_without": None} | (told or {}) | {"outcome": "left out"}
        return {"model": sentences.name_, **(told or {})}

    def _pool(self, members: Sequence[Member], scores: FloatArray, rows: Any = slice(None)) -> PoolWeights:
        """Weights of the members; those that learnt are expected to share one, and those that were told have none."""
        learnt = np.array([not isinstance(member, Told) for member in members], dtype=np.float64)
        return self._held.pool(scores, learnt / max(learnt.sum(), 1.0), rows)

    def _out_of_fold(self) -> tuple[list[Member], FloatArray]:
        """The members that were fitted in every fold, and their scores (n_members, n_held_out, n_columns)."""
        done: list[Member] = []
        scores: list[Any] = []
        held_out = np.empty(self._held.indicator.shape, dtype=np.float32)
        n_folds = int(self._fold.max()) + 1
        total = len(self._plan.members) * n_folds
        whole = copy.copy(self)
        whole._report, whole._blocks = silent, []  # the blocks reach each worker once
        self._report("cross-validation", 0, total)
        try:
            for member, k, found in cross_validate(whole, self._blocks, self._plan.members, n_folds):
                held_out[self._held.fold == k] = found
                self._report("cross-validation", len(done) * n_folds + k + 1, total)
                if k == n_folds - 1:
                    done.append(member)
                    scores.append(held_out.copy())
        except (KeyboardInterrupt, SystemError) as error:
            if not (is_interrupt(error) and done and self._keep_partial):
                raise
        return done, np.stack(scores)

    def score_fold(self, member: Member, k: int) -> FloatArray:
        """Scores of the texts of one fold by a member that learnt from the others."""
        learnt = self._fold != k
        weightings = self._weightings(member.views, learnt)
        member = member.for_folds()
        fitted = self._fit(member, self._matrix(member.views, weightings, learnt), learnt)
        return fitted.scores(self._matrix(member.views, weightings, ~learnt))

    def _choose_scheme(self) -> None:
        """Weigh plain words by the scheme, of those planned, whose scores of the first fold say most of its labels."""
        if len(self._plan.schemes) == 1:
            return
        first, losses = self._plan.members[0], []
        for scheme in self._plan.schemes:
            self._views.views[0].weighting = TermWeighting(scheme)
            losses.append(self._first_fold_loss(first))
        self._views.views[0].weighting = TermWeighting(self._plan.schemes[int(np.argmin(losses))])

    def with_scale(self, member: Member) -> Member:
        """A regression with the scale, of those planned, whose scores of the first fold say most of its labels."""
        if not isinstance(member, Regression) or member.estimator.prior != "gaussian" or len(self._plan.scales) == 1:
            return member
        tried = [member.scaled(scale) for scale in self._plan.scales]
        losses = [self._first_fold_loss(one) for one in tried]
        return tried[int(np.argmin(losses))]

    def _first_fold_loss(self, member: Member) -> float:
        """Log-loss of the first fold; where labels are many, of some of them of all sizes, which is as telling."""
        part, n_columns = self, self._space.n_columns
        if self._space.kind == "multilabel" and n_columns > _MOST_SEARCHED:
            labels = label_order(self._indicator)[::-1][np.linspace(0, n_columns - 1, _MOST_SEARCHED).astype(int)]
            part = copy.copy(self)
            part._indicator, part._held = self._indicator[:, labels], self._held.of_labels(labels)
            part._space = part._held.space
        return part._held.log_loss_alone(part.score_fold(member, 0), self._held.fold == 0)

    def _all_texts(self, members: Sequence[Member], pool: PoolWeights, views: TextViews) -> tuple[FittedLinear, Any]:
        """The members fitted to all texts and added up: one linear model over the columns of all views."""
        rows = np.ones(len(self._indicator), dtype=np.bool_)
        bounds, everything = views.bounds_, tuple(range(len(views.views)))
        weightings = self._weightings(everything, rows)
        # Laid out word by word, so that scoring reads one run of memory per word for all labels.
        coef = np.zeros((int(bounds[-1]), self._space.n_columns)).T
        intercept = pool.bias.copy()
        for number, (member, share) in enumerate(zip(members, pool.weights, strict=True)):
            self._report("fitting all texts", number, len(members))
            own = [weightings[v] for v in member.views]
            fitted = self._fit(member, self._matrix(member.views, own, rows), rows)
            start = 0
            for v in member.views:
                width = int(bounds[v + 1] - bounds[v])
                coef[:, bounds[v] : bounds[v + 1]] += share[:, None] * fitted.coef[:, start : start + width]
                start += width
            intercept += share * fitted.intercept
        self._report("fitting all texts", len(members), len(members))
        n_words = int(bounds[-1] if self._plan.meaning is None else bounds[self._plan.meaning])
        X = self._matrix(everything, weightings, rows)[:, :n_words]
        intercept = prune(X, coef[:, :n_words], intercept)
        sharpness = pool.sharpness or 1.0
        coef /= sharpness
        model = FittedLinear(
            self._space, make_link("logit"), sharpness=sharpness, coef=coef, intercept=intercept / sharpness
        )
        factors = [view.factor for view in views.views]
        if len(weightings) == 1:
            return model, weightings[0]
        return model, ViewsWeighting.of_fitted(weightings, factors, bounds)

    def _rare_threshold(
        self, members: Sequence[Member], pool: PoolWeights, model: FittedLinear, first: FloatArray
    ) -> float | None:
        """The threshold of labels that no held-out text tests; None where nothing tells it."""
        labels = labels_to_thin(self._indicator, self._held, _SEED)
        if not self._plan.rare_threshold or not len(labels):
            return None
        self._report("thresholds of rare labels", 0, 1)
        untested = self._held.untested()
        alone = int(next(label for label in label_order(self._indicator) if untested[label]))
        answered, held_out = self._fold >= 0, self._fold == 0
        place = np.cumsum(answered) - 1  # of a text among those that were held out
        rough = [member.for_folds() for member in members]
        rows = np.ones(len(held_out), dtype=np.bool_)
        read = {
            views: self._matrix(views, self._weightings(views, ~held_out), rows)
            for views in {member.views for member in members}
        }

        def score(k: int, learnt: BoolArray, judged: BoolArray) -> FloatArray:
            total = np.full(int(judged.sum()), pool.bias[alone])
            label = self._indicator[:, [k]] & learnt[:, None]
            weight = np.where(learnt, 1.0 if self._weight is None else self._weight, 0.0)  # others do not count
            for member, share in zip(rough, pool.weights[:, alone], strict=True):
                scores = member.fit(read[member.views], label, weight, self._n_jobs).scores(read[member.views])
                total += share * scores[judged, k if isinstance(member, Told) else 0]
            if isinstance(model, FittedHinted):
                others = first[place[judged]]
                others[:, k] = -np.inf
                hint = some_other_label(others)[:, k]
                total = model.slope[alone] * total + model.offset[alone] + model.hint[alone] * hint
            return total

        found = rare_threshold(self._indicator, labels, held_out, answered, score, _SEED)
        self._report("thresholds of rare labels", 1, 1)
        return found

    def _weightings(self, views: Sequence[int], rows: BoolArray) -> list[TermWeighting]:
        """The weighting of each view, fitted to some of the texts."""
        return [clone(self._views.views[v].weighting).fit(self._blocks[v][rows]) for v in views]

    def _matrix(self, views: Sequence[int], weightings: Sequence[TermWeighting], rows: BoolArray) -> Any:
        """Some of the texts as a member sees them."""
        factors = [self._views.views[v].factor for v in views]
        return side_by_side(
            [
                factor * weighting.transform(self._blocks[v][rows])
                for factor, weighting, v in zip(factors, weightings, views, strict=True)
            ]
        )

    def _fit(self, member: Member, X: Any, rows: BoolArray) -> Weights:
        return member.fit(X, self._indicator[rows], None if self._weight is None else self._weight[rows], self._n_jobs)

    def reading(self, blocks: list[Any]) -> AutoTraining:
        """The same training of these blocks of words."""
        other = copy.copy(self)
        other._blocks = blocks
        return other


def _or_none(loss: float) -> float | None:
    return loss if np.isfinite(loss) else None


def _scale(member: Member) -> float | None:
    return float(member.estimator.scale) if isinstance(member, Regression) else None
