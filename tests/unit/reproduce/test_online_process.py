"""Passes of the Gaussian process by kernel, and its matrices without jitter, on a made-up collection."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.models.online import PAPER_PROBIT, RBF, GaussianProcess
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.online.beyond import inverse_error, largest_topics, table_7a, table_7b
from textbayes.reproduce.online.systems import TopicCollection


def collection(n_docs=80, n_words=10, n_topics=6) -> TopicCollection:
    """Topics of which the fifth and the first have most documents; half of the documents come twice."""
    rng = np.random.default_rng(0)
    Y = rng.random((n_docs, n_topics)) < np.array([0.5, 0.2, 0.25, 0.1, 0.6, 0.15])
    X = (rng.random((n_docs, n_words)) < 0.2 + 0.5 * (Y @ (rng.random((n_topics, n_words)) < 0.3))) * 1.0
    X, Y = np.vstack([X[:40], X[:40]]), np.vstack([Y[:40], Y[:40]])
    rows, words = sparse.csr_matrix(X), tuple(np.arange(n_words) for _ in range(n_topics))
    return TopicCollection(rows, rows[:30], Y, Y[:30], words, np.arange(n_words))


def test_the_topics_with_most_documents_are_kept():
    found = largest_topics(collection(), 2)
    assert found.Y_train.shape == (80, 2)
    np.testing.assert_array_equal(found.Y_train, collection().Y_train[:, [0, 4]])
    assert len(found.words) == 2


def test_passes_by_kernel():
    table = table_7a(PaperRun(quick=True), collection())
    assert [row.partition(",")[0] for row in table.rows] == ["GP-1", "GP-1", "GP-2", "GP-2", "GP-R1", "GP-R1"]
    assert table.rows[0] == "GP-1, 1 pass"
    for row in table.ours:
        assert 0.0 < row[0] <= 100.0
        assert row[2] < 0.0
    assert table.ours[0] != table.ours[1], "a second pass learns the documents again"


@pytest.mark.equation("online", "A.3")
def test_the_error_of_an_inverse_is_found():
    rng = np.random.default_rng(1)
    X, y = rng.random((12, 3)), rng.choice([-1.0, 1.0], 12)
    process, _ = GaussianProcess.start(range(3), RBF(), 12, tolerance=0.0).learn(X, y, PAPER_PROBIT)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1e-4 * np.eye(12)
    condition, error = inverse_error(process)
    assert condition == pytest.approx(np.linalg.cond(K), rel=1e-6)
    assert error < 1e-8
    process.inverse[3, 2] += 1.0
    assert inverse_error(process)[1] > 0.1


@pytest.mark.equation("online", "A.3")
def test_jitter_makes_the_matrices_well_conditioned():
    table = table_7b(PaperRun(quick=True), collection())
    of_row = dict(zip(table.rows, table.ours, strict=True))
    assert len(of_row) == 3 * 2 * 2
    for kernel in ("GP-1", "GP-2", "GP-R1"):
        with_jitter, without = (of_row[f"{kernel}, ε = 0, {name}"] for name in ("jitter 10⁻⁴", "no jitter"))
        assert with_jitter[0] < 7.5  # of at most 10⁴ times the largest eigenvalue
        assert with_jitter[1] < -6.0
        assert without[0] > with_jitter[0]
