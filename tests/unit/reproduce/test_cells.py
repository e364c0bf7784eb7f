"""The page of all published cells: nothing of the papers is left out, and every cell has a status and a reason."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from textbayes.reproduce import papers
from textbayes.reproduce.results import published_figures

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "docs"))

import _cells

FOUND = _cells.cells()


@pytest.mark.parametrize("paper", papers.names())
def test_every_table_of_every_paper_is_there(paper):
    wanted = {number.removeprefix("table ") for number in papers.get(paper).numbers if number.startswith("table ")}
    listed = {cell.table.partition(",")[0] for cell in FOUND if cell.paper == paper}
    assert listed == {number for number in wanted if number.isdigit()}


def test_every_cell_has_a_status_and_a_reason():
    assert {cell.status for cell in FOUND} <= set(_cells.STATUS)
    assert [cell for cell in FOUND if not cell.reason] == []
    assert len({cell[:4] for cell in FOUND}) == len(FOUND)


def test_there_are_as_many_cells_as_were_typed_in():
    n = Counter((cell.paper, cell.table) for cell in FOUND)
    for paper in ("flexlink", "gibbs"):
        for name, rows in published_figures(paper).items():
            if name.startswith("table "):
                typed = [value for row in rows for value in row if value is not None]
                assert n[paper, name.removeprefix("table ")] == len(typed)
    assert n["online", "4"] == sum(map(len, published_figures("online")["table 4"].values()))
    assert n["online", "3, s-test"] == n["online", "3, S-test"] == 45, "each pair once"
    bodies = [cell for cell in FOUND if cell.paper == "sparse, without headlines"]
    assert len(bodies) == sum(cell.paper == "sparse" and cell.table in "123456" for cell in FOUND)


PAGE = """
## Table 1

| | one | two | three |
|---|---:|---:|---:|
| near | 50.0 / 50.9 (+0.9) | 60.0 / 61.1 (+1.1) | **70.0 / 58.0 (−12.0)** |
| far | 50.0 / – | – / 3.0 | **1,060.0 / 55.0 (−5.0)** |

## Table 1a

| | one |
|---|---:|
| own | 3.0 |
"""


def judged(**settings):
    read = [_cells.Cell("a", "1", *rest) for rest in _cells.page_tables(PAGE)["1"]]
    return {(c.row, c.column): c.status for c in _cells._judged(read, {"point": 1.0}, settings)}


def test_statuses_follow_from_figures_and_rules():
    # By hand: 50.9 is within a point; 61.1 is above 50.9 as 60 is above 50, but not below 58.0 as 60 is below 70.
    assert judged() == {
        ("near", "one"): "within one point",
        ("near", "two"): "differs",
        ("near", "three"): "differs",
        ("far", "one"): "not run",
        ("far", "three"): "differs",
    }
    rules = [{"rows": ["far"], "status": "other data", "reason": "r"}]
    assert judged(rules=rules)["far", "three"] == judged(rules=rules)["far", "one"] == "other data"
    assert judged(point=12.0)["near", "three"] == "within one point"
    # 61.1 against 55.0 in its column is nothing; alone in it, one and two have no other to be in order with.
    assert judged(along="column")["near", "two"] == "differs"


def test_order_is_kept_where_figures_are_further_apart_than_a_point():
    rows = [("r", name, *pair) for name, pair in {"a": (50.0, 40.0), "b": (55.0, 47.0), "c": (55.5, 46.0)}.items()]
    read = [_cells.Cell("p", "1", *row) for row in rows]
    # b and c change places, but they were published within a point of each other.
    assert {cell.status for cell in _cells._judged(read, {"point": 1.0}, {})} == {"in order"}


def one_row(*cells, **settings):
    """What becomes of cells in one row, given as column, published and ours."""
    read = [_cells.Cell("p", "1", "r", *cell) for cell in cells]
    return [cell.status for cell in _cells._judged(read, {"point": 1.0}, settings)]


def test_an_order_that_could_not_have_been_otherwise_is_none():
    # FST micro is above FST macro whatever is run; beside another micro-average it could have come out below.
    averages = ("FST micro", 80.0, 70.0), ("FST macro", 60.0, 50.0)
    assert one_row(*averages) == ["differs", "differs"]
    assert one_row(*averages, ("Probit micro", 75.0, 60.0)) == ["in order", "differs", "in order"]
    sizes = ("Laplace γ = 1", 200.0, 150.0), ("Laplace γ = 3", 100.0, 90.0)
    assert one_row(*sizes) == ["in order", "in order"]
    assert one_row(*sizes, forced="Laplace γ") == ["differs", "differs"]
    assert one_row(*sizes, ("Jeffreys", 50.0, 120.0), forced="Laplace γ") == ["in order", "differs", "differs"]


def test_a_misprint_is_compared_with_nothing_and_nothing_with_it():
    wrong = ("b", float("nan"), 300.0, True)
    assert one_row(("a", 50.0, 40.0), wrong) == ["differs", "misprint"]
    assert one_row(("a", 50.0, 40.0), wrong, ("c", 60.0, 45.0)) == ["in order", "misprint", "in order"]
    rows = _cells.page_tables("## Table 1\n\n| | a |\n|---|---:|\n| r | 200† / 298 |\n| s | 3 / 4 (+1) |\n")["1"]
    assert [row[-1] for row in rows] == [True, False]


@pytest.mark.parametrize(
    ("published", "ours", "status"),
    [(2.0, 2.0, "within one point"), (2.0, 1.0, "in order"), (0.0, 0.0, "within one point"), (0.0, 1.0, "differs"),
     (-1.0, 0.0, "differs"), (-2.0, 1.0, "differs")],
)  # fmt: skip
def test_a_sign_counts_where_both_agree_or_both_are_unsure(published, ours, status):
    assert one_row(("b", published, ours), along="sign", point=0.0) == [status]


def test_counts_add_up():
    rows = {row[0]: [int(value) for value in row[1:]] for row in _cells.counts(FOUND)}
    apart = rows.pop("sparse, without headlines")
    total = rows.pop("all")
    assert total[0] == len(FOUND) - apart[0] == sum(row[0] for row in rows.values())
    assert all(row[0] == sum(row[1:]) for row in (*rows.values(), total, apart))


def test_a_row_may_have_a_reason_of_its_own():
    read = [_cells.Cell("p", "1", row, "a", 50.0, 70.0) for row in ("odd", "plain")]
    told = {"point": 1.0, "differs": "all", "rows": {"odd": {"differs": "own"}}}
    assert [cell.reason for cell in _cells._judged(read, told, {})] == ["own", "all"]
    assert {cell.reason for cell in _cells._judged(read, told, {"differs": "of the table"})} == {"of the table"}
