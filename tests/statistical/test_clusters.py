"""Soft clusters on data drawn from the model itself, and on real posts: what was planted comes back, no sweep falls."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from textbayes.models.clusters.estimator import SoftClusters

N_CLUSTERS, N_WORDS, N_DOCS = 4, 60, 400


def drawn(seed):
    """θ ~ Dir(0.2), τ ~ Dir(0.3), documents of 50 to 500 words, x ~ Poisson."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(N_CLUSTERS, 0.3), size=N_WORDS)
    rates = (rng.gamma(2.0, 30.0, size=N_WORDS)[:, None] * shares).T
    theta = rng.dirichlet(np.full(N_CLUSTERS, 0.2), size=N_DOCS)
    omega = rng.uniform(0.05, 0.5, size=N_DOCS)
    return sparse.csr_matrix(rng.poisson(omega[:, None] * (theta @ rates))), omega, theta, rates


def paired(found, true):
    """Which found cluster stands for each true one: those whose rates correlate most."""
    similarity = np.corrcoef(np.sqrt(found), np.sqrt(true))[: len(found), len(found) :]
    rows, columns = linear_sum_assignment(-similarity)
    return rows[np.argsort(columns)]


@pytest.mark.parametrize("seed", range(3))
def test_rates_memberships_and_constants_come_back(seed):
    X, omega, theta, rates = drawn(seed)
    model = SoftClusters(N_CLUSTERS, n_init=4, tol=1e-5, max_iter=1000, random_state=0).fit(X, lengths=omega)
    order = paired(model.rates_, rates)
    error = np.abs(model.rates_[order] - rates).sum() / rates.sum()
    assert error < 0.1
    memberships = model.transform(X, lengths=omega)[:, order]
    assert np.abs(memberships - theta).mean() < 0.04
    assert (memberships.argmax(axis=1) == theta.argmax(axis=1)).mean() > 0.93
    np.testing.assert_allclose(model.sums_, rates.sum(axis=0), rtol=0.35)
    np.testing.assert_allclose(model.alpha_, 0.2, atol=0.1)
    strength = model.beta_[0] + model.beta_[1] * model.sums_  # β₁ and β₂ may share it in any way
    assert strength.mean() == pytest.approx(0.3, abs=0.12)


def test_lengths_tell_clusters_apart_that_differ_in_known_words_only():
    """Two clusters with the same proportions of words, one of which has half of its words outside of the vocabulary."""
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    base = np.array([300.0, 200.0, 400.0])
    X = rng.poisson(np.where(truth[:, None] == 1, 0.5, 1.0) * base * 0.5)
    labels = np.where(np.arange(200) < 20, truth, -1)
    model = SoftClusters(2, alpha=0.1, random_state=0)
    assert (
        model.fit(X, labels, lengths=np.full(200, 0.5)).predict(X, lengths=np.full(200, 0.5)) == truth
    ).mean() > 0.98
    assert (model.fit(X, labels).predict(X) == truth).mean() < 0.8  # proportions alone do not tell


@pytest.mark.parametrize("seed", range(3))
def test_short_documents_of_one_cluster_each_do_not_fall_together(seed):
    """A search that learns α too soon makes all clusters alike here; the default must not (``clusters_search``)."""
    rng = np.random.default_rng(seed)
    truth = np.arange(600) % 3
    X = rng.poisson(0.03 * 10.0 * np.exp(0.7 * rng.standard_normal((3, 80)))[truth])
    found = SoftClusters(3, random_state=0).fit(X).predict(X)
    right = sum(np.bincount(truth[found == k]).max() for k in np.unique(found))
    assert right / len(truth) > 0.9


def test_the_right_number_of_clusters_predicts_unseen_halves_best():
    X, _, _, _ = drawn(5)
    train, test = X[:300], X[300:]
    perplexity = {k: SoftClusters(k, n_init=3, random_state=0).fit(train).perplexity(test) for k in (1, 2, 4)}
    assert perplexity[4] < perplexity[2] < perplexity[1]


def test_unlabelled_documents_help():
    """One labelled document of some thirty words for each class, too little to learn its words from."""
    rng = np.random.default_rng(3)
    rates = 10.0 * np.exp(0.7 * rng.standard_normal((3, 80)))
    truth = np.arange(600) % 3
    X = rng.poisson(0.03 * rates[truth])
    labels = np.full(600, -1)
    labels[:3] = truth[:3]
    both = SoftClusters(3, random_state=0).fit(X[:450], labels[:450]).predict(X[450:])
    alone = SoftClusters(3, random_state=0).fit(X[:3], truth[:3]).predict(X[450:])
    assert (both == truth[450:]).mean() > (alone == truth[450:]).mean() + 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_sweep_falls_on_real_posts():
    from textbayes.data import load_corpus
    from textbayes.text import TextVectorizer

    given = os.environ.get("TEXTBAYES_DATA")
    places = [Path(given)] if given else []
    places.append(Path(__file__).resolve().parents[3] / "shared" / "data")
    found = next((place / "20newsgroups" for place in places if (place / "20newsgroups").exists()), None)
    if found is None:
        pytest.skip(f"20newsgroups is in none of {', '.join(map(str, places))}; set TEXTBAYES_DATA")
    texts = load_corpus("20newsgroups", path=found).train.texts[::40]
    X = TextVectorizer(stop_words="english", min_df=3).fit_transform(texts)
    lengths = np.maximum([len(text.split()) for text in texts], np.asarray(X.sum(axis=1)).ravel()) / 1000.0
    for omega in (None, lengths):
        bounds = SoftClusters(15, tol=0.0, max_iter=25, random_state=0).fit(X, lengths=omega).bounds_
        assert np.diff(bounds).min() >= -1e-10 * abs(bounds[-1])
