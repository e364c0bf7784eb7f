"""Topics with a Gaussian process: the perceptron with another parametrisation, and as safe as it."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.models.online import GaussianProcess, Polynomial
from textbayes.stream import FilterFolder, FilterSettings, replay_log, simulate
from textbayes.stream import learn as start_module
from textbayes.stream.run import run
from textbayes.stream.state import filter_from_state, filter_state


def test_a_linear_process_with_room_for_all_documents_filters_as_the_perceptron(make, stream, monkeypatch):
    perceptron = make(word_threshold=6.0)
    monkeypatch.setattr(
        start_module,
        "start_posterior",
        lambda settings, words: GaussianProcess.start(words, Polynomial(1), 400, tolerance=0.0, jitter=0.0),
    )
    process = make(word_threshold=6.0, covariance="gp")
    expected, found = (list(simulate(desk, stream)) for desk in (perceptron, process))
    assert [(d.id, d.topic, d.reason) for d in found] == [(d.id, d.topic, d.reason) for d in expected]
    assert len(expected) > 20
    np.testing.assert_allclose([d.probability for d in found], [d.probability for d in expected], atol=1e-6)
    np.testing.assert_allclose(
        [d.information_gain for d in found], [d.information_gain for d in expected], atol=1e-6
    )  # fmt: skip
    for one, other in zip(perceptron.topics, process.topics, strict=True):
        np.testing.assert_array_equal(one.words, other.words)
        np.testing.assert_allclose(other.mean, one.mean, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_scores_do_not_depend_on_what_is_scored_together(make, stream, kernel):
    desk = make(covariance="gp", kernel=kernel, basis=30)
    bags = desk.read([document.text for document in stream])
    together = desk.score(bags)
    for i in range(len(stream)):
        alone = desk.score(bags, i, i + 1)
        assert alone.probability.tobytes() == together.probability[i].tobytes()
        assert alone.gain.tobytes() == together.gain[i].tobytes()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_folder_of_processes_replays_to_the_bit(make, stream, tmp_path, kernel):
    path = tmp_path / "desk"
    FilterFolder.create(path, make(covariance="gp", kernel=kernel, basis=20, word_threshold=6.0))
    for part in (stream[:100], stream[100:]):  # opened again from its snapshot in between
        with FilterFolder.open(path) as folder:
            folder.begin("stream")
            assert list(run(folder, [part], by_labels=True))
    found = replay_log(path)
    assert found.difference is None
    assert (found.documents, found.judgements > 10, found.snapshots) == (200, True, 2)


def test_what_is_restored_goes_on_as_before(make, stream):
    desk = make(covariance="gp", kernel="quadratic", basis=15)
    list(simulate(desk, stream[:80]))
    meta, arrays = filter_state(desk)
    again = filter_from_state(meta, {name: array.copy() for name, array in arrays.items()})
    assert list(simulate(again, stream[80:])) == list(simulate(desk, stream[80:]))
    assert all(topic.posterior.n_basis <= 15 for topic in again.topics)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"covariance": "gp", "variance": 2.0}, "variance=2.0 is given, but a Gaussian process has its variance"),
        ({"covariance": "gp", "kernel": "cubic"}, "kernel='cubic' is not known"),
        ({"covariance": "gp", "basis": 0}, "basis=0 is not usable"),
    ],
)
def test_settings_that_are_refused(settings, cause):
    with pytest.raises(InputError, match=cause):
        FilterSettings(**settings)
