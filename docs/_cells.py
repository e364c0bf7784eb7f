"""Every published cell of the five papers and what became of it, from the tables of the papers' pages and cells.toml.

    python docs/_cells.py        counts by paper and by status

A cell that was run is *within one point* (of a hundred, or what cells.toml says a point is in that table), or *in
order*: above or below each other figure of its line as published, where these are more than a point apart and could
have come out the other way round. Micro- and macro-averages are not set against each other, nor numbers of parameters
by γ. A sign test is in order where both are significant in the same direction, or neither is; a pair counts once, not
from both sides. A *misprint* is compared with nothing. Where the data are not the paper's it is *other data*, where
nothing was run *not run*, both with the reason that cells.toml gives; what is left *differs*, with a reason too.

Tables that the page has without headlines as well are judged a second time, by the same rules, and counted apart.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textbayes.reproduce.results import Misprint

PAPERS = Path(__file__).resolve().parent / "papers"
STATUS = {
    "within one point": "1",
    "in order": "o",
    "other data": "d",
    "not run": "–",
    "misprint": "†",
    "differs": "x",
}
BODIES = "without headlines"
_REASONS = {
    "within one point": "our figure is within one point of the published one",
    "misprint": "the figure cannot be what is printed; the note under the table says why",
}
_AVERAGES = re.compile("micro|macro")
_STEPS = {"≪": -2.0, "<": -1.0, "~": 0.0, ">": 1.0, "≫": 2.0}  # of sign tests


class Cell(NamedTuple):
    """A published figure, ours where there is one, what became of it, and why."""

    paper: str
    table: str
    row: str
    column: str
    published: float
    ours: float | None
    misprint: bool = False
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
            if settings.get("along") == "sign":  # the page has each pair from both sides
                own = [cell for i, cell in enumerate(own) if _mirrored(cell) not in map(_place, own[:i])]
            found += _judged(own, told, settings)
            bodies = pages.get(f"{number}, {BODIES}", ())
            found += _judged([Cell(f"{paper}, {BODIES}", number, *rest) for rest in bodies], told, settings)
    return found


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell.table, cell.row, cell.column


def _mirrored(cell: Cell) -> tuple[str, str, str]:
    return cell.table, cell.column, cell.row


def page_tables(text: str) -> dict[str, list[tuple[str, str, float, float | None, bool]]]:
    """The tables of a page by number: row, column, published and own figure of every cell that was published.

    Last, whether the published figure is marked as a misprint.
    """
    parts = re.split(r"^##+ Table (.*)$", text, flags=re.MULTILINE)
    return {name: list(_rows(body)) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _rows(body: str) -> Iterator[tuple[str, str, float, float | None, bool]]:
    lines = [line for line in re.split(r"^##", body, flags=re.MULTILINE)[0].splitlines() if line.startswith("|")]
    columns = [name.strip() for name in lines[0].split("|")[2:-1]] if lines else []
    for line in lines[2:]:
        row, *values = (value.strip() for value in line.split("|")[1:-1])
        for column, value in zip(columns, values, strict=True):
            both = re.fullmatch(r"\**(\S+) / (\S+?)(?: \(.*\))?\**", value)
            if both and both[1].endswith(Misprint.MARK):
                yield row, column, float("nan"), _number(both[2]), True
            elif both and (published := _number(both[1])) is not None:
                yield row, column, published, _number(both[2]), False


def _number(text: str) -> float | None:
    if text in _STEPS:
        return _STEPS[text]
    plain = text.replace("−", "-").replace(",", "")
    return float(plain) if re.fullmatch(r"-?\d+(\.\d+)?", plain) else None


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
            line = [other for other in line if _may_be_otherwise(cell, other, settings.get("forced", "$^"))]
            if cell.ours is None:
                status = "not run"
            elif cell.misprint:
                status = "misprint"
            elif abs(cell.ours - cell.published) <= point:
                status = "within one point"
            elif _in_order(cell, line, point) if along != "sign" else np.sign(cell.ours) == np.sign(cell.published):
                status = "in order"
            else:
                status = "differs"
            kept = (settings, told.get("rows", {}).get(cell.row, {}), told, _REASONS)
            yield cell._replace(status=status, reason=next((one[status] for one in kept if status in one), ""))


def _may_be_otherwise(cell: Cell, other: Cell, forced: str) -> bool:
    """Whether their order says something: micro-averages are above macro-averages, a larger γ leaves fewer words."""
    averages = [_AVERAGES.findall(one.column) for one in (cell, other)]
    return averages[0] == averages[1] and not all(re.match(forced, one.column) for one in (cell, other))


def _in_order(cell: Cell, line: list[Cell], point: float) -> bool:
    others = [o for o in line if o.ours is not None and not o.misprint and (o.row, o.column) != (cell.row, cell.column)]
    gaps = [(cell.published - other.published, (cell.ours or 0.0) - (other.ours or 0.0)) for other in others]
    apart = [(a, b) for a, b in gaps if abs(a) > point]
    return bool(apart) and all(a * b > 0.0 for a, b in apart)


def counts(found: list[Cell]) -> Iterator[tuple[str, ...]]:
    """Rows of the table of counts, one of all papers together, and those of tables without headlines."""
    names = list(dict.fromkeys(cell.paper for cell in found))
    papers = [name for name in names if BODIES not in name]
    for name in (*papers, "all", *(name for name in names if BODIES in name)):
        own = Counter(cell.status for cell in found if cell.paper == name or (name == "all" and cell.paper in papers))
        yield name, str(sum(own.values())), *(str(own[status]) for status in STATUS)


def page() -> str:
    """The page: counts, then every table with a sign for each cell, a second one without headlines, and the reasons."""
    found = cells()
    lines = [_table(("paper", "cells", *STATUS), counts(found))]
    for paper, number in dict.fromkeys(cell[:2] for cell in found if BODIES not in cell.paper):
        own, bodies = ([cell for cell in found if cell[:2] == (name, number)] for name in (paper, f"{paper}, {BODIES}"))
        columns = list(dict.fromkeys(cell.column for cell in own))
        sign = {(cell.row, cell.column): STATUS[cell.status] for cell in own}
        second = {(cell.row, cell.column): f" / {STATUS[cell.status]}" for cell in bodies}
        rows = [
            (row, *(sign.get((row, column), "") + second.get((row, column), "") for column in columns))
            for row in dict.fromkeys(cell.row for cell in own)
        ]
        lines += [f"## {paper}, Table {number}\n", _table(("", *columns), rows)]
        reasons = dict.fromkeys((cell.status, cell.reason) for cell in (*own, *bodies) if cell.reason)
        lines.append("".join(f"- {STATUS[status]} {status}: {reason}\n" for status, reason in reasons))
    return "\n".join(line for line in lines if line)


def _table(header: tuple[str, ...], rows: Any) -> str:
    lines = [header, ("---",) * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    for row in (("paper", "cells", *STATUS), *counts(cells())):
        print(row[0].ljust(28) + "".join(value.rjust(18) for value in row[1:]))
