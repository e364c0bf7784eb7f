"""Keyness: effect sizes by hand, intervals by simulation and against other formulas, words and labels without text."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from textbayes.core.errors import InputError
from textbayes.lexical import benjamini_hochberg, delta2_test, keyness, smallest_p_value, storey
from textbayes.lexical.p_values import distinct_tests

X = np.array([[30, 4, 0, 7], [10, 4, 0, 3], [5, 8, 6, 0], [5, 0, 0, 0]])
Y = np.array([1, 1, 0, 0])
LENGTHS = np.array([3.0, 1.0, 1.0, 1.0])  # thousands of words


@pytest.fixture(scope="module")
def table():
    return keyness(X, Y, lengths=LENGTHS, model="poisson")


def test_counts_rates_and_effects_by_hand(table):
    assert table.occurrences.tolist() == [[40, 8, 0, 10]]
    assert table.other_occurrences.tolist() == [[10, 8, 6, 0]]
    assert table.lengths.tolist() == [[4.0, 2.0]]
    np.testing.assert_allclose(table.rate, [[10, 2, 0, 2.5]])
    np.testing.assert_allclose(table.other_rate, [[5, 4, 3, 0]])
    # log₂(10/5), log₂(2/4), ½ for a zero: log₂((0.5/4)/(6/2)), log₂((10/4)/(0.5/2))
    np.testing.assert_allclose(table.log_ratio.value, [[1.0, -1.0, np.log2(0.125 / 3.0), np.log2(10.0)]])
    np.testing.assert_allclose(table.percent_difference.value, [[100.0, -50.0, -100.0, np.inf]])
    np.testing.assert_allclose(table.odds_ratio.value[0, :2], [(40 / 3960) / (10 / 1990), (8 / 3992) / (8 / 1992)])
    assert table.odds_ratio.value[0, 2:].tolist() == [0.0, np.inf]


def test_log_likelihood_is_scipys_g(table):
    for j in range(2):
        observed = [table.occurrences[0, j], table.other_occurrences[0, j]]
        expected = sum(observed) * np.array([4.0, 2.0]) / 6.0
        g = stats.power_divergence(observed, expected, lambda_="log-likelihood").statistic
        assert table.log_likelihood[0, j] == pytest.approx(g)
    assert table.log_likelihood[0, 2] == pytest.approx(2 * 6 * np.log(3.0))


def test_tests_are_those_of_delta2(table):
    plain = delta2_test(X, Y, lengths=LENGTHS, method="exact")
    np.testing.assert_allclose(table.delta2, plain.scores)
    np.testing.assert_allclose(table.p_values, plain.p_values)
    np.testing.assert_allclose(table.q_values, benjamini_hochberg(plain.p_values))
    by_storey = keyness(X, Y, lengths=LENGTHS, model="poisson", fdr_method="storey")
    np.testing.assert_allclose(by_storey.q_values, storey(plain.p_values))
    bursty = keyness(X, Y, lengths=LENGTHS)
    np.testing.assert_allclose(bursty.delta2, plain.scores)
    np.testing.assert_allclose(
        bursty.p_values, delta2_test(X, Y, lengths=LENGTHS, model="negative_binomial", method="exact").p_values
    )


def test_intervals_hold_their_values_and_are_open_where_a_side_is_empty(table):
    for effect in (table.log_ratio, table.percent_difference, table.odds_ratio):
        assert (effect.low <= effect.value).all() or effect is table.log_ratio
        assert (effect.low[0, :2] < effect.value[0, :2]).all()
        assert (effect.value[0, :2] < effect.high[0, :2]).all()
    assert table.log_ratio.low[0, 2] == -np.inf
    assert table.log_ratio.high[0, 3] == np.inf
    assert np.isfinite(table.log_ratio.high[0, 2])


def test_intervals_of_a_frequent_word_are_walds():
    """Many occurrences: log ratio ± 1.96 √(1/S₁ + 1/S₂) / ln 2."""
    table = keyness(np.array([[4000], [3000]]), np.array([1, 0]), lengths=[200.0, 200.0], model="poisson")
    half = stats.norm.ppf(0.975) * np.sqrt(1 / 4000 + 1 / 3000) / np.log(2)
    assert table.log_ratio.high[0, 0] == pytest.approx(np.log2(4 / 3) + half, abs=0.02 * half)
    assert table.log_ratio.low[0, 0] == pytest.approx(np.log2(4 / 3) - half, abs=0.02 * half)


def test_bursts_widen_intervals():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.5, 4.0, (60, 30)))
    labels = np.arange(60) < 30
    narrow, wide = (keyness(counts, labels, lengths=np.ones(60), model=m) for m in ("poisson", "negative_binomial"))
    width = [(t.log_ratio.high - t.log_ratio.low) for t in (narrow, wide)]
    assert (width[1] > 1.4 * width[0]).all()  # the variance is 5 times that of a Poisson
    assert narrow.dispersion.max() == 0


def test_the_other_class_has_the_mirrored_effect():
    one = keyness(X, np.column_stack((Y, 1 - Y)), lengths=LENGTHS)
    np.testing.assert_allclose(one.log_ratio.value[0], -one.log_ratio.value[1])
    np.testing.assert_allclose(one.log_ratio.low[0], -one.log_ratio.high[1], rtol=1e-8)
    np.testing.assert_allclose(one.odds_ratio.value[0, :2], 1 / one.odds_ratio.value[1, :2])
    np.testing.assert_allclose(one.p_values[0], one.p_values[1], rtol=1e-9)


def test_nothing_to_compare():
    table = keyness(np.array([[1, 0], [2, 0]]), np.array([[1, 0, 1], [0, 0, 1]]), lengths=[1.0, 1.0])
    assert np.isnan(table.log_ratio.value[:, 1]).all()
    assert np.isnan(table.log_ratio.value[1:]).all()
    assert (table.p_values[:, 1] == 1).all()
    assert (table.p_values[1:] == 1).all()
    assert (table.log_likelihood[1:] == 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1.0}, "level=1.0 must lie between 0 and 1"),
        ({"fdr_method": "by"}, "fdr_method='by' is not known"),
        ({"model": "normal"}, "model='normal' is not known"),
        ({"lengths": [1.0, 2.0]}, "one length for each of the 4 documents"),
    ],
)
def test_refuses_in_a_sentence(options, message):
    with pytest.raises(InputError, match=message):
        keyness(X, Y, **options)


def test_distinct_tests():
    y = np.array([0, 1, 2, 2, 1])
    assert distinct_tests(y[:, None] == [0, 1, 2]) == 3
    assert distinct_tests(np.column_stack((y == 0, y != 0))) == 1
    assert distinct_tests(np.column_stack((y == 0, y == 0, y >= 0, y > 5))) == 1
    assert distinct_tests(np.ones((3, 2))) == 0


def test_smallest_p_value():
    y = np.arange(6) % 3
    p = np.array([[0.02, 1.0], [0.9, 1.0], [0.4, 1.0]])
    np.testing.assert_allclose(smallest_p_value(p, y[:, None] == [0, 1, 2]), [1 - 0.98**3, 1.0])
    two = np.column_stack((y == 0, y != 0))
    np.testing.assert_allclose(smallest_p_value(p[:2], two), [0.02, 1.0])
    assert smallest_p_value(p[:1], np.ones(6)).tolist() == [1.0, 1.0]
    with pytest.raises(InputError, match=r"shape \(3, 2\) for 2 labels"):
        smallest_p_value(p, two)


def test_a_label_without_text_leaves_the_rates_of_the_others_as_they_are():
    found = keyness(X, np.column_stack([Y, np.zeros(4, dtype=int)]), lengths=LENGTHS)
    np.testing.assert_allclose(found.other_rate[1], X.sum(axis=0) / LENGTHS.sum())
    assert np.isnan(found.rate[1]).all()
    assert np.isnan(found.log_ratio.value[1]).all()


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_no_occurrence_of_any_word_is_no_difference(kind):
    found = keyness(np.zeros((4, 3), dtype=kind), Y, lengths=LENGTHS)
    assert (found.p_values == 1.0).all()
    assert (found.rate == 0.0).all()
