"""Information in a topic's region: that of the model, the same bits in any block, and questions that are not odd."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from textbayes.core.errors import InputError
from textbayes.models.online import FullPosterior, expected_information_gain, region_information_gain
from textbayes.stream import FilterSettings, replay_log
from textbayes.stream.words import WeighedRows


def dense(rows: WeighedRows, n_words: int):
    return sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(rows.n_docs, n_words))


@pytest.mark.parametrize("deferred", [False, True])
def test_it_is_the_gain_about_the_latest_relevant_documents(make, stream, deferred):
    desk = make(gain="region", deferred=deferred, threshold=0.0, ask="never")
    for document in stream[:30]:
        for delivery in desk.see(document, time=0.0).deliveries:
            desk.judge(delivery.id, delivery.topic, delivery.topic in document.labels)
    bags = desk.read([document.text for document in stream[30:40]])
    found, n_words = desk.score(bags).gain, len(desk.lexicon)
    X = dense(desk.lexicon.weigh(bags, 0, 10), n_words)
    for k, topic in enumerate(desk.topics):
        region = dense(desk.lexicon.weigh_kept([desk.kept[i] for i in list(topic.examples)[-50:]]), n_words)
        same = FullPosterior(topic.words, topic.mean, topic.posterior.cov, topic.mean, topic.mean)
        expected = region_information_gain(same, X, region, desk.likelihood)
        np.testing.assert_allclose(found[:, k], expected[:, 0], rtol=1e-8)


def test_bits_do_not_depend_on_what_is_scored_together(make, stream):
    desk = make(gain="region")
    bags = desk.read([document.text for document in stream[:20]])
    together = desk.score(bags)
    for i in range(20):
        alone = desk.score(bags, i, i + 1)
        np.testing.assert_array_equal(alone.gain[0], together.gain[i])
        np.testing.assert_array_equal(alone.probability[0], together.probability[i])


def test_it_follows_what_is_learnt(make, stream):
    desk = make(gain="region", threshold=0.0, ask="never")
    bags = desk.read([stream[50].text])
    before = desk.score(bags).gain[0, 0]
    for document in stream[:10]:
        for delivery in desk.see(document, time=0.0).deliveries:
            desk.judge(delivery.id, delivery.topic, delivery.topic in document.labels)
    assert desk.score(bags).gain[0, 0] != before


def test_odd_documents_teach_less_of_a_region_than_of_the_weights(make):
    """A word of the topic by itself, which its documents share, and the bias alone, which all have."""
    desk = make(gain="region")
    bags = desk.read(["corn wheat harvest rain", "stadium ticket"])
    of_region = desk.score(bags).gain[:, 0]
    desk.use(FilterSettings(text=desk.settings.text, gain="gaussian"))
    of_weights = desk.score(bags).gain[:, 0]
    assert (of_region < of_weights).all()
    assert of_region[0] / of_weights[0] > of_region[1] / of_weights[1]


def test_without_relevant_documents_it_is_the_gain_about_the_weights(make):
    desk = make(gain="region")
    desk.topics = [replace(topic, examples=type(topic.examples)()) for topic in desk.topics]
    bags = desk.read(["corn wheat"])
    mean, var = desk._scorer.predict(desk.block(bags, 0, 1).rows)
    expected = expected_information_gain(mean, var, desk.likelihood)
    np.testing.assert_allclose(desk.score(bags).gain, expected, rtol=1e-12)


def test_it_needs_a_full_covariance():
    for covariance in ("diagonal", "low_rank", "gp"):
        with pytest.raises(InputError, match="needs covariance='full'"):
            FilterSettings(gain="region", covariance=covariance)


def test_a_filter_that_asks_by_region_can_be_replayed(start, filtered, stream):
    """Read seven at a time and scored anew one by one: the same decisions to the last bit."""
    path = start(gain="region", ask="constant:bits=0.0000001")
    delivered = filtered(path, stream[:40], batch=7)
    assert any(one.reason == "asked" for one in delivered)
    assert replay_log(path).difference is None
