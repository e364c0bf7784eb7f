"""The paired bootstrap against a plain loop over resampled documents."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from textbayes.core.errors import InputError
from textbayes.evaluate import paired_bootstrap, recall


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(6)
    Y = rng.random((80, 4)) < [0.5, 0.3, 0.2, 0.1]
    return Y, Y ^ (rng.random(Y.shape) < 0.1), Y ^ (rng.random(Y.shape) < 0.15)


@pytest.mark.parametrize("measure", ["micro_f1", "macro_f1"])
def test_agrees_with_a_plain_bootstrap(systems, measure):
    Y, A, B = systems
    result = paired_bootstrap(Y, A, B, measure, n_resamples=6000, random_state=1)

    def score(rows, D):
        return f1_score(Y[rows], D[rows], average=measure[:5], zero_division=0.0)

    everything = np.arange(80)
    assert result.first == pytest.approx(score(everything, A))
    assert result.second == pytest.approx(score(everything, B))
    rng = np.random.default_rng(2)
    draws = rng.integers(80, size=(400, 80))
    plain = np.array([score(rows, A) - score(rows, B) for rows in draws])
    difference = result.first - result.second
    assert result.test.difference == pytest.approx(difference)
    assert result.low == pytest.approx(np.quantile(plain, 0.025), abs=0.02)
    assert result.high == pytest.approx(np.quantile(plain, 0.975), abs=0.02)
    p = (np.abs(plain - difference) >= abs(difference)).mean()
    assert result.test.p_value == pytest.approx(p, abs=0.07)
    assert result.test.statistic == pytest.approx(difference / plain.std(), rel=0.15)


def test_error_rate_counts_against_the_worse_system(systems):
    Y, A, B = systems
    result = paired_bootstrap(Y, A, B, "error_rate", n_resamples=200)
    assert result.first == pytest.approx(accuracy_score(Y.ravel(), A.ravel()) - 1)
    assert result.test.difference > 0


def test_any_function_of_the_table_will_do(systems):
    Y, A, B = systems
    result = paired_bootstrap(Y, A, B, lambda table: recall(table, "macro"), n_resamples=200)
    assert result.first == pytest.approx(np.mean([(Y & A)[:, j].sum() / Y[:, j].sum() for j in range(4)]))


def test_equal_systems_do_not_differ_and_seeds_repeat(systems):
    Y, A, B = systems
    same = paired_bootstrap(Y, A, A, n_resamples=100)
    assert same.test == (0.0, 1.0, 0.0, 0.0, 0.0, 0, "~")
    first, again = (paired_bootstrap(Y, A, B, n_resamples=700, random_state=3) for _ in range(2))
    assert first == again
    assert paired_bootstrap(Y, B, A, n_resamples=700, random_state=3).test.p_value == first.test.p_value


def test_bad_input_is_refused(systems):
    Y, A, B = systems
    with pytest.raises(InputError, match="measure='f1' is not known; choose one of micro_f1"):
        paired_bootstrap(Y, A, B, "f1")
    with pytest.raises(InputError, match="n_resamples=0"):
        paired_bootstrap(Y, A, B, n_resamples=0)
