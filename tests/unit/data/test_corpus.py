from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.data import Corpus


def corpus(labels, **more):
    n = len(labels)
    values = {"texts": [f"text {i}" for i in range(n)], "split": ["train"] * (n - 1) + ["test"], **more}
    return Corpus("tea", [str(i) for i in range(n)], labels, **values)


def test_parts_share_the_categories_of_the_whole():
    whole = corpus([("green",), ("black",), ("white",)], dates=["1", "2", "3"])
    assert whole.label_names == ("black", "green", "white")
    assert whole.parts == {"train": 2, "test": 1}
    assert whole.train.ids == ["0", "1"]
    assert whole.test.dates == ["3"]
    assert whole.test.label_names == whole.label_names
    assert repr(whole) == "<Corpus tea: 3 documents 2 train + 1 test, 3 labels>"


def test_single_label_targets_and_indicator():
    whole = corpus([("green",), ("black",), ("white",)])
    assert whole.single_label
    assert whole.targets == ["green", "black", "white"]
    Y, space = whole.encode()
    assert space.kind == "multiclass"
    np.testing.assert_array_equal(Y, np.eye(3, dtype=bool)[[1, 0, 2]])
    Y, space = whole.test.encode()
    assert Y.shape == (1, 3)


def test_several_labels():
    whole = corpus([("green", "cold"), (), ("cold",)])
    assert not whole.single_label
    assert whole.targets == [("green", "cold"), (), ("cold",)]
    Y, space = whole.encode()
    assert space.kind == "multilabel"
    np.testing.assert_array_equal(Y, [[True, True], [False, False], [True, False]])


def test_documents():
    assert list(corpus([("a",), ("b",)]).documents()) == [
        Document("0", "text 0", ("a",)),
        Document("1", "text 1", ("b",)),
    ]


def test_vectors_instead_of_texts():
    X = sparse.csr_matrix(np.eye(3))
    whole = corpus([("a",), ("b",), ("a",)], texts=[], X=X)
    assert whole.train.X.shape == (2, 3)
    with pytest.raises(InputError, match="holds vectors without texts; use its matrix X"):
        list(whole.documents())


def test_unknown_part_and_lengths_that_differ():
    with pytest.raises(InputError, match="has no part 'dev'; its parts are: 'train', 'test'"):
        corpus([("a",), ("b",)]).part("dev")
    with pytest.raises(InputError, match="has no part 'train'; its parts are: none"):
        corpus([("a",), ("b",)], split=None).train  # noqa: B018
    with pytest.raises(InputError, match="ids and texts differ in length: 2 and 1"):
        corpus([("a",), ("b",)], texts=["one"])
    with pytest.raises(InputError, match="ids and X differ in length"):
        corpus([("a",), ("b",)], texts=[], X=sparse.csr_matrix((3, 2)))
