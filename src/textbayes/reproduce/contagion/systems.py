"""Errors by five-fold cross-validation, the number of words chosen by another one inside each training part (§5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold

from textbayes.core.protocols import ScoreResult
from textbayes.core.types import BoolArray, IntArray
from textbayes.lexical.delta2 import Model, delta2_test
from textbayes.models.counts import BaseCountModel, make_count_model
from textbayes.reproduce.contagion.corpora import Documents
from textbayes.reproduce.experiment import Systems, best_setting
from textbayes.select.rules import best_over_labels
from textbayes.select.score_functions import scores

FOLDS: Final = 5
SIZES: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # and all words
QUICK_SIZES: Final = (200, 2_000)
SELECTION: Final = ("IG", "Δ²")
Fold: TypeAlias = tuple[IntArray, IntArray]

# Naive Bayes is the better of counts and TF-IDF, as in the paper; the hierarchy has its β = (2, 1).
_SETTINGS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "naive Bayes, counts": ("multinomial", {"length_correction": True}),
    "naive Bayes, TF-IDF": ("multinomial", {"length_correction": True, "weighting": "tfidf"}),
    "Poisson": ("poisson", {}),
    "Neg-Bin": ("negative_binomial", {"shared": False}),  # μ and δ of each word and class by themselves
    "Dir-Pois": ("dirichlet_poisson", {"beta": (2.0, 1.0)}),
    "Bernoulli": ("bernoulli", {}),
}
MODELS: Final = tuple(_SETTINGS)


class Errors(NamedTuple):
    """Wrong decisions (n_docs,) by model, and the numbers of words chosen in each fold."""

    wrong: Mapping[str, BoolArray]
    sizes: Mapping[str, tuple[int, ...]]


def count_model(name: str) -> BaseCountModel[Any, Any]:
    """Make one of the paper's models."""
    model, settings = _SETTINGS[name]
    return make_count_model(model, **settings)


class CrossValidation(Systems[str, Fold, Mapping[str, tuple[int, BoolArray]], Errors]):
    """Errors of all models by the way words are selected, on documents that chose neither words nor parameters.

    The number of words is chosen by another cross-validation inside the training part of a fold.
    """

    threads = False

    def __init__(
        self, documents: Documents, sizes: Sequence[int] = SIZES, models: Sequence[str] = MODELS, random_state: int = 0
    ) -> None:
        super().__init__(folds_of(documents.y, random_state))
        n_words = documents.X.shape[1]
        self.documents, self.models, self.random_state = documents, models, random_state
        self.sizes = (*(size for size in sizes if size < n_words), n_words)

    def fit(self, system: str, unit: Fold) -> Mapping[str, tuple[int, BoolArray]]:
        """The number of words chosen by each model, and its wrong decisions on the test documents."""
        train, test = unit
        inner = dict.fromkeys(self.models, np.zeros(len(self.sizes)))
        for inside, held_out in folds_of(self.documents.y[train], self.random_state + 1):
            wrong = self._wrong(train[inside], train[held_out], system, dict.fromkeys(self.models, self.sizes))
            inner = {name: inner[name] + wrong[name].sum(axis=1) for name in self.models}
        best = {name: best_setting(self.sizes, [-wrong for wrong in inner[name]]) for name in self.models}
        outer = self._wrong(train, test, system, {name: (size,) for name, size in best.items()})
        return {name: (best[name], outer[name][0]) for name in self.models}

    def collect(self, system: str, parts: list[Mapping[str, tuple[int, BoolArray]]]) -> Errors:
        """Decisions of all folds in the order of the documents."""
        order = np.argsort(np.concatenate([test for _, test in self.units]))
        wrong = {name: np.concatenate([part[name][1] for part in parts])[order] for name in self.models}
        return Errors(wrong, {name: tuple(part[name][0] for part in parts) for name in self.models})

    def _wrong(
        self, train: IntArray, test: IntArray, selection: str, sizes: Mapping[str, Sequence[int]]
    ) -> dict[str, BoolArray]:
        """Wrong decisions (n_sizes, n_test) of each model with each of its numbers of words."""
        order = rank_words(self.documents, train, selection)
        found: dict[str, list[BoolArray]] = {name: [] for name in sizes}
        for size in sorted({size for wanted in sizes.values() for size in wanted}):
            for name in (name for name, wanted in sizes.items() if size in wanted):
                found[name].append(wrong_decisions(count_model(name), self.documents, train, test, order[:size]))
        return {name: np.array(parts) for name, parts in found.items()}


def wrong_decisions(
    model: BaseCountModel[Any, Any], documents: Documents, train: IntArray, test: IntArray, columns: IntArray
) -> BoolArray:
    """Wrong decisions (n_test,) of a model of these columns, learnt from the training documents."""
    Y = (documents.y[train, None] == np.arange(len(documents.classes))).astype(np.float64)
    X = documents.X[:, np.sort(columns)]
    estimate = model.estimate(model.statistics(X[train], Y, documents.lengths[train]))
    class_scores = model.class_scores(X[test], documents.lengths[test], estimate)
    return np.asarray((class_scores + np.log(Y.mean(axis=0))).argmax(axis=1) != documents.y[test])


def rank_words(documents: Documents, rows: IntArray, selection: str) -> IntArray:
    """Rank words from the best to the worst by their best score over the classes, each against the rest."""
    return np.argsort(-word_scores(documents, rows, selection).scores[0], kind="stable")


def word_scores(documents: Documents, rows: IntArray, selection: str, null: Model = "poisson") -> ScoreResult:
    """Each word's best score over the classes, and the p-value that goes with it where there is one.

    ``null`` is the distribution of counts that Δ² tests against.
    """
    Y = documents.y[rows, None] == np.arange(len(documents.classes))
    Y = Y[:, 1:] if len(documents.classes) == 2 else Y
    if selection == "Δ²":
        lengths = documents.lengths[rows]
        return best_over_labels(delta2_test(documents.X[rows], Y, lengths=lengths, model=null, method="exact"))
    return best_over_labels(scores.get("information_gain")(documents.X[rows], Y))


def folds_of(y: IntArray, random_state: int = 0) -> list[Fold]:
    """Stratified folds as training and test rows."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=random_state)
    return [(train, test) for train, test in splitter.split(np.zeros((len(y), 1)), y)]
