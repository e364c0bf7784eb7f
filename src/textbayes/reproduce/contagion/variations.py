"""What the paper varies beside its tables: constants β (§ 3.2.3), the level α of Δ² and numbers of words (§ 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from textbayes.core.types import IntArray
from textbayes.lexical.delta2 import Model
from textbayes.models.counts import make_count_model
from textbayes.reproduce.contagion.corpora import Documents
from textbayes.reproduce.contagion.systems import (
    MODELS,
    Fold,
    count_model,
    folds_of,
    rank_words,
    word_scores,
    wrong_decisions,
)
from textbayes.reproduce.experiment import Systems
from textbayes.select.rules import select_per_label

# The paper's 20 sets are those of a study of Reagan's addresses and not printed; these go around its (2, 1).
FIRST: Final = (1.0, 2.0, 5.0, 10.0, 50.0)
SECOND: Final = (0.0, 1.0, 10.0, 100.0)
LEVELS: Final = (0.001, 0.01, 0.05, 0.1, 0.2)
FEW: Final = (10, 20, 50, 100, 200, 500, 1_000, 5_000)
_WORDS: Final = 1_000  # by information gain, as many as inner cross-validation mostly chooses for reviews

HIERARCHIES: Final = {"Dir-Pois": "dirichlet_poisson", "Dir-NB": "dirichlet_negative_binomial"}
Errors: TypeAlias = Mapping[str, float]


class Constants(NamedTuple):
    """A hierarchy with its constants β₁ and β₂; those of the dispersions keep their defaults."""

    model: str
    one: float
    two: float


class ByConstants(Systems[Constants, Fold, int, float]):
    """Errors in per cent of a hierarchy by its constants, by five-fold cross-validation, words by information gain."""

    threads = False

    def __init__(self, documents: Documents) -> None:
        super().__init__(folds_of(documents.y))
        self.documents = documents
        self._words = [rank_words(documents, train, "IG")[:_WORDS] for train, _ in self.units]

    def fit(self, system: Constants, unit: Fold) -> int:
        """Wrong decisions on the test documents."""
        train, test = unit
        columns = self._words[next(k for k, one in enumerate(self.units) if one is unit)]
        model = make_count_model(HIERARCHIES[system.model], beta=(system.one, system.two))
        return int(wrong_decisions(model, self.documents, train, test, columns).sum())

    def collect(self, system: Constants, parts: list[int]) -> float:
        """Errors in per cent."""
        return 100.0 * sum(parts) / len(self.documents.y)


class Choice(NamedTuple):
    """How words are chosen: all of Δ² up to a level α, as many by information gain, or so many by either."""

    by: str
    level: float | None = None
    null: Model = "poisson"
    size: int | None = None


class Chosen(NamedTuple):
    """Mean number of words over the folds, and errors in per cent by model."""

    n_words: float
    errors: Errors


class ByWords(Systems[Choice, Fold, tuple[int, Mapping[str, int]], Chosen]):
    """Errors of all models by the words they are given, by five-fold cross-validation; no model chooses."""

    threads = False

    def __init__(self, documents: Documents, models: tuple[str, ...] = MODELS) -> None:
        super().__init__(folds_of(documents.y))
        self.documents, self.models = documents, models

    def fit(self, system: Choice, unit: Fold) -> tuple[int, Mapping[str, int]]:
        """The number of words and each model's wrong decisions."""
        train, test = unit
        columns = self._columns(system, train)
        if not len(columns):  # no word: all decide for the largest class
            largest = np.bincount(self.documents.y[train]).argmax()
            return 0, dict.fromkeys(self.models, int((self.documents.y[test] != largest).sum()))
        wrong = {
            name: int(wrong_decisions(count_model(name), self.documents, train, test, columns).sum())
            for name in self.models
        }
        return len(columns), wrong

    def _columns(self, choice: Choice, train: IntArray) -> IntArray:
        if choice.level is None:
            return rank_words(self.documents, train, choice.by)[: choice.size]
        tested = word_scores(self.documents, train, "Δ²", choice.null)
        passed = np.flatnonzero(select_per_label(tested, fdr=choice.level)[0])
        return passed if choice.by == "Δ²" else rank_words(self.documents, train, choice.by)[: len(passed)]

    def collect(self, system: Choice, parts: list[tuple[int, Mapping[str, int]]]) -> Chosen:
        """Means over the folds."""
        errors = {name: 100.0 * sum(wrong[name] for _, wrong in parts) / len(self.documents.y) for name in self.models}
        return Chosen(float(np.mean([n for n, _ in parts])), errors)
