"""What every registered score function promises; a new one is tested by being registered."""

from __future__ import annotations

import doctest
import inspect
import sys

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.protocols import ScoreFunction, ScoreResult
from textbayes.lexical import takes_counts
from textbayes.select import scores

pytestmark = pytest.mark.parametrize("name", scores.names())


def corpus(name, seed=0, n_docs=60, n_features=25, n_labels=4):
    """Counts with a word in every document (0), in none (1), a constant one (2), an empty and a full label.

    The constant word weighs 0.1, but occurs once for scores that are tests on counts.
    """
    rng = np.random.default_rng(seed)
    Y = rng.random((n_docs, n_labels)) < np.linspace(0.1, 0.6, n_labels)
    X = rng.poisson(0.5 + Y[:, [0]] * rng.random(n_features), (n_docs, n_features)).astype(float)
    X[:, 0] += 1.0
    X[:, 1] = 0.0
    X[:, 2] = 1.0 if takes_counts(scores.get(name)) else 0.1
    Y[:, 1], Y[:, 2] = False, True
    return X, Y


def assert_same(left: ScoreResult, right: ScoreResult, **tolerance):
    np.testing.assert_allclose(left.scores, right.scores, **tolerance)
    assert (left.p_values is None) == (right.p_values is None)
    if left.p_values is not None:
        np.testing.assert_allclose(left.p_values, right.p_values, **tolerance)


def test_is_a_documented_score_function(name):
    score = scores.get(name)
    assert isinstance(score, ScoreFunction)
    parameters = inspect.signature(score).parameters
    assert list(parameters) == (["X", "Y", "lengths"] if takes_counts(score) else ["X", "Y"])
    if takes_counts(score):
        assert parameters["lengths"].default is None
    assert "Reference" in score.__doc__
    assert ">>>" in score.__doc__


def test_example_in_its_module_runs(name):
    outcome = doctest.testmod(sys.modules[scores.get(name).__module__])
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("shape", [(60, 25, 4), (7, 3, 4), (200, 5, 6)])
def test_shape_and_range(name, shape):
    X, Y = corpus(name, 1, *shape)
    result = scores.get(name)(X, Y)
    assert isinstance(result, ScoreResult)
    assert result.scores.shape == (Y.shape[1], X.shape[1])
    assert result.scores.dtype == np.float64
    assert not np.isnan(result.scores).any()
    if (result.scores < 0).any():
        assert "signed" in scores.get(name).__doc__
    if result.p_values is not None:
        assert result.p_values.shape == result.scores.shape
        assert ((result.p_values >= 0) & (result.p_values <= 1)).all()


def test_nothing_to_learn_scores_zero_with_p_one(name):
    X, Y = corpus(name)
    X[:, 0] = 3.0
    if takes_counts(scores.get(name)):  # one rate inside and outside where documents have one length
        result = scores.get(name)(X, Y, lengths=np.ones(len(X)))
        np.testing.assert_allclose(result.scores[:, :3], 0, atol=1e-12)
        assert (result.p_values[:, :3] > 0.5).all()  # mid-p: half of the chance of 0 itself is missing
        assert (result.scores[:, 1] == 0).all()
        assert (result.p_values[:, 1] == 1).all()
        assert (result.scores[1:3] == 0).all()
        assert (result.p_values[1:3] == 1).all()
        assert (result.scores[[0, 3], 3:] != 0).any()
        return
    result = scores.get(name)(X, Y)
    p_values = np.ones_like(result.scores) if result.p_values is None else result.p_values
    assert (result.scores[:, :3] == 0).all()  # in every document alike, in none, constant
    assert (p_values[:, :3] == 1).all()
    assert (result.scores[1:3] == 0).all()  # labels without and with every document
    assert (p_values[1:3] == 1).all()
    assert (result.scores[[0, 3], 3:] != 0).any()


@pytest.mark.parametrize("n_docs", [1, 2, 3])
def test_tiny_corpora_are_no_special_case(name, n_docs):
    for Y in (np.eye(n_docs, dtype=bool), np.zeros((n_docs, 1)), np.ones((n_docs, 1))):
        result = scores.get(name)(np.arange(4.0 * n_docs).reshape(n_docs, 4) % 3, Y)
        assert not np.isnan(result.scores).any()
        assert result.p_values is None or not np.isnan(result.p_values).any()


def test_no_words(name):
    assert scores.get(name)(np.zeros((4, 0)), np.eye(4)).scores.shape == (4, 0)


@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array])
def test_sparse_equals_dense(name, convert):
    X, Y = corpus(name)
    assert_same(scores.get(name)(convert(X), Y), scores.get(name)(X, Y), rtol=0, atol=0)


def test_stored_zeros_duplicates_and_order_do_not_matter(name):
    X, Y = corpus(name)
    rows, columns = np.nonzero(X >= 0)
    order = np.random.default_rng(3).permutation(rows.size)
    rows, columns = rows[order], columns[order]
    halves = np.concatenate([X[rows, columns] / 2] * 2)
    pointers = np.argsort(np.tile(rows, 2), kind="stable")
    untidy = sparse.csr_matrix(
        (halves[pointers], np.tile(columns, 2)[pointers], np.arange(len(X) + 1) * 2 * X.shape[1]), shape=X.shape
    )
    assert not untidy.has_canonical_format
    assert_same(scores.get(name)(untidy, Y), scores.get(name)(X, Y), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float32])
def test_number_types_give_the_same(name, dtype):
    X, Y = corpus(name)
    X = np.minimum(np.floor(X), 1)
    assert_same(scores.get(name)(sparse.csr_matrix(X.astype(dtype)), Y), scores.get(name)(X, Y), rtol=0, atol=0)


def test_input_is_not_changed(name):
    X, Y = corpus(name)
    untidy = sparse.csr_matrix(X)
    untidy.data[::7] = 0.0
    parts = (untidy.data, untidy.indices, untidy.indptr, X, Y)
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    scores.get(name)(untidy, Y)
    scores.get(name)(X, Y)
    for part, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, copy)


def test_order_of_documents_labels_and_words_does_not_matter(name):
    X, Y = corpus(name)
    if not takes_counts(scores.get(name)):
        X *= 0.37  # weights whose sums are rounded
    rng = np.random.default_rng(1)
    rows, labels, words = (rng.permutation(n) for n in (len(X), Y.shape[1], X.shape[1]))
    plain = scores.get(name)(X, Y)
    assert_same(scores.get(name)(X[rows], Y[rows]), plain, rtol=1e-9, atol=1e-12)
    shuffled = scores.get(name)(X[:, words], Y[:, labels])
    p_values = None if plain.p_values is None else plain.p_values[labels][:, words]
    assert_same(shuffled, ScoreResult(plain.scores[labels][:, words], p_values), rtol=1e-12)


def test_labels_as_vector_as_numbers_or_sparse(name):
    X, Y = corpus(name)
    plain = scores.get(name)(X, Y[:, [0]])
    for other in (Y[:, 0], Y[:, 0].astype(int).tolist(), sparse.csr_matrix(Y[:, [0]].astype(float))):
        assert_same(scores.get(name)(X, other), plain, rtol=0, atol=0)


def test_each_label_is_scored_on_its_own(name):
    X, Y = corpus(name)
    together = scores.get(name)(X, Y)
    for j in range(Y.shape[1]):
        p_values = None if together.p_values is None else together.p_values[[j]]
        assert_same(scores.get(name)(X, Y[:, j]), ScoreResult(together.scores[[j]], p_values), rtol=1e-12)


def test_large_values_stay_finite_and_scale_free_or_presence_only(name):
    X, Y = corpus(name)
    if takes_counts(scores.get(name)):
        result = scores.get(name)(np.rint(X * 1e12), Y)  # more occurrences are more evidence
        assert np.isfinite(result.scores).all()
        assert np.isfinite(result.p_values).all()
        with pytest.raises(InputError, match="pass counts before any weighting"):
            scores.get(name)(X * 0.37, Y)
        return
    for factor in (1e12, 1e160, 1e-160):
        assert_same(scores.get(name)(X * factor, Y), scores.get(name)(X, Y), rtol=1e-9, atol=1e-12)


def test_p_values_hold_their_level_when_nothing_is_there(name):
    rng = np.random.default_rng(5)
    X = sparse.csr_matrix(rng.poisson(0.5, (500, 2000)))
    p_values = scores.get(name)(X, rng.random((500, 2)) < 0.4).p_values
    if p_values is None:
        pytest.skip("this score has no p-values")
    for level in (0.01, 0.05, 0.2):
        error = np.sqrt(level * (1 - level) / 2000)
        assert (p_values <= level).mean() == pytest.approx(level, abs=4 * error)


def test_small_p_values_go_with_high_scores(name):
    X, Y = corpus(name, n_docs=300)
    result = scores.get(name)(X > 0, Y[:, [3]])
    if result.p_values is None:
        pytest.skip("this score has no p-values")
    best = np.argmin(result.p_values[0])
    assert result.scores[0, best] >= np.median(result.scores)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 1)), "X and Y differ in length: 3 and 4"),
        (np.ones(3), np.ones(3), "X has 1 dimension"),
        (np.array([["a"], ["b"]]), np.ones(2), "pass numbers"),
        (np.ones((2, 2)), np.array([0, 2]), "other than 0 and 1"),
        (np.ones((0, 2)), np.ones((0, 1)), "no documents"),
        (np.ones((2, 2)), np.ones((2, 0)), "no labels"),
        (np.array([[np.nan, 1.0], [1.0, 1.0]]), np.array([0, 1]), "1 NaN or infinite"),
        (sparse.csr_matrix([[np.inf, 1.0], [1.0, np.inf]]), np.array([0, 1]), "2 NaN or infinite"),
    ],
)
def test_refuses_in_a_sentence(name, X, Y, message):
    with pytest.raises(InputError, match=message):
        scores.get(name)(X, Y)


def test_negative_values_are_refused_or_documented(name):
    X, Y = corpus(name)
    X[0, 5] = -1.5
    score = scores.get(name)
    if "either sign" in score.__doc__:
        assert not np.isnan(score(X, Y).scores).any()
    else:
        with pytest.raises(InputError, match=r"Negative values.* -1\.5, .*pass counts or non-negative weights"):
            score(sparse.csr_matrix(X), Y)
