"""Topics that drift: recent documents rehearsed, old ones forgotten, and a topic that says when it drifts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from references.online import drift, learn_document
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.evaluate import ContingencyTable, filtering_summary
from textbayes.stream import FilterFolder, FilterSettings, make_rehearsal
from textbayes.stream.learn import _rehearsed
from textbayes.stream.status import find_drift, read_status

from .conftest import draw


def everything(**settings) -> dict:
    return {"threshold": 0.0, "ask": "never", **settings}


# -- rehearsal --------------------------------------------------------------------------------------------------------
@pytest.mark.equation("online", "4.2.2 distribution")
def test_recent_examples_are_drawn_as_often_as_the_rule_says(make):
    topic = replace(make().topics[0], examples=list(range(100, 110)))
    settings = FilterSettings(rehearsal="recent:half_life=2")
    places = [_rehearsed(replace(topic, n_later=n), settings)[0] for n in range(1_500)]
    found = np.bincount(places, minlength=10) / 1_500
    chances = 0.5 ** (np.arange(9, -1, -1) / 2.0)
    np.testing.assert_allclose(found, chances / chances.sum(), atol=0.04)  # three standard errors of the largest


def test_a_draw_depends_on_seed_topic_and_judgements_alone(make):
    topic = replace(make().topics[0], examples=list(range(50)), n_later=7)
    settings = FilterSettings(rehearsal="recent:half_life=50")
    assert _rehearsed(topic, settings)[0] == _rehearsed(topic, settings)[0]
    several = {
        _rehearsed(replace(topic, name=name, n_later=n), replace(settings, random_state=seed))[0]
        for name in ("grain", "money")
        for n in (7, 8)
        for seed in (0, 1)
    }
    assert len(several) > 4


def test_a_function_can_say_whom_to_rehearse(make):
    topic = replace(make().topics[0], examples=list(range(5)))
    oldest = FilterSettings(rehearsal=lambda age: float(age == 4))
    assert {_rehearsed(replace(topic, n_later=n), oldest)[0] for n in range(20)} == {0}


@pytest.mark.parametrize(
    ("spec", "message"),
    [("random", "unknown rehearsal 'random'"), ("recent:half_life=0", "half_life=0"), ("recent:age=3", "age")],
)
def test_rules_that_are_refused(spec, message):
    with pytest.raises(InputError, match=message):
        make_rehearsal(spec)
    with pytest.raises(InputError, match=message):
        FilterSettings(rehearsal=spec)


# -- forgetting -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("deferred", [False, True])
def test_a_judgement_is_learnt_after_what_is_known_has_faded(make, stream, deferred):
    desk = make(**everything(rehearse=False, forgetting_factor=0.9, deferred=deferred, least_words=0))
    for document in stream[:12]:
        for delivery in desk.see(document, time=0.0).deliveries:
            if delivery.topic != "grain":
                continue
            before = desk.topics[0]
            desk.judge(delivery.id, "grain", "grain" in document.labels)
            after = desk.topics[0]
            n = len(after.words) - len(before.words)
            mean, cov = np.append(before.mean, np.zeros(n)), np.eye(len(after.mean))
            cov[: len(before.mean), : len(before.mean)] = before.posterior.cov
            ones = np.ones(len(mean))
            mean, cov = drift(mean, cov, 0.0 * ones, ones, 0.9)
            rows = desk.lexicon.weigh_kept([desk.kept[desk.ids[delivery.id]]])
            x = np.append(1.0, np.zeros(len(after.words)))
            for word, value in zip(rows.indices.tolist(), rows.data.tolist(), strict=True):
                x[1 + np.flatnonzero(after.words == word)] = value
            y = 1.0 if "grain" in document.labels else -1.0
            mean, cov, _ = learn_document(mean, cov, x, y, desk.likelihood)
            np.testing.assert_allclose(after.mean, mean, rtol=1e-8, atol=1e-11)
            np.testing.assert_allclose(after.posterior.cov, cov, rtol=1e-8, atol=1e-11)


def drifted(n_docs: int, first: int) -> list[Document]:
    """Documents of which those with the words of grain are no longer about grain, and those of goals are."""
    documents = draw(first, n_docs, share=0.4, first=first)
    goals = [("grain",) if "goal" in document.text.split() else () for document in documents]
    return [Document(document.id, document.text, label) for document, label in zip(documents, goals, strict=True)]


def mistakes(desk, documents) -> int:
    wrong = 0
    for document in documents:
        for delivery in desk.see(document, time=0.0).deliveries:
            if delivery.topic == "grain":
                wrong += (delivery.probability > 0.5) != ("grain" in document.labels)
                desk.judge(delivery.id, "grain", "grain" in document.labels)
    return wrong


def test_forgetting_helps_where_a_topic_drifts(make):
    """Sixty documents of the topic as it was, then two hundred of another: what forgets makes fewer mistakes."""
    wrong = {}
    for name, settings in {
        "keeps all": {},
        "forgets": {"forgetting_factor": 0.97, "rehearsal": "recent:half_life=5"},
    }.items():
        desk = make(**everything(**settings))
        mistakes(desk, draw(5, 150, share=0.4, first=5_000))
        wrong[name] = mistakes(desk, drifted(200, 6_000))
    assert wrong["forgets"] < wrong["keeps all"]


def test_settings_of_drift_can_be_changed_and_come_back_from_a_folder(start):
    folder = start(forgetting_factor=0.99, rehearsal="recent:half_life=30")
    with FilterFolder.open(folder) as found:
        assert found.filter.settings.forgetting_factor == 0.99
        assert found.filter.settings.rehearsal == "recent:half_life=30"
        assert found.filter.settings.changed(forgetting_factor=0.95).forgetting_factor == 0.95
    for bad in (0.0, 1.5, float("nan")):
        with pytest.raises(InputError, match="forgetting_factor"):
            FilterSettings(forgetting_factor=bad)


# -- saying so --------------------------------------------------------------------------------------------------------
def test_few_judgements_say_nothing():
    assert find_drift([0.8] * 60, [True] * 60) is None
    assert find_drift([], []) is None


def test_false_alarms_are_as_rare_as_three_standard_errors():
    """A topic that stays the same, of a filter that is too sure: half of what it calls 80 % is relevant."""
    rng = np.random.default_rng(0)
    alarms = [find_drift([0.8] * 200, rng.random(200) < 0.5).has_drifted for _ in range(2_000)]
    assert np.mean(alarms) < 0.006


def test_a_fall_is_found_and_told():
    rng = np.random.default_rng(1)
    found = [find_drift([0.8] * 250, [*(rng.random(200) < 0.8), *(rng.random(50) < 0.4)]) for _ in range(200)]
    assert np.mean([one.has_drifted for one in found]) > 0.95
    assert np.mean([one.expected for one in found]) == pytest.approx(40.0, abs=1.0)
    told = f"of the last 50 delivered as relevant and judged, {found[0].relevant} were, where"
    assert f"topic 'grain' may have drifted: {told}" in found[0].message("grain")


def test_the_status_of_a_filter_tells_a_drift(start, filtered):
    """What was about grain no longer is: the promises of late are not kept."""
    path = start(ask="never", patience=0)
    filtered(path, draw(8, 200, share=0.5, first=8_000))
    before = read_status(path, 0.0, 1.0).topics[0]
    turned = [Document(document.id, document.text) for document in draw(9, 60, share=0.5, first=9_000)]
    filtered(path, turned, name="later")
    after = read_status(path, 0.0, 1.0).topics[0]
    assert before.topic == after.topic == "grain"
    assert before.drift > -3.0
    assert before.warning is None
    assert after.drift < -3.0
    assert "topic 'grain' may have drifted" in after.warning


def test_measures_of_a_judged_stream_are_those_of_trec(start, filtered):
    """A topic that delivers nothing counts as 0, as in the summary of the filtering track."""
    path = start(ask="never", patience=0)
    assert read_status(path, 0.0, 1.0).utility_in_words() is None  # nothing seen yet
    fed = [Document(f"g{i}", "corn wheat harvest rain farm", ("grain",)) for i in range(4)]
    fed += [Document(f"b{i}", "corn wheat harvest rain crop") for i in range(3)]
    filtered(path, fed)
    told = read_status(path, 0.0, 1.0)
    grain, money = told.topics
    assert (grain.delivered, grain.judged, money.delivered) == (7, 7, 0)
    both = ContingencyTable(*(np.array(row, dtype=float) for row in ([4, 0], [3, 0], [0, 0], [0, 7])))
    expected = filtering_summary(both)
    assert np.mean([grain.t9p, money.t9p]) == pytest.approx(expected["mean_t9p"])
    assert np.mean([grain.t9u, money.t9u]) == pytest.approx(expected["mean_t9u"])
    assert told.utility_in_words() == (
        "TREC-9 measures: T9P 0.040 (target 50), utility 2R-N +2.5, T9U +2.5: means of 1 topic with judged "
        "deliveries and 1 that delivered nothing."
    )
