"""Simulations with fixed seeds: tests keep their size when nothing differs, intervals hold what they promise."""

import numpy as np
import pytest

from textbayes.evaluate import paired_bootstrap, significance

N_TRIALS = 2000


def two_equal_systems(rng, n_docs=60, n_labels=12, error=0.15):
    Y = rng.random((n_docs, n_labels)) < 0.3
    return Y, Y ^ (rng.random(Y.shape) < error), Y ^ (rng.random(Y.shape) < error)


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(2024)
    return [two_equal_systems(rng) for _ in range(N_TRIALS)]


def at_most(level, p_values):
    """Whether the share of p ≤ level is no more than level, up to 3 standard errors of the simulation."""
    share = np.mean(np.asarray(p_values) <= level)
    return share <= level + 3 * np.sqrt(level * (1 - level) / len(p_values))


TESTS = {
    "micro sign": lambda *d: significance.micro_sign_test(*d, alternative="two-sided"),
    "macro sign": lambda *d: significance.macro_sign_test(*d, alternative="two-sided"),
    "McNemar exact, documents": lambda *d: significance.mcnemar_test(*d, method="exact"),
    "McNemar mid-p, documents": lambda *d: significance.mcnemar_test(*d, method="mid-p"),
    "McNemar exact, decisions": lambda *d: significance.mcnemar_test(*d, unit="decision", method="exact"),
    "McNemar mid-p, decisions": lambda *d: significance.mcnemar_test(*d, unit="decision", method="mid-p"),
    "McNemar χ², decisions": lambda *d: significance.mcnemar_test(*d, unit="decision", method="chi2"),
}


@pytest.mark.parametrize("name", TESTS)
def test_two_sided_tests_keep_their_size(trials, name):
    p_values = [TESTS[name](*data).p_value for data in trials]
    # The χ² approximation is not exact: allow a tenth more than the nominal level.
    slack = 1.1 if name == "McNemar χ², decisions" else 1.0
    assert at_most(0.05 * slack, p_values)
    assert at_most(0.01 * slack, p_values)
    assert np.mean(np.asarray(p_values) <= 0.05) > 0.01  # nor is the test asleep


@pytest.mark.parametrize("test", [significance.micro_sign_test, significance.macro_sign_test])
def test_the_papers_p_value_keeps_its_size_in_one_direction_and_doubles_it_in_two(trials, test):
    results = [test(*data) for data in trials]
    better = np.mean([result.symbol in "≫>" for result in results])
    either = np.mean([result.symbol != "~" for result in results])
    error = 3 * np.sqrt(0.1 * 0.9 / N_TRIALS)
    assert better <= 0.055 + error
    assert either <= 0.11 + error


def test_columns_counted_apart_fool_the_micro_sign_test_but_not_documents_or_the_bootstrap():
    rng = np.random.default_rng(7)
    micro, documents, bootstrap = [], [], []
    for _ in range(300):
        Y = np.eye(3, dtype=bool)[rng.integers(3, size=80)]
        systems = [np.where(rng.random((80, 1)) < 0.3, np.roll(Y, 1, axis=1), Y) for _ in range(2)]
        micro.append(significance.micro_sign_test(Y, *systems, alternative="two-sided").p_value)
        documents.append(significance.micro_sign_test(Y, *systems, alternative="two-sided", kind="multiclass").p_value)
        bootstrap.append(paired_bootstrap(Y, *systems, n_resamples=400, random_state=rng).test.p_value)
    assert np.mean(np.asarray(micro) <= 0.05) > 0.1  # each error makes two wrong decisions
    assert at_most(0.05, documents)
    assert at_most(0.05, bootstrap)


@pytest.mark.parametrize(("right_a", "right_b", "n_docs"), [(0.9, 0.8, 60), (0.97, 0.97, 200), (0.6, 0.3, 40)])
def test_the_interval_of_a_difference_of_accuracies_covers_it(right_a, right_b, n_docs):
    rng = np.random.default_rng(23)
    covered = []
    for _ in range(1000):
        luck = rng.random((n_docs, 1))  # easy texts are easy for both
        own = rng.random((n_docs, 2))
        right = np.where(own < 0.5, luck, rng.random((n_docs, 2))) < [right_a, right_b]
        result = significance.micro_sign_test(np.ones((n_docs, 1)), right[:, :1], right[:, 1:])
        covered.append(result.low <= right_a - right_b <= result.high)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1000)


@pytest.mark.parametrize("measure", ["micro_f1", "macro_f1"])
def test_bootstrap_keeps_its_size_and_its_coverage(measure):
    rng = np.random.default_rng(11)
    p_values, covered = [], []
    for _ in range(300):
        Y, A, B = two_equal_systems(rng, n_docs=100, n_labels=5)
        result = paired_bootstrap(Y, A, B, measure, n_resamples=400, random_state=rng)
        p_values.append(result.test.p_value)
        covered.append(result.low <= 0.0 <= result.high)
    assert at_most(0.055, p_values)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300)
