"""One document a call: the same learning as in a block, and the same refusals, by a shorter way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesOnlineClassifier
from textbayes.core.errors import InputError
from textbayes.models.online import PAPER_FLIP, DiagonalPosterior, OnlineLikelihood


def stream(n_classes, n_docs=40, n_words=12, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n_docs, n_words, density=0.4, random_state=rng, format="csr")
    return X, rng.integers(0, n_classes, n_docs)


@pytest.mark.parametrize("names", [("no", "yes"), (3, 7), (False, True), ("arts", "sport", "trade")])
@pytest.mark.parametrize("form", [list, np.asarray, lambda y: np.asarray(y, dtype=object)])
def test_calls_of_one_document_learn_what_a_block_learns(names, form):
    X, codes = stream(len(names))
    y = [names[code] for code in codes]
    single = BayesOnlineClassifier(forgetting_factor=0.99)
    for i in range(len(y)):
        single.partial_fit(X[i], form(y[i : i + 1]), classes=names if i == 0 else None)
    columns = range(1, 2) if len(names) == 2 else range(len(names))
    outcomes = np.where(codes[:, None] == np.array(columns), 1.0, -1.0)
    start = DiagonalPosterior.start(12, len(columns), 4.0, 4.0)
    block, info = start.learn(X, outcomes, OnlineLikelihood("probit"), forgetting_factor=0.99)
    np.testing.assert_allclose(single.posterior_.mean, block.mean, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(single.posterior_.var, block.var, rtol=1e-12)
    np.testing.assert_allclose(single.log_evidence_, info.log_evidence[0], rtol=1e-12)


@pytest.mark.parametrize("form", [int, np.int64, np.int32, np.uint8])
def test_labels_of_numpy_take_the_short_way_too(form, monkeypatch):
    X, y = stream(2)
    model = BayesOnlineClassifier().partial_fit(X[:2], [0, 1], classes=[0, 1])
    before = model.log_evidence_.copy()
    monkeypatch.setattr(model, "_learn_more", lambda *_: pytest.fail("the long way"))
    for i in range(2, 5):
        model.partial_fit(X[i], [form(y[i])])
    assert (model.log_evidence_ < before).all()


def test_a_row_in_any_order_is_read_the_same():
    """Columns unsorted or named twice, of either sparse type: what comes in is not changed."""
    tidy = sparse.csr_matrix([[0.0, 3.0, 1.0, 0.0]])
    untidy = sparse.csr_array((np.array([1.0, 2.0, 1.0]), np.array([2, 1, 1]), np.array([0, 3])), shape=(1, 4))
    models = []
    for row in (tidy, untidy):
        model = BayesOnlineClassifier().partial_fit(np.eye(4), ["a", "b", "a", "b"], classes=["a", "b"])
        models.append(model.partial_fit(row, ["b"]))
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-14)
    np.testing.assert_allclose(models[0].predict_proba(tidy), models[1].predict_proba(untidy), rtol=1e-14)
    np.testing.assert_array_equal(untidy.indices, [2, 1, 1])


def test_settings_changed_between_calls_hold_from_then_on():
    X, y = stream(2)
    model = BayesOnlineClassifier(scale=1.0, intercept_scale=1.0).partial_fit(X[:20], y[:20], classes=[0, 1])
    model.set_params(link=PAPER_FLIP).partial_fit(X[20], y[20:21])
    before, _ = DiagonalPosterior.start(12).learn(X[:20], np.where(y[:20], 1.0, -1.0), OnlineLikelihood("probit"))
    after, _ = before.learn(X[20], [1.0 if y[20] else -1.0], PAPER_FLIP)
    np.testing.assert_allclose(model.posterior_.mean, after.mean, rtol=1e-12)


@pytest.mark.parametrize(
    ("row", "label", "settings", "error", "message"),
    [
        ([[np.nan, 0.0]], ["a"], {}, InputError, "1 NaN or infinite value"),
        ([[np.inf, 1.0]], ["a"], {}, InputError, "1 NaN or infinite value"),
        ([[1.0, 0.0, 0.0]], ["a"], {}, ValueError, "3 features.*expecting 2"),
        ([[1.0, 0.0]], ["c"], {}, InputError, "'c' is not among the classes"),
        ([[1.0, 0.0]], [None], {}, InputError, "missing"),
        ([[1.0, 0.0]], [1], {}, InputError, "1 is not among the classes"),
        ([[1.0, 0.0]], ["a", "b"], {}, InputError, "differ in length: 1 and 2"),
        ([[1.0, 0.0]], ["a"], {"forgetting_factor": 1.5}, InputError, "forgetting_factor=1.5"),
        ([[1.0, 0.0]], ["a"], {"passes": 0}, InputError, "passes=0"),
        ([[1.0, 0.0]], ["a"], {"noise": -1.0}, InputError, "noise=-1.0"),
    ],
)
def test_what_cannot_be_learnt_is_refused_and_changes_nothing(row, label, settings, error, message):
    model = BayesOnlineClassifier().partial_fit(np.eye(2), ["a", "b"], classes=["a", "b"]).set_params(**settings)
    before = model.posterior_.copy()
    with pytest.raises(error, match=message):
        model.partial_fit(sparse.csr_matrix(row), label)
    np.testing.assert_array_equal(model.posterior_.mean, before.mean)
    np.testing.assert_array_equal(model.posterior_.var, before.var)
