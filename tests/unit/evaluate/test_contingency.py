"""Contingency tables against scikit-learn and as a sum of parts."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import multilabel_confusion_matrix

from textbayes.core.errors import InputError
from textbayes.evaluate import ContingencyTable, contingency


@pytest.fixture(scope="module")
def decisions():
    rng = np.random.default_rng(0)
    return rng.random((50, 4)) < 0.4, rng.random((50, 4)) < 0.3


def test_counts_equal_those_of_scikit_learn(decisions):
    Y, D = decisions
    table = contingency(Y, D)
    reference = multilabel_confusion_matrix(Y, D)
    assert (table.tn == reference[:, 0, 0]).all()
    assert (table.fp == reference[:, 0, 1]).all()
    assert (table.fn == reference[:, 1, 0]).all()
    assert (table.tp == reference[:, 1, 1]).all()
    assert (table.support == Y.sum(axis=0)).all()
    assert (table.predicted == D.sum(axis=0)).all()
    assert (table.total == 50).all()


def test_parts_add_up_to_the_whole(decisions):
    Y, D = decisions
    parts = contingency(Y[:20], D[:20]) + contingency(Y[20:], D[20:])
    whole = contingency(Y, D)
    assert isinstance(parts, ContingencyTable)
    assert all((mine == theirs).all() for mine, theirs in zip(parts, whole, strict=True))
    assert whole.pooled().tp == [whole.tp.sum()]


def test_sparse_lists_and_vectors_are_taken(decisions):
    Y, D = decisions
    assert (contingency(sparse.csr_array(Y), D.astype(int).tolist()).tp == contingency(Y, D).tp).all()
    assert contingency([1, 0, 1], [1, 1, 0]) == ContingencyTable(1, 1, 1, 0)


def test_mismatches_are_refused(decisions):
    Y, D = decisions
    with pytest.raises(InputError, match="Y_true has 4 labels but Y_pred has 3"):
        contingency(Y, D[:, :3])
    with pytest.raises(InputError, match="differ in length: 50 and 49"):
        contingency(Y, D[1:])
    with pytest.raises(InputError, match="cannot be added"):
        contingency(Y, D) + contingency(Y[:, :2], D[:, :2])
    with pytest.raises(TypeError):
        contingency(Y, D) + 1
