"""Simulations: measures by hand, and the baseline in ASReview's own order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from textbayes.core.errors import InputError
from textbayes.data import corpus_path, load_corpus
from textbayes.evaluate.retrieval import average_time, extra_relevant, ranking_loss, read_until, recall_at, work_saved
from textbayes.screen import Collection
from textbayes.screen.remaining import RemainingWeights, Signs
from textbayes.screen.simulate import (
    Check,
    ElasU4,
    Simulation,
    Stop,
    TopicReader,
    draw_start,
    simulate,
)
from textbayes.screen.simulations import (
    Result,
    RuleSummary,
    SimulationTask,
    calibration,
    draw_recall,
    estimate_checks,
    summarise_losses,
    summarise_stops,
)
from textbayes.screen.stopping import make_rule

ORDER = [True, False, True, True, False, False, False, False, False, True]  # ten records, four of them relevant


def test_measures_by_hand():
    # Places of the relevant ones, from 0: 0, 2, 3 and 9; best 0 to 3, worst 6 to 9.
    assert ranking_loss(ORDER) == pytest.approx((14 - 6) / (30 - 6))
    assert recall_at(ORDER, 0.4) == 0.75
    assert extra_relevant(ORDER, 0.4) == pytest.approx(0.35)
    assert (read_until(ORDER, 0.75), read_until(ORDER, 0.95)) == (4, 10)
    assert work_saved(ORDER, 0.75) == pytest.approx(0.6 - 0.25)
    assert average_time(ORDER) == pytest.approx((1 + 3 + 4 + 10) / 4 / 10)
    with pytest.raises(InputError, match="all records are relevant, or none"):
        ranking_loss([True, True])


def test_loss_of_chance_is_a_half():
    random = np.random.default_rng(0)
    losses = [ranking_loss(random.permutation(np.arange(200) < 10)) for _ in range(2000)]
    assert np.mean(losses) == pytest.approx(0.5, abs=0.01)


def test_a_simulation_reads_everything_once(review):
    ids, texts, relevant = review
    records = Collection.read(ids, texts, ["relevant"])
    start = draw_start(relevant, 3)
    assert relevant[start].tolist() == [True, False]
    for reader in (TopicReader(records), ElasU4(records)):
        done = simulate(reader, relevant, start)
        assert sorted(done.rows) == list(range(150))
        assert done.rows[:2].tolist() == start.tolist()
        assert done.found[: done.n_read].sum() == relevant.sum()
        assert done.found[done.n_read - 1]  # it ends with the last find
        assert ranking_loss(done.order) < 0.2


def test_rules_are_asked_and_reading_goes_on_until_all_is_found(review):
    ids, texts, relevant = review
    records = Collection.read(ids, texts, ["relevant"])
    rules = [make_rule("share:0.1"), make_rule("consecutive:20")]
    done = simulate(TopicReader(records), relevant, draw_start(relevant, 0), rules)
    assert done.stops[0].n_read == 15
    assert done.found[: done.n_read].sum() == relevant.sum()
    assert done.n_read >= max(stop.n_read for stop in done.stops)
    end = done.stops[1].n_read
    assert not done.found[end - 20 : end].any()
    needed = int(np.flatnonzero(np.cumsum(done.found) >= 0.95 * relevant.sum())[0]) + 1
    for stop in done.stops:
        assert stop.recall == done.found[: stop.n_read].sum() / relevant.sum()
        assert stop.excess == max(stop.n_read - needed, 0)


def test_how_right_rules_were_and_what_came_of_what_the_estimate_said():
    stops = [Stop("share", "", 40, 1.0, 10), Stop("share", "", 60, 0.9, 0), Stop("share", "", 100, 0.95, 5)]
    (told,) = summarise_stops([((stop,), 100) for stop in stops], 0.95)
    assert told == RuleSummary("share", 3, pytest.approx(2 / 3), 0.9, pytest.approx(0.05))
    # As many come true as are said, where what is left is drawn from what the estimate takes it to be.
    random, weights = np.random.default_rng(0), RemainingWeights(0.0, 0.3, 0.8, 2.0)
    checks = []
    for _ in range(6000):
        signs = Signs(*random.normal(size=2))
        mean = weights.left(signs, 900).mean
        n_left = int(random.negative_binomial(2.0, 2.0 / (2.0 + mean)))
        checks.append(Check(100, int(random.integers(2, 80)), n_left, signs, 0.5))
    early = Check(100, 1, 500, Signs(0.0, 0.0), 0.5)  # one find says nothing
    told = Simulation(np.arange(1000), np.zeros(1000, dtype=bool), 0, 1000, (), (*checks, early))
    said, reached = estimate_checks(told, 0.95, weights)
    assert len(said) == 6000
    for found in calibration(said, reached):
        assert found.reached == pytest.approx(found.said, abs=4.0 * 0.5 / np.sqrt(found.n))


def finished(review, model, order, stops=()):
    found = np.array([True, False, *order])
    done = Simulation(np.arange(len(found)), found, 2, len(found), tuple(stops), ())
    return Result(SimulationTask(review, model, 0), done)


def test_losses_of_models_beside_the_peer():
    best, half, worst = [True, False, False], [False, True, False], [False, False, True]
    results = [finished(name, "textbayes", half) for name in ("one", "two")]
    (alone,) = summarise_losses(results)
    assert alone == ("textbayes", pytest.approx(0.5), None, None)
    results += [finished("one", "elas_u4", half), finished("two", "elas_u4", worst)]
    ours, peer = summarise_losses(results)
    assert ours == ("textbayes", pytest.approx(0.5), pytest.approx(0.5 / 0.75), pytest.approx(0.5**0.5))
    assert peer == ("elas_u4", pytest.approx(0.75), 1.0, 1.0)
    assert all(np.isfinite(found[1:]).all() for found in summarise_losses([*results, finished("one", "elas_u4", best)]))


def test_a_plot_names_rules_and_the_target(tmp_path):
    stops = [Stop("estimate", "", 3, 1.0), Stop("consecutive", "", 4, 1.0)]
    path = tmp_path / "recall.svg"
    draw_recall([finished("one", "textbayes", [False, True, False], stops)], path, target=0.8)
    drawn = path.read_text()
    for name in ("estimate", "consecutive", "target 80%", "textbayes", "one"):
        assert f"<!-- {name} -->" in drawn


@pytest.mark.skipif(corpus_path("systematic_reviews") is None, reason="corpus 'systematic_reviews' is not there")
def test_the_baseline_has_the_order_of_asreview():
    """ASReview 2.2 (elas_u4) on Triptans, from records 372 and 435; see the golden file for how it was run."""
    golden = json.loads((Path(__file__).parents[2] / "golden" / "asreview_triptans.json").read_text())
    corpus = load_corpus("systematic_reviews", review="Triptans")
    relevant = np.array([labels == ("included",) for labels in corpus.labels])
    records = Collection.read(corpus.ids, corpus.texts, ["relevant"])
    n = golden["n_compared"]
    reader, rows = ElasU4(records, tol=1e-6), list(golden["start"])
    for row in rows:
        reader.answer(row, bool(relevant[row]))
    while len(rows) < n:
        rows.append(reader.next_row())
        reader.answer(rows[-1], bool(relevant[rows[-1]]))
    assert rows == golden["order"][:n]
