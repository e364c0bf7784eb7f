"""Rules: thresholds, top k, false discovery rate and their combination."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.protocols import ScoreResult
from textbayes.lexical import benjamini_hochberg, storey
from textbayes.select import select_global, select_per_label


def result(scores, p_values=None):
    return ScoreResult(np.array(scores, dtype=float), None if p_values is None else np.array(p_values, dtype=float))


@given(
    rows=st.lists(
        st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf]), min_size=7, max_size=7), min_size=1
    ),
    k=st.integers(1, 9),
    threshold=st.sampled_from([None, -2.0, 0.0, 0.5, 5.0]),
)
def test_top_k_is_a_stable_sort_cut_at_k(rows, k, threshold):
    mask = select_per_label(result(rows), k=k, threshold=threshold)
    for row, kept in zip(rows, mask, strict=True):
        candidates = [j for j in range(7) if threshold is None or row[j] > threshold]
        expected = sorted(candidates, key=lambda j: (-row[j], j))[:k]
        assert sorted(expected) == np.flatnonzero(kept).tolist()


def test_threshold_is_strict():
    assert select_per_label(result([[12.13, 12.14]]), threshold=12.13).tolist() == [[False, True]]


def test_threshold_and_at_most_k_as_in_the_online_paper():
    scores = np.random.default_rng(0).gamma(2.0, 6.0, (5, 1000))
    scores[1] = 1.0  # no word passes
    mask = select_per_label(ScoreResult(scores, None), threshold=12.13, k=300)
    assert mask.sum(axis=1).tolist() == [min(300, n) for n in (scores > 12.13).sum(axis=1)]
    assert mask[1].sum() == 0
    for row, kept in zip(scores, mask, strict=True):
        assert row[kept].min(initial=np.inf) >= row[~kept & (row > 12.13)].max(initial=-np.inf)


@pytest.mark.parametrize(("method", "q_values"), [("bh", benjamini_hochberg), ("storey", storey)])
def test_fdr_keeps_small_q_values_label_by_label(method, q_values):
    p = np.random.default_rng(1).random((3, 200)) ** np.array([[1], [4], [9]])
    mask = select_per_label(ScoreResult(1 - p, p), fdr=0.1, fdr_method=method)
    np.testing.assert_array_equal(mask, q_values(p) <= 0.1)
    assert mask[2].sum() > mask[1].sum() > mask[0].sum()


def test_all_rules_together():
    scored = result([[9.0, 8.0, 7.0, 6.0, 1.0]], [[1e-9, 0.9, 1e-8, 1e-7, 1e-9]])
    assert select_per_label(scored, threshold=2.0, fdr=0.05, k=2).tolist() == [[True, False, True, False, False]]


def test_no_rule_keeps_everything():
    assert select_per_label(result([[0.0, 1.0]])).all()
    assert select_global(result([[0.0, 1.0]])).tolist() == [True, True]


def test_global_max_counts_words_once_and_union_per_label():
    scored = result([[9.0, 8.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0]])
    assert select_global(scored, k=2).tolist() == [True, True, False, False]
    assert select_global(scored, k=1, combine="union").tolist() == [True, False, True, False]
    assert (
        select_global(scored, threshold=2.0).tolist() == select_global(scored, threshold=2.0, combine="union").tolist()
    )


def test_global_fdr_pays_for_the_number_of_labels():
    """Ten labels of noise: the smallest of ten p-values is not a p-value; corrected, discoveries stay rare."""
    rng = np.random.default_rng(2)
    found = [select_global(ScoreResult(np.zeros((10, 50)), rng.random((10, 50))), fdr=0.1).any() for _ in range(400)]
    assert np.mean(found) < 0.1 + 4 * np.sqrt(0.09 / 400)


def test_one_label_global_is_per_label():
    p = np.random.default_rng(3).random((1, 50)) ** 5
    scored = ScoreResult(-np.log(p), p)
    for combine in ("max", "union"):
        chosen = select_global(scored, k=10, fdr=0.2, combine=combine)
        np.testing.assert_array_equal(chosen, select_per_label(scored, k=10, fdr=0.2)[0])


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"k": 0}, "k=0 must be a whole number"),
        ({"k": 2.5}, "k=2.5 must be a whole number"),
        ({"k": "all"}, "whole number"),
        ({"threshold": np.nan}, "threshold=nan must be a number"),
        ({"threshold": "12"}, "must be a number"),
        ({"fdr": 0.0}, r"fdr=0.0 must lie in \(0, 1\]"),
        ({"fdr": 5}, "fdr=5 must lie"),
        ({"fdr": 0.1, "fdr_method": "by"}, "fdr_method='by' is not known; choose one of 'bh', 'storey'"),
    ],
)
def test_refuses_rules_that_make_no_sense(rules, message):
    with pytest.raises(InputError, match=message):
        select_per_label(result([[1.0]], [[0.5]]), **rules)
    with pytest.raises(InputError, match=message):
        select_global(result([[1.0]], [[0.5]]), **rules)


def test_refuses_fdr_without_p_values_and_unknown_combination():
    with pytest.raises(NotSupportedError, match="has no p-values; use k or threshold"):
        select_per_label(result([[1.0]]), fdr=0.1)
    with pytest.raises(InputError, match="combine='sum' is not known"):
        select_global(result([[1.0]]), combine="sum")
