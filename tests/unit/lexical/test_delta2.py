"""Δ²: closed forms, exact null distributions by enumeration, limits, and what is refused."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.core.errors import InputError, NotSupportedError
from textbayes.lexical.delta2 import delta2_score, delta2_test
from textbayes.lexical.exposures import takes_counts, word_exposures
from textbayes.select import SelectWords, scores, select_per_label

METHODS = ("chi2", "exact", "second_order", "third_order", "monte_carlo")
MODELS = ("poisson", "negative_binomial")


def corpus(seed=0, n_docs=40, n_features=12):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.2, 2.0, n_docs)
    X = rng.poisson(rng.gamma(2.0, 1.0, (n_docs, n_features)) * lengths[:, None])
    X[:, 3] = 0
    return X, rng.random(n_docs) < 0.3, lengths


def enumerated(s, n, share, mass):
    """P(|K − nπ| > |s − nπ|) + ½ P(=) over all K."""
    k = np.arange(n + 1)
    far, here = np.abs(k - n * share), abs(s - n * share)
    tie = np.isclose(far, here, atol=1e-9)
    return mass[(far > here) & ~tie].sum() + 0.5 * mass[tie].sum()


def test_equal_exposures_give_the_papers_statistic():
    X = np.array([[4, 0, 7], [1, 2, 7], [3, 1, 0], [0, 5, 1]])
    inside, outside = X[:2].sum(axis=0), X[2:].sum(axis=0)
    found = delta2_test(X, np.array([1, 1, 0, 0]), lengths=[1, 2, 2, 1]).scores[0]
    np.testing.assert_allclose(found, (inside - outside) ** 2 / (inside + outside))


@pytest.mark.parametrize("ties", ["mid", "full"])
def test_poisson_exact_is_the_binomial(ties):
    X, y, lengths = corpus()
    share = lengths[y].sum() / lengths.sum()
    result = delta2_test(X, y, lengths=lengths, method="exact", ties=ties)
    for j in np.flatnonzero(X.sum(axis=0)):
        n, s = X[:, j].sum(), X[y, j].sum()
        expected = enumerated(s, n, share, stats.binom.pmf(np.arange(n + 1), n, share))
        if ties == "full":
            k = np.arange(n + 1)
            expected = stats.binom.pmf(k, n, share)[np.abs(k - n * share) >= abs(s - n * share) - 1e-9].sum()
        assert result.p_values[0, j] == pytest.approx(expected, rel=1e-10)


def test_full_ties_at_equal_exposure_are_the_binomial_test():
    X = np.array([[8, 3, 0], [1, 3, 2]])
    found = delta2_test(X, np.array([1, 0]), lengths=[1, 1], method="exact", ties="full").p_values[0]
    np.testing.assert_allclose(found, [stats.binomtest(k, n).pvalue for k, n in ((8, 9), (3, 6), (0, 2))], rtol=1e-12)


def test_negative_binomial_exact_is_the_beta_binomial():
    X, y, lengths = corpus(1)
    delta = np.linspace(0.0, 3.0, X.shape[1])
    exposures = word_exposures(X, y, lengths)
    share, tilt = exposures.share[0], exposures.tilt[0]
    result = delta2_test(X, y, lengths=lengths, model="negative_binomial", method="exact", dispersion=delta)
    for j in np.flatnonzero(X.sum(axis=0) * delta):
        n, s = X[:, j].sum(), X[y, j].sum()
        size = n / (delta[j] * tilt)
        mass = stats.betabinom.pmf(np.arange(n + 1), n, share * size, (1 - share) * size)
        assert result.p_values[0, j] == pytest.approx(enumerated(s, n, share, mass), rel=1e-9)


def test_beta_binomial_is_the_conditional_law_of_negative_binomial_documents():
    """All tables of four documents of equal length with a given total, weighted by scipy's negative binomial."""
    n, kappa, delta, omega = 6, 0.8, 0.7, 1.5
    mass = np.zeros(n + 1)
    for x in itertools.product(range(n + 1), repeat=4):
        if sum(x) == n:
            mass[x[0]] += np.prod(stats.nbinom.pmf(x, kappa, 1.0 / (1.0 + omega * delta)))
    mass /= mass.sum()
    # The test takes A = n/(δω̃) for the shapes' sum 4κ: give it the δ for which both are the same.
    X = np.array([[4], [1], [0], [1]])
    y = np.array([1, 0, 0, 0])
    found = delta2_test(
        X, y, lengths=np.full(4, omega), model="negative_binomial", method="exact", dispersion=n / (4 * kappa * omega)
    )
    assert found.p_values[0, 0] == pytest.approx(enumerated(4, n, 0.25, mass), rel=1e-12)


@pytest.mark.parametrize("method", ["chi2", "exact", "second_order", "third_order"])
def test_small_dispersion_passes_smoothly_into_the_poisson(method):
    X, y, lengths = corpus(2)
    plain = delta2_test(X, y, lengths=lengths, method=method)
    for delta in (0.0, 1e-14, 1e-12, 1e-10):
        near = delta2_test(X, y, lengths=lengths, method=method, model="negative_binomial", dispersion=delta)
        np.testing.assert_allclose(near.p_values, plain.p_values, rtol=1e-12 + 1e3 * delta)
        np.testing.assert_allclose(near.scores, plain.scores, rtol=1e-12 + 1e3 * delta)


def test_chi2_p_values():
    X, y, lengths = corpus(3)
    result = delta2_test(X, y, lengths=lengths)
    used = X.sum(axis=0) > 0
    np.testing.assert_allclose(result.p_values[0, used], stats.chi2.sf(result.scores[0, used], 1), rtol=1e-12)


def test_sampling_agrees_with_the_negative_binomial_itself():
    """Two documents a class: Δ² ≥ observed summed over all pairs of class totals, unconditionally."""
    X, y, lengths = np.array([[9], [2], [1], [0]]), np.array([1, 1, 0, 0]), np.array([1.0, 1.0, 1.0, 1.0])
    delta, rate = 0.5, 3.0
    k = np.arange(300)
    mass = stats.nbinom.pmf(k, 2 * rate / delta, 1 / (1 + delta))
    total = k[:, None] + k
    statistic = np.divide((k[:, None] - k) ** 2, total, out=np.zeros((300, 300)), where=total > 0)
    tie = np.isclose(statistic, 100 / 12)
    chance = np.outer(mass, mass)
    expected = chance[(statistic > 100 / 12) & ~tie].sum() + chance[tie].sum() / 2
    found = delta2_test(
        X, y, lengths=lengths, model="negative_binomial", method="monte_carlo", dispersion=delta, n_draws=200_000
    )
    error = np.sqrt(expected * (1 - expected) / 200_000)
    assert found.p_values[0, 0] == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", METHODS)
class TestEveryVariant:
    def test_range_and_shape(self, model, method):
        X, y, lengths = corpus(4)
        result = delta2_test(X, y, lengths=lengths, model=model, method=method, n_draws=50)
        assert result.scores.shape == result.p_values.shape == (1, X.shape[1])
        assert ((result.p_values >= 0) & (result.p_values <= 1)).all()
        assert (result.scores >= 0).all()

    def test_words_and_labels_without_text(self, model, method):
        X, y, lengths = corpus(5)
        labels = np.column_stack((y, np.zeros_like(y), np.ones_like(y)))
        result = delta2_test(X, labels, lengths=lengths, model=model, method=method, n_draws=50)
        assert (result.scores[:, 3] == 0).all()
        assert (result.p_values[:, 3] == 1).all()
        assert (result.scores[1:] == 0).all()
        assert (result.p_values[1:] == 1).all()
        assert not np.isnan(result.p_values).any()

    def test_a_category_of_empty_documents(self, model, method):
        X, y, lengths = corpus(6)
        X, lengths = np.where(y[:, None], 0, X), np.where(y, 0.0, lengths)
        result = delta2_test(X, y, lengths=lengths, model=model, method=method, n_draws=50)
        assert (result.p_values == 1).all()

    def test_the_two_classes_are_treated_alike(self, model, method):
        X, y, lengths = corpus(7)
        n_draws = 4000
        one, other = (
            delta2_test(X, labels, lengths=lengths, model=model, method=method, n_draws=n_draws) for labels in (y, ~y)
        )
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9, atol=1e-12)
        tolerance = {"rtol": 1e-7} if method != "monte_carlo" else {"atol": 5 * np.sqrt(0.5 / n_draws)}
        np.testing.assert_allclose(one.p_values, other.p_values, **tolerance)

    def test_labels_are_tested_one_by_one(self, model, method):
        X, y, lengths = corpus(8)
        labels = np.random.default_rng(0).random((len(y), 3)) < 0.4
        together = delta2_test(X, labels, lengths=lengths, model=model, method=method, n_draws=3000)
        for j in range(3):
            alone = delta2_test(X, labels[:, j], lengths=lengths, model=model, method=method, n_draws=3000)
            np.testing.assert_allclose(together.scores[j], alone.scores[0], rtol=1e-10)
            tolerance = {"rtol": 1e-10} if method != "monte_carlo" else {"atol": 5 * np.sqrt(0.5 / 3000)}
            np.testing.assert_allclose(together.p_values[j], alone.p_values[0], **tolerance)


def test_unit_of_length_does_not_matter():
    X, y, lengths = corpus(9)
    one, other = (
        delta2_test(X, y, lengths=unit * lengths, model="negative_binomial", method="exact") for unit in (1.0, 1000.0)
    )
    np.testing.assert_allclose(one.p_values, other.p_values, rtol=1e-9)


def test_lengths_are_the_row_sums_unless_given():
    X, y, _ = corpus(10)
    given = delta2_test(sparse.csc_matrix(X), y, lengths=X.sum(axis=1))
    np.testing.assert_allclose(delta2_test(X, y).scores, given.scores, rtol=1e-12)


def test_sampling_depends_on_its_seed_alone():
    X, y, lengths = corpus(11)
    options = {"lengths": lengths, "model": "negative_binomial", "method": "monte_carlo", "n_draws": 99}
    one = delta2_test(X, y, random_state=3, **options).p_values
    np.testing.assert_array_equal(one, delta2_test(X, y, random_state=3, **options).p_values)
    assert (one != delta2_test(X, y, random_state=4, **options).p_values).any()
    np.testing.assert_array_equal(one[:, :5], delta2_test(X[:, :5], y, random_state=3, **options).p_values)


def test_as_a_score_in_selection():
    rng = np.random.default_rng(0)
    y = np.repeat(["ham", "spam"], 60)
    X = rng.poisson(np.where((y == "spam")[:, None], [4.0, 1.0, 1.0, 1.0], 1.0), (120, 4))
    for function in ("delta2", "delta2_negative_binomial", delta2_score(method="chi2")):
        chosen = SelectWords(function, fdr=0.01).fit(X, y)
        assert chosen.get_support()[0]
    result = scores.get("delta2")(X, y == "spam", lengths=np.ones(120))
    assert select_per_label(result, fdr=0.001).tolist() == [[True, False, False, False]]


def test_lengths_in_a_selector():
    X, y, lengths = corpus(12)
    chosen = SelectWords("delta2", k=3).fit(X, y, lengths=lengths)
    np.testing.assert_allclose(chosen.scores_, scores.get("delta2")(X, y, lengths=lengths).scores)
    function = pickle.loads(pickle.dumps(delta2_score(method="exact")))
    again = SelectWords(function, k=3).fit(X, y, lengths=lengths)
    np.testing.assert_array_equal(again.scores_, chosen.scores_)
    with pytest.raises(NotSupportedError, match="score_function='chi2' does not use any"):
        SelectWords("chi2", k=3).fit(X, y, lengths=lengths)


def test_which_scores_take_counts():
    assert {name for name in scores.names() if takes_counts(scores.get(name))} == {
        name for name in scores.names() if name.startswith("delta2")
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "binomial"}, "model='binomial' is not known; choose one of 'poisson', 'negative_binomial'"),
        ({"method": "wald"}, "method='wald' is not known"),
        ({"ties": "none"}, "ties='none' is not known"),
        ({"dispersion": 1.0}, "the Poisson model has none"),
        ({"model": "negative_binomial", "dispersion": [1.0, 2.0]}, r"shape \(2,\); pass a number or one for each of 3"),
        ({"model": "negative_binomial", "dispersion": -1.0}, "goes down to -1"),
        ({"model": "negative_binomial", "dispersion": np.nan}, "NaN"),
        ({"method": "monte_carlo", "n_draws": 0}, "n_draws=0 must be at least 1"),
        ({"lengths": [1.0]}, r"shape \(1,\); pass one length for each of the 2 documents"),
        ({"lengths": [1.0, -2.0]}, "lengths go down to -2"),
        ({"lengths": [1.0, np.inf]}, "NaN or infinite"),
        ({"lengths": [1.0, 0.0]}, "document 1 has words but length 0"),
        ({"lengths": "long"}, "pass a number or an array"),
    ],
)
def test_refuses_in_a_sentence(options, message):
    with pytest.raises(InputError, match=message):
        delta2_test(np.ones((2, 3)), np.array([0, 1]), **options)


def test_weights_are_refused():
    with pytest.raises(InputError, match=r"X holds 0\.5, but this score is a test on counts"):
        delta2_test(np.array([[1.0, 0.5], [2.0, 0.0]]), np.array([0, 1]))
