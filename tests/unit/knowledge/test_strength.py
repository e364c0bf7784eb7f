"""Prior files as priors of count models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes import BayesCountClassifier
from textbayes.core.errors import InputError
from textbayes.knowledge import WordPrior, count_priors, match_priors
from textbayes.models.counts import make_count_model

CLASSES = ["grain", "money", "ships"]
WORDS = ["bank", "port", "wheat"]
X = np.array([[0, 1, 4], [5, 0, 1], [1, 3, 0]])
LENGTHS = np.array([1.0, 2.0, 1.0])
RATES = np.array([6.5, 4.5, 5.5]) / 4.0


def of(*rows, **settings):
    return count_priors(match_priors(rows, WORDS, CLASSES), X, LENGTHS, **settings)


def test_means_are_log_ratios_and_scales_their_standard_deviations():
    found = of(
        WordPrior("wheat", "grain", mean=1.5, scale=0.25),
        WordPrior("bank", "grain", "against"),
        WordPrior("port", "ships", sign=1),
        log_ratio=2.0,
        pseudo_counts=3.0,
    )
    expected = np.tile(RATES, (3, 1))
    expected[0, 2] *= np.exp(1.5)
    expected[0, 0] *= np.exp(-2.0)
    expected[2, 1] *= np.exp(2.0)
    np.testing.assert_allclose(found.rate_means, expected)
    worth = np.full((3, 3), 3.0)
    worth[0, 2] = 16.0
    np.testing.assert_allclose(found.pseudo_counts, worth)


@pytest.mark.parametrize("scale", [0.1, 0.3])
def test_a_gamma_of_that_shape_has_the_standard_deviation(scale):
    draws = stats.gamma(1.0 / scale**2).rvs(200_000, random_state=0)
    assert np.log(draws).std() == pytest.approx(scale, rel=0.03)


def test_means_beyond_any_rate_are_refused():
    of(WordPrior("wheat", "grain", mean=100.0))
    with pytest.raises(InputError, match="e\\^-1000 times as often"):
        of(WordPrior("wheat", "grain", mean=-1000.0), WordPrior("bank", "grain", mean=3.0))


def test_every_label_at_once_and_scales_without_limit():
    found = of(WordPrior("wheat", "*", mean=1.0, scale=np.inf))
    np.testing.assert_allclose(found.rate_means[:, 2], np.e * RATES[2])
    np.testing.assert_allclose(found.pseudo_counts, 1.0)


def test_a_weight_is_how_far_a_class_follows_it():
    row = WordPrior("wheat", "*", mean=2.0, scale=0.5)
    found = of(row, weight=np.array([1.0, 0.5, 0.0]))
    np.testing.assert_allclose(found.rate_means[:, 2], RATES[2] * np.exp([2.0, 1.0, 0.0]))
    np.testing.assert_allclose(found.pseudo_counts[:, 2], [4.0, 2.0, 1.0])


@pytest.mark.parametrize("sparse_", [False, True])
def test_a_model_follows_it_until_documents_know_better(sparse_):
    table = [WordPrior("wheat", "grain", mean=2.0, scale=0.2)]
    counts = sparse.csr_matrix(X) if sparse_ else X
    found = count_priors(match_priors(table, WORDS, CLASSES), counts, LENGTHS)
    model = make_count_model("poisson", **found.settings())
    few = np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]])
    plain = BayesCountClassifier("poisson").fit(few, CLASSES, lengths=LENGTHS)
    told = BayesCountClassifier(model).fit(few, CLASSES, lengths=LENGTHS)
    text = np.array([[0, 0, 3]])
    assert told.predict(text, lengths=[1.0]).tolist() == ["grain"]
    assert told.predict_proba(text, lengths=[1.0])[0, 0] > plain.predict_proba(text, lengths=[1.0])[0, 0] + 0.3
    # 2,000 documents of money that are full of wheat outweigh 25 occurrences made up.
    many = np.vstack([few, np.tile([0, 0, 9], (2000, 1))])
    labels, lengths = CLASSES + ["money"] * 2000, np.concatenate([LENGTHS, np.ones(2000)])
    told = BayesCountClassifier(model, class_prior="uniform").fit(many, labels, lengths=lengths)
    assert told.predict(text * 3, lengths=[1.0]).tolist() == ["money"]


def test_dirichlet_models_take_the_split():
    found = of(WordPrior("wheat", "grain", mean=2.0))
    model = make_count_model("dirichlet_poisson", beta=(5.0, 1.0), rate_means=found.rate_means)
    fitted = BayesCountClassifier(model).fit(np.ones((3, 3), dtype=int), CLASSES, lengths=np.ones(3))
    rates = fitted.estimate_.rates
    assert rates[0, 2] > 2.0 * rates[1, 2]
    assert rates[0, 0] == pytest.approx(rates[1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_priors(match_priors([], WORDS[:2], CLASSES), X), "3 features and the vocabulary 2"),
        (lambda: count_priors(match_priors([], WORDS, CLASSES), 0 * X), "no words to tell"),
        (lambda: of(log_ratio=0.0), "positive numbers"),
        (lambda: of(pseudo_counts=np.inf), "positive numbers"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()
