"""Stopping rules by hand and by other means; the estimate by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textbayes.core.errors import InputError
from textbayes.screen.remaining import Left, RemainingWeights, Signs, State, fit_remaining, may_be_left, recalibrated
from textbayes.screen.stopping import (
    AuditHypergeometric,
    ConsecutiveIrrelevant,
    QuantileBound,
    RankedHypergeometric,
    RemainingRule,
    make_rule,
    ranked_p_value,
    reads_left,
    seconds_each,
)
from textbayes.screen.topic import ReadingHistory


def state(found, n_records, predictors=None, at_random=None, unread=None):
    found = np.array([char == "+" for char in found]) if isinstance(found, str) else np.asarray(found)
    n = len(found)
    predictors = np.linspace(3.0, -3.0, n) if predictors is None else np.asarray(predictors, dtype=float)
    at_random = np.zeros(n, dtype=bool) if at_random is None else np.asarray(at_random)
    unread = np.full(n_records - n, -4.0) if unread is None else np.asarray(unread, dtype=float)
    return State(n_records, ReadingHistory(np.arange(n), found, predictors, at_random), unread)


def test_ranked_test_by_trying_every_start():
    random = np.random.default_rng(0)
    found = random.random(120) < np.linspace(0.6, 0.0, 120)
    n, target, total = 300, 0.9, int(found.sum())
    p_values = []
    for i in range(120):
        before = int(found[:i].sum())
        missing = int(np.floor(total / target - before + 1))
        p_values.append(stats.hypergeom.cdf(total - before, n - i, missing, 120 - i))
    assert ranked_p_value(state(found, n), target) == pytest.approx(min(p_values))


def test_an_audit_counts_what_was_drawn_last():
    told = state("++--" + "-" * 30, 50, at_random=[True, False, False, False] + [True] * 30)
    p = stats.hypergeom.cdf(0, 46, 1, 30)  # 2 found, of at least 3 at a recall below 95 %: one in the 46 unread then
    advice = AuditHypergeometric().advise(told)
    assert advice.probability == pytest.approx(1.0 - p)
    assert not advice.stop
    assert AuditHypergeometric(confidence=0.6).advise(told).stop
    assert "an audit is needed" in AuditHypergeometric().advise(state("+-", 9)).reason


def test_quantile_bound_needs_enough_draws():
    few = state("+" * 44, 100, at_random=[True] * 44)
    assert "too few" in QuantileBound().advise(few).reason  # 0.95 to the 44th is more than a tenth
    drawn = np.array([True] * 45)
    assert QuantileBound().advise(state("+" * 45, 100, np.ones(45), drawn, np.zeros(55))).stop
    assert not QuantileBound().advise(state("+" * 45, 100, np.ones(45), drawn, np.array([2.0] * 55))).stop


def test_plain_rules():
    assert ConsecutiveIrrelevant(3).advise(state("+---", 9)).stop
    assert not ConsecutiveIrrelevant(4).advise(state("+---", 9)).stop
    assert make_rule("share:0.4").advise(state("+---", 10)).stop
    both = make_rule("share:0.4+consecutive:4")
    assert not both.advise(state("+---", 10)).stop
    assert both.advise(state("+----", 10)).stop


@pytest.mark.parametrize("spec", ["often", "estimate:3", "share:x", "consecutive:-1", ""])
def test_rules_that_there_are_not(spec):
    with pytest.raises(InputError, match="is not usable"):
        make_rule(spec)


def test_what_may_be_left():
    for n_found in range(1, 200):
        left = may_be_left(n_found, 0.95)
        assert n_found / (n_found + left) >= 0.95 - 1e-12
        assert n_found / (n_found + left + 1) < 0.95


def test_distribution_of_what_is_left():
    left = Left(2.0, 1.5)
    draws = np.random.default_rng(0).negative_binomial(1.5, 1.5 / 3.5, 200_000)
    assert draws.mean() == pytest.approx(2.0, abs=0.02)
    assert left.at_most(1) == pytest.approx((draws <= 1).mean(), abs=0.005)
    assert left.quantile(0.9) == np.quantile(draws, 0.9)


def test_the_parameters_of_the_estimate_are_found_again():
    random = np.random.default_rng(1)
    signs = [Signs(*row) for row in random.normal(size=(4000, 2))]
    truth = RemainingWeights(0.4, 0.3, 0.8, 2.0)
    means = [truth.left(sign, 10**6).mean for sign in signs]
    left = random.negative_binomial(2.0, 2.0 / (2.0 + np.array(means)))
    found = fit_remaining(signs, left, np.ones(4000))
    np.testing.assert_allclose(found, truth, atol=0.15)


def test_recalibration_finds_slope_and_level():
    random = np.random.default_rng(2)
    x = random.normal(size=5000) * 2.0
    y = random.random(5000) < 1.0 / (1.0 + np.exp(2.0 - 0.6 * x))
    told = state(y, 5100, x)
    at = np.array([-2.0, 0.0, 3.0])
    np.testing.assert_allclose(recalibrated(told, at), 1.0 / (1.0 + np.exp(2.0 - 0.6 * at)), atol=0.03)


def test_the_estimate_waits_for_the_test():
    early = state("+" * 30, 1000, unread=np.full(970, -9.0))
    sure = RemainingWeights(-9.0, 0.0, 0.0, 1.0)
    advice = RemainingRule(weights=sure).advise(early)
    assert advice.probability > 0.99
    assert not advice.stop
    assert "to rely on it" in advice.reason
    late = state("+" * 30 + "-" * 900, 1000)
    assert RemainingRule(weights=sure).advise(late).stop


def test_how_much_there_is_to_read():
    told = state("+" * 30 + "-" * 10, 1000)
    for rule in (ConsecutiveIrrelevant(50), RankedHypergeometric()):
        n = reads_left(told, rule)
        more = [state("+" * 30 + "-" * (10 + k), 1000) for k in (n - 1, n)]
        assert [rule.advise(later).stop for later in more] == [False, True]
    assert reads_left(told, ConsecutiveIrrelevant(50)) == 40
    assert seconds_each([0, 10, 20, 5000, 5012]) == 10.0
    assert seconds_each([0, 10]) is None


def test_how_much_there_is_to_read_for_the_estimate():
    """Its search begins each recalibration at the last one; states made by hand begin each afresh."""
    random = np.random.default_rng(0)
    found = random.random(60) < np.linspace(0.7, 0.05, 60)
    told = state(found, 1500, random.normal(1.0, 1.0, 60), unread=random.normal(-2.0, 1.0, 1440))
    ahead = np.sort(told.unread)[::-1]
    for confidence in (0.5, 0.9):
        rule = RemainingRule(0.95, confidence)
        n = reads_left(told, rule)
        assert 0 < n < 1440
        said = []
        for k in (n - 1, n):
            predictors = np.append(told.reading.predictors, ahead[:k])
            later = state(np.append(found, np.zeros(k, dtype=bool)), 1500, predictors, unread=ahead[k:])
            said.append(rule.advise(later).stop)
        assert said == [False, True]
