"""The first k words of each label, by the posterior, and a model of these alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.inference.gibbs import Gibbs
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.models.linear.words import RANKINGS, refit_top_words, top_words
from textbayes.posterior import draws as gibbs_draws

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 8)) * (RNG.random((120, 8)) < 0.6)
NOISE = RNG.normal(size=(120, 2))
ETA = X @ np.array([[2.0, 0, 0, -2.0, 0, 0, 1.0, 0], [0, 1.5, 0, 0, 0, -2.0, 0, 0]]).T
Y = (ETA + NOISE > 0.0).astype(int)
SAMPLER = Gibbs(chains=2, warmup=50, max_draws=1000, target_ess=50, max_r_hat=1.5)


@pytest.fixture(scope="module")
def sampled():
    return BayesLinearClassifier("probit", scale=1.0, inference=SAMPLER).fit(X, Y)


def test_the_rankings_are_those_of_draws():
    assert RANKINGS == gibbs_draws.RANKINGS


def test_the_words_with_the_largest_means(sampled):
    kept = top_words(sampled, 2)
    for row, mean in zip(kept, sampled.coef_, strict=True):
        assert set(np.flatnonzero(row)) == set(np.argsort(-np.abs(mean))[:2])
    np.testing.assert_array_equal(top_words(sampled, 100), np.ones((2, 8), dtype=bool))


@pytest.mark.parametrize("by", ["sign", "inclusion"])
def test_by_how_sure_it_is(sampled, by):
    (row, _), flat = top_words(sampled, 3, by, size=0.4), sampled.draws_.labels[0].flat
    value = np.abs((flat > 0).mean(axis=0) - 0.5) if by == "sign" else (np.abs(flat) > 0.4).mean(axis=0)
    assert value[row].min() >= value[~row].max()


def test_the_new_model_has_these_words_alone_and_the_first_stays_as_it_is(sampled):
    before = sampled.coef_.copy()
    again = refit_top_words(sampled, sparse.csr_matrix(X), Y, k=2)
    np.testing.assert_array_equal((again.coef_ != 0.0), top_words(sampled, 2))
    for label, one in enumerate(again.draws_.labels):
        np.testing.assert_array_equal(one.columns, np.flatnonzero(top_words(sampled, 2)[label]))
    np.testing.assert_array_equal(sampled.coef_, before)
    direct = BayesLinearClassifier("probit", scale=1.0, inference=SAMPLER).fit(X, Y, words=top_words(sampled, 2))
    np.testing.assert_array_equal(again.coef_, direct.coef_)


def test_words_that_a_label_may_not_use_are_never_kept():
    words = np.ones((2, 8), dtype=bool)
    words[0, [0, 3]] = False
    model = BayesLinearClassifier("probit", mean=9.0, inference=SAMPLER).fit(
        X, Y, words=words
    )  # a prior mean is no merit
    kept = top_words(model, 4)
    assert not kept[0, [0, 3]].any()
    assert kept.sum(axis=1).tolist() == [4, 4]


def test_the_mode_of_a_model_that_was_not_sampled_will_do():
    model = BayesLinearClassifier(scale=0.1).fit(X, Y)
    kept = top_words(model, 100)
    np.testing.assert_array_equal(kept, model.coef_ != 0.0)
    assert not kept.all()
    with pytest.raises(InputError, match="'sign' ranks words by their draws, and this model has none"):
        top_words(model, 2, by="sign")


@pytest.mark.parametrize(("k", "by"), [(0, "mean"), (2.5, "mean"), (True, "mean"), (None, "mean"), (3, "luck")])
def test_what_cannot_be_used_is_refused(sampled, k, by):
    with pytest.raises(InputError, match=r"whole number from 1 on|'luck'"):
        top_words(sampled, k, by)
