"""A table as a prior: weight 0 is the model without it, weight 1 what the table says, and both fit as they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.knowledge import Strength, WordPrior, WordPriors, match_priors, table_prior
from textbayes.knowledge.informative_prior import FeatureSizes
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.priors.by_word import ByWord
from textbayes.priors.elastic_net import ElasticNet
from textbayes.priors.gaussian import Gaussian
from textbayes.priors.laplace import Laplace

WORDS, LABELS = ["a", "b", "c", "d"], ["x", "y", "z"]
TABLE = WordPriors(
    [
        WordPrior("a", "x", 2.0, 0.25),
        WordPrior("b", "x", "for"),
        WordPrior("c", "y", -1.0, sign=-1),
        WordPrior("d", "y", scale=4.0, family="gaussian"),
        WordPrior("d", "*", 0.5),
    ]
)


def applied(table, default, X=None, weight=1.0, labels=LABELS, **how):
    """The prior that a table gives words and labels of the model."""
    return table_prior(match_priors(table, WORDS, labels), default, X, weight, **how)


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    X = sparse.random(60, 4, density=0.6, random_state=1, format="csr", data_rvs=lambda n: rng.gamma(2.0, 0.5, n))
    eta = X @ rng.normal(0, 2, (4, 3))
    return X, eta - eta.mean(axis=0) + rng.logistic(size=eta.shape) > 0.0


def test_weight_one_is_the_table_and_blanks_are_the_default(documents):
    prior = applied(TABLE, Laplace(0.7, 0.1), documents[0])
    assert isinstance(prior, ByWord)
    hint = prior.mean[0, 1]
    np.testing.assert_array_equal(prior.mean, [[2.0, hint, 0.1, 0.5], [0.1, 0.1, -1.0, 0.1], [0.1, 0.1, 0.1, 0.5]])
    np.testing.assert_array_equal(
        prior.scale, [[0.25, max(0.7, 0.5 * hint), 0.7, 0.7], [0.7, 0.7, 0.7, 4.0], [0.7, 0.7, 0.7, 0.7]]
    )
    np.testing.assert_array_equal(prior.sign, [[0] * 4, [0, 0, -1, 0], [0] * 4])
    assert prior.for_label(1, 4).families == ("gaussian", "laplace")
    assert prior.for_label(0, 4).families == ("laplace",)
    assert hint > 0.0


@pytest.mark.parametrize("name", ["laplace", "gaussian", "student_t", "elastic_net", "horseshoe"])
def test_weight_zero_is_the_model_without_knowledge(documents, name):
    X, Y = documents
    matched = match_priors(TABLE, WORDS, LABELS)
    plain = BayesLinearClassifier(prior=name, scale=0.7, mean=0.1)
    other = plain.with_prior(matched, X, 0.0)
    assert other.get_params() == plain.get_params()
    default = make_prior(name, 0.7, 0.1)
    assert table_prior(matched, default, X, 0.0) is default
    # A label at weight 0 beside others: exactly its own fit without knowledge, signs and families included.
    mixed = plain.with_prior(matched, X, [0.0, 0.0, 1.0]).fit(X, Y)
    alone = plain.fit(X, Y)
    np.testing.assert_array_equal(mixed.coef_[:2], alone.coef_[:2])
    np.testing.assert_array_equal(mixed.intercept_[:2], alone.intercept_[:2])
    assert (mixed.coef_[2] != alone.coef_[2]).any()


def test_weights_between_mix_means_and_the_logarithms_of_scales():
    table = [WordPrior("a", "x", 2.0, 0.01), WordPrior("b", "x", -4.0, 100.0)]
    prior = applied(table, Gaussian(1.0, 1.0), weight=[0.25, 0.0, 0.0])
    np.testing.assert_allclose(prior.mean[0], [1.25, -0.25, 1.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(prior.scale[0], [0.01**0.25, 100.0**0.25, 1.0, 1.0], rtol=1e-15)
    assert isinstance(prior, Gaussian)


def test_a_free_word_stays_free_between():
    table = [WordPrior("a", "x", 1.0, math.inf), WordPrior("b", "x", 1.0, 0.5)]
    assert applied(table, Gaussian(1.0), weight=0.5).scale[0, 0] == np.inf
    free = applied(table, Gaussian(np.inf), weight=0.5)
    assert free.scale[0, 1] == np.inf
    assert applied(table, Gaussian(np.inf)).scale[0, 1] == 0.5


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_a_tiny_scale_gives_the_weight_that_the_table_names(documents, name):
    X, Y = documents
    rng = np.random.default_rng(2)
    means = rng.normal(0, 3, (3, 4))
    table = [WordPrior(w, k, means[i, j], 1e-6) for i, k in enumerate(LABELS) for j, w in enumerate(WORDS)]
    model = BayesLinearClassifier(prior=name).with_prior(match_priors(table, WORDS, LABELS), X).fit(X, Y)
    np.testing.assert_allclose(model.coef_, means, atol=1e-8)


def test_a_sign_is_kept_and_the_inference_is_one_that_can(documents):
    X, Y = documents
    plain = BayesLinearClassifier(prior="gaussian", inference="newton", scale=3.0).fit(X, Y)
    against = [WordPrior(w, "x", sign=-int(np.sign(plain.coef_[0, j]))) for j, w in enumerate(WORDS)]
    model = plain.with_prior(match_priors(against, WORDS, LABELS), X)
    assert model.inference == "coordinate"
    model.fit(X, Y)
    assert (model.coef_[0] * np.sign(plain.coef_[0]) <= 0.0).all()
    np.testing.assert_allclose(model.coef_[1:], plain.coef_[1:], atol=1e-3)
    # Means alone need no other inference.
    assert plain.with_prior(match_priors([WordPrior("a", "x", 1.0)], WORDS, LABELS), X).inference == "newton"


def test_a_mean_of_the_default_that_a_sign_forbids_gives_way():
    prior = applied([WordPrior("a", "x", sign=-1)], Laplace(1.0, 0.5))
    assert prior.mean[0, 0] == 0.0
    assert prior.mean[1, 0] == 0.5


def test_a_sign_of_zero_frees_a_word_that_the_default_binds():
    table = [WordPrior("a", "x", sign=0), WordPrior("b", "x", -1.0, sign=-1), WordPrior("c", "x", 2.0)]
    prior = applied(table, Laplace(sign=1))
    np.testing.assert_array_equal(prior.sign[:2], [[0, -1, 1, 1], [1, 1, 1, 1]])


def test_the_default_keeps_its_further_hyperparameters():
    net = ElasticNet(0.5, l1_ratio=0.8)
    same = applied([WordPrior("a", "x", 1.0)], net)
    assert isinstance(same, ElasticNet)
    assert same.l1_ratio[1, 2] == 0.8
    mixed = applied([WordPrior("a", "x", 1.0, family="laplace")], net)
    w = np.array([0.3, 0.3, 0.3, 0.3])
    np.testing.assert_array_equal(mixed.for_label(1, 4).neg_log(w), net.neg_log(w))
    assert mixed.for_label(0, 4).neg_log(w)[0] == Laplace(0.5, 1.0).neg_log(w)[0]
    everything = [WordPrior(word, "x", family="laplace") for word in WORDS]
    np.testing.assert_array_equal(
        applied(everything, net, labels=["x"]).for_label(0, 4).neg_log(w), Laplace(0.5).neg_log(w)
    )


def test_scales_and_means_of_the_default_may_differ_by_word_and_label():
    default = Gaussian(np.array([[1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 2.0, 3.0]))
    prior = applied([WordPrior("b", "y", 9.0)], default)
    np.testing.assert_array_equal(prior.scale, np.repeat([[1.0], [2.0], [3.0]], 4, axis=1))
    np.testing.assert_array_equal(prior.mean[1], [0.0, 9.0, 2.0, 3.0])
    with pytest.raises(InputError, match="the default prior's scale has shape"):
        applied([WordPrior("b", "y", 9.0)], Gaussian(np.ones(3)))


@pytest.mark.parametrize(
    ("weight", "cause"),
    [(-0.1, "between 0"), (1.1, "between 0"), (np.nan, "between 0"), ([1.0, 0.0], "each of 3 labels")],
)
def test_weights_that_cannot_be_used(weight, cause):
    with pytest.raises(InputError, match=cause):
        applied([WordPrior("a", "x", 1.0)], Laplace(), weight=weight)


# -- for and against --------------------------------------------------------------------------------------------------
def _mean(direction, X, **strength):
    table = [WordPrior("a", "x", direction)]
    return applied(table, Laplace(), X, strength=Strength(**strength)).mean[0, 0]


@pytest.mark.parametrize("unit", [0.01, 1.0, 50.0])
def test_for_adds_the_log_odds_that_it_says_whatever_the_units(unit):
    """Twelve documents, one in four with word a, every value the same: an occurrence adds exactly ``log_odds``."""
    X = unit * np.tile(np.eye(4), (3, 1))
    assert _mean("for", X, common=0.5) * unit == pytest.approx(3.0)
    assert _mean("against", X, common=0.5, log_odds=2.0) * unit == pytest.approx(-2.0)


def test_common_words_count_less_and_words_of_no_document_in_full():
    X = np.zeros((100, 4))
    X[:, 1] = 1.0
    assert _mean("for", X) == 3.0
    X[:50, 0] = 1.0
    assert _mean("for", X) == pytest.approx(3.0 * np.log(101 / 51) / np.log(4))
    X[:, 0] = 1.0
    assert _mean("for", X) == 0.0


def test_a_word_that_every_description_has_says_nothing():
    X = np.eye(40, 4)
    table = [WordPrior(word, label) for label, words in (("x", "ab"), ("y", "ac"), ("z", "adb")) for word in words]
    means = applied(table, Laplace(), X).mean
    np.testing.assert_array_equal(means[:, 0], 0.0)
    assert means[1, 2] == means[2, 3] == 3.0  # own words
    np.testing.assert_allclose(means[[0, 2], 1], 3.0 * (1 - np.log(2) / np.log(3)))
    # A row for all labels is meant so.
    assert applied([WordPrior("a", "*")], Laplace(), X).mean[1, 0] == 3.0


def test_a_probit_needs_smaller_weights_for_the_same_log_odds():
    table, X = [WordPrior("a", "x")], np.eye(40, 4)
    logit, probit = (applied(table, Laplace(), X, link=link).mean[0, 0] for link in ("logit", "probit"))
    assert logit / probit == pytest.approx(4.0 / np.sqrt(2.0 * np.pi), rel=1e-5)


def test_for_and_against_need_documents():
    with pytest.raises(InputError, match="pass the documents X"):
        applied([WordPrior("a", "x")], Laplace())
    with pytest.raises(InputError, match="X has 3 columns; the vocabulary has 4"):
        applied([WordPrior("a", "x")], Laplace(), np.eye(3))
    with pytest.raises(InputError, match="common between 0 and 1"):
        _mean("for", np.eye(4), common=1.0)


def test_sizes_that_were_measured_once_give_the_same_means():
    random = np.random.default_rng(0)
    values = random.normal(size=(50, 12)) * (random.random((50, 12)) < 0.4)
    values[:, 3] = 1.0  # in every text
    X = sparse.csr_matrix(values)
    X.data[::7] = 0.0  # stored, but not there
    words = [f"w{j}" for j in range(12)]
    rows = [("w0", "a", "for"), ("w3", "a", "for"), ("w5", "b", "against"), ("w7", "*", "for"), ("w9", "b", 0.25)]
    table = WordPriors([WordPrior(*row) for row in rows])
    matched, strength = match_priors(table, words, ["a", "b"]), Strength()
    sizes = FeatureSizes.of(X)
    dense = X.toarray()
    np.testing.assert_array_equal(sizes.present, (dense != 0.0).sum(axis=0))
    assert sizes.typical == pytest.approx(np.abs(dense[dense != 0.0]).mean())
    np.testing.assert_array_equal(strength.means(matched, sizes), strength.means(matched, dense))
    with pytest.raises(InputError, match="X has 11 columns"):
        strength.means(matched, FeatureSizes.of(X[:, :11]))
