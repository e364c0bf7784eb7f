"""SoftClusters: what it promises of order, threads, labels, odd documents, states and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from textbayes.core.errors import InputError, ModelFileError
from textbayes.models.clusters.estimator import SoftClusters


def planted(seed=0, n_docs=60, n_clusters=3, words_each=6, length=80):
    """Documents of one cluster each, whose words are mostly its own."""
    rng = np.random.default_rng(seed)
    proba = np.full((n_clusters, n_clusters * words_each), 0.2)
    for k in range(n_clusters):
        proba[k, k * words_each : (k + 1) * words_each] = 3.0
    truth = np.arange(n_docs) % n_clusters
    X = np.array([rng.multinomial(rng.poisson(length), proba[k] / proba[k].sum()) for k in truth])
    return sparse.csr_matrix(X), truth


def matched(found, truth, n_clusters=3):
    """The share of documents in the right cluster once clusters are named by their majority."""
    table = np.array([[(truth[found == k] == c).sum() for c in range(n_clusters)] for k in range(found.max() + 1)])
    return table.max(axis=1).sum() / len(truth)


def test_planted_clusters_are_found_and_new_documents_join_them():
    X, truth = planted()
    clusters = SoftClusters(3, n_init=3, random_state=0).fit(X)
    assert matched(clusters.predict(X), truth) == 1.0
    new, new_truth = planted(seed=9)
    assert matched(clusters.predict(new), new_truth) == 1.0
    memberships = clusters.transform(new)
    np.testing.assert_allclose(memberships.sum(axis=1), 1.0)
    assert memberships.max(axis=1).mean() > 0.9
    np.testing.assert_allclose(clusters.sizes_, 1 / 3, atol=0.05)
    for words in clusters.top_words(6):
        assert len({column // 6 for column, _ in words}) == 1


def test_of_several_starts_the_one_of_the_highest_bound_is_kept():
    X, _ = planted(1)
    single = [SoftClusters(3, random_state=seed).fit(X).bound_ for seed in range(2)]
    assert all(np.diff(SoftClusters(3, random_state=0).fit(X).bounds_) > 0.0)
    assert SoftClusters(3, n_init=4, random_state=0).fit(X).bound_ >= single[0]


def test_the_order_of_documents_does_not_matter():
    X, _ = planted(2)
    order = np.random.default_rng(0).permutation(X.shape[0])
    one, other = SoftClusters(3, random_state=1).fit(X), SoftClusters(3, random_state=1).fit(X[order])
    np.testing.assert_allclose(other.rates_, one.rates_, rtol=1e-6)
    np.testing.assert_allclose(other.transform(X[order]), one.transform(X)[order], atol=1e-6)


def test_threads_do_not_change_a_bit():
    X, _ = planted(3, n_docs=100)
    one, other = (SoftClusters(4, random_state=0, n_jobs=jobs).fit(X) for jobs in (None, 3))
    assert one.bounds_ == other.bounds_
    np.testing.assert_array_equal(one.rates_, other.rates_)
    np.testing.assert_array_equal(one.transform(X), other.transform(X))


def test_sparse_and_dense_counts_are_the_same():
    X, _ = planted(4)
    np.testing.assert_array_equal(
        SoftClusters(3, random_state=0).fit_transform(X), SoftClusters(3, random_state=0).fit_transform(X.toarray())
    )


def test_lengths_count_words_outside_of_the_vocabulary():
    X, _ = planted(5)
    omega = np.asarray(X.sum(axis=1)).ravel() / 1000.0
    plain, given, longer = (
        SoftClusters(3, random_state=0).fit(X, lengths=lengths) for lengths in (None, omega, 2.0 * omega)
    )
    np.testing.assert_array_equal(plain.rates_, given.rates_)
    np.testing.assert_allclose(plain.rates_.sum(axis=1), 1000.0, rtol=0.05)  # all words are known
    np.testing.assert_allclose(longer.rates_.sum(axis=1), 500.0, rtol=0.05)


def test_empty_documents_have_the_prior_memberships():
    X, _ = planted(6)
    X = sparse.vstack([X, sparse.csr_matrix((2, X.shape[1]))]).tocsr()
    clusters = SoftClusters(3, random_state=0).fit(X)
    np.testing.assert_allclose(clusters.transform(X)[-1], clusters.alpha_ / clusters.alpha_.sum())
    given = SoftClusters(3, random_state=0).fit(X, lengths=np.full(X.shape[0], 0.1))  # texts of unknown words only
    assert np.isfinite(given.bound_)


def test_one_cluster_is_the_rate_of_each_word():
    X, _ = planted(7)
    clusters = SoftClusters(1, random_state=0).fit(X)
    np.testing.assert_allclose(clusters.rates_[0], 1000.0 * np.asarray(X.sum(axis=0)).ravel() / X.sum())
    np.testing.assert_array_equal(clusters.transform(X), 1.0)


def test_more_clusters_than_documents_and_words():
    X = np.array([[4, 0, 1], [0, 5, 1]])
    clusters = SoftClusters(8, random_state=0).fit(X)
    assert clusters.transform(X).shape == (2, 8)
    assert np.isfinite(clusters.rates_).all()


def test_a_word_never_seen_keeps_a_small_rate():
    X, _ = planted(8)
    X = sparse.hstack([X, sparse.csr_matrix((X.shape[0], 1))]).tocsr()
    clusters = SoftClusters(3, random_state=0).fit(X)
    assert all(0.0 < rate < 1.0 for rate in clusters.rates_[:, -1])
    assert np.isfinite(clusters.perplexity(X))


def test_labels_of_a_few_name_the_clusters_of_all():
    X, truth = planted(9, n_docs=90)
    names = np.array(["grain", "money", "sport"])[truth]
    y = np.full(len(truth), None, dtype=object)
    y[:6] = names[:6]
    clusters = SoftClusters(3, random_state=0).fit(X, y)
    assert clusters.classes_.tolist() == ["grain", "money", "sport"]
    assert (clusters.predict(X) == names).mean() == 1.0
    numbers = np.full(len(truth), -1)
    numbers[:6] = truth[:6]
    assert (SoftClusters(3, random_state=0).fit(X, numbers).predict(X) == truth).all()
    free = SoftClusters(5, random_state=0).fit(X, y)
    memberships = free.transform(X)
    assert memberships.shape[1] == 5
    assert free.predict(X).tolist() == free.classes_[memberships[:, :3].argmax(axis=1)].tolist()


def test_all_labelled_is_classification():
    X, truth = planted(10)
    clusters = SoftClusters(3, random_state=0, max_iter=30).fit(X, truth)
    counts = np.array([np.asarray(X[truth == k].sum(axis=0)).ravel() for k in range(3)])
    raw = 1000.0 * counts / counts.sum(axis=1, keepdims=True)
    often = counts >= 50  # where the prior has next to no say: a standard error is 14 % at most
    assert often.any(axis=1).all()
    np.testing.assert_allclose(clusters.rates_[often], raw[often], rtol=0.14)
    assert (clusters.predict(X) == truth).all()
    np.testing.assert_allclose(clusters.sizes_, counts.sum(axis=1) / counts.sum())


def test_no_label_at_all_is_clustering():
    X, _ = planted(11)
    none = SoftClusters(3, random_state=0).fit(X, np.full(X.shape[0], None))
    np.testing.assert_array_equal(none.rates_, SoftClusters(3, random_state=0).fit(X).rates_)
    assert none.predict(X).dtype.kind == "i"


def test_state_goes_through_json_and_arrays():
    X, truth = planted(12)
    y = np.array(["a", "b", "c"], dtype=object)[truth]
    y[10:] = None
    clusters = SoftClusters(4, alpha=0.2, random_state=0).fit(X, y)
    meta, arrays = clusters.to_state()
    back = SoftClusters.from_state(json.loads(json.dumps(meta)), arrays)
    np.testing.assert_array_equal(back.transform(X), clusters.transform(X))
    assert back.predict(X).tolist() == clusters.predict(X).tolist()
    assert back.top_words(3) == clusters.top_words(3)
    assert clone(back).get_params()["alpha"] == 0.2
    with pytest.raises(ModelFileError, match=r"words\.points is float64 of shape \(18, 4\), where float64"):
        SoftClusters.from_state(meta, {**arrays, "words.sums": arrays["words.sums"][:-1]})
    with pytest.raises(ModelFileError, match="has no array"):
        SoftClusters.from_state(meta, {})


def test_top_words_by_rate_and_by_relevance():
    X = sparse.csr_matrix(np.array([[50, 9, 0], [60, 0, 9]] * 10))
    clusters = SoftClusters(2, random_state=0, n_init=3).fit(X)
    for row in clusters.top_words(3, names=["the", "wheat", "goal"], by="rate"):
        assert row[0][0] == "the"
        assert [rate for _, rate in row] == sorted((rate for _, rate in row), reverse=True)
    assert clusters.top_columns(1).shape == (2, 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not usable"),
        ({"n_init": 1.5}, "n_init=1.5 is not usable"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1.0}, "tol=-1.0"),
        ({"alpha": 0.0}, "alpha=0.0 is not usable"),
        ({"alpha": [1.0, 2.0]}, "or 3 of them"),
        ({"alpha": "some"}, "alpha='some' is not known"),
        ({"beta": (1.0,)}, "pass .β₁, β₂."),
        ({"beta": (1.0, -1.0)}, "pass .β₁, β₂."),
    ],
)
def test_settings_that_cannot_be_used(settings, message):
    X, _ = planted()
    with pytest.raises(InputError, match=message):
        SoftClusters(**{"n_clusters": 3, "random_state": 0, **settings}).fit(X)


def test_data_that_cannot_be_used():
    X, truth = planted()
    model = SoftClusters(3, random_state=0)
    with pytest.raises(InputError, match="Negative values"):
        model.fit(-X)
    with pytest.raises(InputError, match="no document has a word"):
        model.fit(np.zeros((3, 2)))
    with pytest.raises(InputError, match="lengths has shape"):
        model.fit(X, lengths=[1.0])
    with pytest.raises(InputError, match="has words but length 0"):
        model.fit(X, lengths=np.zeros(X.shape[0]))
    with pytest.raises(InputError, match="differ in length"):
        model.fit(X, truth[:3])
    with pytest.raises(InputError, match="several labels"):
        model.fit(X, [("a", "b")] * X.shape[0])
    with pytest.raises(InputError, match="mixes names and numbers"):
        model.fit(X, ["a", 1, *[None] * (X.shape[0] - 2)])
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.fit(X)
    with pytest.raises(InputError, match="2 names were given for 18 words"):
        model.top_words(names=["a", "b"])
    with pytest.raises(InputError, match="by='size'"):
        model.top_words(by="size")
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        SoftClusters(3, max_iter=2, random_state=0).fit(X)
