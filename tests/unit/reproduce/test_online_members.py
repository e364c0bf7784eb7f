"""The online paper's proposals of § 5: members by topic (Table 2b) and documents in groups of ten (Table 4c)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

from textbayes.core.types import Document
from textbayes.data import Corpus
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.online import systems
from textbayes.reproduce.online.beyond import line_of_rarity, margin_is_better, seen_on_both_sides, table_2b
from textbayes.reproduce.online.filtering_systems import (
    MACHINE,
    NOT_JUDGED,
    FilteringSimulation,
    FilteringTask,
    Routing,
    in_groups,
    table_4c,
)
from textbayes.reproduce.online.filtering_systems import FilteringCollection as Stream
from textbayes.reproduce.online.systems import TopicCollection, TopicSystems, system_named
from textbayes.stream import AdaptiveFilter, FilterSettings


def wrong_for(truth: np.ndarray, topics: list[int]) -> np.ndarray:
    """Decisions that are right but for some topics, of which no document is found."""
    decisions = truth.copy()
    decisions[:, topics] = False
    return decisions


@pytest.fixture
def truth() -> np.ndarray:
    """Five topics of 40, 20, 8, 4 and 2 documents in a hundred."""
    return np.arange(100)[:, None] < np.array([40, 20, 8, 4, 2])


def test_the_line_lies_where_one_member_gets_better_than_the_other(truth):
    sizes = truth.sum(axis=0)
    bayesian, margin = wrong_for(truth, [2, 3, 4]), wrong_for(truth, [0, 1])
    assert line_of_rarity(sizes, truth, bayesian, margin) == 8 + 1
    assert line_of_rarity(sizes, truth, truth, margin) == 0, "the Bayesian member is right throughout"
    assert line_of_rarity(sizes, truth, bayesian, truth) == 9, "the lowest of equally good ones"
    assert line_of_rarity(sizes, truth, wrong_for(truth, [0, 4]), truth) == 41, "all are rare"


def test_the_better_member_topic_by_topic(truth):
    found = margin_is_better(truth, wrong_for(truth, [1, 4]), wrong_for(truth, [0, 4]))
    assert found.tolist() == [False, True, True, True, True], "ties go to the maximum margin"


def test_held_out_stories_are_the_later_ones_of_training_and_not_seen_before():
    texts = ["tea pot"] * 3 + ["tea cup", "coffee cup"] + ["later word"] * 3 + ["test only"] * 2
    labels = [("tea",)] * 4 + [("coffee", "tea")] + [("tea",)] * 3 + [("tea",)] * 2
    split = ["train"] * 8 + ["test"] * 2
    corpus = Corpus("r", [str(i) for i in range(10)], labels, texts, ("cocoa", "coffee", "tea"), split)
    found = systems.held_out(corpus, share=3 / 8)
    assert (found.train.shape[0], found.test.shape[0]) == (5, 3)
    assert found.train.shape[1] == 4, "tea, pot, cup and coffee"
    assert found.Y_train.sum(axis=0).tolist() == [0, 1, 5]
    assert seen_on_both_sides(found).tolist() == [2], "no held-out story is about coffee"
    assert found.of_topics(np.array([2])).Y_test.tolist() == [[True]] * 3


def made_up(seed: int, n_topics: int = 5) -> TopicCollection:
    rng = np.random.default_rng(seed)
    Y = rng.random((160, n_topics)) < np.linspace(0.5, 0.05, n_topics)
    own = np.random.default_rng(0).random((n_topics, 20)) < 0.2
    X = (rng.random((160, 20)) < 0.15 + 0.5 * (Y @ own)) * 1.0
    rows = sparse.csr_matrix(X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9))
    words = tuple(np.arange(topic, topic + 12) for topic in range(n_topics))
    return TopicCollection(rows[:80], rows[80:], Y[:80], Y[80:], words, np.arange(20))


def test_table_2b_mixes_the_decisions_of_both_members(monkeypatch):
    topics, earlier = TopicSystems(made_up(1)), made_up(2)
    earlier = earlier._replace(Y_test=earlier.Y_test & (np.arange(5) < 4))  # nothing is held out of the rarest topic
    monkeypatch.setattr(systems, "held_out", lambda: earlier)
    table = table_2b(PaperRun(), topics)
    full, part = topics.collection, TopicSystems(earlier.of_topics(np.arange(4)))

    def decide(systems, name):
        return systems.outcome(system_named(name))[-1].decide("MaxF1")

    def f1(decisions, average, truth=full.Y_test):  # by another library
        return 100 * f1_score(truth, decisions, average=average, zero_division=0)

    def row(decisions, n_margin):
        return pytest.approx((f1(decisions, "micro"), f1(decisions, "macro"), n_margin))

    margin = decide(topics, "SVMa-1")
    assert (table.rows[0], table.ours[0]) == ("SVMa-1", row(margin, 5))
    for first, name in ((1, "Perceptron"), (5, "GP-R1")):
        bayesian = decide(topics, name)
        assert (table.rows[first], table.ours[first]) == (name, row(bayesian, 0))
        is_rare = full.Y_train.sum(axis=0) < int(table.rows[first + 1].split()[3])
        assert table.ours[first + 1] == row(np.where(is_rare, margin, bayesian), is_rare.sum())
        of_topic = [f1(decide(part, member), None, part.collection.Y_test) for member in (name, "SVMa-1")]
        chosen = np.append(of_topic[1] >= of_topic[0], True)
        assert table.ours[first + 2] == row(np.where(chosen, margin, bayesian), chosen.sum())
        best = np.maximum(f1(bayesian, None), f1(margin, None)).mean()
        assert table.ours[first + 3][1] == pytest.approx(best), "the macro-average of the better of the two"
    assert (
        "4 topics have stories before and after. Where topics choose for themselves, the other 1 are" in table.notes[0]
    )
    assert table.notes[1].count(" against ") == 8


def test_each_group_is_the_best_of_what_is_left_by_what_was_judged():
    asked = []

    def scores(judged):
        asked.append(list(judged))
        return np.arange(8.0) if len(judged) < 4 else -np.arange(8.0)  # the order turns round

    assert in_groups(scores, np.zeros(8, dtype=bool), group=2, groups=3) == [7, 6, 5, 4, 0, 1]
    assert asked == [[], [7, 6], [7, 6, 5, 4]]
    assert in_groups(scores, np.zeros(3, dtype=bool), group=2, groups=4)[:3] == [2, 1, 0], "then none is left"


@pytest.fixture(scope="module")
def stream() -> Stream:
    """A planted topic, half of its documents by words that none of the labelled ones has."""
    rng = np.random.default_rng(0)
    old, new = ["corn", "wheat", "harvest"], ["soy", "barley", "oats"]
    other = ["goal", "match", "team", "player", "coach", "league", "season", "ticket", "report", "today"]
    texts, relevant = [], []
    for i in range(400):
        has = rng.random() < 0.12
        words = (
            [*rng.choice(old, 1 if i >= 160 and i % 2 else 3), *(rng.choice(new, 3) if i >= 160 else [])] if has else []
        )
        texts.append(" ".join([*words, *rng.choice(other, 8)]))
        relevant.append(has)
    number, y = np.arange(400), np.array(relevant)
    task = FilteringTask("grain", "corn", number[:160], y[:160], number[160:], y[160:])
    return Stream("planted", texts, [f"d{i}" for i in range(400)], (task,))


def test_routing_ranks_learns_and_ranks_again(stream):
    simulation = FilteringSimulation(stream, FilterSettings())
    routing, task = Routing(simulation), stream.tasks[0]
    desk = AdaptiveFilter.start(
        stream.labelled(task), [Document("grain", "corn", ("grain",))], FilterSettings(), ["grain"]
    )
    probability = desk.score(desk.read(stream.texts[160:])).probability[:, 0]
    order = np.argsort(-probability, kind="stable")[:100]
    (not_judged,) = routing.outcome(NOT_JUDGED)
    assert not_judged.relevant.tolist() == task.test_relevant[order].tolist()
    # the first two groups of the perceptron that keeps nothing, step by step
    first = order[:10]
    for i in first:
        desk = desk.copy(ask="never", explore="never", rehearse=False)
        text = stream.texts[160 + i]
        desk.judge(f"d{160 + i}", "grain", bool(task.test_relevant[i]), desk.read([text]).bag(0))
    left = np.setdiff1d(np.arange(240), first)
    again = desk.score(desk.read(stream.texts[160:])).probability[left, 0]
    second = left[np.argsort(-again, kind="stable")[:10]]
    (plain,) = routing.outcome("Pptron")
    assert plain.relevant[:20].tolist() == task.test_relevant[[*first, *second]].tolist()
    (rehearsing,) = routing.outcome("Pptron+rel")
    assert (not_judged.n_kept, plain.n_kept) == (0, 0)
    # those of the batch phase, the statement and those that were found
    assert rehearsing.n_kept == task.train_relevant.sum() + 1 + rehearsing.relevant.sum()


def test_the_machine_is_fitted_to_all_documents_seen(stream):
    simulation, task = FilteringSimulation(stream, FilterSettings()), stream.tasks[0]
    (found,) = Routing(simulation).outcome(MACHINE)
    machine = simulation.machine(simulation.start(task).lexicon, task)
    y = np.concatenate([[True], task.train_relevant])
    fitted = LinearSVC(class_weight="balanced", random_state=0).fit(machine.train, y)
    first = np.argsort(-fitted.decision_function(machine.test), kind="stable")[:10]
    seen = sparse.vstack([machine.train, machine.test[first]])
    fitted.fit(seen, np.concatenate([y, task.test_relevant[first]]))
    left = np.setdiff1d(np.arange(240), first)
    second = left[np.argsort(-fitted.decision_function(machine.test[left]), kind="stable")[:10]]
    assert found.relevant[:20].tolist() == task.test_relevant[[*first, *second]].tolist()
    assert found.n_kept == 1 + 160 + 100


def test_table_4c(stream):
    table = table_4c(PaperRun(), FilteringSimulation(stream, FilterSettings()))
    assert table.rows == (NOT_JUDGED, "Pptron", "Pptron+rel", MACHINE)
    for row in table.ours:
        assert list(row[:4]) == sorted(row[:4]), "of more documents more are relevant"
        assert row[0] <= 10.0
    assert f"Pptron {table.ours[1][3] - table.ours[0][3]:.3f} (" in table.notes[1]
    assert f"1 topics with {stream.tasks[0].test_relevant.sum()} relevant documents" in table.notes[0]
