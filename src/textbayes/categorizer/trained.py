"""What every way of training a ``TextCategorizer`` begins and ends with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from textbayes.categorizer.knowledge import Advice
from textbayes.core.labels import LabelSpace
from textbayes.core.protocols import FittedModel
from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.knowledge import AuditRow, WordPriors
from textbayes.text.copies import Copies


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
    vectorizer, weighting : fitted
    model : FittedModel
    pool : array
        Weights of the members.
    held_out : array (n_held_out, n_columns)
        Probabilities of training texts by members that had not seen them.
    learnable : boolean array (n_held_out, n_columns)
        False where they mean nothing, since the other folds had no text of the label.
    tested : boolean array (n_docs,) or None
        Which of the training texts these are; None for all.
    prior_table, prior_weight, prior_audit, prior_advice
        What is known of words, how far each label follows it, what became of it, and why.
    choice : dict or None
        What an automatic training chose, JSON-able.
    rare_threshold : float or None
        Probability above which labels are assigned that no held-out text tests; None leaves them to the rule.
    """

    vectorizer: Any
    weighting: Any
    model: FittedModel
    pool: FloatArray
    held_out: FloatArray
    learnable: BoolArray
    tested: BoolArray | None = None
    prior_table: WordPriors | None = None
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
