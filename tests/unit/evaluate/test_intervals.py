"""Intervals of accuracy, micro and macro F1 and log-loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, t

from textbayes.core.statistics import wilson_interval
from textbayes.evaluate import evaluate
from textbayes.evaluate.intervals import (
    CROSS_VALIDATED,
    Units,
    accuracy_interval,
    digits_of,
    figure_in_words,
    log_loss_interval,
    macro_f1_interval,
    micro_f1_interval,
)


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (9, 10), (980, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_wilson_is_scipys(count, n, level):
    expected = binomtest(count, n).proportion_ci(level, "wilson")
    assert wilson_interval(count, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("count", "n"), [(0, 7), (7, 7), (9, 10), (980, 1000)])
@pytest.mark.parametrize("factor", [1.0, CROSS_VALIDATED])
def test_accuracy_of_single_texts_is_wilsons(count, n, factor):
    found = accuracy_interval(np.arange(n) < count, Units.of(n, factor=factor))
    assert found == pytest.approx(wilson_interval(count / factor, n / factor), abs=1e-9)


def test_independent_decisions_have_the_interval_of_their_number():
    """One decision a text: J is a plain share of texts, 40 of 50."""
    Y, decided = np.ones((50, 1), dtype=bool), np.ones((50, 1), dtype=bool)
    decided[:10] = False
    low, high = binomtest(40, 50).proportion_ci(0.95, "wilson")
    assert micro_f1_interval(Y, decided) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)), abs=1e-9)


def test_decisions_that_go_wrong_together_count_as_one():
    """Ten labels that are all right or all wrong in a text tell no more than one label would."""
    right = np.arange(60) % 4 > 0
    one = micro_f1_interval(np.ones((60, 1), dtype=bool), right[:, None])
    ten = micro_f1_interval(np.ones((60, 10), dtype=bool), np.repeat(right[:, None], 10, axis=1))
    assert ten == pytest.approx(one, abs=1e-9)


def test_copies_of_a_text_count_as_one():
    """Each text three times: the intervals of all figures are those of the texts once, but for Student's quantile."""
    rng = np.random.default_rng(4)
    Y = np.eye(3, dtype=bool)[rng.integers(0, 3, 60)]
    proba = rng.dirichlet(np.ones(3), 60) + 1.5 * Y
    proba /= proba.sum(axis=1, keepdims=True)
    decided = proba == proba.max(axis=1, keepdims=True)
    once = evaluate(Y, proba, decided, kind="multiclass")
    thrice = [np.repeat(one, 3, axis=0) for one in (Y, proba, decided)]
    together = evaluate(*thrice, kind="multiclass", groups=np.repeat(np.arange(60), 3))
    for name in ("accuracy", "macro_f1", "log_loss"):
        assert together[f"{name}_interval"] == pytest.approx(once[f"{name}_interval"], rel=0.01)
        alone = evaluate(*thrice, kind="multiclass")[f"{name}_interval"]
        assert np.diff(alone) < 0.7 * np.diff(once[f"{name}_interval"])


def test_all_right_says_no_more_than_its_groups_do():
    right, group = np.ones(40, dtype=bool), np.arange(40) // 10
    assert accuracy_interval(right, Units.of(40))[0] == pytest.approx(wilson_interval(40, 40)[0])
    assert accuracy_interval(right, Units.of(40, group))[0] < wilson_interval(4, 4)[0]
    assert accuracy_interval(right, Units.of(40, group))[1] == 1.0


@pytest.mark.parametrize("factor", [1.0, CROSS_VALIDATED])
def test_macro_f1_hangs_on_the_rarest_label(factor):
    """Two labels in 100 texts: the interval is wider where one label has five of them, also if all are right."""
    units = Units.of(100, factor=factor)
    widths = []
    for wrong in (0, 2):
        for rare in (50, 5):
            truth = np.arange(100) < rare
            decided = truth.copy()
            decided[:wrong] = False
            both = [np.column_stack([one, ~one]) for one in (truth, decided)]
            low, high = macro_f1_interval(*both, units)
            value = evaluate(*both[:1], None, both[1], kind="multiclass")["macro_f1"]
            assert 0.0 <= low <= value <= high <= 1.0
            widths.append(high - low)
    assert widths[1] > 1.5 * widths[0]
    assert widths[3] > 1.5 * widths[2]


def test_a_label_of_one_text_and_one_without_any():
    Y = np.zeros((20, 3), dtype=bool)
    Y[:19, 0], Y[19, 1] = True, True
    decided = np.zeros_like(Y)
    decided[:, 0] = True
    result = evaluate(Y, None, decided, kind="multiclass", cross_validated=True)
    low, high = result["macro_f1_interval"]
    assert low < result["macro_f1"] < high
    skipped = evaluate(Y, None, decided, kind="multiclass", zero_division="skip")
    assert skipped["macro_f1_interval"][0] < skipped["macro_f1"] < skipped["macro_f1_interval"][1]


def test_log_loss_is_students_interval_of_its_logarithm():
    losses = np.random.default_rng(2).gamma(0.8, size=40)
    low, high = log_loss_interval(losses, np.ones(40), Units.of(40))
    mean, error = losses.mean(), losses.std() / np.sqrt(40)
    assert np.log([low / mean, high / mean]) == pytest.approx(t.ppf([0.025, 0.975], 39) * error / mean)
    assert log_loss_interval(losses[:1], np.ones(1), Units.of(1)) is None
    assert log_loss_interval(np.zeros(5), np.ones(5), Units.of(5)) is None


def test_what_no_model_could_know_is_left_out_of_the_log_loss():
    Y, seen = np.eye(2, dtype=bool)[[0, 1, 1, 0]], np.ones((4, 2), dtype=bool)
    seen[3, 0] = False
    proba = np.array([[0.8, 0.2], [0.4, 0.6], [0.3, 0.7], [1e-9, 1.0]])
    decided = proba > 0.5
    result = evaluate(Y, proba, decided, kind="multiclass", seen=seen)
    assert result["log_loss"] == pytest.approx(-np.log([0.8, 0.6, 0.7]).mean())
    assert result["accuracy"] == 0.75, "it is an error all the same"


def test_cross_validated_intervals_are_wider():
    rng = np.random.default_rng(0)
    Y, proba = rng.random((50, 4)) < 0.4, rng.random((50, 4))
    for name, ends in evaluate(Y, proba, proba > 0.5).items():
        if name.endswith("_interval"):
            wider = evaluate(Y, proba, proba > 0.5, cross_validated=True)[name]
            assert wider[0] < ends[0] < ends[1] < wider[1]


def test_nothing_due_and_nothing_given_has_no_interval():
    nothing = np.zeros((3, 2), dtype=bool)
    assert micro_f1_interval(nothing, nothing) is None
    assert macro_f1_interval(nothing, nothing, Units.of(3)) is None
    assert accuracy_interval(np.zeros(0, dtype=bool), Units.of(0)) is None


def test_evaluate_has_the_intervals_of_its_kind():
    Y = np.eye(2, dtype=bool)[[0, 1, 1, 0, 1]]
    decided = np.eye(2, dtype=bool)[[0, 1, 0, 0, 1]]
    classes = evaluate(Y, None, decided, kind="multiclass")
    assert classes["accuracy_interval"] == pytest.approx(wilson_interval(4, 5))
    assert "micro_f1_interval" not in classes
    labels = evaluate(Y, None, decided, kind="multilabel")
    assert labels["subset_accuracy_interval"] == pytest.approx(wilson_interval(4, 5))
    assert labels["micro_f1_interval"][0] < labels["micro_f1"] < labels["micro_f1_interval"][1]


@pytest.mark.parametrize(("ends", "digits"), [((0.5, 0.9), 2), ((0.90, 0.99), 3), ((0.5, 0.5), 4), ((1.0, 12.0), 1)])
def test_digits_follow_the_width(ends, digits):
    assert digits_of(ends) == digits


def test_a_figure_of_an_older_file_has_no_interval():
    assert figure_in_words({"n_docs": 30, "macro_f1": 0.93333}, "macro_f1") == ("0.93", "")
    assert figure_in_words({"n_docs": 3000}, "macro_f1") == ("–", "")
