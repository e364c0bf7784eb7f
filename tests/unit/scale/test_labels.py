"""Fits whose labels, folds, members and chains are spread over workers are those of one process."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes import BayesLinearClassifier, BayesLinearClassifierCV, TextCategorizer
from textbayes.core.executor import using
from textbayes.inference.gibbs import Gibbs
from textbayes.scale.executor import JoblibExecutor


@pytest.fixture(scope="module")
def problem():
    """Four hundred documents of 120 words, and 20 labels that three words each speak for."""
    rng = np.random.default_rng(5)
    X = sparse.random(400, 120, 0.08, "csr", random_state=5)
    weights = np.zeros((120, 20))
    for label in range(20):
        weights[rng.choice(120, 3, replace=False), label] = rng.normal(size=3) * 6.0
    return X, (X @ weights + rng.logistic(size=(400, 20)) > 0.5).astype(int)


@pytest.mark.parametrize(
    ("prior", "inference", "link"),
    [("laplace", "coordinate", "logit"), ("gaussian", "newton", "probit"), ("gaussian", "dual", "logit"),
     ("laplace", "clg", "logit"), ("laplace", "em", "probit")],
)  # fmt: skip
def test_weights_are_those_of_one_process(cluster, problem, prior, inference, link):
    one = BayesLinearClassifier(link, prior, inference=inference, scale=2.0).fit(*problem)
    with using(cluster):
        spread = BayesLinearClassifier(link, prior, inference=inference, scale=2.0).fit(*problem)
    np.testing.assert_array_equal(spread.coef_, one.coef_)
    np.testing.assert_array_equal(spread.intercept_, one.intercept_)
    np.testing.assert_array_equal(spread.fit_info_.n_iter, one.fit_info_.n_iter)


class Recorder(JoblibExecutor):
    """This process as an executor that remembers what it was handed, call by call."""

    def __init__(self):
        super().__init__(1)
        self.handed = []

    def map(self, function, items, *shared):
        self.handed.append(list(items))
        return super().map(function, self.handed[-1], *shared)


def test_blocks_with_most_positives_are_handed_out_first(problem):
    X, Y = problem
    Y = Y * (np.arange(400)[:, None] < [20, 400] * 5 + [40, 80] * 5)
    alone, executor = BayesLinearClassifier(scale=2.0).fit(X, Y), Recorder()
    with using(executor):
        found = BayesLinearClassifier(scale=2.0).fit(X, Y)
    [blocks] = executor.handed
    positives = [Y[:, block.start : block.stop].sum() for block in blocks]
    assert positives == sorted(positives, reverse=True)
    assert blocks != sorted(blocks, key=lambda block: block.start)
    np.testing.assert_array_equal(found.coef_, alone.coef_)
    np.testing.assert_array_equal(found.fit_info_.n_iter, alone.fit_info_.n_iter)


def test_a_search_finds_the_same_scales(cluster, problem):
    X, Y = problem[0], problem[1][:, :4]
    alone = BayesLinearClassifierCV(prior="laplace", cv=3).fit(X, Y)
    with using(cluster):
        found = BayesLinearClassifierCV(prior="laplace", cv=3).fit(X, Y)
    np.testing.assert_array_equal(found.scale_, alone.scale_)
    np.testing.assert_array_equal(found.coef_, alone.coef_)


def test_chains_drawn_by_workers_are_those_of_threads(cluster, problem):
    X, Y = problem[0][:120, :30], problem[1][:120, :1]
    sampler = {"chains": 3, "warmup": 20, "target_ess": 50.0, "max_r_hat": 2.0, "random_state": 3}
    alone = BayesLinearClassifier("probit", "laplace", inference=Gibbs(n_jobs=2, **sampler)).fit(X, Y.ravel())
    with using(cluster):
        found = BayesLinearClassifier("probit", "laplace", inference=Gibbs(**sampler)).fit(X, Y.ravel())
    for one, other in zip(found.draws_.labels, alone.draws_.labels, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.intercept, other.intercept)


def test_a_trace_is_kept_in_this_process(cluster, problem):
    from textbayes.inference.coordinate import Coordinate

    X, Y = problem[0], problem[1][:, :3]
    traces = []
    for executor in (None, cluster):
        method = Coordinate()
        method.trace = []
        with using(executor):
            BayesLinearClassifier(inference=method).fit(X, Y)
        traces.append(method.trace)
    assert [step.label for step in traces[1]] == [step.label for step in traces[0]]
    assert {step.label for step in traces[1]} == {0, 1, 2}


def texts_and_labels(n=320):
    """Texts whose words tell most of their labels, one to three each of six."""
    rng = np.random.default_rng(11)
    texts, labels = [], []
    for _ in range(n):
        own = sorted(set(rng.choice(list("abcdef"), rng.integers(1, 4)).tolist()))
        words = [f"{label}word{rng.choice(list('klmn'))}" for label in own for _ in range(3)]
        words += [f"common{letter}" for letter in rng.choice(list("opqrstuvwxyz"), 8)]
        texts.append(" ".join(rng.permutation(words)))
        labels.append(own)
    return texts, labels


@pytest.mark.parametrize("settings", [{"budget": "quick"}, {"preset": "linear"}, {"model": ["linear", "counts"]}])
def test_a_categorizer_is_the_same_whoever_fits_it(cluster, settings):
    texts, labels = texts_and_labels()
    alone = TextCategorizer(**settings, n_jobs=2).fit(texts, labels)
    with using(cluster):
        spread = TextCategorizer(**settings, n_jobs=2).fit(texts, labels)
    np.testing.assert_array_equal(spread.held_out_proba_, alone.held_out_proba_)
    np.testing.assert_array_equal(spread.pool_, alone.pool_)
    assert spread.choice_ == alone.choice_
    np.testing.assert_array_equal(spread.predict_proba(texts[:20]), alone.predict_proba(texts[:20]))
