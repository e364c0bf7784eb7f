"""SelectWords as a scikit-learn transformer."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.core.protocols import ScoreResult
from textbayes.core.registry import Registry
from textbayes.select import SelectWords, scores, select_per_label


@pytest.fixture
def corpus():
    rng = np.random.default_rng(0)
    topics = np.array(["corn", "gold", "ship"])
    y = topics[rng.integers(0, 3, 120)]
    X = rng.poisson(0.4, (120, 12)) + 2 * (y[:, None] == np.resize(np.append(topics, ""), 12))
    return sparse.csr_matrix(X), y


def test_keeps_the_best_words_and_their_names(corpus):
    X, y = corpus
    select = SelectWords("chi2", k=9).fit(X, y)
    informative = np.arange(12) % 4 != 3
    np.testing.assert_array_equal(select.get_support(), informative)
    assert (select.transform(X) != X[:, informative]).nnz == 0
    names = np.array([f"word{j}" for j in range(12)])
    assert select.get_feature_names_out(names).tolist() == names[informative].tolist()
    assert select.label_names_ == ["corn", "gold", "ship"]


def test_label_support_is_the_rule_per_label(corpus):
    X, y = corpus
    select = SelectWords(threshold=12.13, k=2, combine="union").fit(X, y)
    per_label = select.get_label_support()
    expected = select_per_label(ScoreResult(select.scores_, select.p_values_), threshold=12.13, k=2)
    np.testing.assert_array_equal(per_label, expected)
    assert per_label.sum(axis=1).max() <= 2
    np.testing.assert_array_equal(select.support_, per_label.any(axis=0))


def test_labels_as_lists_or_matrix_are_multi_label(corpus):
    X, y = corpus
    lists = SelectWords(k=4).fit(X, [[label] for label in y])
    matrix = SelectWords(k=4).fit(X, y[:, None] == ["corn", "gold", "ship"])
    vector = SelectWords(k=4).fit(X, y)
    assert lists.label_names_ == ["corn", "gold", "ship"]
    np.testing.assert_array_equal(lists.scores_, vector.scores_)
    np.testing.assert_array_equal(matrix.support_, vector.support_)


def test_a_binary_vector_scores_the_second_class(corpus):
    X, y = corpus
    select = SelectWords("odds_ratio").fit(X, np.where(y == "corn", "corn", "a rest"))
    assert select.label_names_ == ["corn"]
    np.testing.assert_array_equal(select.scores_, scores.get("odds_ratio")(X, y == "corn").scores)


@pytest.mark.parametrize("name", scores.names())
def test_every_score_by_name(name, corpus):
    X, y = corpus
    select = SelectWords(name, k=3).fit(X, y)
    assert select.get_support().sum() == 3
    assert select.transform(X).shape == (120, 3)


def test_a_function_as_score_and_the_same_words_as_scikit_learn(corpus):
    X, y = corpus

    def frequency(X, Y):
        return ScoreResult(np.asarray(Y.T.astype(float) @ X), None)

    chosen = SelectWords(frequency, k=5).fit(X, y == "gold").get_support()
    theirs = SelectKBest(lambda X, y: np.ravel(X[y].sum(axis=0)), k=5).fit(X, y == "gold").get_support()
    assert chosen.sum() == theirs.sum() == 5
    assert frequency(X, (y == "gold")[:, None]).scores[0, chosen].sum() == X[y == "gold"][:, theirs].sum()


def test_false_discoveries_are_rare_on_noise_and_signal_is_found(corpus):
    X, y = corpus
    noise = sparse.csr_matrix(np.random.default_rng(1).poisson(0.5, (120, 500)))
    select = SelectWords("likelihood_ratio", fdr=0.05).fit(sparse.hstack([X, noise], format="csr"), y)
    assert select.support_[:12].sum() == 9
    assert select.support_[12:].sum() <= 2


def test_in_a_pipeline_and_cloned(corpus):
    X, y = corpus
    model = clone(make_pipeline(SelectWords("pearson", k=6), LogisticRegression()))
    assert model.fit(X, y).score(X, y) > 0.8


def test_nothing_chosen_is_said_by_scikit_learn(corpus):
    X, y = corpus
    with pytest.warns(UserWarning, match="No features were selected"):
        assert SelectWords(threshold=1e9).fit(X, y).transform(X).shape == (120, 0)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"score_function": "chi"}, InputError, "unknown score function 'chi'.*did you mean 'chi2'"),
        ({"k": -1}, InputError, "k=-1"),
        ({"combine": "mean"}, InputError, "combine='mean' is not known"),
        ({"score_function": "bns", "fdr": 0.1}, NotSupportedError, "no p-values"),
    ],
)
def test_refuses_settings_in_a_sentence(settings, error, message, corpus):
    with pytest.raises(error, match=message):
        SelectWords(**settings).fit(*corpus)


def test_refuses_labels_that_do_not_fit(corpus):
    X, y = corpus
    with pytest.raises(InputError, match="X and Y differ in length: 120 and 119"):
        SelectWords().fit(X, y[:-1])
    with pytest.raises(InputError, match="only one class"):
        SelectWords().fit(X, ["corn"] * 120)
    with pytest.raises(InputError, match="requires y"):
        SelectWords().fit(X, None)


def test_import_leaves_numba_alone():
    code = "import sys, textbayes.select as s; s.scores.names(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_score_function_from_outside(monkeypatch):
    def n_texts(X, Y):
        return ScoreResult(np.asarray(Y, dtype=float).T @ (np.asarray(X) > 0), None)

    plugin = importlib.metadata.EntryPoint("most_words", "operator:itemgetter", "textbayes.score_functions")
    fresh = Registry("score function", "textbayes.select.score_functions")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [plugin] if group == plugin.group else [])
    fresh.register("n_texts")(n_texts)
    assert fresh.names() == ["most_words", "n_texts"]
    monkeypatch.setattr("textbayes.select.selectors.scores", fresh)
    select = SelectWords("n_texts", k=1).fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    assert select.get_support().tolist() == [False, True]
