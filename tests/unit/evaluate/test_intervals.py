"""Intervals of accuracy and micro F1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from textbayes.core.statistics import wilson_interval
from textbayes.evaluate import evaluate
from textbayes.evaluate.measures import micro_f1_interval


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (9, 10), (980, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_scipys(count, n, level):
    expected = binomtest(count, n).proportion_ci(level, "wilson")
    assert wilson_interval(count, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_independent_decisions_have_the_interval_of_their_number():
    """One decision a text: J is a plain share of texts, 40 of 50."""
    Y, decided = np.ones((50, 1), dtype=bool), np.ones((50, 1), dtype=bool)
    decided[:10] = False
    low, high = binomtest(40, 50).proportion_ci(0.95, "wilson")
    # The variance over texts has 49 degrees of freedom, so that the interval is wider by about one part in a hundred.
    assert micro_f1_interval(Y, decided) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), abs=2e-3)


def test_decisions_that_go_wrong_together_count_as_one():
    """Ten labels that are all right or all wrong in a text tell no more than one label would."""
    right = np.arange(60) % 4 > 0
    one = micro_f1_interval(np.ones((60, 1), dtype=bool), right[:, None])
    ten = micro_f1_interval(np.ones((60, 10), dtype=bool), np.repeat(right[:, None], 10, axis=1))
    assert ten == pytest.approx(one, abs=1e-9)


def test_it_holds_about_95_times_in_100_where_texts_differ():
    generator, held, n_runs = np.random.default_rng(0), 0, 400
    easy = 0.75  # mean of the texts' own chances of a right decision; J of many texts is this
    for _ in range(n_runs):
        chance = generator.beta(1.5, 0.5, size=(150, 1))
        decided = generator.random((150, 6)) < chance
        low, high = micro_f1_interval(np.ones((150, 6), dtype=bool), decided)
        held += low <= 2 * easy / (1 + easy) <= high
    assert 0.92 <= held / n_runs <= 0.98


def test_nothing_due_and_nothing_given_has_no_interval():
    assert micro_f1_interval(np.zeros((3, 2), dtype=bool), np.zeros((3, 2), dtype=bool)) is None


def test_evaluate_has_the_intervals_of_its_kind():
    Y = np.eye(2, dtype=bool)[[0, 1, 1, 0, 1]]
    decided = np.eye(2, dtype=bool)[[0, 1, 0, 0, 1]]
    classes = evaluate(Y, None, decided, kind="multiclass")
    assert classes["accuracy_interval"] == pytest.approx(wilson_interval(4, 5))
    assert "micro_f1_interval" not in classes
    labels = evaluate(Y, None, decided, kind="multilabel")
    assert labels["subset_accuracy_interval"] == pytest.approx(wilson_interval(4, 5))
    assert labels["micro_f1_interval"][0] < labels["micro_f1"] < labels["micro_f1_interval"][1]
