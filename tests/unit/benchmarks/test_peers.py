"""Helpers of the benchmarks: peers against scikit-learn by hand, thresholds by hand, splits that do not overlap."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

from _peers import NBSVM, Answer, decide, fit, peer_answers, probabilities
from _remember import remembered
from _tasks import Task
from _thresholds import micromacro_thresholds
from _views import Views

WORDS = {"grain": ("wheat", "corn", "harvest", "rain"), "money": ("bank", "rates", "loan", "dollar")}


def drawn_texts(n: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Texts of two subjects with some words of the other, and the indicator of the subjects."""
    rng = np.random.default_rng(seed)
    subject = rng.integers(2, size=n)
    words = [list(WORDS["grain"]), list(WORDS["money"])]
    texts = [" ".join([*rng.choice(words[k], 5), *rng.choice(words[1 - k], 2)]) for k in subject]
    return texts, subject[:, None] == np.arange(2)


def test_views_are_those_of_a_vectorizer_fitted_to_the_training_texts_alone():
    texts, _ = drawn_texts(30)
    texts[25] += " unheard"
    train, test = np.arange(20), np.arange(20, 30)
    X, T = Views(texts).matrices("words", "tfidf", train, test)
    by_hand = TfidfVectorizer(sublinear_tf=True).fit(texts[:20])
    np.testing.assert_allclose(X.toarray(), by_hand.transform(texts[:20]).toarray())
    np.testing.assert_allclose(T.toarray(), by_hand.transform(texts[20:]).toarray())


@pytest.mark.parametrize("estimator", [LogisticRegression(), MultinomialNB(), LinearSVC(random_state=0)])
def test_scores_decide_as_the_estimator_does(estimator):
    texts, Y = drawn_texts(60)
    X, T = Views(texts).matrices("words", "counts", np.arange(40), np.arange(40, 60))
    fitted = type(estimator)(**estimator.get_params()).fit(X, Y[:40].argmax(axis=1))
    scores = fit(estimator, X, Y[:40], exclusive=True)(T)
    np.testing.assert_array_equal(decide(scores, True).argmax(axis=1), fitted.predict(T))
    if hasattr(fitted, "predict_proba"):
        np.testing.assert_allclose(probabilities(scores, True), fitted.predict_proba(T), atol=1e-12)
        apart = fit(MultinomialNB(), X, Y[:40], exclusive=False)(T)
        own = MultinomialNB().fit(X, Y[:40, 1]).predict_proba(T)[:, 1]
        np.testing.assert_allclose(probabilities(apart, False)[:, 1], own, atol=1e-12)


@pytest.mark.parametrize(("estimator", "score"), [(LinearSVC(), -1.0), (LogisticRegression(), np.log(0.5 / 20.5))])
def test_a_label_that_the_rows_lack_has_the_score_of_rows_of_one_side(estimator, score):
    texts, _ = drawn_texts(30)
    X, T = Views(texts).matrices("words", "counts", np.arange(20), np.arange(20, 30))
    scores = fit(estimator, X, np.zeros((20, 1), dtype=bool), exclusive=False)(T)
    np.testing.assert_allclose(scores, np.full((10, 1), score))


def test_a_class_that_the_rows_lack_is_never_likeliest():
    texts, Y = drawn_texts(30)
    X, T = Views(texts).matrices("words", "counts", np.arange(20), np.arange(20, 30))
    wider = np.hstack([np.zeros((20, 1), dtype=bool), Y[:20]])
    for exclusive in (True, False):
        assert not decide(fit(MultinomialNB(), X, wider, exclusive)(T), exclusive)[:, 0].any()


def test_nb_svm_without_its_own_weights_is_the_sign_of_the_log_count_ratio():
    """With two words that tell the label and one that does not, by the ratio of smoothed counts."""
    X = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=float)
    y = np.array([True, True, False, False])
    machine = NBSVM(C=1.0).fit(sparse.csr_matrix(X), y)
    ratio = np.log([3 / 1, 1 / 3, 2 / 2])  # (1 + count) of either side; both sums are 6
    inner = LinearSVC(C=1.0, dual=True, tol=1e-3, random_state=0).fit(X * ratio, y).coef_[0]
    np.testing.assert_allclose(machine.coef_, ratio * (0.25 * inner + 0.75 * np.abs(inner).mean()))
    assert (machine.decision_function(sparse.csr_matrix(X)) > 0.0).tolist() == y.tolist()


def test_threshold_is_the_mean_of_the_best_cuts_of_the_folds():
    """One label: fold 0 is cut between 1 and 2, fold 1 between 5 and 7."""
    scores = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [7.0], [8.0]])
    Y = np.array([[False], [False], [True], [True], [False], [False], [True], [True]])
    fold = np.repeat([0, 1], 4)
    assert micromacro_thresholds(scores, Y, fold)[0] == pytest.approx((1.5 + 6.0) / 2)


def test_fold_without_positives_is_cut_above_its_top_score():
    scores = np.array([[0.0], [4.0], [1.0], [9.0]])
    Y = np.array([[False], [True], [False], [False]])
    assert micromacro_thresholds(scores, Y, np.array([0, 0, 1, 1]))[0] == pytest.approx((2.0 + 9.0) / 2)


def test_thresholds_agree_with_trying_every_cut():
    """The label's share of macro-F1 plus the micro-F1 so far, by brute force, label by label."""
    rng = np.random.default_rng(3)
    Y = rng.random((60, 4)) < [0.5, 0.3, 0.2, 0.1]
    scores, fold = rng.normal(size=Y.shape) + 2.0 * Y, np.arange(60) % 3
    expected, before = np.zeros(4), np.zeros(3)
    for done, label in enumerate(np.argsort(-Y.sum(axis=0), kind="stable"), 1):
        cuts, chosen = [], np.zeros(3)
        for k in range(3):
            s, y = scores[fold == k, label], Y[fold == k, label]
            ends = np.sort(s)
            tried = [ends[0] - 1e-9, *((ends[1:] + ends[:-1]) / 2), ends[-1] + 1e-9]
            tables = [np.array([(y & (s > t)).sum(), (~y & (s > t)).sum(), (y & (s <= t)).sum()]) for t in tried]

            def f1(table):
                return 2 * table[0] / (2 * table[0] + table[1] + table[2]) if table.sum() else 0.0

            gains = [f1(table) / done + f1(table + before) for table in tables]
            best = max(i for i, gain in enumerate(gains) if gain == max(gains))
            cuts.append(tried[best])
            chosen += tables[best]
        expected[label] = np.mean(cuts)
        before += chosen
    np.testing.assert_allclose(micromacro_thresholds(scores, Y, fold), expected, atol=1e-8)


def test_every_peer_learns_what_is_plain():
    texts, Y = drawn_texts(90)
    train, test = np.arange(60), np.arange(60, 90)
    told = peer_answers(Views(texts), Y, train, test, exclusive=True)
    assert set(told) == {"LinearSVC", "logistic L2", "logistic L1", "MultinomialNB", "ComplementNB", "NB-SVM"}
    for peer, answer in told.items():
        assert (answer.decisions == Y[test]).all(axis=1).mean() > 0.9, peer
        assert (answer.proba is None) == (peer in ("LinearSVC", "NB-SVM"))
    apart = peer_answers(Views(texts), Y, train, test, exclusive=False)
    assert set(apart) == {*told, *(f"{peer}, thresholds" for peer in told)}
    for peer, answer in apart.items():
        assert (answer.decisions == Y[test]).mean() > 0.9, peer


def test_peers_never_see_the_labels_of_test_rows():
    texts, Y = drawn_texts(60)
    train, test = np.arange(40), np.arange(40, 60)
    hidden = Y.copy()
    hidden[test] = ~hidden[test]
    first, second = (peer_answers(Views(texts), labels, train, test, exclusive=True) for labels in (Y, hidden))
    for peer, answer in first.items():
        np.testing.assert_array_equal(answer.decisions, second[peer].decisions)


def test_answers_are_remembered_until_what_is_given_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / name)
    asked = []

    def ask() -> dict[str, Answer]:
        asked.append(1)
        return {"one": Answer(np.eye(2, dtype=bool), np.full((2, 2), 0.5)), "two": Answer(np.ones((2, 2), bool), None)}

    for given, n_asked in ((b"a", 1), (b"a", 1), (b"b", 2)):
        told = remembered("test", [given], ask)
        assert len(asked) == n_asked
        np.testing.assert_array_equal(told["one"].decisions, np.eye(2))
        np.testing.assert_array_equal(told["one"].proba, np.full((2, 2), 0.5))
        assert told["two"].proba is None
    remembered("test", [b"a"], ask, fresh=True)
    assert len(asked) == 3


def test_a_shortened_task_keeps_training_and_test_rows_apart():
    task = Task(["x"] * 2_000, ["a", "b"] * 1_000, [(np.arange(1_500), np.arange(1_500, 2_000))] * 3)
    small = task.shortened()
    assert len(small.parts) == 2
    for train, test in small.parts:
        assert train.max() < 1_500 <= test.min()
        assert (len(train), len(test)) == (500, 300)


def test_classes_of_a_task_are_encoded_in_sorted_order():
    Y, names = Task(["x", "y"], ["b", "a"], []).encode()
    assert names == ["a", "b"]
    assert Y.tolist() == [[False, True], [True, False]]
    Y, names = Task(["x", "y"], [("b", "a"), ()], []).encode()
    assert Y.tolist() == [[True, True], [False, False]]
