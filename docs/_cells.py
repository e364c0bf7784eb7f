"""Every published cell of the five papers and what became of it, from the tables of the papers' pages and cells.toml.

    python docs/_cells.py        counts by paper and by status

A cell that was run is *within one point* (of a hundred, or what cells.toml says a point is in that table), or *in
order*: above or below each other figure of its line as published, where these are more than a point apart. Where the
data are not the paper's it is *other data*, where nothing was run *not run*, both with the reason that cells.toml
gives; what is left *differs*, with a reason too.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textbayes.reproduce.results import published_figures

PAPERS = Path(__file__).resolve().parent / "papers"
STATUS = {
    "within one point": "1",
    "in order": "o",
    "other data": "d",
    "not run": "–",
    "differs": "x",
}
_REASONS = {"within one point": "our figure is within one point of the published one"}
_STEPS = {"≪": -2.0, "<": -1.0, "~": 0.0, ">": 1.0, "≫": 2.0}  # of sign tests


class Cell(NamedTuple):
    """A published figure, ours where there is one, what became of it, and why."""

    paper: str
    table: str
    row: str
    column: str
    published: float
    ours: float | None
    status: str = ""
    reason: str = ""


def cells() -> list[Cell]:
    """All published cells, paper by paper, each with its status and reason."""
    with (PAPERS / "cells.toml").open("rb") as file:
        papers = tomllib.load(file)
    found = []
    for paper, told in papers.items():
        pages = page_tables((PAPERS / f"{paper}.md").read_text(encoding="utf-8"))
        for number, settings in told["tables"].items():
            names = settings.get("shown", [number])
            own = [
                Cell(paper, f"{number}{name.removeprefix(number) if len(names) > 1 else ''}", *rest)
                for name in names
                for rest in pages.get(name, ())
                if not {rest[0], rest[1]} & set(settings.get("not_printed", ()))
            ]
            if "published" in settings:  # the page has no such table: all of it is of other data, or not run
                own = [Cell(paper, number, *rest, None) for rest in _as_printed(**settings["published"])]
            found += _judged(own, told, settings)
    return found


def page_tables(text: str) -> dict[str, list[tuple[str, str, float, float | None]]]:
    """The tables of a page by number: row, column, published and own figure of every cell that was published."""
    parts = re.split(r"^##+ Table (.*)$", text, flags=re.MULTILINE)
    return {name: list(_rows(body)) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _rows(body: str) -> Iterator[tuple[str, str, float, float | None]]:
    lines = [line for line in re.split(r"^##", body, flags=re.MULTILINE)[0].splitlines() if line.startswith("|")]
    columns = [name.strip() for name in lines[0].split("|")[2:-1]] if lines else []
    for line in lines[2:]:
        row, *values = (value.strip() for value in line.split("|")[1:-1])
        for column, value in zip(columns, values, strict=True):
            both = re.fullmatch(r"\**(\S+) / (\S+?)(?: \(.*\))?\**", value)
            if both and (published := _number(both[1])) is not None:
                yield row, column, published, _number(both[2])


def _number(text: str) -> float | None:
    if text in _STEPS:
        return _STEPS[text]
    plain = text.replace("−", "-").replace(",", "")
    return float(plain) if re.fullmatch(r"-?\d+(\.\d+)?", plain) else None


def _as_printed(columns: str, rows: list[str]) -> Iterator[tuple[str, str, float]]:
    """Figures of a table as the paper prints them, by column: ``columns`` names paper and table, ``online:table 4``."""
    paper, _, number = columns.partition(":")
    for column, values in published_figures(paper)[number].items():
        for row, value in zip(rows, np.ravel(values), strict=True):
            yield row, column, float(value)


def _judged(own: list[Cell], told: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[Cell]:
    """The cells of a table with what became of them."""
    along = settings.get("along", told.get("along", "row"))
    for cell in own:
        for rule in settings.get("rules", []):
            named = [rule.get("rows", [cell.row]), rule.get("columns", [cell.column])]
            if cell.row in named[0] and cell.column in named[1]:
                yield cell._replace(status=rule["status"], reason=rule["reason"])
                break
        else:
            point = settings.get("point", told["point"]) * (1.0 + 1e-9)
            line = [other for other in own if along == "row" and other.row == cell.row]
            line += [other for other in own if along == "column" and other.column == cell.column]
            if cell.ours is None:
                status = "not run"
            elif abs(cell.ours - cell.published) <= point:
                status = "within one point"
            elif _in_order(cell, line, point) if along != "sign" else cell.ours * cell.published >= 0.0:
                status = "in order"
            else:
                status = "differs"
            yield cell._replace(status=status, reason=settings.get(status, told.get(status, _REASONS.get(status, ""))))


def _in_order(cell: Cell, line: list[Cell], point: float) -> bool:
    others = [other for other in line if other.ours is not None and other[2:4] != cell[2:4]]
    gaps = [(cell.published - other.published, (cell.ours or 0.0) - (other.ours or 0.0)) for other in others]
    apart = [(a, b) for a, b in gaps if abs(a) > point]
    return bool(apart) and all(a * b > 0.0 for a, b in apart)


def counts(found: list[Cell]) -> Iterator[tuple[str, ...]]:
    """Rows of the table of counts, the last of all papers together."""
    papers = list(dict.fromkeys(cell.paper for cell in found))
    for paper in (*papers, "all"):
        own = Counter(cell.status for cell in found if paper in (cell.paper, "all"))
        yield paper, str(sum(own.values())), *(str(own[status]) for status in STATUS)


def page() -> str:
    """The page: counts, then every table with a sign for each cell, and the reasons."""
    found = cells()
    lines = [_table(("paper", "cells", *STATUS), counts(found))]
    for paper, number in dict.fromkeys(cell[:2] for cell in found):
        own = [cell for cell in found if cell[:2] == (paper, number)]
        columns = list(dict.fromkeys(cell.column for cell in own))
        sign = {(cell.row, cell.column): STATUS[cell.status] for cell in own}
        rows = [
            (row, *(sign.get((row, column), "") for column in columns)) for row in dict.fromkeys(c.row for c in own)
        ]
        lines += [f"## {paper}, Table {number}\n", _table(("", *columns), rows)]
        reasons = dict.fromkeys((cell.status, cell.reason) for cell in own if cell.reason)
        lines.append("".join(f"- {STATUS[status]} {status}: {reason}\n" for status, reason in reasons))
    return "\n".join(line for line in lines if line)


def _table(header: tuple[str, ...], rows: Any) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    for row in (("paper", "cells", *STATUS), *counts(cells())):
        print(row[0].ljust(10) + "".join(value.rjust(18) for value in row[1:]))
