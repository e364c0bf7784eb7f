"""Tests of difference against scipy, worked examples and each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

import textbayes.evaluate as evaluate
from textbayes.core.errors import InputError
from textbayes.evaluate import paired_difference, significance


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_sign_test_is_the_binomial_test(wins, losses):
    result = significance.sign_test(wins, losses, ties=7)
    n = wins + losses
    if n == 0:
        assert (result.p_value, result.symbol) == (1.0, "~")
        return
    side = "greater" if wins >= losses else "less"
    assert result.p_value == pytest.approx(stats.binomtest(wins, n, alternative=side).pvalue)
    two = significance.sign_test(wins, losses, "two-sided")
    assert two.p_value == pytest.approx(stats.binomtest(wins, n).pvalue)
    assert result.difference == pytest.approx((wins - losses) / (n + 7))
    assert result.low <= result.difference <= result.high
    share = stats.binomtest(wins, n).proportion_ci(method="exact")
    assert (two.low, two.high) == pytest.approx((2 * share.low - 1, 2 * share.high - 1))
    assert (two.p_value < 0.05) == (two.low > 0 or two.high < 0)


def _paired_right(kind, rng):
    """Truth, two systems, and which of the decisions of ``kind`` each has right, counted by hand."""
    if kind == "multilabel":
        Y = rng.random((80, 6)) < 0.3
        A, B = (Y ^ (rng.random(Y.shape) < rate) for rate in (0.05, 0.12))
        return Y, A, B, (A == Y).ravel(), (B == Y).ravel()
    k = {"binary": 2, "multiclass": 5}[kind]
    truth = rng.integers(k, size=120)
    a, b = (np.where(rng.random(120) < rate, (truth + rng.integers(1, k, size=120)) % k, truth) for rate in (0.1, 0.3))
    eye = np.eye(k, dtype=bool)
    return eye[truth], eye[a], eye[b], a == truth, b == truth


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
@pytest.mark.parametrize("seed", range(5))
def test_the_s_test_counts_each_decision_once_as_binomtest_does(kind, seed):
    Y, A, B, right_a, right_b = _paired_right(kind, np.random.default_rng(seed))
    wins, losses = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    for alternative in ("observed", "two-sided"):
        result = significance.micro_sign_test(Y, A, B, alternative, kind=kind)
        side = "two-sided" if alternative == "two-sided" else "greater" if wins >= losses else "less"
        assert result.p_value == pytest.approx(stats.binomtest(wins, wins + losses, alternative=side).pvalue)
        assert result.n == wins + losses
        assert result.difference == pytest.approx(right_a.mean() - right_b.mean())


def test_two_classes_are_one_case_of_the_macro_test():
    # One text is all that differs: both columns see it, but it is one decision about two classes.
    truth = np.array([0, 1] * 10)
    worse = truth.copy()
    worse[0] = 1
    eye = np.eye(2, dtype=bool)
    result = significance.macro_sign_test(eye[truth], eye[truth], eye[worse], "two-sided", kind="binary")
    assert (result.n, result.p_value, result.symbol) == (1, 1.0, "~")


@pytest.mark.parametrize(
    ("cases", "low", "high"),
    [
        ((36, 12, 2, 0), 0.0569, 0.3404),  # Newcombe (1998), method 10
        ((14, 5, 0, 22), 0.011, 0.226),  # Altman et al. (2000), Statistics with Confidence, table 6.2
        ((1, 1, 7, 12), -0.507, -0.026),  # Fagerland, Lydersen & Laake (2014), airway data
    ],
)
def test_newcombes_interval_as_published(cases, low, high):
    result = paired_difference(*cases)
    digits = 4 if cases[0] == 36 else 3
    assert (round(result.low, digits), round(result.high, digits)) == (low, high)
    assert result.value == pytest.approx((cases[1] - cases[2]) / sum(cases))


@given(*[st.integers(0, 40)] * 4)
def test_newcombes_interval_holds_the_difference_and_mirrors(both, first, second, neither):
    result, back = paired_difference(both, first, second, neither), paired_difference(both, second, first, neither)
    assert -1.0 - 1e-12 <= result.low <= result.value <= result.high <= 1.0 + 1e-12
    assert (back.low, back.high) == pytest.approx((-result.high, -result.low))


def test_large_samples_use_the_normal_of_the_paper():
    # k = 20 of n = 30: Z = (20 − 15) / (½√30) = 1.8257, P = 0.03394 (one-sided).
    result = significance.sign_test(20, 10, exact_up_to=12)
    assert result.statistic == pytest.approx(1.825742, abs=1e-6)
    assert result.p_value == pytest.approx(0.0339446, abs=1e-6)
    assert (result.symbol, result.n) == (">", 30)
    mirrored = significance.sign_test(10, 20, exact_up_to=12)
    assert (mirrored.p_value, mirrored.symbol) == (result.p_value, "<")
    assert significance.sign_test(20, 10, "two-sided", exact_up_to=12).symbol == "~"


def test_the_change_from_exact_to_normal_is_at_twelve():
    paper = {"exact_up_to": 12}
    assert significance.sign_test(10, 2, **paper).p_value == pytest.approx(79 / 4096)  # Σ C(12, i) for i ≥ 10 is 79
    assert significance.sign_test(10, 3, **paper).p_value == pytest.approx(stats.norm.sf(3.5 / (0.5 * 13**0.5)))


@pytest.mark.parametrize(
    ("p", "effect", "symbol"),
    [
        (0.01, 1, "≫"),
        (0.0101, 1, ">"),
        (0.05, 1, ">"),
        (0.0501, 1, "~"),
        (0.01, -1, "≪"),
        (0.05, -1, "<"),
        (0.0, 0, "~"),
    ],
)
def test_symbols(p, effect, symbol):
    assert significance.significance_symbol(p, effect) == symbol


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(5)
    Y = rng.random((200, 20)) < np.geomspace(0.4, 0.02, 20)
    return Y, Y ^ (rng.random(Y.shape) < 0.03), Y ^ (rng.random(Y.shape) < 0.06)


def test_micro_counts_decisions_and_macro_counts_labels(systems):
    Y, A, B = systems
    wins, losses = int(((A == Y) & (B != Y)).sum()), int(((B == Y) & (A != Y)).sum())
    assert significance.micro_sign_test(Y, A, B).p_value == significance.sign_test(wins, losses).p_value
    a, b = (f1_score(Y, D, average=None, zero_division=0) for D in (A, B))
    expected = significance.sign_test(int((a > b).sum()), int((b > a).sum()), ties=int((a == b).sum()))
    assert significance.macro_sign_test(Y, A, B) == expected
    assert significance.micro_sign_test(Y, A, B).symbol == "≫"
    assert significance.micro_sign_test(Y, B, A).symbol == "≪"
    assert significance.micro_sign_test(Y, A, A).n == 0


def test_mcnemar_by_hand():
    # Only A is right on 6 documents, only B on 1: exact 2 · (1 + 7)/128, mid-p less the 7/128 of exactly 1, χ² 25/7.
    Y = np.ones(10, dtype=bool)
    A = np.array([1] * 6 + [0] + [1] * 3)
    B = np.array([0] * 6 + [1] + [1] * 3)
    exact = significance.mcnemar_test(Y, A, B, method="exact")
    assert exact.p_value == pytest.approx(16 / 128) == pytest.approx(stats.binomtest(1, 7).pvalue)
    assert significance.mcnemar_test(Y, A, B).p_value == pytest.approx(9 / 128)
    assert significance.mcnemar_test(Y, A, B, method="chi2").p_value == pytest.approx(stats.chi2.sf(25 / 7, 1))
    assert (exact.difference, exact.n) == (pytest.approx(0.5), 7)
    assert significance.mcnemar_test(Y, A, A).p_value == 1.0


def test_mcnemar_units(systems):
    Y, A, B = systems
    right_a, right_b = (A == Y).all(axis=1), (B == Y).all(axis=1)
    assert significance.mcnemar_test(Y, A, B).n == (right_a != right_b).sum()
    assert significance.mcnemar_test(Y, A, B, unit="decision").n == (A != B).sum()


def test_bad_options_are_refused(systems):
    Y, A, B = systems
    with pytest.raises(InputError, match="alternative='greater' is not known"):
        significance.sign_test(1, 2, "greater")
    with pytest.raises(InputError, match="wins=-1"):
        significance.sign_test(-1, 2)
    with pytest.raises(InputError, match="Y_true has 20 labels but B has 3"):
        significance.micro_sign_test(Y, A, B[:, :3])
    with pytest.raises(InputError, match="method='yates'"):
        significance.mcnemar_test(Y, A, B, method="yates")
    with pytest.raises(InputError, match="unit='label'"):
        significance.mcnemar_test(Y, A, B, unit="label")


@pytest.mark.parametrize(("wins", "losses", "ties"), [(12, 2, 36), (0, 0, 10), (3, 1, 0), (0, 40, 5000)])
def test_the_posterior_of_a_difference_is_that_of_dirichlet_draws(wins, losses, ties):
    found = evaluate.posterior_difference(wins, losses, ties, rope=0.02)
    draws = np.random.default_rng(0).dirichlet((wins + 1, losses + 1, ties + 1), size=400_000)
    drawn = draws[:, 0] - draws[:, 1]
    shares = (drawn > 0.02).mean(), (abs(drawn) <= 0.02).mean(), (drawn < -0.02).mean()
    assert found[:3] == pytest.approx(shares, abs=0.004)
    assert sum(found[:3]) == pytest.approx(1.0)
    assert found.mean == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 400_000**0.5)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02 * np.ptp(drawn))
    mirrored = evaluate.posterior_difference(losses, wins, ties, rope=0.02)
    assert (mirrored.worse, mirrored.low) == pytest.approx((found.better, -found.high))


@pytest.mark.parametrize(("counts", "rope"), [((-1, 0, 0), 0.0), ((1, 1, 1), 1.0)])
def test_impossible_counts_of_a_posterior_are_refused(counts, rope):
    with pytest.raises(InputError, match="are needed"):
        evaluate.posterior_difference(*counts, rope)
