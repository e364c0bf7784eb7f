"""Simulations of what is answered: the same as ``textbayes simulate``, in the background, kept until answers change."""

from __future__ import annotations

import time

import pytest

from textbayes.app import judging
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.simulation import FEWEST, RULES, Answers, ReviewSimulations
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen.simulations import SimulationTask, run_tasks


@pytest.fixture
def simulations():
    made = ReviewSimulations()
    yield made
    made.close()


def wait(simulations, review):
    for _ in range(1200):
        found, progress = simulations.look(review, "relevant", Answers.of(review, "relevant"))
        if not progress:
            return found
        assert progress == "waiting" or "records screened" in progress
        time.sleep(0.05)
    raise AssertionError("it goes on for ever")


def test_a_simulation_is_that_of_the_command_and_is_kept(room, me, project, records, simulations):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    with pytest.raises(InputError, match=f"0 records have the answer .* needs at least {FEWEST}"):
        simulations.begin(review, "relevant")
    tea = [f"r{i}" for i in range(0, 60, 4)]
    judging.judge_many(review, place, tea, "relevant")
    with pytest.raises(InputError, match="15 of them relevant; a simulation needs"):
        simulations.begin(review, "relevant")
    judging.judge_many(review, place, [one.id for one in records if one.id not in tea][:-1], "irrelevant")
    judging.judge(review, place, "r59", "unsure")  # left out
    assert simulations.look(review, "relevant", Answers.of(review, "relevant")) == (None, "")
    simulations.begin(review, "relevant")
    found = wait(simulations, review)
    assert found.n_until_target == 15
    assert found.n_until_target_at_random == pytest.approx(15 * 60 / 16)
    assert found.shares[1] == (6, 6 / 15, 6 / 59)
    labelled = [Document(one.id, one.text, ("yes" if one.id in tea else "no",)) for one in records if one.id != "r59"]
    task = SimulationTask("tea", "textbayes", 0, known_start=False, rules=RULES)
    question = review.screening.settings.questions["relevant"]
    (same,) = run_tasks([task], {"tea": labelled}, "yes", {"tea": question})
    assert found.stops == same.simulation.stops
    simulations.begin(review, "relevant")  # it is there already
    assert simulations.look(review, "relevant", Answers.of(review, "relevant"))[0] is found
    judging.judge(review, place, "r59", "irrelevant", replace=True)
    assert simulations.look(review, "relevant", Answers.of(review, "relevant"))[0] is None
    simulations.begin(review, "relevant")
    assert len(wait(simulations, review).found) == 60


def test_what_fails_is_told_and_not_under_way_for_ever(room, me, project, simulations, monkeypatch):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    judging.judge_many(review, place, [f"r{i}" for i in range(0, 60, 4)], "relevant")
    judging.judge_many(review, place, [f"r{i}" for i in range(1, 60, 4)], "irrelevant")
    monkeypatch.setattr("textbayes.app.simulation.simulate", lambda *given: 1 / 0)
    simulations.begin(review, "relevant")
    assert "this is a bug in textbayes" in wait(simulations, review)
