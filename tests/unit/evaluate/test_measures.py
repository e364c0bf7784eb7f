"""Measures against scikit-learn, worked examples and their invariances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics

from textbayes import evaluate
from textbayes.core.errors import InputError
from textbayes.evaluate import (
    ContingencyTable,
    accuracy,
    break_even,
    contingency,
    error_rate,
    f_measure,
    precision,
    recall,
    sensitivity,
    specificity,
)


@st.composite
def pair(draw):
    shape = draw(st.tuples(st.integers(1, 15), st.integers(1, 4)))
    return draw(hnp.arrays(bool, shape)), draw(hnp.arrays(bool, shape))


@given(
    pair(), st.sampled_from([None, "micro", "macro"]), st.sampled_from([0, 1, "skip"]), st.sampled_from([0.5, 1.0, 2.0])
)
def test_equal_to_scikit_learn_under_every_convention(data, average, zero_division, beta):
    Y, D = data
    table = contingency(Y, D)
    # Two columns at least, or scikit-learn takes the problem for binary; the second is left out by `labels`.
    wide = [np.column_stack([part, np.zeros(len(part), bool)]) for part in (Y, D)]
    labels = list(range(Y.shape[1]))
    options = {"average": average, "zero_division": np.nan if zero_division == "skip" else float(zero_division)}
    for ours, theirs in (
        (precision(table, average, zero_division), metrics.precision_score(*wide, labels=labels, **options)),
        (recall(table, average, zero_division), metrics.recall_score(*wide, labels=labels, **options)),
        (
            f_measure(table, average, zero_division, beta=beta),
            metrics.fbeta_score(*wide, labels=labels, beta=beta, **options),
        ),
    ):
        assert ours == pytest.approx(theirs, nan_ok=True)


@given(pair())
def test_micro_f1_does_not_depend_on_how_decisions_are_arranged(data):
    Y, D = data
    value = f_measure(contingency(Y, D), "micro")
    assert value == f_measure(contingency(Y.reshape(-1, 1), D.reshape(-1, 1)), "micro")
    assert value == f_measure(contingency(Y[::-1, ::-1], D[::-1, ::-1]), "micro")
    assert value == f_measure(contingency(D, Y), "micro")  # F1 is symmetric in truth and decision
    doubled = contingency(np.vstack([Y, Y]), np.vstack([D, D]))
    assert value == pytest.approx(f_measure(doubled, "micro"))
    no_more = contingency(np.vstack([Y, Y * False]), np.vstack([D, D * False]))
    assert value == f_measure(no_more, "micro")  # true negatives do not count


@given(pair())
def test_exclusive_single_labels_make_micro_precision_recall_and_accuracy_equal(data):
    Y, D = (np.eye(5, dtype=bool)[part.sum(axis=1)] for part in data)
    table = contingency(Y, D)
    right = (Y & D).any(axis=1).mean()
    assert precision(table, "micro") == recall(table, "micro") == pytest.approx(right)


def test_worked_example():
    table = ContingencyTable(*np.array([[8.0, 1.0, 0.0], [2.0, 3.0, 0.0], [4.0, 1.0, 0.0], [86.0, 95.0, 100.0]]))
    assert precision(table, zero_division="skip") == pytest.approx([0.8, 0.25, np.nan], nan_ok=True)
    assert recall(table) == pytest.approx([8 / 12, 0.5, 0])
    assert sensitivity(table) == pytest.approx(recall(table))
    assert specificity(table) == pytest.approx([86 / 88, 95 / 98, 1])
    assert f_measure(table) == pytest.approx([16 / 22, 2 / 6, 0])
    assert f_measure(table, "macro", 0) == pytest.approx((16 / 22 + 2 / 6) / 3)
    assert f_measure(table, "macro", 1) == pytest.approx((16 / 22 + 2 / 6 + 1) / 3)
    assert f_measure(table, "macro", "skip") == pytest.approx((16 / 22 + 2 / 6) / 2)
    assert f_measure(table, "micro") == pytest.approx(18 / (18 + 5 + 5))
    assert error_rate(table) == pytest.approx([0.06, 0.04, 0])
    assert accuracy(table, "micro") == pytest.approx(1 - 10 / 300)


def test_leading_axes_are_kept():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 9, (4, 6, 2, 3)).astype(float)
    stacked = ContingencyTable(*counts)
    for average in (None, "micro", "macro"):
        one = f_measure(ContingencyTable(*counts[:, 4, 1]), average)
        assert f_measure(stacked, average)[4, 1] == pytest.approx(one)


def test_all_labels_skipped_is_not_a_number():
    table = contingency([[0], [0]], [[0], [0]])
    assert np.isnan(f_measure(table, "macro", "skip"))


def test_break_even_by_hand():
    assert break_even([1, 1, 0, 0, 1], [0.9, 0.2, 0.8, 0.1, 0.7]) == pytest.approx([2 / 3])
    # Two positives; the second place is shared by three documents with one positive: 1 + ⅓ of 2.
    assert break_even([1, 0, 1, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1]) == pytest.approx([(1 + 1 / 3) / 2])
    assert break_even([0, 0], [0.1, 0.2], zero_division="skip") == pytest.approx([np.nan], nan_ok=True)
    assert break_even([1, 1], [0.1, 0.2]) == [1.0]


def test_break_even_is_where_precision_meets_recall():
    rng = np.random.default_rng(2)
    Y = rng.random((80, 3)) < 0.3
    scores = rng.normal(size=(80, 3)) + Y
    per_label = break_even(Y, scores)
    for label in range(3):
        p, r, _ = metrics.precision_recall_curve(Y[:, label], scores[:, label])
        meeting = int(np.argmin(np.abs(p - r) + (r == 0)))
        assert per_label[label] == pytest.approx(p[meeting]) == pytest.approx(r[meeting])
    assert break_even(Y, scores, "macro") == pytest.approx(per_label.mean())
    assert break_even(Y, scores, "micro") == pytest.approx(break_even(Y.ravel(), scores.ravel())[0])


def test_unknown_conventions_are_refused():
    table = contingency([1, 0], [1, 0])
    with pytest.raises(InputError, match="zero_division='none' is not known"):
        precision(table, zero_division="none")
    with pytest.raises(InputError, match="average='weighted'"):
        f_measure(table, "weighted")
    with pytest.raises(InputError, match="beta=0"):
        f_measure(table, beta=0)
    with pytest.raises(InputError, match="scores has 2"):
        break_even([[1], [0]], [[1, 2], [3, 4]])
    with pytest.raises(InputError, match="NaN"):
        break_even([1, 0], [np.nan, 1])


def test_public_names_exist():
    assert sorted(evaluate.__all__) == sorted(set(evaluate.__all__))
    assert all(hasattr(evaluate, name) for name in evaluate.__all__)
