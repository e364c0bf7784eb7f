"""The frame that all papers share: the loop over systems and units, what is remembered, left out and refused."""

from __future__ import annotations

import threading
import time

import pytest

from textbayes.core.errors import InputError
from textbayes.reproduce import Experiment, Figure, PaperRun, Systems, Table
from textbayes.reproduce.experiment import best_setting, run_units


class Powers(Systems[int, int, int, list[int]]):
    """Each unit to the power that is the system; larger units are done first."""

    def __init__(self, units) -> None:
        super().__init__(units)
        self.calls: list[tuple[int, int]] = []
        self.prepared: list[int] = []

    def prepare(self, system):
        self.prepared.append(system)

    def fit(self, system, unit):
        time.sleep(0.02 / unit)
        self.calls.append((system, unit))
        return unit**system

    def collect(self, system, parts):
        return parts


def test_parts_come_in_the_order_of_the_units_whatever_is_done_first():
    assert Powers([1, 5, 2]).outcomes([2, 3]) == {2: [1, 25, 4], 3: [1, 125, 8]}


def test_a_system_is_run_once_and_progress_counts_only_what_is_run():
    powers, seen = Powers([1, 2, 3]), []
    run = PaperRun(progress=lambda *step: seen.append(step))
    run.number = "table 1"
    first = run.outcomes(powers, [2, 3, 2], ", units")
    assert seen == [("table 1, units", done, 6) for done in range(1, 7)]
    run.number = "table 2"
    second = run.outcomes(powers, [3, 4])
    assert seen[6:] == [("table 2", done, 3) for done in range(1, 4)]
    assert second[3] is first[3]
    assert powers.prepared == [2, 3, 4]
    assert len(powers.calls) == len(set(powers.calls)) == 9


def test_units_run_in_threads_unless_a_paper_says_otherwise():
    here = threading.get_ident()
    assert here not in list(run_units(lambda _: threading.get_ident(), range(3)))
    assert list(run_units(lambda _: threading.get_ident(), range(3), threads=False)) == [here] * 3


def test_an_error_in_a_unit_is_not_swallowed():
    class Broken(Powers):
        def fit(self, system, unit):
            raise InputError("no such thing")

    broken = Broken([1, 2])
    with pytest.raises(InputError, match="no such thing"):
        broken.outcome(1)
    assert not broken._outcomes


def test_the_first_of_equally_good_settings_is_taken():
    assert best_setting((50, 100, 200), [-3.0, -1.0, -1.0]) == 100


def test_data_are_read_once_in_a_run_and_anew_in_the_next():
    made, seen = [], []
    run = PaperRun(progress=lambda *step: seen.append(step))
    for _ in range(2):
        assert run.load("corpus", lambda: made.append(1) or "data") == "data"
    assert made == [1]
    assert seen == [("reading corpus", 0, 1), ("reading corpus", 1, 1)]
    PaperRun().load("corpus", lambda: made.append(2))
    assert made == [1, 2]


def table(number: str) -> Table:
    return Table.by_row(number, "One", ["x"], {"a": [1.0]}, digits=1)


def test_exhibits_are_made_in_the_paper_s_order_and_given_away_one_by_one():
    made = []

    def one(run: PaperRun) -> Table:
        made.append(run.number)
        return table("1")

    def several(run: PaperRun):
        made.append(run.number)
        yield table("2, first")
        yield table("2, second")

    exhibits = {"figure 1": lambda run: Figure("1", "Drawn", "<svg/>"), "table 2": several, "table 1": one}
    needs = {"table 1": (), "table 2": (), "figure 1": (), "figure 2": ()}
    paper = Experiment("short", "Short", "1999", needs, lambda: exhibits | {"figure 2": lambda run: ()})
    results = paper.run(["figure 2", "figure 1", "table 2", "table 1"])
    assert next(results).name == "Table 1"
    assert made == ["table 1"], "the others wait until they are asked for"
    assert [result.name for result in results] == ["Table 2, first", "Table 2, second", "Figure 1"]
    assert [result.number for result in paper.run(["table 1"])] == ["1"]


def test_corpora_are_named_once_in_the_order_of_the_paper(monkeypatch):
    a, b = "federalist", "reuters21578"
    needs = {"table 1": (b,), "table 2": (), "table 3": (a, b)}
    paper = Experiment("short", "Short", "1999", needs, dict)
    assert paper.corpora_for(["table 3", "table 1"]) == (b, a)
    assert paper.corpora_for(["table 2"]) == ()
    monkeypatch.setattr("textbayes.reproduce.experiment.corpus_path", lambda name: None if name == a else "somewhere")
    assert paper.missing_corpora(paper.numbers) == (a,)
    assert paper.missing_corpora(["table 1"]) == ()


def test_published_and_own_figures_meet_by_name_and_gaps_stay_empty():
    published, ours = {"a": (1, None, 3), "c": (7, 8, 9)}, {"c": [0.5, float("nan")], "b": (4.0, 5.0, 6.0)}
    rows = Table.by_row("1", "T", ["x", "y", "z"], ours, published, digits=0)
    assert rows.rows == ("a", "c", "b")
    assert rows.published == ((1, None, 3), (7, 8, 9), (None, None, None))
    assert rows.ours == ((None, None, None), (0.5, None, None), (4.0, 5.0, 6.0))
    names, shown = ["b", "c", "a"], {"digits": 2, "notes": ("n",), "mark": 3.0}
    columns = Table.by_column("1", "T", ["x", "y", "z"], ours, published, names, **shown)
    assert (columns.rows, columns.columns) == (("x", "y", "z"), ("b", "c", "a"))
    assert columns.ours == ((4.0, 0.5, None), (5.0, None, None), (6.0, None, None))
    assert columns.published == ((None, 7, 1), (None, 8, None), (None, 9, 3))
    assert (columns.digits, columns.notes, columns.mark) == (2, ("n",), 3.0)


def test_figures_without_a_place_in_the_table_are_refused():
    with pytest.raises(InputError, match="3 figures of 'a' are given; the table has 2 for a"):
        Table.by_row("1", "T", ["x", "y"], {"a": (1.0, 2.0, 3.0)}, digits=0)
    with pytest.raises(InputError, match="1 figures of 'b' are given; the table has 1 for a, c"):
        Table.by_row("1", "T", ["x"], {"a": (1.0,), "b": (1.0,)}, rows=["a", "c"], digits=0)
