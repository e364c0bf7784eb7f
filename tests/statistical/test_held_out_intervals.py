"""Intervals of figures hold the truth about as often as they say, in draws from models whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from textbayes.core.folds import stratified_folds
from textbayes.evaluate import evaluate
from textbayes.evaluate.intervals import (
    CROSS_VALIDATED,
    Units,
    accuracy_interval,
    log_loss_interval,
    macro_f1_interval,
    micro_f1_interval,
)

N_DRAWS = 400
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def share_held(intervals: list, truths: list) -> float:
    return float(np.mean([low <= truth <= high for (low, high), truth in zip(intervals, truths, strict=True)]))


@pytest.mark.parametrize("n", [30, 100])
def test_cross_validated_accuracy_and_log_loss(n):
    """Two classes of normal vectors, more numbers than cases as texts have words: each model's truth has a formula."""
    rng, n_dims = np.random.default_rng([n, 5]), 200
    middle = np.full(n_dims, 1.2 / np.sqrt(n_dims))
    units, plain = Units.of(n, factor=CROSS_VALIDATED), Units.of(n)
    found: dict[str, list] = {"accuracy": [], "log-loss": [], "accuracy as of independent texts": []}
    truths: dict[str, list] = {name: [] for name in found}
    for _ in range(N_DRAWS):
        y = rng.random(n) < 0.5
        side = np.where(y, 1.0, -1.0)
        X = rng.normal(size=(n, n_dims)) + side[:, None] * middle
        fold, score = stratified_folds(y[:, None], 20, int(rng.integers(1 << 30))), np.empty(n)
        for k in range(20):
            score[fold == k] = X[fold == k] @ means_apart(X[fold != k], y[fold != k])
        right, losses = side * score > 0.0, -np.log(expit(side * score))
        found["accuracy"].append(accuracy_interval(right, units))
        found["accuracy as of independent texts"].append(accuracy_interval(right, plain))
        found["log-loss"].append(log_loss_interval(losses, np.ones(n), units))
        w = means_apart(X, y)
        mean, sd = float(middle @ w), float(np.sqrt(w @ w))
        for name in truths:
            loss = float(WEIGHTS @ np.logaddexp(0.0, -(mean + sd * NODES)) / WEIGHTS.sum())
            truths[name].append(loss if name == "log-loss" else norm.cdf(mean / sd))
    held = {name: share_held(found[name], truths[name]) for name in found}
    assert 0.92 <= held["accuracy"] <= 0.985, held
    assert 0.9 <= held["log-loss"] <= 0.99, held
    assert held["accuracy as of independent texts"] < held["accuracy"] - 0.02, held


def means_apart(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of the classes' means, shrunk: no intercept, since the classes lie on both sides of 0."""
    return 4.0 / X.shape[1] ** 0.5 * (X[y].mean(axis=0) - X[~y].mean(axis=0)) / 2.0


def test_f1_where_texts_differ():
    """Texts of their own difficulty: decisions on a text go together; the truth is that of very many texts."""
    rng, share = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.1])
    held: dict[str, list] = {"micro_f1": [], "macro_f1": []}

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        chance = rng.beta(3.0, 1.0, size=(n, 1))
        Y = rng.random((n, 4)) < share
        return Y, np.where(rng.random((n, 4)) < chance, Y, rng.random((n, 4)) < 0.3)

    Y, decided = drawn(200_000)
    many = evaluate(Y, None, decided)
    for _ in range(N_DRAWS):
        Y, decided = drawn(150)
        held["micro_f1"].append(micro_f1_interval(Y, decided))
        held["macro_f1"].append(macro_f1_interval(Y, decided, Units.of(150)))
    for name, intervals in held.items():
        assert 0.92 <= share_held(intervals, [many[name]] * N_DRAWS) <= 0.99, name


def test_groups_that_go_together():
    """Authors of ten texts each, some easy and some hard: texts alone would promise too much."""
    rng, alone, together = np.random.default_rng(1), [], []
    group = np.arange(300) // 10
    for _ in range(N_DRAWS):
        right = rng.random(300) < rng.beta(3.0, 1.0, 30)[group]
        alone.append(accuracy_interval(right, Units.of(300)))
        together.append(accuracy_interval(right, Units.of(300, group)))
    assert 0.92 <= share_held(together, [0.75] * N_DRAWS) <= 0.98
    assert share_held(alone, [0.75] * N_DRAWS) < 0.85
