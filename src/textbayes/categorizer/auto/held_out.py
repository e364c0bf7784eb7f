"""Held-out texts of an automatic training: their labels, and what pools of members make of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textbayes.categorizer.auto.stacking import PoolWeights, fit_stacking
from textbayes.core.folds import label_seen
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.kinds.base import class_probabilities

_TO_COMPARE = 400_000  # texts × classes that a member's own pool is fitted to


@dataclass(frozen=True)
class HeldOut:
    """Texts that models of the cross-validation answered without having seen them.

    Parameters
    ----------
    indicator : boolean array (n_held_out, n_columns)
    learnable : boolean array (n_held_out, n_columns)
        False where a score means nothing, since the other folds lacked the label.
    fold : array (n_held_out,)
    weight : array (n_held_out,) or None
        How much each text counts.
    space : LabelSpace
    """

    indicator: BoolArray
    learnable: BoolArray
    fold: IntArray
    weight: FloatArray | None
    space: LabelSpace

    @classmethod
    def of(cls, indicator: BoolArray, fold: IntArray, weight: FloatArray | None, space: LabelSpace) -> HeldOut:
        """Those of all texts that have a fold; the fold of the others, which are only learnt from, is −1."""
        rows = fold >= 0
        learnable = label_seen(indicator, fold)[rows]
        return cls(indicator[rows], learnable, fold[rows], None if weight is None else weight[rows], space)

    def of_labels(self, labels: IntArray) -> HeldOut:
        """The same texts with some of the labels, which may go together."""
        space = LabelSpace(self.space.classes[labels], "multilabel")
        return replace(self, indicator=self.indicator[:, labels], learnable=self.learnable[:, labels], space=space)

    def untested(self) -> BoolArray:
        """The labels, (n_columns,), that no text tests: none has them, or none that could be known by the others."""
        return np.asarray(~(self.indicator & self.learnable).any(axis=0))

    def pool(self, scores: FloatArray, expected: FloatArray | None = None, rows: Any = slice(None)) -> PoolWeights:
        """Weights of members by their scores (n_members, n_held_out, n_columns) of some of the texts.

        Parameters
        ----------
        scores : array (n_members, n_held_out, n_columns)
        expected : array (n_members,), optional
            Prior means of the weights.
        rows : index
        """
        return self._fit_pool(scores[:, rows], rows, expected)

    def log_loss_alone(self, scores: FloatArray, rows: Any = slice(None)) -> float:
        """Mean log-loss of one member after a pool of its own was fitted to the same scores: alike kind to all.

        Parameters
        ----------
        scores : array (n_rows, n_columns)
        rows : index
            The texts they are of.
        """
        pool = self._fit_pool(scores[None], rows, most=_TO_COMPARE)
        return self.log_loss(pool.scores(scores[None]), rows)

    def log_loss(self, log_odds: FloatArray, rows: Any = slice(None)) -> float:
        """Mean log-loss of scores of some texts, per text for exclusive classes, else per label."""
        n_counted = int(self._counted(rows).sum())
        # Nothing can be said of so few texts that none counts.
        return float(self.text_losses(log_odds, rows).sum()) / n_counted if n_counted else float("nan")

    def text_losses(self, log_odds: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Log-losses of some texts, each the sum over its labels."""
        proba = np.clip(self.probabilities(log_odds), 1e-15, 1.0 - 1e-15)
        own = np.where(self.indicator[rows], proba, 1.0 - proba)
        return np.asarray(np.where(self._counted(rows), -np.log(own), 0.0).sum(axis=1))

    def probabilities(self, log_odds: FloatArray) -> FloatArray:
        """Probabilities of a pool from its scores; those of exclusive classes add up to one."""
        return class_probabilities(log_odds, self.space, joint=True)

    def _counted(self, rows: Any) -> BoolArray:
        """Which labels of some texts count for the log-loss: of exclusive classes the true one, else all."""
        learnable = self.learnable[rows]
        return self.indicator[rows] & learnable if self.space.kind == "multiclass" else learnable

    def _fit_pool(self, scores: FloatArray, rows: Any, expected: FloatArray | None = None, **how: Any) -> PoolWeights:
        weight = None if self.weight is None else self.weight[rows]
        return fit_stacking(scores, self.indicator[rows], self.space, self.learnable[rows], weight, expected, **how)
