"""The online paper's tables on a made-up collection: the right systems in the right cells, and the paper's order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.metrics import f1_score

from textbayes.reproduce import papers
from textbayes.reproduce.experiment import PaperRun
from textbayes.reproduce.online import systems as online_corpora
from textbayes.reproduce.online import tables
from textbayes.reproduce.online.systems import (
    BAYESIAN,
    SVMS,
    SYSTEMS,
    TopicCollection,
    TopicProbabilities,
    TopicSystems,
    system_named,
)
from textbayes.reproduce.online.tables import Sign
from textbayes.reproduce.render import table_markdown
from textbayes.stream import paper_threshold


def make_collection(n_docs: int = 200, n_words: int = 20, n_topics: int = 6, seed: int = 3) -> TopicCollection:
    rng = np.random.default_rng(seed)
    Y = rng.random((n_docs, n_topics)) < 0.3
    X = (rng.random((n_docs, n_words)) < 0.15 + 0.5 * (Y @ (rng.random((n_topics, n_words)) < 0.2))) * 1.0
    X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    half, rows, words = n_docs // 2, sparse.csr_matrix(X), np.arange(n_words)
    own = tuple(words[topic : topic + 12] for topic in range(n_topics))
    return TopicCollection(rows[:half], rows[half:], Y[:half], Y[half:], own, words)


@pytest.fixture(scope="module")
def topics() -> TopicSystems:
    return TopicSystems(make_collection())


def run_on(topics: TopicSystems, quick: bool = False) -> PaperRun:
    """A run whose Reuters-21578 is the made-up collection."""
    run = PaperRun(quick=quick)
    run.load("Reuters-21578", lambda: topics)
    return run


def outcome_of(topics: TopicSystems, system: str) -> TopicProbabilities:
    return topics.outcome(system_named(system))[-1]


def test_table_2_has_published_and_own_averages_in_the_same_cells(topics):
    table = tables.table_2(run_on(topics))
    assert table.rows == SYSTEMS
    assert table.columns[2:4] == ("MaxF1 micro", "MaxF1 macro")
    assert {len(row) for row in (*table.ours, *table.published)} == {6}
    assert table.published[SYSTEMS.index("GP-2")] == (85.58, 47.90, 86.60, 52.19, 86.77, 55.04)
    for system, row in zip(table.rows, table.published, strict=True):
        assert [pair for pair in zip(row[::2], row[1::2], strict=True) if pair[0]] == list(
            tables.PUBLISHED["table 2"][system]
        )
    for i, system in enumerate(SYSTEMS):
        outcome = outcome_of(topics, system)
        for column, how in enumerate(("micro", "macro")):
            wanted = f1_score(topics.collection.Y_test, outcome.test > 0.5, average=how, zero_division=0)
            assert table.ours[i][column] == pytest.approx(100 * wanted)
        assert (table.ours[i][4] is None) == (system in SVMS), "ExpectedF1 needs probabilities"
        assert (table.published[i][4] is None) == (system in SVMS)
    assert "100 training and 100 test stories, 6 topics; 6 topics have 12 words" in table.notes[0]


def test_quick_tables_leave_the_machines_out(topics):
    run = run_on(topics, quick=True)
    two, three = tables.table_2(run), list(tables.table_3(run))
    assert len(three) == 2
    for i, system in enumerate(SYSTEMS):
        assert (two.ours[i][0] is None) == (system in SVMS)
    assert len(two.notes) == 3
    assert two.notes[2].count(" and ") == 1 + len(BAYESIAN)
    for table in three:
        run = [[cell is not None for cell in row] for row in table.ours]
        assert run == [[a != b and a in BAYESIAN and b in BAYESIAN for b in SYSTEMS] for a in SYSTEMS]
        assert "of 6 pairs" in table.notes[0]


def one_sided(wins: int, losses: int) -> str:
    """The symbol of Yang & Liu's sign test, of more than 12 pairs by the normal approximation."""
    n = wins + losses
    assert n == 0 or n > 12, "the small case is the toolkit's own test's concern"
    p = norm.sf(abs(wins - losses) / np.sqrt(n)) if n else 1.0
    side = ">" if wins > losses else "<"
    return "~" if p > 0.05 else {">": "≫", "<": "≪"}[side] if p <= 0.01 else side


def test_table_3_holds_the_sign_tests_of_maxf1_decisions(topics):
    micro, macro = tables.table_3(run_on(topics))
    assert (micro.name, macro.name) == ("Table 3, s-test", "Table 3, S-test")
    Y = topics.collection.Y_test
    right = {name: outcome_of(topics, name).decide("MaxF1") == Y for name in SYSTEMS}
    checked = 0
    for i, first in enumerate(SYSTEMS):
        for j, second in enumerate(SYSTEMS):
            if first == second:
                assert micro.ours[i][j] is None
                continue
            wins, losses = ((right[a] & ~right[b]).sum() for a, b in ((first, second), (second, first)))
            if wins + losses > 12:
                assert f"{micro.ours[i][j]:.0f}" == one_sided(wins, losses)
                checked += 1
            assert f"{micro.published[i][j]:.0f}" == tables.sign_test_symbols()[first, second][0]
            assert f"{macro.published[i][j]:.0f}" == tables.sign_test_symbols()[first, second][1]
            assert macro.ours[i][j] == -macro.ours[j][i]
    assert checked > 10
    same = sum(micro.ours[i][j] == micro.published[i][j] for i in range(10) for j in range(i))
    assert micro.notes[0].startswith(f"The same symbol for {same} of 45 pairs")


def test_signs_are_printed_as_symbols_and_counted_in_steps(topics):
    assert [f"{Sign.of(symbol):.0f}" for symbol in "≪<~>≫"] == list("≪<~>≫")
    table, _ = tables.table_3(run_on(topics, quick=True))
    strong, none = Sign.of("≫"), Sign.of("~")
    table = table._replace(rows=("a",), columns=("x", "y"), published=((strong, none),), ours=((none, none),))
    assert "| a | **≫ / ~ (−2)** | ~ / ~ (+0) |" in table_markdown(table)


def _evidence(run: PaperRun, likelihood: str) -> dict[str, float]:
    """Σ ln p(y) over the documents of a part, mean over topics."""
    topics = run.load("Reuters-21578", lambda: None)
    outcome, collection = outcome_of(topics, likelihood), topics.collection
    parts = {"train": (collection.Y_train, outcome.train), "test": (collection.Y_test, outcome.test)}
    return {part: float(np.log(np.where(Y, p, 1.0 - p)).sum(axis=0).mean()) for part, (Y, p) in parts.items()}


def test_tables_6_and_7_share_the_perceptron_of_table_2():
    run = run_on(TopicSystems(make_collection(n_docs=80)), quick=True)
    two, six, seven = (make(run) for make in (tables.table_2, tables.table_6, tables.table_7))
    perceptron = two.ours[SYSTEMS.index("Perceptron")][2:4]
    assert six.rows == ("Logit", "Probit", "Flip")
    assert seven.rows == ("1 pass", "2 passes", "3 passes", "4 passes", "5 passes")
    assert six.ours[1][:2] == seven.ours[2][:2] == perceptron
    assert six.ours[1] == seven.ours[2]
    assert [row[:3] for row in six.published] == list(tables.PUBLISHED["table 6"].values())
    assert [row[:3] for row in seven.published] == list(tables.PUBLISHED["table 7"].values())
    probit = _evidence(run, "Probit")
    assert six.ours[1][2:] == (pytest.approx(probit["test"]), pytest.approx(probit["train"]))
    assert six.published[1] == seven.published[2] == (86.69, 52.16, -34.32, None)
    flip = six.ours[2]
    assert flip[2] <= 40 * np.log(0.9), "no story can be surer than 1 − κ"
    assert flip[3] <= 40 * np.log(0.9)
    assert "-4.2 on 40 training and -4.2 on 40 test" in six.notes[0]
    assert seven.notes[0].count(" / ") == 6


def test_open_choices_are_the_perceptron_s_rows_of_tables_2_and_6(monkeypatch):
    seen = []

    def make(reading):
        seen.append(reading)
        return make_collection(n_docs=60, seed=len(seen))

    monkeypatch.setattr(online_corpora, "r90", make)
    table = tables.table_2a(PaperRun())
    assert seen == list(tables.CHOICES.values())
    assert table.rows == tuple(tables.CHOICES)
    assert table.published[0] == (85.12, 45.23, 86.69, 52.16, 86.44, 53.08, -34.32, 85.94, 53.00, -368.8)
    assert len(table.columns) == len(table.published[0])
    run = run_on(TopicSystems(make_collection(n_docs=60, seed=1)), quick=True)
    two, six = tables.table_2(run), tables.table_6(run)
    row = (*two.ours[SYSTEMS.index("Perceptron")], six.ours[1][2], *six.ours[2][:3])
    assert table.ours[0] == pytest.approx(row, rel=1e-12)
    assert tables.table_2a(PaperRun(quick=True)).rows == tuple(tables.CHOICES)[:2]


def test_what_is_wanted_comes_in_order_with_progress(monkeypatch):
    monkeypatch.setattr(online_corpora, "r90", lambda reading=None: make_collection(n_docs=60))
    seen = []
    wanted = ("figure 1", "table 7", "table 2a", "table 3")
    results = list(papers.get("online").run(wanted, True, lambda what, done, total: seen.append((what, done, total))))
    names = [result.name for result in results]
    assert names == ["Table 2a", "Table 3, s-test", "Table 3, S-test", "Table 7", "Figure 1"]
    assert ("table 3", 24, 24) in seen, "four systems of six topics"
    assert ("table 7", 6, 6) in seen


def test_figure_1_draws_the_schedule_that_filters_use():
    (figure,) = papers.get("online").run(("figure 1",))
    assert figure.svg.startswith("<?xml")
    assert f"{paper_threshold(50):.2f} at 50" in figure.description


@pytest.mark.parametrize(
    ("wanted", "corpora"), [(("figure 1",), ()), (("figure 1", "table 6"), ("reuters21578",)), ((), ())]
)
def test_only_the_corpora_that_are_needed_are_asked_for(wanted, corpora):
    assert papers.get("online").corpora_for(wanted) == corpora
