"""Linear models that learn from unlabelled texts: the objective of EM, its posterior, latent directions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy import sparse, special

from textbayes.core.errors import InputError
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.unlabelled import LatentRegression, MixtureWeights, UnlabelledTexts


def drawn(seed: int, n_labelled: int, n_unlabelled: int, n_classes: int = 3, n_words: int = 60):
    """Weights of labelled and unlabelled texts of classes with words of their own, and their classes."""
    rng = np.random.default_rng(seed)
    rates = rng.gamma(0.3, size=(n_classes, n_words)) + 0.02
    rates /= rates.sum(axis=1, keepdims=True)
    y = np.concatenate([np.arange(n_labelled) % n_classes, rng.integers(n_classes, size=n_unlabelled)])
    X = sparse.csr_matrix(np.array([rng.multinomial(12, rates[k]) for k in y], dtype=float))
    indicator = y[:, None] == np.arange(n_classes)
    return X[:n_labelled], indicator[:n_labelled], X[n_labelled:], indicator[n_labelled:]


@pytest.mark.parametrize("share", [0.1, 1.0])
@pytest.mark.parametrize("concentration", [0.5, 3.0])
def test_no_step_of_em_lowers_the_objective(share, concentration):
    X, Y, U, _ = drawn(0, 9, 200)
    given = {"share": share, "concentration": concentration, "max_iter": 40, "tol": 0.0}
    for indicator in (Y, Y[:, :1]):
        found = MixtureWeights(UnlabelledTexts(U), **given).fit(X, indicator, np.linspace(0.5, 2.0, 9)).objectives_
        assert len(found) == 40
        assert (np.diff(found) >= -1e-9 * np.abs(found[0])).all()
        assert found[-1] > found[0] + 1.0


def test_log_odds_are_those_of_the_generative_model():
    X, Y, U, _ = drawn(1, 12, 150)
    model = MixtureWeights(UnlabelledTexts(U), concentration=0.7).fit(X, Y)
    joint = 0.7 * (U @ model.word_shares_.T) + model.class_shares_
    linear = U @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(special.softmax(linear, axis=1), special.softmax(joint, axis=1), atol=1e-12)
    two = MixtureWeights(UnlabelledTexts(U), concentration=0.7).fit(X, Y[:, 2:])
    joint = 0.7 * (U @ two.word_shares_.T) + two.class_shares_
    posterior = special.softmax(joint, axis=1)[:, 1]
    np.testing.assert_allclose(special.expit(U @ two.coef_.T + two.intercept_)[:, 0], posterior, atol=1e-12)


def test_log_odds_that_are_far_too_sure_are_shrunk():
    X, Y, U, _ = drawn(6, 12, 150)
    sure = MixtureWeights(UnlabelledTexts(U)).fit(X, Y[:, :1])
    assert (U @ sure.coef_[0]).std() > 2.0
    model = MixtureWeights(UnlabelledTexts(U), spread=2.0).fit(X, Y[:, :1])
    assert (U @ model.coef_[0]).std() == pytest.approx(2.0)
    ratio = 2.0 / (U @ sure.coef_[0]).std()
    np.testing.assert_allclose(model.coef_, ratio * sure.coef_)
    np.testing.assert_allclose(model.intercept_, ratio * sure.intercept_)
    same = MixtureWeights(UnlabelledTexts(U), spread=1e3).fit(X, Y[:, :1])
    np.testing.assert_array_equal(same.coef_, sure.coef_)


def test_unlabelled_texts_that_count_nothing_leave_naive_bayes():
    X, Y, U, _ = drawn(2, 12, 50)
    model = MixtureWeights(UnlabelledTexts(U), share=0.0, concentration=2.0, pseudo_count=0.5).fit(X, Y)
    total = np.asarray(X.sum(axis=0)).ravel()
    for k in range(3):
        own = 2.0 * np.asarray(X[Y[:, k]].sum(axis=0)).ravel() + 0.5 * 60 * total / total.sum()
        np.testing.assert_allclose(np.exp(model.word_shares_[k]), own / own.sum(), atol=1e-9)
    np.testing.assert_allclose(np.exp(model.class_shares_), (Y.sum(axis=0) + 1.0) / (len(Y) + 3.0))


def test_classes_of_unlabelled_texts_are_found():
    X, Y, U, truth = drawn(3, 6, 600)
    alone = MixtureWeights(UnlabelledTexts(U), share=0.0).fit(X, Y)
    model = MixtureWeights(UnlabelledTexts(U), concentration=1.0).fit(X, Y)
    right = [
        ((U @ one.coef_.T + one.intercept_).argmax(axis=1) == truth.argmax(axis=1)).mean() for one in (alone, model)
    ]
    assert right[1] > right[0] + 0.05
    assert right[1] > 0.9


def test_a_class_without_labelled_texts_gets_no_unlabelled_one():
    X, Y, U, _ = drawn(4, 12, 100)
    rows = ~Y[:, 1]
    found = MixtureWeights(UnlabelledTexts(U)).fit(X[rows], Y[rows])
    assert found.class_shares_[1] == found.class_shares_.min()
    texts = (np.exp(found.class_shares_) * (rows.sum() + 0.3 * 100 + 3.0)) - 1.0
    assert texts[1] == pytest.approx(0.0, abs=1e-9)
    assert np.isfinite(found.coef_).all()


def test_directions_are_singular_vectors_and_weights_a_regression_on_them():
    X, Y, U, _ = drawn(5, 30, 80)
    texts = UnlabelledTexts(U, n_directions=5)
    V = np.linalg.svd(U.toarray())[2][:5].T
    np.testing.assert_allclose(texts.directions @ texts.directions.T, V @ V.T, atol=1e-8)
    model = LatentRegression(texts, scale=3.0).fit(X, Y)
    one = BayesLinearClassifier(prior="gaussian", scale=3.0, inference="dual", tol=1e-2)
    one.fit(sparse.csr_matrix(X @ texts.directions), Y.astype(int))
    np.testing.assert_allclose(
        X @ model.coef_.T + model.intercept_, one.decision_function(X @ texts.directions), atol=1e-9
    )
    np.testing.assert_array_equal(UnlabelledTexts(U, 5).directions, texts.directions)  # in every run


def test_texts_are_shared_by_copies_of_a_model_and_too_few_are_refused():
    texts = UnlabelledTexts(np.eye(4))
    assert copy.deepcopy(MixtureWeights(texts)).unlabelled is texts
    assert LatentRegression(texts).unfitted(scale=2.0).unlabelled is texts
    with pytest.raises(InputError, match="2 unlabelled texts are too few"):
        _ = UnlabelledTexts(np.eye(2)).directions
