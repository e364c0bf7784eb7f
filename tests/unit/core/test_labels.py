"""Labels in every form users write them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.labels import LabelSpace, encode_labels


def test_two_classes_make_one_column():
    indicator, space = encode_labels(["spam", "ham", "spam"])
    assert indicator.tolist() == [[True], [False], [True]]
    assert (space.classes.tolist(), space.kind, space.column_names) == (["ham", "spam"], "binary", ["spam"])
    assert space.decode(indicator) == [("spam",), ("ham",), ("spam",)]


def test_several_classes():
    indicator, space = encode_labels(np.array([2, 0, 1, 2]))
    assert indicator.tolist() == np.eye(3, dtype=bool)[[2, 0, 1, 2]].tolist()
    assert space.kind == "multiclass"
    assert space.n_columns == 3


def test_lists_of_labels():
    indicator, space = encode_labels([["b", "a"], [], ("c",), {"a"}])
    assert indicator.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0]]
    assert space.decode(indicator) == [("a", "b"), (), ("c",), ("a",)]


@pytest.mark.parametrize("form", [np.array, sparse.csr_matrix])
def test_indicator_matrix(form):
    indicator, space = encode_labels(form([[1, 0], [1, 1]]), classes=["x", "y"])
    assert indicator.tolist() == [[True, False], [True, True]]
    assert space == LabelSpace(space.classes, "multilabel")
    assert space.column_names == ["x", "y"]


def test_nested_lists_of_bits_are_a_matrix():
    indicator, space = encode_labels([[1, 0, 1], [0, 1, 0]])
    assert indicator.tolist() == [[True, False, True], [False, True, False]]
    assert space.column_names == ["0", "1", "2"]
    # One label each, or lists of different lengths, are labels.
    assert encode_labels([[0], [1]])[1].classes.tolist() == [0, 1]
    assert encode_labels([[0], [0, 1]])[0].tolist() == [[True, False], [True, True]]


def test_names_are_kept_whole():
    _, space = encode_labels(["x", "x\0", "x"])
    assert space.classes.tolist() == ["x", "x\0"]


def test_classes_fix_the_columns():
    indicator, _ = encode_labels([["b"]], classes=["a", "b", "c"])
    assert indicator.tolist() == [[False, True, False]]
    indicator, _ = encode_labels(["b", "a", "b"], classes=["a", "b", "c"])
    assert indicator.tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        ([], None, "no labels were given"),
        (["a", "a"], None, "only one class, 'a'"),
        (["a", "d"], ["a", "b"], "label 'd' is not among the classes 'a', 'b'"),
        ([["d"]], ["a", "b"], "label 'd' is not among the classes"),
        ([[], []], None, "no document carries a label"),
        (["a", None], None, r"1 of 2 labels are missing \(the first, at index 1, is None\); leave these texts out"),
        (["a", np.nan, np.nan], None, r"2 of 3 labels are missing \(the first, at index 1, is NaN\)"),
        ([1.0, np.nan], None, "1 of 2 labels are missing"),
        (
            ["a", "", "b"],
            None,
            r"1 of 3 labels are missing \(the first, at index 1, is ''\); leave .* pass them as unlabelled",
        ),
        ([["a"], ["b", ""]], None, "1 of 3 labels are missing"),
        ([["a"], None], None, "1 of 2 labels are missing"),
        ([["a", None]], None, "1 of 2 labels are missing"),
        ([1.0, np.inf], None, "infinity"),
        (np.array([[0, 2]]), None, "only 0 and 1"),
        (np.array([[0, 1]]), ["a"], "2 columns but 1 classes"),
        ([["d"]], [str(i) for i in range(20)], "and 12 more"),
    ],
)
def test_bad_labels_are_refused(labels, classes, message):
    with pytest.raises(InputError, match=message):
        encode_labels(labels, classes)


def test_what_pandas_writes_for_a_missing_label_is_refused_as_such():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"1 of 3 labels are missing .* is <NA>"):
        TextCategorizer().fit(["corn", "bank", "wheat"], pandas.Series(["a", None, "b"], dtype="string"))
