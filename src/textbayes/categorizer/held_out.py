"""Held-out texts of a training: their labels, and the log-loss of what is said of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from textbayes.core.folds import label_seen
from textbayes.core.labels import LabelSpace
from textbayes.core.types import BoolArray, FloatArray, IntArray
from textbayes.evaluate.calibration import decision_losses

ENOUGH_TEXTS = 300  # to choose weights and scales by what a fifth of them says, and to learn of first lines


@dataclass(frozen=True)
class HeldOut:
    """Texts that models of the cross-validation answered without having seen them.

    Parameters
    ----------
    indicator : boolean array (n_held_out, n_columns)
    label_seen : boolean array (n_held_out, n_columns)
        False where a score means nothing, since the other folds lacked the label.
    fold : array (n_held_out,)
    weight : array (n_held_out,) or None
        How much each text counts.
    space : LabelSpace
    """

    indicator: BoolArray
    label_seen: BoolArray
    fold: IntArray
    weight: FloatArray | None
    space: LabelSpace

    @classmethod
    def of(cls, indicator: BoolArray, fold: IntArray, weight: FloatArray | None, space: LabelSpace) -> HeldOut:
        """Those of all texts that have a fold; the fold of the others, which are only learnt from, is −1."""
        rows = fold >= 0
        seen = label_seen(indicator, fold)
        if rows.all():
            return cls(indicator, seen, fold, weight, space)
        return cls(indicator[rows], seen[rows], fold[rows], None if weight is None else weight[rows], space)

    def of_rows(self, rows: Any) -> HeldOut:
        """Some of the texts."""
        weight = None if self.weight is None else self.weight[rows]
        return HeldOut(self.indicator[rows], self.label_seen[rows], self.fold[rows], weight, self.space)

    def of_labels(self, labels: IntArray) -> HeldOut:
        """The same texts with some of the labels, which may go together."""
        space = LabelSpace(self.space.classes[labels], "multilabel")
        return replace(self, indicator=self.indicator[:, labels], label_seen=self.label_seen[:, labels], space=space)

    def untested(self) -> BoolArray:
        """The labels, (n_columns,), that no text tests: none has them, or none that could be known by the others."""
        return np.asarray(~(self.indicator & self.label_seen).any(axis=0))

    def has_both(self) -> bool:
        """Whether there are texts with a label and texts without one to fit anything to."""
        return bool((self.label_seen & self.indicator).any() and (self.label_seen & ~self.indicator).any())

    def log_loss(self, proba: FloatArray) -> float:
        """Mean log-loss of probabilities, per text for exclusive classes, else per label; texts count alike."""
        n_counted = int(self._counted().sum())
        # Nothing can be said of so few texts that none counts.
        return float(self.text_losses(proba).sum()) / n_counted if n_counted else float("nan")

    def text_losses(self, proba: FloatArray) -> FloatArray:
        """Log-losses of the texts, each the sum over its labels."""
        return np.asarray(np.where(self._counted(), decision_losses(self.indicator, proba), 0.0).sum(axis=1))

    def label_losses(self, proba: FloatArray) -> FloatArray:
        """Log-losses of the labels, each the sum over the texts by their weights."""
        losses = np.where(self._counted(), decision_losses(self.indicator, proba), 0.0)
        return np.asarray(losses.sum(axis=0) if self.weight is None else self.weight @ losses)

    def total_loss(self, proba: FloatArray, rows: Any = slice(None)) -> float:
        """−Σ log p of the labels of some of the texts, each by its weight: what weights of members are fitted to.

        Parameters
        ----------
        proba : array (n_rows, n_columns)
        rows : index
            The texts they are of.
        """
        indicator, counted = self.indicator[rows], self._counted(rows)
        losses = decision_losses(indicator, proba, clip=1e-300)[counted]
        if self.weight is not None:
            losses = losses * np.broadcast_to(self.weight[rows][:, None], counted.shape)[counted]
        return float(losses.sum())

    def _counted(self, rows: Any = slice(None)) -> BoolArray:
        """Which labels of some texts count for the log-loss: of exclusive classes the true one, else all."""
        seen = self.label_seen[rows]
        return self.indicator[rows] & seen if self.space.kind == "multiclass" else seen
