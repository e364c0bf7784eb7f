"""Errors by five-fold cross-validation, the number of words chosen by another one inside each training part (§5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from sklearn.model_selection import StratifiedKFold

from textbayes.core.types import AnyArray, BoolArray, FloatArray, IntArray
from textbayes.models.counts import BaseCountModel, make_count_model
from textbayes.reproduce.contagion.corpora import Documents
from textbayes.select.rules import best_over_labels
from textbayes.select.score_functions import scores

FOLDS: Final = 5
SIZES: Final = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)  # and all words
QUICK_SIZES: Final = (200, 2_000)
SELECTION: Final = {"IG": "information_gain", "Δ²": "delta2"}
Tick: TypeAlias = Callable[[], None]

# Naive Bayes is the better of counts and TF-IDF, as in the paper; the hierarchy has its β = (2, 1).
_SETTINGS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "naive Bayes, counts": ("multinomial", {"length_correction": True}),
    "naive Bayes, TF-IDF": ("multinomial", {"length_correction": True, "weighting": "tfidf"}),
    "Poisson": ("poisson", {}),
    "Neg-Bin": ("negative_binomial", {"shared": False}),  # μ and δ of each word and class by themselves
    "Dir-Pois": ("dirichlet_poisson", {"beta": (2.0, 1.0)}),
}
SYSTEMS: Final = tuple(_SETTINGS)


class Errors(NamedTuple):
    """Wrong decisions (n_docs,) by system, and the numbers of words chosen in each fold."""

    wrong: Mapping[str, BoolArray]
    sizes: Mapping[str, tuple[int, ...]]


def system(name: str) -> BaseCountModel[Any, Any]:
    """One of the paper's models."""
    model, settings = _SETTINGS[name]
    return make_count_model(model, **settings)


def cross_validate(
    documents: Documents,
    selection: str,
    systems: Sequence[str] = SYSTEMS,
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
    tick: Tick = lambda: None,
) -> Errors:
    """Errors of each system on documents that chose neither its words, nor their number, nor its parameters."""
    y, n_words = documents.y, documents.X.shape[1]
    sizes = (*(size for size in sizes if size < n_words), n_words)
    wrong = {name: np.zeros(len(y), dtype=np.bool_) for name in systems}
    chosen: dict[str, list[int]] = {name: [] for name in systems}
    for train, test in _folds(y, seed):
        inner = {name: np.zeros(len(sizes)) for name in systems}
        for inside, held_out in _folds(y[train], seed + 1):
            tick()
            errors = _errors(documents, train[inside], train[held_out], selection, systems, sizes)
            for name in systems:
                inner[name] += errors[name].sum(axis=1)
        tick()
        best = {name: int(np.argmin(inner[name])) for name in systems}  # of equals the fewest words
        outer = _errors(documents, train, test, selection, systems, sizes, best)
        for name in systems:
            wrong[name][test] = outer[name][0]
            chosen[name].append(sizes[best[name]])
    return Errors(wrong, {name: tuple(found) for name, found in chosen.items()})


def ticks() -> int:
    """How often ``cross_validate`` calls ``tick``."""
    return FOLDS * (FOLDS + 1)


def ranking(documents: Documents, rows: IntArray, selection: str) -> IntArray:
    """Words from the best to the worst: by their best score over the classes, each against the rest."""
    Y = documents.y[rows, None] == np.arange(len(documents.classes))
    Y = Y[:, 1:] if len(documents.classes) == 2 else Y
    score: Any = scores.get(SELECTION[selection])
    lengths = {"lengths": documents.lengths[rows]} if selection == "Δ²" else {}
    found = best_over_labels(score(documents.X[rows], Y, **lengths))
    return np.argsort(-found.scores[0], kind="stable")


def _errors(
    documents: Documents,
    train: IntArray,
    test: IntArray,
    selection: str,
    systems: Sequence[str],
    sizes: Sequence[int],
    only: Mapping[str, int] | None = None,
) -> dict[str, AnyArray]:
    """Wrong decisions (n_sizes, n_test) of each system; ``only`` names the one size that each is wanted for."""
    order = ranking(documents, train, selection)
    Y = (documents.y[train, None] == np.arange(len(documents.classes))).astype(np.float64)
    priors = np.log(Y.mean(axis=0))
    out: dict[str, list[AnyArray]] = {name: [] for name in systems}
    for place, size in enumerate(sizes):
        wanted = [name for name in systems if only is None or only[name] == place]
        if not wanted:
            continue
        X = documents.X[:, np.sort(order[:size])]
        for name in wanted:
            decided = _decide(system(name), X, documents.lengths, Y, priors, train, test)
            out[name].append(decided != documents.y[test])
    return {name: np.array(found) for name, found in out.items()}


def _decide(
    model: BaseCountModel[Any, Any],
    X: Any,
    lengths: FloatArray,
    Y: FloatArray,
    priors: FloatArray,
    train: IntArray,
    test: IntArray,
) -> IntArray:
    estimate = model.estimate(model.statistics(X[train], Y, lengths[train]))
    return np.asarray((model.class_scores(X[test], lengths[test], estimate) + priors).argmax(axis=1))


def _folds(y: IntArray, seed: int) -> list[tuple[IntArray, IntArray]]:
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    return [(train, test) for train, test in splitter.split(np.zeros((len(y), 1)), y)]
