"""Columns on disk against scipy, and fits of label groups against one fit in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier
from textbayes.core.errors import NotSupportedError
from textbayes.core.machine import limited_working_memory, working_memory
from textbayes.scale.out_of_core import fit_in_groups
from textbayes.scale.shards import columns_on_disk


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 60, density=0.15, random_state=1, format="csr")
    Y = (X @ rng.normal(size=(60, 5)) + 0.3 * rng.normal(size=(300, 5))) > 0.2
    return X, np.asarray(Y)


def blocks_of(X, sizes=(7, 0, 150, 143)):
    ends = np.cumsum([0, *sizes])
    return lambda: (X[first:last] for first, last in pairwise(ends))


def test_columns_are_those_of_the_whole_matrix(problem, tmp_path):
    X, _ = problem
    found = columns_on_disk(blocks_of(X), X.shape[1], tmp_path)
    expected = X.tocsc()
    expected.sort_indices()
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    assert found.has_canonical_format
    assert {path.name for path in tmp_path.iterdir()} == {"data.bin", "indices.bin"}


@pytest.mark.parametrize("settings", [{"prior": "laplace"}, {"prior": "gaussian", "inference": "newton"}])
@pytest.mark.parametrize("memory", [1, 1 << 20])
def test_groups_of_labels_have_the_weights_of_one_fit(problem, tmp_path, settings, memory):
    X, Y = problem
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 300)
    estimator = BayesLinearClassifier(scale=np.linspace(1.0, 3.0, 5)[:, None], **settings)
    whole = BayesLinearClassifier(scale=np.linspace(1.0, 3.0, 5)[:, None], **settings)
    whole.fit(X, sparse.csr_matrix(Y), sample_weight=weight)
    found = fit_in_groups(estimator, columns_on_disk(blocks_of(X), 60, tmp_path), Y, weight, memory)
    np.testing.assert_array_equal(found.coef_, whole.coef_)
    np.testing.assert_array_equal(found.intercept_, whole.intercept_)
    np.testing.assert_array_equal(found.fit_info_.objective, whole.fit_info_.objective)
    np.testing.assert_array_equal(found.predict_proba(X), whole.predict_proba(X))


def test_the_limit_of_memory_ends_with_its_block():
    before = working_memory()
    with limited_working_memory(5):
        assert working_memory() == 5
    assert working_memory() == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"inference": "gibbs"}, "inference 'gibbs' keeps the matrix in memory; use inference 'coordinate'"),
        ({"inference": "em"}, "inference 'em' keeps the matrix"),
        ({"word_scales": "ratio"}, "word_scales needs the matrix in memory; leave it out"),
        ({"intervals": True}, "intervals needs the matrix in memory"),
    ],
)
def test_what_needs_the_matrix_in_memory_is_refused(problem, settings, said):
    X, Y = problem
    with pytest.raises(NotSupportedError, match=said):
        fit_in_groups(BayesLinearClassifier(**settings), X.tocsc(), Y)
