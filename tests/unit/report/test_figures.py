"""Intervals of shares and of F1."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.evaluate.intervals import micro_f1_interval
from textbayes.report.figures import f1_interval


def test_micro_f1_of_one_label_is_f1():
    truth, decisions = (np.random.default_rng(seed).random((60, 1)) < 0.5 for seed in (0, 1))
    tp, fp, fn = (int(one.sum()) for one in (truth & decisions, ~truth & decisions, truth & ~decisions))
    assert micro_f1_interval(truth, decisions) == pytest.approx(f1_interval(tp, fp, fn)[1:], abs=2e-3)


def test_labels_that_repeat_each_other_add_no_certainty():
    truth, decisions = (np.random.default_rng(seed).random((60, 1)) < 0.5 for seed in (0, 1))
    alone = micro_f1_interval(truth, decisions)
    assert micro_f1_interval(np.repeat(truth, 5, axis=1), np.repeat(decisions, 5, axis=1)) == pytest.approx(alone)


def test_perfect_decisions_and_none_at_all():
    low, high = micro_f1_interval(np.eye(4, dtype=bool), np.eye(4, dtype=bool))
    assert high == 1.0
    assert 0.5 < low < 0.9, "four decisions do not make certain"
    nothing = np.zeros((4, 2), dtype=bool)
    assert micro_f1_interval(nothing, nothing) is None
