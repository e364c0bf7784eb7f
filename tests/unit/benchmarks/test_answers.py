"""Figures and verdicts of the benchmarks of answers, by hand and by scikit-learn; texts made of titles."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from _peers import Answer
from bench_answers import error_by_chance, figures, significantly_below, together
from bench_auto_cost import many_labels


def exclusive_answers(right: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Truth of three classes, and decisions that are right where asked for."""
    truth = np.arange(len(right)) % 3
    decided = np.where(right, truth, (truth + 1) % 3)
    return truth[:, None] == np.arange(3), decided[:, None] == np.arange(3)


def test_figures_of_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), 50)
    truth = rng.integers(3, size=50)
    Y, decided = truth[:, None] == np.arange(3), proba.argmax(axis=1)
    found = figures(Y, Answer(decided[:, None] == np.arange(3), proba), exclusive=True)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, decided))
    assert found["log-loss"] == pytest.approx(metrics.log_loss(truth, proba))
    right, sure = decided == truth, proba.max(axis=1)
    bins = np.minimum((15 * sure).astype(int), 14)
    gaps = [abs((right - sure)[bins == b].sum()) for b in range(15)]
    assert found["ECE"] == pytest.approx(sum(gaps) / 50)


def test_figures_of_labels_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    Y, proba = rng.random((40, 5)) < 0.3, rng.random((40, 5))
    found = figures(Y, Answer(proba > 0.5, proba), exclusive=False)
    for average in ("micro", "macro"):
        assert found[f"{average}-F1"] == pytest.approx(metrics.f1_score(Y, proba > 0.5, average=average))
    assert found["log-loss"] == pytest.approx(metrics.log_loss(Y.ravel(), proba.ravel()))


def test_below_means_behind_and_not_by_luck():
    """Of n texts that differ all are won by the peer: McNemar's exact P is 2 / 2^n, 0.0625 for 5 and 0.031 for 6."""
    for n, expected in ((5, False), (6, True)):
        Y, ours = exclusive_answers([False] * n + [True] * 30)
        theirs = Y.copy()
        assert significantly_below(Y, ours, theirs, "accuracy") is expected
        assert not significantly_below(Y, theirs, ours, "accuracy")


def test_more_right_decisions_with_lower_f1_are_not_ahead():
    """A peer that gives no label to anything has more decisions right than one that gives all, and micro-F1 0."""
    Y = np.zeros((40, 1), dtype=bool)
    Y[:10] = True
    everything, nothing = np.ones_like(Y), np.zeros_like(Y)
    assert not significantly_below(Y, everything, nothing, "micro-F1")
    perfect = Y.copy()
    assert significantly_below(Y, everything, perfect, "micro-F1")


def test_parts_are_put_one_below_the_other():
    one, two = Answer(np.eye(2, dtype=bool), np.eye(2)), Answer(np.ones((1, 2), dtype=bool), np.full((1, 2), 0.5))
    joined = together([one, two])
    assert joined.decisions.tolist() == [[True, False], [False, True], [True, True]]
    assert joined.proba is not None
    assert joined.proba.tolist() == [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    assert together([one, two._replace(proba=None)]).proba is None


def test_common_pairs_become_labels_and_leave_the_text():
    titles = [
        "Neural networks for searching in images",
        "Deep learning of neural networks with little memory",
        "A survey of deep learning since then",
        "Neural networks",
        "On the shape of things to come",
        "One more that is not needed",
    ]
    texts, labels = many_labels(titles, n_labels=2, n_texts=4)
    assert texts == ["for searching in images", "of with little memory", "a survey of since then", titles[4].lower()]
    assert labels == [("neural_networks",), ("deep_learning", "neural_networks"), ("deep_learning",), ()]


@pytest.mark.parametrize("exclusive", [True, False])
def test_the_calibration_error_by_chance_is_that_of_a_share_in_one_bin(exclusive):
    n_texts = 400
    proba = np.column_stack([np.full(n_texts, 0.6), np.full(n_texts, 0.4)])
    Y = np.zeros(proba.shape, dtype=bool)  # what the texts are does not matter
    # |share − p| of n draws has mean √(2 p (1 − p) / (π n)); the two labels that go together have a bin each.
    expected = np.sqrt(2.0 * 0.6 * 0.4 / (np.pi * n_texts))
    assert error_by_chance(Y, proba, exclusive) == pytest.approx(expected, rel=0.3)
