"""Tables from names, descriptions, word lists and earlier models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.knowledge import (
    WordPrior,
    from_descriptions,
    from_names,
    from_posterior,
    from_words,
    match_priors,
    words_of,
)
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.text import TextVectorizer

ANALYZE = words_of(TextVectorizer(stop_words="english", stemmer="porter"))


def test_names_are_cut_into_words():
    table = from_names(["money-fx", "comp.sys.mac", "human_rights", "StockMarket", "Öl"])
    assert [row.word for row in table] == ["money fx", "comp sys mac", "human rights", "Stock Market", "Öl"]
    assert {row.source for row in table} == {"name"}


def test_descriptions_go_through_the_models_own_analysis():
    table = from_descriptions({"acq": "Mergers and acquisitions, mergers", "none": ""}, ANALYZE)
    assert list(table) == [WordPrior(word, "acq", "for", source="description") for word in ("acquisit", "merger")]


def test_a_description_kept_whole_matches_the_same_words():
    texts = {"acq": "Mergers and acquisitions", "ship": "Shipping of goods"}
    vocabulary = ["acquisit", "merger", "ship", "good"]
    whole, cut = (match_priors(from_descriptions(texts, f), vocabulary, list(texts), ANALYZE) for f in (None, ANALYZE))
    for name in ("label", "column", "direction"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(cut, name))


def test_word_lists():
    assert list(from_words("grain", ["wheat", "wheat", "corn"], ["bank"], source="Anna")) == [
        WordPrior("wheat", "grain", "for", source="Anna"),
        WordPrior("corn", "grain", "for", source="Anna"),
        WordPrior("bank", "grain", "against", source="Anna"),
    ]
    numbers = from_words("grain", ["wheat"], ["bank"], mean=2.0, scale=0.5)
    assert [(row.mean, row.scale) for row in numbers] == [(2.0, 0.5), (-2.0, 0.5)]


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda: from_words("grain", "wheat"), "lists of words"),
        (lambda: from_words("grain", ["wheat"], mean=-1.0), "positive number"),
        (lambda: from_words("grain", ["wheat"], ["wheat"]), "given twice"),
        (lambda: from_descriptions({"grain": ["wheat"]}), "is a list; pass a text"),
        (lambda: from_posterior([[1.0]], ["a"], ["x"], discount=0.0), "above 0, at most 1"),
        (lambda: from_posterior([[1.0]], ["a"], ["x"], discount=0.5), "pass standard errors or scale"),
        (lambda: from_posterior([[1.0]], ["a", "b"], ["x"]), r"coef has shape \(1, 1\)"),
        (lambda: from_posterior([[np.nan]], ["a"], ["x"]), "not finite"),
        (lambda: from_posterior([[1.0]], ["a"], ["x"], standard_errors=[[0.0]]), "not above 0"),
    ],
)
def test_what_cannot_be_used(call, cause):
    with pytest.raises(InputError, match=cause):
        call()


def test_an_earlier_model_without_standard_errors():
    coef = np.array([[0.0, 1.5], [-2.0, 0.0]])
    assert list(from_posterior(coef, ["a", "b"], ["x", "y"], scale=2.0, discount=0.25)) == [
        WordPrior("b", "x", 1.5, 4.0, source="model"),
        WordPrior("a", "y", -2.0, 4.0, source="model"),
    ]
    assert from_posterior(coef, ["a", "b"], ["x", "y"])[0].scale is None


@pytest.mark.parametrize("discount", [1.0, 0.3])
def test_an_earlier_posterior_stands_for_the_earlier_documents(discount):
    """Gaussian approximation of earlier documents as the prior of new ones ≈ one fit to all, earlier ones discounted.

    Exact for a quadratic log-likelihood; many earlier documents make theirs nearly so. A document has one word, so that
    weights do not depend on each other, and there is no intercept, since a table holds neither.
    """
    rng = np.random.default_rng(3)
    X = np.eye(3)[rng.integers(0, 3, 4000)]
    y = X @ [1.0, -0.5, 0.2] + rng.logistic(size=4000) > 0.0
    earlier, new = slice(0, 3500), slice(3500, None)
    free = {"scale": np.inf, "fit_intercept": False, "tol": 1e-8}
    first = BayesLinearClassifier(prior="gaussian", **free).fit(X[earlier], y[earlier])
    p = first.predict_proba(X[earlier])[:, 1]
    errors = 1.0 / np.sqrt((p * (1 - p)) @ X[earlier])[None, :]
    table = from_posterior(first.coef_, ["a", "b", "c"], ["True"], standard_errors=errors, discount=discount)
    matched = match_priors(table, ["a", "b", "c"], ["True"])
    second = BayesLinearClassifier(prior="gaussian", **free).with_prior(matched, X[new]).fit(X[new], y[new])
    weight = np.where(np.arange(4000) < 3500, discount, 1.0)
    together = BayesLinearClassifier(prior="gaussian", **free).fit(X, y, sample_weight=weight)
    alone = BayesLinearClassifier(prior="gaussian", **free).fit(X[new], y[new])
    apart = np.abs(alone.coef_ - together.coef_).max()
    np.testing.assert_allclose(second.coef_, together.coef_, atol=0.1 * apart)


def test_words_and_labels_of_another_model_are_matched_by_name():
    rng = np.random.default_rng(4)
    X = sparse.csr_matrix(rng.poisson(1.0, (80, 3)))
    Y = rng.random((80, 2)) < 0.5
    earlier = BayesLinearClassifier(scale=5.0).fit(X, Y)
    table = from_posterior(earlier.coef_, ["a", "b", "c"], ["x", "y"], scale=1e-6)
    # The next model has other labels and words, in another order.
    matched = match_priors(table, ["c", "new", "a"], ["z", "y"])
    later = BayesLinearClassifier(scale=5.0).with_prior(matched, X).fit(X, Y)
    np.testing.assert_allclose(later.coef_[1, [2, 0]], earlier.coef_[1, [0, 2]], atol=1e-8)
    assert matched.unknown_words == ("b",)
    assert matched.unknown_labels == ("x",)
