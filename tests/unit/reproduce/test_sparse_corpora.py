from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from textbayes.data import Corpus
from textbayes.reproduce.experiment import TextRules
from textbayes.reproduce.sparse import systems
from textbayes.reproduce.sparse.systems import TOPICS, counts_of_weights, reuters


def zipf_counts(n_docs: int, n_words: int, seed: int) -> sparse.csr_matrix:
    """Documents of words with Zipf's frequencies, drawn in bursts, so that a word of a document often comes again."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(5, n_words + 5)
    share /= share.sum()
    mean = rng.uniform(60, 200, size=(n_docs, 1)) * share * rng.gamma(0.3, 1.0 / 0.3, size=(n_docs, n_words))
    return sparse.csr_matrix(rng.poisson(mean).astype(np.float64))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counts_come_back_from_cosine_normalised_weights(seed):
    counts = zipf_counts(600, 1500, seed)
    n_with_word = np.diff(counts.tocsc().indptr)
    idf = np.log(40_000 / np.maximum(n_with_word * 40, 1))  # of a larger collection: not what our copy would give
    weights = counts.copy()
    weights.data = (1.0 + np.log(counts.data)) * idf[counts.indices]
    weights = sparse.csr_matrix(weights.multiply(1.0 / np.sqrt(weights.multiply(weights).sum(axis=1))))
    weights.sort_indices()
    found = counts_of_weights(weights)
    assert (found != 0).nnz == counts.nnz
    common = (n_with_word >= 5)[counts.indices]
    np.testing.assert_array_equal(found.data[common], counts.data[common])
    # Rare words, whose idf is known from their document frequency alone, are not far off.
    assert np.abs(np.log(found.data / counts.data)).mean() < 0.1


def test_weights_are_left_as_they_were():
    weights = sparse.csr_matrix(np.array([[0.6, 0.8, 0.0], [0.0, 0.6, 0.8], [0.8, 0.0, 0.6]]))
    before = weights.toarray()
    counts_of_weights(weights)
    np.testing.assert_array_equal(weights.toarray(), before)


@pytest.fixture
def stories(monkeypatch):
    texts = [
        "Corn UP\nThe corn, 20 bushels of corn; and corn's price.",
        "Only a headline here",
        "Oil\nOil is up and up",
    ]
    labels = [("corn", "grain"), ("earn",), ("crude", "nat-gas")]
    part = Corpus("reuters21578", ["1", "2", "3"], labels, texts)
    monkeypatch.setattr(systems, "_stories", lambda: (part, part))
    return part


@pytest.mark.usefixtures("stories")
def test_words_of_a_story_and_its_topics():
    collection = reuters()
    assert collection.topics == TOPICS
    # The SMART list has the, of, and, up, only, here and is; "a" and the s of "corn's" are single letters.
    words = {"20": 1, "bushels": 1, "corn": 4, "headline": 1, "oil": 2, "price": 1}
    assert np.asarray(collection.train.sum(axis=0)).ravel().tolist() == list(words.values())
    rows = [[TOPICS[j] for j in np.flatnonzero(row)] for row in collection.Y_train]
    assert rows == [["grain", "corn"], ["earn"], ["crude"]], "topics beyond the ten are left out"


@pytest.mark.usefixtures("stories")
def test_a_story_without_its_headline():
    collection = reuters(TextRules(headline=False))
    assert np.asarray(collection.train.sum(axis=0)).ravel().max() == 3, "corn, in the body alone"
    assert collection.train[1].sum() == reuters().train[1].sum(), "a headline that is all there is stays"


@pytest.mark.usefixtures("stories")
def test_other_rules_for_words():
    assert reuters(TextRules(pattern="[a-zA-Z]{2,}")).train.shape[1] == reuters().train.shape[1] - 1, "20 is no word"
    stemmed = reuters(TextRules(stemmer="porter"))
    assert stemmed.train.sum() == reuters().train.sum()
