"""Matrices of symbols for several systems."""

import json

import numpy as np
import pytest
from scipy import stats

from textbayes.core.errors import InputError
from textbayes.evaluate import compare, macro_sign_test, micro_sign_test, paired_bootstrap, sign_test_power


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
    assert (back.p_value, back.difference, back.n) == (there.p_value, -there.difference, there.n)
    assert (back.low, back.high) == (-there.high, -there.low)


def test_text_shows_scores_and_symbols(systems):
    Y, named = systems
    result = compare(named, Y)
    lines = result.to_text().splitlines()
    assert lines[0] == "150 documents, 30 labels, any number each (multilabel): every label of a document is a decision"
    assert lines[2].split() == ["system", "micro", "F1", "macro", "F1", "labels", "won"]
    one = result.results["s"]["SVM", "NB"]
    row = lines[lines.index("SVM against NB") + 1].split()
    assert row[:5] == ["s", f"{one.difference:+.4f}", f"{one.low:+.4f}", "to", f"{one.high:+.4f}"]
    assert row[5:7] == [str(one.n), "decisions"]
    assert float(row[7]) == pytest.approx(one.p_value, rel=0.5)
    assert row[8] == "≫"
    assert max(map(len, lines[lines.index("SVM against NB") :][:6])) <= 80
    header = next(i for i, line in enumerate(lines) if line.split() == ["SVM", "GP-1", "NB"])
    assert lines[header + 3].split() == ["NB", "≪/≪", "≪/≪"]
    assert any("one-sided in the direction observed" in line for line in lines)


def test_rows_are_plain_values(systems):
    Y, named = systems
    rows = compare(named, Y, tests=["s", "mcnemar", "bootstrap_micro", "bootstrap_macro"], n_resamples=50).to_rows()
    assert len(rows) == 4 * 6
    assert set(rows[0]) == {
        "test", "first", "second", "unit", "statistic", "p_value", "difference", "low", "high", "n", "symbol",
    }  # fmt: skip
    bootstrap = next(row for row in rows if row["test"] == "bootstrap_macro" and row["second"] == "NB")
    direct = paired_bootstrap(Y, named[bootstrap["first"]], named["NB"], "macro_f1", n_resamples=50)
    assert (bootstrap["low"], bootstrap["high"]) == (direct.low, direct.high)
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


def test_four_differing_texts_of_two_classes_are_four_cases():
    truth = ["spam", "ham"] * 10
    worse = ["ham", "spam", "ham", "spam", *truth[4:]]  # the first four are wrong
    result = compare({"good": truth, "bad": worse}, truth, tests=["s", "S"], alternative="two-sided")
    assert result.kind == "binary"
    s, S = (result.results[test]["good", "bad"] for test in ("s", "S"))
    assert (s.n, s.p_value) == (4, pytest.approx(0.125))  # 2 · (½)⁴
    assert (S.n, S.p_value) == (1, 1.0)
    assert s.difference == pytest.approx(4 / 20)
    assert any("the S-test has one case" in note for note in result.notes)


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"], [3, 5, 8]], ids=str)
def test_label_vectors_lists_and_matrices_say_the_same(classes):
    rng = np.random.default_rng(3)
    codes = rng.integers(len(classes), size=(3, 60))
    truth, a, b = ([classes[code] for code in row] for row in codes)
    matrices = np.eye(len(classes), dtype=bool)[codes]
    forms = {
        "vector": compare({"a": a, "b": b}, truth),
        "array": compare({"a": np.array(a), "b": np.array(b)}, np.array(truth)),
        "lists": compare({"a": [[x] for x in a], "b": [[x] for x in b]}, [[x] for x in truth]),
        "matrix": compare({"a": matrices[1], "b": matrices[2]}, matrices[0], label_names=classes),
        "mixed": compare({"a": a, "b": matrices[2]}, truth, label_names=classes),
    }
    assert {form.kind for form in forms.values()} == {"binary" if len(classes) == 2 else "multiclass"}
    assert len({str(form) for form in forms.values()}) == 1
    accuracy = np.mean([x == y for x, y in zip(truth, a, strict=True)])
    assert forms["vector"].accuracy["a"] == pytest.approx(accuracy)


def test_a_class_that_one_system_alone_gives_is_a_label():
    result = compare({"a": ["x", "y", "z"], "b": ["x", "x", "x"]}, ["x", "x", "y"])
    assert list(result.winners) == ["x", "y", "z"]


def test_kind_settles_what_a_decision_is():
    truth, a, b = np.eye(3, dtype=bool)[[[0, 1, 2, 0], [0, 1, 2, 0], [1, 1, 2, 0]]]
    assert compare({"a": a, "b": b}, truth).results["s"]["a", "b"].n == 1
    assert compare({"a": a, "b": b}, truth, kind="multilabel").results["s"]["a", "b"].n == 2
    none = b.copy()
    none[0] = False  # a system may leave a text without a label
    assert compare({"a": a, "b": none}, truth).kind == "multiclass"
    several = b.copy()
    several[0] = True
    assert compare({"a": a, "b": several}, truth).kind == "multilabel"
    assert compare({"a": a, "b": several}, truth, kind="multiclass").results["s"]["a", "b"].n == 1
    with pytest.raises(InputError, match="document 1 of Y_true has 3 labels where kind='multiclass' has exactly one"):
        compare({"a": a, "b": b}, several, kind="multiclass")
    with pytest.raises(InputError, match="kind='binary' has two classes but 3 labels were given"):
        compare({"a": a, "b": b}, truth, kind="binary")


def test_one_column_is_one_question():
    truth, a, b = (np.array(rows)[:, None] for rows in ([1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 1, 0]))
    result = compare({"a": a, "b": b}, truth)
    assert (result.kind, result.results["s"]["a", "b"].n) == ("multilabel", 2)
    both = compare({"a": a, "b": b}, truth, kind="binary")
    assert (list(both.winners), both.results["s"]["a", "b"].n) == (["not 0", "0"], 2)


def test_the_papers_tests_are_there_for_its_tables(systems):
    Y, named = systems
    paper = compare(named, Y, kind="multilabel", exact_up_to=12).results["s"]["SVM", "NB"]
    assert paper.p_value == pytest.approx(stats.norm.sf(abs(paper.statistic)))
    exact = compare(named, Y).results["s"]["SVM", "NB"]
    wins = round((exact.n + exact.statistic * exact.n**0.5) / 2)
    assert exact.p_value == pytest.approx(stats.binomtest(wins, exact.n, alternative="greater").pvalue)


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
    with pytest.raises(InputError, match="system 'b' holds an indicator matrix and the rest hold labels"):
        compare({"a": ["x", "y"], "b": [[1, 0], [0, 1]]}, ["x", "y"])
    with pytest.raises(InputError, match="Y_true and system 'b' differ in length: 2 and 3"):
        compare({"a": ["x", "y"], "b": ["x", "y", "x"]}, ["x", "y"])
    with pytest.raises(InputError, match="labels mix types"):
        compare({"a": ["x", "y"], "b": [1, 2]}, ["x", "y"])
