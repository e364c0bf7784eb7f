"""What is known of words enters the prior of a filter's topics."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.knowledge import WordPrior, WordPriors
from textbayes.models.online import FullPosterior, OnlineLikelihood
from textbayes.stream import AdaptiveFilter, FilterFolder, FilterSettings, replay_log, simulate
from textbayes.stream.run import run

from .conftest import draw

TABLE = WordPriors(
    [
        WordPrior("barley", "grain", mean=2.0, scale=0.5),
        WordPrior("corn", "grain", mean=1.5, scale=1e-4),
        WordPrior("goal", "money", mean=-1.0, scale=0.7),
    ]
)


def started(prior=TABLE, **settings):
    return AdaptiveFilter.start(draw(0, 60), settings=FilterSettings(**settings), n_jobs=1, prior=prior)


def weight(desk, topic, word):
    own = desk.topics[desk.index[topic]]
    (at,) = np.flatnonzero(np.array(desk.lexicon.names(own.words)) == word)
    return own.mean[1 + at]


@pytest.mark.parametrize("covariance", ["full", "low_rank", "diagonal"])
@pytest.mark.parametrize("deferred", [True, False])
def test_means_and_scales_are_the_prior_of_the_weights(covariance, deferred):
    desk = started(covariance=covariance, deferred=deferred)
    assert weight(desk, "grain", "barlei") == 2.0  # in no document: it stays where it was told
    assert weight(desk, "grain", "corn") == pytest.approx(1.5, abs=1e-3)  # known for sure
    plain = started(None, covariance=covariance, deferred=deferred)
    assert "barlei" not in plain.lexicon.names(np.arange(len(plain.lexicon)))
    own = set(desk.lexicon.names(desk.topics[1].words))
    assert own == {"goal", *plain.lexicon.names(plain.topics[1].words)}


def test_what_is_learnt_is_what_the_posterior_learns_from_that_prior():
    desk = started(deferred=False)
    topic = desk.topics[0]
    names = desk.lexicon.names(topic.words)
    told = {"barlei": (2.0, 0.5), "corn": (1.5, 1e-4)}
    mean = np.array([told.get(name, (0.0, 1.0))[0] for name in names])
    variance = np.array([told.get(name, (0.0, 1.0))[1] ** 2 for name in names])
    rows = desk.lexicon.weigh(desk.read([document.text for document in draw(0, 60)]), 0, 60)
    X = np.zeros((60, len(desk.lexicon)))
    for i in range(60):
        one = rows.one(i)
        X[i, one.indices] = one.data
    y = np.array([1.0 if "grain" in document.labels else -1.0 for document in draw(0, 60)])
    start = FullPosterior.start(topic.words, variance, 1.0, mean)
    expected, _ = start.learn(X, y, OnlineLikelihood(desk.settings.link, desk.settings.noise), passes=3)
    np.testing.assert_allclose(topic.posterior.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(topic.posterior.cov, expected.cov, atol=1e-9)


def test_a_process_is_told_what_it_is_at_documents_of_one_word():
    table = WordPriors([WordPrior("barley", "grain", mean=0.8, scale=0.01)])
    texts = ["barley"]
    mean = {}
    for prior in (table, None):
        desk = started(prior, covariance="gp")
        rows = desk.lexicon.weigh(desk.read(texts), 0, 1)
        desk.score(desk.read(texts))
        mean[prior is None] = desk._scorer.predict(rows)[0][0, desk.index["grain"]]
    assert mean[False] == pytest.approx(0.8, abs=0.05)
    assert mean[True] < 0.5


def test_for_and_against_without_numbers_and_labels_that_are_no_topics():
    table = WordPriors([WordPrior("barley", "grain", mean="for"), WordPrior("ship", "sport", mean=1.0)])
    with pytest.warns(UserWarning, match="names 1 label that the model does not have: sport. Its words are ignored"):
        desk = started(table)
    assert weight(desk, "grain", "barlei") > 1.0


def test_a_prior_file_makes_a_folder_that_replays(tmp_path, stream):
    path = tmp_path / "prior.csv"
    path.write_text(TABLE.to_csv())
    FilterFolder.create(tmp_path / "desk", started(path))
    with FilterFolder.open(tmp_path / "desk") as folder:
        folder.begin("stream")
        assert list(run(folder, [stream], by_labels=True))
    assert replay_log(tmp_path / "desk").difference is None
    assert list(simulate(started(str(path)), stream[:50]))
