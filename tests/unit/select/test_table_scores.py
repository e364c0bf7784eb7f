"""Scores of 2×2 tables against scipy, scikit-learn and loops over documents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.feature_selection import chi2 as sklearn_chi2
from sklearn.metrics import mutual_info_score

from textbayes.select import scores
from textbayes.select.score_functions import log_likelihood_ratio
from textbayes.select.tables import PresenceTable

SHAPES = [(12, 6, 2), (80, 30, 5), (300, 15, 3)]


def corpus(n_docs, n_features, n_labels):
    """Counts in which every table has four non-empty margins; the first words are tied to the labels."""
    rng = np.random.default_rng(n_docs)
    Y = rng.random((n_docs, n_labels)) < rng.uniform(0.15, 0.7, n_labels)
    Y[0], Y[1] = True, False
    X = rng.poisson(rng.uniform(0.1, 1.5, n_features), (n_docs, n_features))
    X[:, :2] += 2 * Y[:, :2]
    X[2], X[3] = 0, 1
    return X, Y


def tables(X, Y):
    """(label, word, 2×2 table) counted document by document."""
    for j in range(Y.shape[1]):
        for word in range(X.shape[1]):
            table = np.zeros((2, 2), dtype=int)
            for count, inside in zip(X[:, word], Y[:, j], strict=True):
                table[int(count == 0), int(not inside)] += 1
            yield j, word, table


def check(name, X, Y, reference, p_error=1e-300):
    result = scores.get(name)(sparse.csr_matrix(X), Y)
    for j, word, table in tables(X, Y):
        score, p_value = reference(table)
        assert result.scores[j, word] == pytest.approx(score, rel=1e-9, abs=1e-12)
        if p_value is None:
            assert result.p_values is None
        else:
            assert result.p_values[j, word] == pytest.approx(p_value, rel=1e-9, abs=p_error)


@pytest.mark.parametrize("shape", SHAPES)
def test_chi2_matches_scipy(shape):
    check("chi2", *corpus(*shape), lambda table: stats.chi2_contingency(table, correction=False)[:2])


@pytest.mark.parametrize("shape", SHAPES)
def test_likelihood_ratio_matches_scipy(shape):
    def reference(table):
        return stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[:2]

    check("likelihood_ratio", *corpus(*shape), reference)


def test_likelihood_ratio_matches_the_formula_of_the_online_paper():
    """λ as printed in §2.3, with R relevant and N non-relevant documents that contain (t) the term or do not (o)."""

    def reference(table):
        (rt, nt), (ro, no) = table.tolist()
        n = rt + nt + ro + no

        def log_power(share, count):
            return 0.0 if count == 0 else count * math.log(share)

        top = log_power((rt + ro) / n, rt + ro) + log_power((nt + no) / n, nt + no)
        bottom = log_power(rt / (rt + nt), rt) + log_power(nt / (rt + nt), nt)
        bottom += log_power(ro / (ro + no), ro) + log_power(no / (ro + no), no)
        score = -2 * (top - bottom)
        return score, stats.chi2.sf(score, 1)

    # Near independence this form leaves rounding error in the score, and p changes with its square root.
    check("likelihood_ratio", *corpus(80, 30, 5), reference, p_error=1e-6)


def test_threshold_of_the_online_paper_is_the_level_it_names():
    assert stats.chi2.sf(12.13, 1) == pytest.approx(0.0005, rel=0.02)


@pytest.mark.parametrize("shape", SHAPES)
def test_information_gain_matches_scikit_learn(shape):
    X, Y = corpus(*shape)
    result = scores.get("information_gain")(X, Y)
    for j in range(Y.shape[1]):
        expected = [mutual_info_score(Y[:, j], X[:, word] > 0) / math.log(2) for word in range(X.shape[1])]
        np.testing.assert_allclose(result.scores[j], expected, rtol=1e-9, atol=1e-12)


def test_information_gain_is_the_likelihood_ratio_in_bits_per_document():
    X, Y = corpus(80, 30, 5)
    gain, ratio = scores.get("information_gain")(X, Y), scores.get("likelihood_ratio")(X, Y)
    np.testing.assert_allclose(2 * 80 * math.log(2) * gain.scores, ratio.scores, rtol=1e-12)
    np.testing.assert_array_equal(gain.p_values, ratio.p_values)


def test_information_gain_of_a_perfect_word_is_the_entropy_of_the_label():
    y = np.arange(8) < 2
    gain = scores.get("information_gain")(y[:, None] * 5, y).scores
    assert gain.item() == pytest.approx(-0.25 * math.log2(0.25) - 0.75 * math.log2(0.75))


@pytest.mark.parametrize("shape", SHAPES)
def test_odds_ratio_matches_the_textbook(shape):
    def reference(table):
        (a, b), (c, d) = (table + 0.5).tolist()
        score = math.log((a / c) / (b / d))
        error = math.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
        return score, stats.norm.sf(score / error)

    check("odds_ratio", *corpus(*shape), reference)


def test_odds_ratio_is_signed_by_presence_in_the_category():
    y = np.arange(40) < 10
    X = np.column_stack([y, ~y, np.arange(40) % 2])
    for_it, against, neutral = scores.get("odds_ratio")(X, y).scores[0]
    assert for_it > 3
    assert against == pytest.approx(-for_it)
    assert abs(neutral) < 0.1


@pytest.mark.parametrize("shape", SHAPES)
def test_bns_matches_the_textbook(shape):
    def reference(table):
        (a, b), (c, d) = table.tolist()
        rates = (min(max(rate, 0.0005), 0.9995) for rate in (a / (a + c), b / (b + d)))
        inside, outside = (stats.norm.ppf(rate) for rate in rates)
        return abs(inside - outside), None

    check("bns", *corpus(*shape), reference)


def test_chi2_and_scikit_learn_differ_by_the_documents_without_the_word():
    X, Y = corpus(300, 15, 3)
    presence = (X > 0).astype(float)
    for j in range(3):
        theirs = sklearn_chi2(presence, Y[:, j])[0] * 300 / (300 - presence.sum(axis=0))
        np.testing.assert_allclose(scores.get("chi2")(X, Y[:, j]).scores[0], theirs, rtol=1e-9)


@pytest.mark.parametrize("name", ["bns", "chi2", "information_gain", "likelihood_ratio", "odds_ratio"])
def test_only_presence_counts(name):
    X, Y = corpus(80, 30, 5)
    score = scores.get(name)
    np.testing.assert_array_equal(score(X * 0.3, Y).scores, score(X > 0, Y).scores)


def test_tables_of_a_billion_documents_near_independence():
    """By the series G² = χ² (1 + O(relative excess)): logarithms of O/E would leave noise of 1e-7 and more."""
    n, inside, with_word = 10**9, 10**8, 10**7
    excess = 3
    a = inside * with_word // n + excess
    cells = (a, with_word - a, inside - a, n - inside - with_word + a)
    expected = [inside * with_word / n, (n - inside) * with_word / n, inside * (n - with_word) / n]
    expected.append((n - inside) * (n - with_word) / n)
    chi2 = excess**2 * sum(1 / cell for cell in expected)
    assert log_likelihood_ratio(PresenceTable(*(np.array([float(cell)]) for cell in cells)))[0] == pytest.approx(
        chi2, rel=1e-5
    )


def test_exact_independence_scores_exactly_zero():
    y = np.repeat([1, 0], [30, 60])
    X = np.tile([1, 0, 0], 30)[:, None]
    for name in ("chi2", "likelihood_ratio", "information_gain"):
        result = scores.get(name)(X, y)
        assert result.scores.item() == 0
        assert result.p_values.item() == 1


def test_frequent_words_must_meet_large_categories():
    """Words in more documents than lie outside the category: the shortcut for pairs that never meet must not apply."""
    y = np.arange(20) < 18
    X = np.tril(np.ones((20, 20), dtype=int))
    result = scores.get("chi2")(X, y)
    for word in range(1, 20):
        expected = stats.chi2_contingency(
            [[(X[y, word]).sum(), X[~y, word].sum()], [(1 - X[y, word]).sum(), (1 - X[~y, word]).sum()]],
            correction=False,
        )[0]
        assert result.scores[0, word] == pytest.approx(expected)
    assert result.scores[0, 0] == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_yule_q_is_that_of_scipys_odds_ratio(shape):
    def reference(table):
        odds = stats.contingency.odds_ratio(table, kind="sample").statistic
        return 1.0 if math.isinf(odds) else abs(odds - 1.0) / (odds + 1.0), None

    check("yule_q", *corpus(*shape), reference)
