"""The online paper's region of interest (Table 4d): Reuters in order of time, and what the two ways of asking find."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.data import Corpus
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.online import beyond
from textbayes.reproduce.online.beyond import NEVER, PLAIN, USUAL, Asking, RegionSimulation, reuters, table_4d

LABELLED = 60


@pytest.fixture(scope="module")
def stories() -> Corpus:
    """Not in order of time: "grain" is in both parts, "early" in the first alone, "late" in the second."""
    rng = np.random.default_rng(0)
    other = ["goal", "match", "team", "player", "coach", "league", "season", "ticket", "report", "today", "year"]
    texts, labels, dates = [], [], []
    for day in range(24):
        for _ in range(10):
            own = rng.random() < 0.15
            words = rng.choice(["corn", "wheat", "harvest", "rain", "farm"], 3) if own else []
            texts.append(" ".join([*words, *rng.choice(other, 8)]))
            labels.append(["grain"] * own + ["early" if day < 6 else "late"])
            dates.append(f"1987-03-{day + 1:02d}")
    shuffled = rng.permutation(len(texts)).tolist()
    return Corpus(
        "stories",
        [str(i) for i in shuffled],
        [tuple(labels[i]) for i in shuffled],
        [texts[i] for i in shuffled],
        dates=[dates[i] for i in shuffled],
    )


def test_the_batch_phase_is_the_first_days_and_topics_are_in_both_parts(stories):
    found = reuters(stories, LABELLED)
    dates = dict(zip(stories.ids, stories.dates, strict=True))
    told = [dates[i] for i in found.ids]
    assert told == sorted(told)
    (task,) = found.tasks
    assert task.topic == "grain"
    assert (len(task.train), len(task.test)) == (LABELLED, len(stories) - LABELLED)
    labels = dict(zip(stories.texts, stories.labels, strict=True))
    relevant = ["grain" in labels[text] for text in found.texts]
    assert task.train_relevant.tolist() == relevant[:LABELLED]
    assert task.test_relevant.tolist() == relevant[LABELLED:]


def test_the_higher_the_bar_the_fewer_questions(stories):
    simulation = RegionSimulation(reuters(stories, LABELLED))
    ways = {gain: [Asking(gain, factor) for factor in (1e3, 0.1, -1.0)] for gain in ("paper", "region")}
    found = simulation.outcomes([PLAIN, *ways["paper"], *ways["region"]])
    asked = {way: int(topic.queried.sum()) for way, (topic,) in found.items()}
    for high, low, no_bar in ways.values():
        assert asked[PLAIN] == asked[high] == 0
        assert asked[high] <= asked[low] < asked[no_bar]
    # Without a bar every story is delivered: as relevant, or by a question.
    assert found[ways["region"][-1]][0].relevant.tolist() == simulation.units[0].test_relevant.tolist()


def test_the_table_compares_at_about_as_many_questions(stories, monkeypatch):
    monkeypatch.setattr(beyond, "reuters", lambda: reuters(stories, LABELLED))
    run = PaperRun(quick=True)
    table = table_4d(run)
    assert table.name == "Table 4d"
    assert table.rows == (NEVER, "weights, θ × 1", "region of interest, θ × 0.5")
    assert not table.compared
    simulation = run.load("Reuters in order of time", lambda: pytest.fail("read twice"))
    for way, row in zip((PLAIN, USUAL, Asking("region", 0.5)), table.ours, strict=True):
        (topic,) = simulation.outcome(way)
        assert row[:4] == (
            topic.queried.sum(), (topic.queried & topic.relevant).sum(), len(topic.relevant), topic.relevant.sum(),
        )  # fmt: skip
        assert row[4] == pytest.approx(100.0 * topic.relevant.sum() / topic.n_relevant)
        assert row[6] == pytest.approx(2 * row[3] - (row[2] - row[3]))
    (note,) = table.notes
    assert note.startswith(f"region of interest, θ × 0.5, {table.ours[2][0]:.0f} questions, against weights, θ × 1, ")
