"""Matrices of symbols for several systems."""

import json

import numpy as np
import pytest
from scipy import stats

from textbayes.core.errors import InputError
from textbayes.evaluate import compare, macro_sign_test, micro_sign_test, sign_test_power


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(7)
    Y = rng.random((150, 30)) < np.geomspace(0.4, 0.03, 30)
    rates = {"SVM": 0.02, "GP-1": 0.02, "NB": 0.1}
    return Y, {name: Y ^ (rng.random(Y.shape) < rate) for name, rate in rates.items()}


def test_cells_are_the_tests_and_mirror_each_other(systems):
    Y, named = systems
    result = compare(named, Y)
    assert result.results["s"]["SVM", "NB"] == micro_sign_test(Y, named["SVM"], named["NB"])
    assert result.results["S"]["SVM", "NB"] == macro_sign_test(Y, named["SVM"], named["NB"])
    there, back = result.results["S"]["SVM", "NB"], result.results["S"]["NB", "SVM"]
    assert (there.symbol, back.symbol) == ("≫", "≪")
    assert (back.p_value, back.effect, back.n) == (there.p_value, -there.effect, there.n)


def test_text_shows_scores_and_symbols(systems):
    Y, named = systems
    lines = compare(named, Y).to_text().splitlines()
    assert lines[0].split() == ["system", "micro", "F1", "macro", "F1", "labels", "won"]
    header = next(i for i, line in enumerate(lines) if line.split() == ["SVM", "GP-1", "NB"])
    assert lines[header + 3].split() == ["NB", "≪/≪", "≪/≪"]
    assert any("one-sided in the direction observed" in line for line in lines)


def test_rows_are_plain_values(systems):
    Y, named = systems
    rows = compare(named, Y, tests=["s", "mcnemar", "bootstrap_micro", "bootstrap_macro"], n_resamples=50).to_rows()
    assert len(rows) == 4 * 6
    assert set(rows[0]) == {"test", "first", "second", "statistic", "p_value", "effect", "n", "symbol"}
    json.dumps(rows, allow_nan=False)


def test_winners_are_the_systems_of_highest_f1():
    Y = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)
    first, second = Y.copy(), Y.copy()
    second[0, 0] = False
    first[1, 1] = False
    result = compare({"a": first, "b": second}, Y, label_names=["x", "y", "z"])
    assert result.winners == {"x": ("a",), "y": ("b",), "z": ("a", "b")}


def test_too_few_differences_are_noted(systems):
    Y, named = systems
    almost = named["SVM"].copy()
    almost[:3, 0] ^= True
    notes = compare({"SVM": named["SVM"], "almost": almost}, Y, alternative="two-sided").notes
    assert notes[0] == "SVM and almost differ on 3 decisions only: ~ of s does not mean they are equally good"
    assert not compare({"SVM": named["SVM"], "NB": named["NB"]}, Y, tests=["s"], alternative="two-sided").notes


@pytest.mark.parametrize("n", [0, 3, 5, 6, 12, 25, 60])
def test_power_by_direct_summation(n):
    reject = [k for k in range(n + 1) if n and stats.binomtest(k, n).pvalue <= 0.05 and k > n / 2]
    power = sum(stats.binom.pmf(k, n, 0.75) for k in reject)
    assert sign_test_power(n) == pytest.approx(power, abs=1e-6)


def test_bad_input_is_refused(systems):
    Y, named = systems
    with pytest.raises(InputError, match="1 system was given"):
        compare({"SVM": named["SVM"]}, Y)
    with pytest.raises(InputError, match="tests='t' is not known"):
        compare(named, Y, tests=["t"])
    with pytest.raises(InputError, match="30 labels need as many different names; 2 were given"):
        compare(named, Y, label_names=["a", "b"])
