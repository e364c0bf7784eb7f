"""The weight of the knowledge: good advice is followed, bad advice turned down, untested advice goes with the rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.core.folds import stratified_folds
from textbayes.knowledge import WordPrior, match_priors
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.tune import choose_weight

N_DOCS, N_WORDS = 120, 40
LABELS = ["good", "bad", "silent", "none"]
WORDS = [f"w{j}" for j in range(N_WORDS)]
MODEL = BayesLinearClassifier(prior="gaussian", scale=0.5, tol=1e-3)


def _documents(seed):
    """Words 0 to 2 make the first two labels, words 3 to 5 the others; word 39 is in no document."""
    rng = np.random.default_rng(seed)
    X = (rng.random((N_DOCS, N_WORDS)) < 0.1).astype(float)
    X[:, -1] = 0.0
    first, second = (X[:, part].any(axis=1) for part in (slice(0, 3), slice(3, 6)))
    noise = rng.random((N_DOCS, 4)) < 0.05
    return sparse.csr_matrix(X), np.column_stack([first, first, second, second]) ^ noise


TABLE = [
    *(WordPrior(f"w{j}", "good", "for") for j in range(3)),
    *(WordPrior(f"w{j}", "bad", "for") for j in range(10, 13)),
    WordPrior("w39", "silent", "for"),
]


def _choose(table, seed=0, **options):
    X, Y = _documents(seed)
    return choose_weight(MODEL, X, Y, match_priors(table, WORDS, LABELS), **options)


@pytest.mark.parametrize("seed", range(5))
def test_good_advice_is_followed_and_bad_advice_turned_down(seed):
    choice = _choose(TABLE, seed)
    assert choice.weight[0] >= 0.5
    assert choice.weight[1] == 0.0
    assert choice.weight[3] == 0.0  # no advice
    assert choice.change[-1, 0] < 0.0 < choice.change[-1, 1]


def test_untested_advice_is_trusted_as_far_as_the_rest_proved_right():
    good = [row for row in TABLE if row.label != "bad"]
    assert _choose(good).weight[2] == _choose(good).weight[0] > 0.0
    bad = [row for row in TABLE if row.label != "good"]
    assert _choose(bad).weight[2] == 0.0
    alone = _choose([row for row in TABLE if row.label == "silent"])
    assert (alone.weight == 0.0).all()
    assert np.isinf(alone.error[1:, 2]).all()


def test_losses_are_those_of_models_that_did_not_see_the_document():
    X, Y = _documents(3)
    matched = match_priors(TABLE, WORDS, LABELS)
    choice = choose_weight(MODEL, X, Y, matched, grid=[0.5], n_folds=4, random_state=7)
    fold = stratified_folds(Y, 4, 7)
    losses = np.zeros((2, *Y.shape))
    for i, weight in enumerate((0.0, 0.5)):
        for k in range(4):
            model = MODEL.with_prior(matched, X[fold != k], weight).fit(X[fold != k], Y[fold != k].astype(int))
            p = model.predict_proba(X[fold == k])
            losses[i, fold == k] = -np.log(np.where(Y[fold == k], p, 1.0 - p))
    np.testing.assert_allclose(choice.loss, losses.mean(axis=1), rtol=1e-10)
    difference = (losses[1] - losses[0]) / losses[0].mean(axis=0)
    np.testing.assert_allclose(choice.change[1], difference.mean(axis=0), rtol=1e-8, atol=1e-14)
    error = difference.std(axis=0, ddof=1) / np.sqrt(N_DOCS)
    np.testing.assert_allclose(choice.error[1, :2], error[:2], rtol=1e-8)
    assert choice.error[1, 2] == np.inf  # no held-out document tests it


def test_advice_on_words_that_say_nothing_is_seldom_followed():
    """Words of other labels, drawn at random: no reason to follow, and a standard error of caution."""
    rng = np.random.default_rng(0)
    followed = []
    for seed in range(15):
        words = rng.choice(np.arange(6, 39), 3, replace=False)
        followed.append(_choose([WordPrior(f"w{j}", "good", "for") for j in words], seed).weight[0] > 0.0)
    assert np.mean(followed) <= 0.2


def test_caution_and_grid():
    assert (_choose(TABLE, caution=50.0).weight == 0.0).all()
    assert _choose(TABLE, caution=0.0).weight[1] == 0.0  # it makes the loss worse
    assert set(_choose(TABLE, grid=[1.0]).weight) <= {0.0, 1.0}
    assert _choose(TABLE, grid=[0.3, 0.3]).grid.tolist() == [0.0, 0.3]


def test_a_label_with_too_few_documents_is_untested():
    X, Y = _documents(0)
    Y[:, 2] = np.arange(N_DOCS) == 5
    table = [*TABLE[:3], WordPrior("w4", "silent", "for")]
    choice = choose_weight(MODEL, X, Y, match_priors(table, WORDS, LABELS))
    assert np.isfinite(choice.loss).all()
    assert choice.weight[2] in (choice.weight[0], 0.0)


def test_what_cannot_be_used():
    X, Y = _documents(0)
    with pytest.raises(InputError, match="matched to 40 and 2"):
        choose_weight(MODEL, X, Y, match_priors([WordPrior("w1", "good")], WORDS, LABELS[:2]))
    with pytest.raises(InputError, match="differ in length"):
        choose_weight(MODEL, X[:5], Y, match_priors(TABLE, WORDS, LABELS))
    with pytest.raises(InputError, match="between 0 and 1"):
        _choose(TABLE, grid=[2.0])


def test_groups_share_a_fold():
    """The loss without the prior is that of models that have seen no document of the group."""
    X, Y = _documents(0)
    groups = np.arange(N_DOCS) // 10
    fold = stratified_folds(Y, 5, 0, groups)
    expected = np.zeros(Y.shape)
    for k in np.unique(fold):
        fitted = MODEL.fit(X[fold != k], sparse.csr_matrix(Y[fold != k]))
        eta = fitted.linear_predictor(X[fold == k])
        expected[fold == k] = np.logaddexp(0.0, np.where(Y[fold == k], -eta, eta))
    choice = _choose(TABLE, groups=groups)
    np.testing.assert_allclose(choice.loss[0], expected.mean(axis=0), rtol=1e-3)
    assert np.abs(_choose(TABLE).loss[0] / choice.loss[0] - 1.0).max() > 1e-3
