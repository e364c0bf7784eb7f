"""Stratified folds: every label spread, every fold filled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from textbayes.core.errors import InputError
from textbayes.core.folds import grouped_folds, label_order, stratified_folds


@given(hnp.arrays(bool, st.tuples(st.integers(2, 40), st.integers(1, 5))), st.integers(2, 5), st.integers(0, 9))
def test_every_document_has_a_fold_and_labels_are_spread(Y, n_folds, seed):
    if n_folds > len(Y):
        return
    fold = stratified_folds(Y, n_folds, seed)
    assert fold.shape == (len(Y),)
    assert ((fold >= 0) & (fold < n_folds)).all()
    sizes = np.where(Y.any(axis=0), Y.sum(axis=0), len(Y) + 1)
    # Of several rarest labels the documents say which is placed first.
    per_fold = [np.bincount(fold[Y[:, one]], minlength=n_folds) for one in np.flatnonzero(sizes == sizes.min())]
    assert min(counts.max() - counts.min() for counts in per_fold) <= 1


@given(st.lists(st.integers(0, 3), min_size=6, max_size=60), st.integers(2, 4))
def test_single_labels_are_balanced_within_one(classes, n_folds):
    Y = np.asarray(classes)[:, None] == np.arange(4)
    fold = stratified_folds(Y, n_folds)
    for label in range(4):
        per_fold = np.bincount(fold[Y[:, label]], minlength=n_folds)
        assert per_fold.max() - per_fold.min() <= 1


def test_documents_without_labels_even_out_the_sizes():
    Y = np.zeros((103, 3), dtype=bool)
    Y[:7, 0] = Y[3:12, 1] = True
    sizes = np.bincount(stratified_folds(Y, 5))
    assert sizes.max() - sizes.min() <= 1


def test_realistic_label_counts_stay_close_to_even():
    rng = np.random.default_rng(9)
    Y = rng.random((2000, 40)) < np.geomspace(0.3, 0.002, 40)
    fold = stratified_folds(Y, 5, rng)
    share = np.array([Y[fold == f].sum(axis=0) for f in range(5)])
    expected = Y.sum(axis=0) / 5
    assert (np.abs(share - expected) <= 2 + 0.2 * expected).all()
    few = (Y.sum(axis=0) >= 2) & (Y.sum(axis=0) <= 5)
    assert (share[:, few] < Y.sum(axis=0)[few]).all()  # no training part is without the label


def test_seed_decides():
    Y = np.random.default_rng(1).random((50, 3)) < 0.3
    assert (stratified_folds(Y, 5, 1) == stratified_folds(Y, 5, 1)).all()
    assert (stratified_folds(Y, 5, 1) != stratified_folds(Y, 5, 2)).any()


@given(
    hnp.arrays(bool, st.tuples(st.integers(4, 40), st.integers(1, 4))),
    st.integers(2, 5),
    st.integers(2, 12),
    st.integers(0, 9),
)
def test_a_group_is_in_one_fold(Y, n_folds, n_groups, seed):
    groups = np.random.default_rng(seed).integers(n_groups, size=len(Y))
    if len(np.unique(groups)) < 2:
        return
    fold = stratified_folds(Y, n_folds, seed, groups)
    for group in np.unique(groups):
        assert len(np.unique(fold[groups == group])) == 1
    assert 2 <= fold.max() + 1 <= n_folds
    assert set(fold) == set(range(fold.max() + 1))
    assert (fold == stratified_folds(Y, n_folds, seed, groups)).all()


def test_labels_are_spread_as_far_as_groups_allow():
    rng = np.random.default_rng(3)
    groups = rng.integers(60, size=600)
    Y = rng.integers(3, size=600)[:, None] == np.arange(3)
    fold = stratified_folds(Y, 5, 0, groups)
    share = np.array([Y[fold == f].mean(axis=0) for f in range(5)])
    assert (np.abs(share - Y.mean(axis=0)) < 0.08).all()
    assert np.bincount(fold).min() > 90


def test_groups_that_cannot_be_folded_are_refused():
    with pytest.raises(InputError, match="all documents are of one group"):
        stratified_folds([[1], [0], [1]], 2, 0, ["a", "a", "a"])
    with pytest.raises(InputError, match="2 groups were given for 3 documents"):
        stratified_folds([[1], [0], [1]], 2, 0, ["a", "b"])


@pytest.mark.parametrize("n_folds", [1, 4])
def test_impossible_numbers_of_folds_are_refused(n_folds):
    with pytest.raises(InputError, match=f"n_folds={n_folds} with 3 documents"):
        stratified_folds([[1], [0], [1]], n_folds)


def copied(n_docs, n_firsts, rng):
    """For each document the place of the first that it is a copy of."""
    text = np.concatenate([np.arange(n_firsts), rng.integers(n_firsts, size=n_docs - n_firsts)])
    text = rng.permutation(text)
    return np.unique(text, return_index=True)[1][np.unique(text, return_inverse=True)[1]]


@given(st.integers(0, 30), st.integers(4, 30), st.integers(1, 4), st.integers(2, 6))
def test_copies_follow_the_first_which_is_placed_as_if_they_were_not_there(seed, n_firsts, n_labels, n_folds):
    rng = np.random.default_rng(seed)
    copies = copied(3 * n_firsts, n_firsts, rng)
    Y = rng.random((len(copies), n_labels)) < 0.4  # copies may have other labels
    fold = stratified_folds(Y, n_folds, seed, copies=copies)
    firsts = np.unique(copies)
    assert (fold == fold[copies]).all()
    assert (fold[firsts] == stratified_folds(Y[firsts], min(n_folds, n_firsts), seed)).all()


def test_fewer_different_documents_than_folds_make_fewer_folds():
    Y = np.array([[1], [1], [0], [0]] * 5, dtype=bool)
    assert sorted(set(stratified_folds(Y, 20, 0, copies=np.arange(20) % 4))) == [0, 1, 2, 3]
    assert len(set(stratified_folds(Y, 5, 0, copies=np.zeros(20, dtype=int)))) == 5  # nothing to tell them by


def test_copies_join_groups_that_are_not_too_large_for_a_fold():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(30), 4)
    Y = rng.random((120, 2)) < 0.5
    copies = np.arange(120)
    copies[[8, 21, 33]] = 1, 2, 3  # of group 0 in groups 2, 5 and 8
    fold = stratified_folds(Y, 5, 0, groups, copies)
    assert all(len(set(fold[groups == group])) == 1 for group in range(30))
    assert len(set(fold[[0, 8, 21, 33]])) == 1
    copies[4::4] = 0  # a text of thanks that everybody writes makes no group of all of them
    fold = stratified_folds(Y, 5, 0, groups, copies)
    assert all(len(set(fold[groups == group])) == 1 for group in range(30))
    assert np.bincount(fold).tolist() == [24] * 5


@given(
    hnp.arrays(bool, st.tuples(st.integers(4, 40), st.integers(2, 6))),
    st.integers(2, 4),
    st.integers(0, 9),
    st.booleans(),
)
def test_the_order_of_the_labels_decides_nothing(Y, n_folds, seed, grouped):
    groups = np.arange(len(Y)) // 2 if grouped else None
    expected = stratified_folds(Y, n_folds, seed, groups)
    order = np.random.default_rng(seed).permutation(Y.shape[1])
    np.testing.assert_array_equal(stratified_folds(Y[:, order], n_folds, seed, groups), expected)
    np.testing.assert_array_equal(stratified_folds(Y[:, ::-1], n_folds, seed, groups), expected)
    np.testing.assert_array_equal(Y[:, order][:, label_order(Y[:, order])], Y[:, label_order(Y)])


@given(hnp.arrays(bool, st.tuples(st.integers(4, 40), st.just(1))), st.integers(2, 4), st.integers(0, 9))
def test_either_of_two_classes_may_be_the_one_in_the_column(Y, n_folds, seed):
    expected = stratified_folds(Y, n_folds, seed)
    np.testing.assert_array_equal(stratified_folds(~Y, n_folds, seed), expected)
    groups = np.arange(len(Y)) // 2
    np.testing.assert_array_equal(grouped_folds(~Y, groups, n_folds, seed), grouped_folds(Y, groups, n_folds, seed))
    for column in (Y, ~Y):
        per_fold = np.bincount(expected[column[:, 0]], minlength=n_folds)
        assert per_fold.max() - per_fold.min() <= 1
