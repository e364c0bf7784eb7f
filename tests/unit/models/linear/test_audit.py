"""The audit: p-values against direct computation and simulation, and what its rows say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

from textbayes.core.errors import InputError
from textbayes.knowledge import WordPrior, match_priors
from textbayes.models.linear.audit import _likelihood, audit_priors, prior_predictive_p
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.priors import make_prior
from textbayes.priors.by_word import ByWord

ESTIMATE, PRECISION = np.array([0.4, 3.0, -6.0, 40.0]), np.array([4.0, 0.5, 2.0, 1e-3])
SCALE, MEAN = np.array([0.5, 1.0, 2.0, 0.1]), np.array([0.0, -1.0, 0.5, 1.0])


def test_p_value_of_a_gaussian_prior_is_that_of_the_sum_of_two_normals():
    expected = 2.0 * stats.norm.sf(np.abs(ESTIMATE - MEAN) / np.sqrt(SCALE**2 + 1.0 / PRECISION))
    ours = prior_predictive_p(make_prior("gaussian", SCALE, MEAN), ESTIMATE, PRECISION)
    np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("laplace", lambda rng, n: rng.laplace(size=n)),
        ("student_t", lambda rng, n: rng.standard_t(4.0, size=n)),
        ("horseshoe", lambda rng, n: rng.normal(size=n) * np.abs(rng.standard_cauchy(size=n))),
    ],
)
def test_p_value_of_any_proper_prior_by_simulation(name, draw):
    rng, n = np.random.default_rng(0), 400_000
    ours = prior_predictive_p(make_prior(name, SCALE, MEAN), ESTIMATE, PRECISION)
    for j in range(4):
        drawn = MEAN[j] + SCALE[j] * draw(rng, n) + rng.normal(size=n) / np.sqrt(PRECISION[j])
        below = np.mean(drawn <= ESTIMATE[j])
        assert ours[j] == pytest.approx(2.0 * min(below, 1.0 - below), abs=0.005)


def test_p_value_under_a_sign_by_simulation():
    rng = np.random.default_rng(1)
    prior = make_prior("gaussian", np.array([1.0]), np.array([0.5]), np.array([1.0]))
    drawn = rng.normal(0.5, 1.0, 600_000)
    drawn = drawn[drawn > 0.0] + rng.normal(size=(drawn > 0.0).sum()) / np.sqrt(3.0)
    for estimate in (-1.0, 0.3, 2.5):
        below = np.mean(drawn <= estimate)
        ours = prior_predictive_p(prior, np.array([estimate]), np.array([3.0]))[0]
        assert ours == pytest.approx(2.0 * min(below, 1.0 - below), abs=0.005)


def test_nothing_said_is_no_conflict():
    assert prior_predictive_p(make_prior("gaussian", SCALE, MEAN), ESTIMATE, np.zeros(4)).tolist() == [1.0] * 4
    assert (
        prior_predictive_p(make_prior("gaussian", np.full(4, np.inf), MEAN), ESTIMATE, PRECISION).tolist() == [1.0] * 4
    )
    assert prior_predictive_p(make_prior("jeffreys", SCALE, MEAN), ESTIMATE, PRECISION).tolist() == [1.0] * 4
    mixed = ByWord(SCALE, MEAN, ["gaussian", "jeffreys", "gaussian", "jeffreys"])
    gaussian = prior_predictive_p(make_prior("gaussian", SCALE, MEAN), ESTIMATE, PRECISION)
    ours = prior_predictive_p(mixed, ESTIMATE, PRECISION)
    np.testing.assert_allclose(ours[[0, 2]], gaussian[[0, 2]], rtol=1e-12)
    assert ours[[1, 3]].tolist() == [1.0, 1.0]


def test_slope_and_curvature_are_those_of_dense_algebra():
    """The Schur complement of a word in the negative Hessian of all words and the intercept, with their priors."""
    rng = np.random.default_rng(2)
    X = sparse.random(90, 130, density=0.2, random_state=3, format="csc").toarray()
    omega, score, variance = rng.uniform(0.05, 0.25, 90), rng.normal(size=90), rng.uniform(0.0, 4.0, 130)
    variance[::7] = 0.0  # held by a kink: has no part
    columns = np.arange(0, 130, 7) + np.arange(19) % 2
    slope, precision = _likelihood(sparse.csc_matrix(X), columns, score, omega, variance)
    bordered = np.column_stack([X, np.ones(90)])
    information = bordered.T @ (omega[:, None] * bordered)
    for i, j in enumerate(columns):
        others = np.append((variance > 0.0) & (np.arange(130) != j), True)
        penalty = np.append(1.0 / np.where(variance > 0.0, variance, 1.0), 0.0)
        inner = information[np.ix_(others, others)] + np.diag(penalty[others])
        cross = information[others, j]
        assert precision[i] == pytest.approx(information[j, j] - cross @ np.linalg.solve(inner, cross), rel=1e-3)
    efficient = X - omega @ X / omega.sum()
    np.testing.assert_allclose(slope, efficient[:, columns].T @ score, rtol=1e-10)


def test_p_value_is_the_usual_one_where_words_do_not_meet():
    """One word in each document, no intercept: the logit of its share of positives, with the usual standard error."""
    rng = np.random.default_rng(5)
    X = sparse.csr_matrix(np.repeat(np.eye(3), 400, axis=0))
    y = rng.random(1200) < np.repeat([0.3, 0.5, 0.6], 400)
    share = y.reshape(3, 400).mean(axis=1)
    words, told, scale = ["a", "b", "c"], np.array([0.0, 0.2, 1.2]), 0.4
    matched = match_priors([WordPrior(w, "x", told[j], scale) for j, w in enumerate(words)], words, ["x"])
    plain = BayesLinearClassifier(prior="gaussian", fit_intercept=False, tol=1e-8)
    model = plain.with_prior(matched, X).fit(X, y)
    rows = {row.word: row for row in audit_priors(model, X, y, matched, words, ["x"])}
    logit, error = np.log(share / (1 - share)), 1.0 / np.sqrt(400 * share * (1 - share))
    z = np.abs(logit - told) / np.sqrt(scale**2 + error**2)
    np.testing.assert_allclose([stats.norm.isf(rows[word].p_value / 2) for word in words], z, rtol=0.02)


@pytest.mark.parametrize(("family", "draw"), [("gaussian", "normal"), ("laplace", "laplace")])
def test_right_priors_are_seldom_flagged_and_wrong_ones_mostly(family, draw):
    """Weights drawn from their priors, and two of sixty priors then moved by eight scales."""
    rng = np.random.default_rng(3)
    words = [f"w{j}" for j in range(60)]
    right, wrong = [], []
    for seed in range(12):
        X = sparse.random(
            150, 60, density=0.15, random_state=seed, format="csr", data_rvs=lambda n: rng.gamma(2.0, 0.5, n)
        )
        mean, scale = rng.normal(0, 1, 60), rng.uniform(0.3, 1.5, 60)
        eta = X @ (mean + scale * getattr(rng, draw)(size=60))
        y = eta - np.median(eta) + rng.logistic(size=150) > 0.0
        moved = rng.choice(60, 2, replace=False)
        for shift, found in ((0.0, right), (8.0, wrong)):
            told = mean.copy()
            told[moved] += shift * scale[moved] * rng.choice([-1.0, 1.0], 2)
            table = [WordPrior(word, "x", told[j], scale[j]) for j, word in enumerate(words)]
            matched = match_priors(table, words, ["x"])
            model = BayesLinearClassifier(prior=family, tol=1e-3, max_iter=500).with_prior(matched, X).fit(X, y)
            rows = {row.word: row for row in audit_priors(model, X, y, matched, words, ["x"])}
            chosen = words if shift == 0.0 else [words[j] for j in moved]
            found.extend(rows[word].conflict for word in chosen)
    assert np.mean(right) <= 0.05
    assert np.mean(wrong) >= 0.7


def test_what_a_row_says():
    rng = np.random.default_rng(4)
    X = sparse.csr_matrix(rng.poisson(0.5, (200, 4)).astype(float) * [1.0, 1.0, 1.0, 0.0])
    Y = np.column_stack([X.toarray()[:, 0] > 0, rng.random(200) < 0.5])
    table = [
        WordPrior("a", "x", -3.0, 0.5, source="a mistake"),
        WordPrior("b", "x", 0.0, 0.5, source="a list"),
        WordPrior("nothing", "y", 2.0, 0.1),
    ]
    words, labels = ["a", "b", "c", "nothing"], ["x", "y"]
    matched = match_priors(table, words, labels)
    model = BayesLinearClassifier(prior="gaussian").with_prior(matched, X).fit(X, Y.astype(int))
    rows = audit_priors(model, X, Y, matched, {word: j for j, word in enumerate(words)}, labels)
    assert [(row.word, row.label, row.source) for row in rows] == [
        ("a", "x", "a mistake"),
        ("b", "x", "a list"),
        ("nothing", "y", ""),
    ]
    first, second, last = rows
    assert first.conflict
    assert (first.prior_mean, first.prior_scale, first.posterior) == (-3.0, 0.5, model.coef_[0, 0])
    assert first.shift == pytest.approx((model.coef_[0, 0] + 3.0) / 0.5)
    assert first.n_documents == (X.toarray()[:, 0] > 0).sum()
    assert not second.conflict
    assert (last.posterior, last.shift, last.n_documents, last.p_value) == (2.0, 0.0, 0, 1.0)
    assert first.p_value <= second.p_value <= last.p_value
    lenient = audit_priors(model, X, Y, matched, words, labels, level=0.999)
    assert [row.conflict for row in lenient] == [True, second.p_value < 0.999, False]


def test_what_cannot_be_used():
    X, y = np.eye(4), np.array([1, 0, 1, 0])
    matched = match_priors([WordPrior("a", "x", 1.0)], list("abcd"), ["x"])
    model = BayesLinearClassifier().fit(X, y)
    with pytest.raises(InputError, match="differ in shape"):
        audit_priors(model, X, y, matched, list("abc"), ["x"])
    with pytest.raises(InputError, match="level=5"):
        audit_priors(model, X, y, matched, list("abcd"), ["x"], level=5)
    with pytest.raises(InputError, match="differ in length"):
        audit_priors(model, X[:2], y, matched, list("abcd"), ["x"])
