"""Count models against scikit-learn's naive Bayes, scipy's distributions and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.models.counts import BayesCountClassifier, make_count_model
from textbayes.models.counts.base import Dispersed, Rates
from textbayes.models.counts.hierarchy import dispersed_scores, of_lengths


def data(n_docs=60, n_words=9, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_docs)
    counts = rng.poisson(rng.gamma(0.5, 2.0, (3, n_words))[y])
    return sparse.csr_matrix(counts.astype(float)), y, rng.uniform(0.05, 2.0, n_docs)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("multinomial", MultinomialNB(alpha=0.7)),
        ("bernoulli", BernoulliNB(alpha=0.7)),
        ("complement", ComplementNB(alpha=0.7)),
    ],
    ids=["multinomial", "bernoulli", "complement"],
)
def test_naive_bayes_is_scikit_learns(name, theirs):
    X, y, _ = data()
    ours = BayesCountClassifier(
        make_count_model(name, pseudo_counts=0.7), class_prior="uniform" if name == "complement" else "counts"
    ).fit(X, y)
    theirs.fit(X, y)
    difference = ours.predict_joint_log_proba(X) - theirs.predict_joint_log_proba(X)
    np.testing.assert_allclose(difference, np.broadcast_to(difference[:, :1], difference.shape), atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)


def test_tfidf_scales_counts_in_learning_and_in_scoring():
    X, y, _ = data()
    idf = np.log((60 + 1.0) / ((X > 0).sum(axis=0).A1 + 1.0))
    scaled = X @ sparse.diags(idf)
    ours = BayesCountClassifier(make_count_model("multinomial", weighting="tfidf")).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), MultinomialNB().fit(scaled, y).predict_proba(scaled), atol=1e-10)


def test_length_correction_lets_documents_count_equally():
    """A document ten times as long, with ten times the counts, changes no share."""
    X, y, omega = data()
    longer = np.where(np.arange(60) % 2, 10.0, 1.0)
    model = make_count_model("multinomial", length_correction=True, pseudo_counts=1e-12)
    Y = np.eye(3)[y]
    plain = model.estimate(model.statistics(X, Y, omega))
    scaled = model.estimate(model.statistics(sparse.diags(longer) @ X, Y, omega * longer))
    np.testing.assert_allclose(np.exp(scaled.log_shares), np.exp(plain.log_shares), atol=1e-6)


def test_length_corrected_presence_recovers_rates():
    rng = np.random.default_rng(1)
    omega, rates = rng.uniform(0.05, 3.0, 4000), np.array([0.02, 0.3, 2.0])
    X = sparse.csr_matrix((rng.random((4000, 3)) < -np.expm1(-omega[:, None] * rates)).astype(float))
    model = make_count_model("bernoulli", length_correction=True, pseudo_counts=1e-9)
    Y = np.column_stack([np.ones(4000), np.zeros(4000)])
    Y[:5] = Y[:5, ::-1]
    found = model.estimate(model.statistics(X, Y, omega)).values[0]
    np.testing.assert_allclose(found, rates, rtol=0.2)
    expected = -np.expm1(-omega[5:, None] * found).mean(axis=0)[0], -np.expm1(-np.outer(omega[5:], found)).mean(axis=0)
    np.testing.assert_allclose(expected[1], X[5:].toarray().mean(axis=0), rtol=1e-6)


@pytest.mark.equation("contagion", "2.1")
def test_poisson_likelihood_is_scipys():
    X, _, omega = data()
    rates = np.random.default_rng(2).gamma(1.0, 2.0, (3, 9))
    found = make_count_model("poisson").log_likelihood(X, omega, Rates(rates))
    expected = stats.poisson.logpmf(X.toarray()[:, None], omega[:, None, None] * rates).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_negative_binomial_likelihood_is_scipys():
    X, _, omega = data()
    rng = np.random.default_rng(2)
    rates, deltas = rng.gamma(1.0, 2.0, (3, 9)), rng.gamma(1.0, 1.0, (3, 9))
    found = make_count_model("negative_binomial").log_likelihood(X, omega, Dispersed(rates, deltas))
    chance = 1.0 / (1.0 + omega[:, None, None] * deltas)
    expected = stats.nbinom.logpmf(X.toarray()[:, None], rates / deltas, chance).sum(axis=2)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-16, 1e-12])
def test_the_negative_binomial_passes_smoothly_into_the_poisson(delta):
    X, _, omega = data()
    rates = np.random.default_rng(2).gamma(1.0, 2.0, (3, 9))
    found = make_count_model("negative_binomial").log_likelihood(X, omega, Dispersed(rates, np.full((3, 9), delta)))
    np.testing.assert_allclose(found, make_count_model("poisson").log_likelihood(X, omega, Rates(rates)), rtol=1e-10)


@pytest.mark.equation("contagion", "2.2 moments")
def test_moments_are_mosteller_and_wallaces():
    X, y, omega = data()
    model = make_count_model("negative_binomial", shared=False)
    found = model.estimate(model.statistics(X, np.eye(3)[y], omega)).deltas
    for c in range(3):
        x, w = X.toarray()[y == c], omega[y == c]
        n, m = len(w), x.sum(axis=0) / w.sum()
        v = (w[:, None] * (x / w[:, None] - m) ** 2).sum(axis=0) / (n - 1)
        r = (w.sum() - (w**2).sum() / w.sum()) / (n - 1)
        with np.errstate(invalid="ignore"):
            expected = np.where(m > 0, np.maximum(0.0, (v - m) / (m * r)), 0.0)
        np.testing.assert_allclose(found[c], expected, rtol=1e-5, atol=1e-6)


def test_scores_by_interpolation_are_those_one_by_one():
    rng = np.random.default_rng(3)
    omega = np.exp(rng.uniform(np.log(1e-3), np.log(50.0), 400))
    estimate = Dispersed(rng.gamma(0.3, 2.0, (3, 50)), rng.gamma(0.5, 2.0, (3, 50)))
    X = sparse.csr_matrix(rng.poisson(0.5, (400, 50)).astype(float))
    together = dispersed_scores(X, omega, estimate)
    alone = np.vstack([dispersed_scores(X[i], omega[i : i + 1], estimate) for i in range(400)])
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-11)


def test_interpolation_is_exact_for_few_lengths():
    seen = []

    def function(lengths):
        seen.append(len(lengths))
        return np.column_stack([lengths, np.log1p(lengths)])

    found = of_lengths(function, np.array([0.5, 2.0, 0.5, 0.5]))
    assert seen == [2]
    np.testing.assert_array_equal(found[:, 1], np.log1p([0.5, 2.0, 0.5, 0.5]))


def test_counts_between_whole_numbers_lie_between():
    estimate = Dispersed(np.array([[1.3], [0.4]]), np.array([[0.7], [2.0]]))
    scores = [dispersed_scores(sparse.csr_matrix([[x]]), np.array([1.5]), estimate) for x in (2.0, 2.25, 3.0)]
    np.testing.assert_allclose(scores[1], 0.75 * scores[0] + 0.25 * scores[2], rtol=1e-12)


def test_rate_means_pull_a_class_where_knowledge_says():
    X, y, omega = data()
    Y = np.eye(3)[y]
    means = np.ones((3, 9))
    means[1, 4] = 50.0
    for name in ("poisson", "negative_binomial", "dirichlet_poisson", "dirichlet_negative_binomial"):
        plain, told = (make_count_model(name, rate_means=rates) for rates in (np.ones((3, 9)), means))
        before, after = (model.estimate(model.statistics(X, Y, omega)).rates for model in (plain, told))
        ratio = after / before
        assert ratio[1, 4] > 1.02, name
        assert ratio[0, 4] <= 1.0 + 1e-6, name
        np.testing.assert_allclose(np.delete(ratio, 4, axis=1), 1.0, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("dirichlet_poisson", {"beta": (1.0,)}, "has 1 value"),
        ("dirichlet_poisson", {"beta": (1.0, 2.0, 3.0)}, "has 3 value"),
        ("dirichlet_poisson", {"beta": (0.0, 1.0)}, "not usable"),
        ("dirichlet_poisson", {"beta": (1.0, np.nan)}, "not usable"),
        ("dirichlet_poisson", {"beta": (1.0, 1.0), "basis": "ratio"}, "edge"),
        ("dirichlet_poisson", {"beta": "best"}, "not known"),
        ("dirichlet_negative_binomial", {"basis": "mean"}, "not known"),
        ("poisson", {"pseudo_counts": 0.0}, "positive"),
        ("poisson", {"rate_means": [-1.0]}, "positive"),
        ("multinomial", {"weighting": "idf"}, "not known"),
        ("negative_binomial", {"method": "bayes"}, "not known"),
        ("poisson", {"alpha": 1.0}, "has no setting 'alpha'"),
        ("poison", {}, "did you mean 'poisson'"),
    ],
)
def test_bad_settings_are_refused(name, settings, message):
    with pytest.raises(InputError, match=message):
        make_count_model(name, **settings)


def test_wrong_shapes_and_no_documents_are_refused():
    X, y, omega = data()
    Y = np.eye(3)[y]
    model = make_count_model("poisson", pseudo_counts=np.ones(4))
    with pytest.raises(InputError, match="has shape \\(4,\\)"):
        model.estimate(model.statistics(X, Y, omega))
    for name in ("poisson", "dirichlet_poisson", "dirichlet_negative_binomial"):
        model = make_count_model(name)
        with pytest.raises(InputError, match="no document"):
            model.estimate(model.empty(2, 3))
    one, other = make_count_model("poisson").empty(2, 3), make_count_model("poisson").empty(2, 4)
    with pytest.raises(InputError, match="cannot be combined"):
        make_count_model("poisson").combine(one, other)
    with pytest.raises(NotSupportedError, match="no likelihood"):
        make_count_model("complement").log_likelihood(X, omega, make_count_model("complement").estimate(
            make_count_model("complement").statistics(X, Y, omega)))  # fmt: skip
