"""Results on a terminal, as Markdown and as HTML: published and own figure side by side, and their difference.

``sketch`` draws a figure as an SVG file that stands alone, ``graphical_model`` a model as the papers draw it.

    with sketch(5.0, 3.5) as drawn:
        drawn.axes.plot(x, y, color=SERIES[0])
    svg = drawn.svg
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError
from textbayes.display import Colours, blank_figure, check_pages_extra, figure_svg, render_page
from textbayes.reproduce.experiment import Experiment
from textbayes.reproduce.results import Cell, Figure, Result, Table

if TYPE_CHECKING:
    from rich.console import Console

_FOLDER = Path(__file__).parent
_PARTIAL = ".partial"
_PADDING = 3  # a column of a terminal table is so much wider than its text


def check_extra() -> None:
    """Refuse at once, rather than after the first table, if the packages that pages and figures need are missing."""
    check_pages_extra("the page of a reproduction")


class Pages:
    """The Markdown and HTML pages of a paper in a folder, written anew after every result.

    Until all is done they have names of their own (``PAPER.partial.md``): an interrupted run leaves what was finished
    there, and the pages of an earlier run as they were.
    """

    def __init__(self, folder: str | Path, paper: Experiment, command: str) -> None:
        check_extra()
        self.folder, self.paper, self.command = Path(folder), paper, command
        self.results: list[Result] = []
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"{self.folder} cannot be made ({error.strerror}); choose another folder with --output"
            ) from error

    @property
    def markdown(self) -> Path:
        return self.folder / f"{self.paper.name}.md"

    @property
    def html(self) -> Path:
        return self.folder / f"{self.paper.name}.html"

    def add(self, result: Result) -> None:
        """Take up a result and write both pages of what there is; a figure is a file of its own as well."""
        self.results.append(result)
        self._write_all(f"{self.paper.name}{_PARTIAL}")

    def finish(self) -> None:
        """Write the pages by their own names, since all is done."""
        self._write_all(self.paper.name)
        for path in self._paths(f"{self.paper.name}{_PARTIAL}"):
            path.unlink(missing_ok=True)

    def _paths(self, stem: str) -> list[Path]:
        figures = [figure_file(stem, one) for one in self.results if isinstance(one, Figure)]
        return [self.folder / name for name in (*figures, f"{stem}.md", f"{stem}.html")]

    def _write_all(self, stem: str) -> None:
        pages = (
            to_markdown(self.paper, self.results, self.command, stem),
            to_html(self.paper, self.results, self.command),
        )
        figures = [one.svg for one in self.results if isinstance(one, Figure)]
        for path, text in zip(self._paths(stem), [*figures, *pages], strict=True):
            _write(path, text)


def to_markdown(paper: Experiment, results: Sequence[Result], command: str, stem: str | None = None) -> str:
    """The page as Markdown. A cell is ``published / ours (difference)``, in bold where the difference is marked.

    Parameters
    ----------
    paper : Experiment
    results : sequence of Table or Figure
    command : str
        What printed it.
    stem : str, optional
        With which names of figures' files begin; the paper's name if not given.
    """
    parts = [f"# {paper.title}", paper.reference, f"Printed by `{command}`. {_LEGEND}"]
    parts += [
        table_markdown(result) if isinstance(result, Table) else figure_markdown(stem or paper.name, result)
        for result in results
    ]
    return "\n\n".join(parts) + "\n"


_LEGEND = "Each cell: published / ours (difference); a difference beyond the table's margin is marked."


def table_markdown(table: Table, heading: str = "##") -> str:
    """One table as Markdown with its caption and notes."""

    def cell(row: int, column: int) -> str:
        if not table.compared:
            return _texts(table, row, column)[0]
        published, ours, difference = _texts(table, row, column)
        text = f"{published} / {ours}" + (f" ({difference})" if difference else "")
        return f"**{text}**" if table.marked(row, column) else text

    lines = [f"| {_escaped('', *table.columns)} |", "|---" + "|---:" * len(table.columns) + "|"]
    for i, name in enumerate(table.rows):
        lines.append(f"| {_escaped(name)} | " + " | ".join(cell(i, j) for j in range(len(table.columns))) + " |")
    notes = "".join(f"\n- {note}" for note in table.remarks)
    return f"{heading} {table.name}\n\n{table.caption}\n\n" + "\n".join(lines) + (f"\n{notes}" if notes else "")


def _escaped(*names: str) -> str:
    return " | ".join(name.replace("|", "\\|") for name in names)


def figure_markdown(stem: str, figure: Figure, heading: str = "##") -> str:
    """A drawing as Markdown: a reference to its own file, with caption and notes."""
    notes = "".join(f"\n- {note}" for note in figure.notes)
    image = f"![{figure.description or figure.caption}]({figure_file(stem, figure)})"
    return f"{heading} {figure.name}\n\n{figure.caption}\n\n{image}" + (f"\n{notes}" if notes else "")


def figure_file(stem: str, figure: Figure) -> str:
    """The name of the figure's own file."""
    return f"{stem}-figure-{figure.number.lower().replace(' ', '-')}.svg"


def to_html(paper: Experiment, results: Sequence[Result], command: str) -> str:
    """The page as HTML that needs no other file, no network and no script; all text is escaped."""
    check_extra()
    template, style = _FOLDER / "page.html.jinja", _FOLDER / "page.css"
    return render_page(template, style, paper=paper, results=[_shown(result) for result in results], command=command)


def _shown(result: Result) -> dict[str, Any]:
    """A result as the template wants it: text only."""
    shown: dict[str, Any] = {"name": result.name, "caption": result.caption, "notes": result.notes}
    if isinstance(result, Figure):
        data = base64.b64encode(result.svg.encode()).decode()
        return shown | {"image": f"data:image/svg+xml;base64,{data}", "alt": result.description or result.caption}
    rows = [
        {
            "name": name,
            "cells": [
                {"texts": _texts(result, i, j), "marked": result.marked(i, j)} for j in range(len(result.columns))
            ],
        }
        for i, name in enumerate(result.rows)
    ]
    shown |= {"notes": result.remarks, "image": None, "columns": result.columns, "rows": rows}
    return shown | {"compared": result.compared}


def print_result(result: Result, console: Console) -> None:
    """One result on a terminal; a table wider than it is printed in parts of fewer columns."""
    console.print(f"\n{result.name}. {result.caption}", style="bold")
    if isinstance(result, Table):
        _print_table(result, console)
    for note in result.remarks if isinstance(result, Table) else result.notes:
        console.print(f"· {note}")


def _print_table(table: Table, console: Console) -> None:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    texts = [
        [" ".join(filter(None, _texts(table, i, j))) for j in range(len(table.columns))] for i in range(len(table.rows))
    ]
    corner = "published, ours, difference" if table.compared else ""
    first = max(len(corner), *map(len, table.rows)) + _PADDING
    width = [max(len(name), *(len(row[j]) for row in texts)) + _PADDING for j, name in enumerate(table.columns)]
    for part in _parts(width, console.width - first):
        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
        grid.add_column(corner, overflow="fold")
        for j in part:
            grid.add_column(table.columns[j], justify="right")
        for i, name in enumerate(table.rows):
            grid.add_row(Text(name), *(Text(texts[i][j], "bold" if table.marked(i, j) else "") for j in part))
        console.print(grid)


def _parts(width: Sequence[int], room: int) -> list[list[int]]:
    """Columns in runs that fit into the room, at least one in each.

    >>> _parts([10, 10, 10, 30], 25)
    [[0, 1], [2], [3]]
    """
    parts: list[list[int]] = [[]]
    for column, needed in enumerate(width):
        if parts[-1] and sum(width[j] for j in parts[-1]) + needed > room:
            parts.append([])
        parts[-1].append(column)
    return parts


def _texts(table: Table, row: int, column: int) -> tuple[str, ...]:
    """Published, ours and the difference as text, or ours alone where the table has nothing published.

    A dash stands for what there is not; there is no difference where one of the two is missing.
    """

    def shown(value: Cell) -> str:
        return "–" if value is None else f"{value:.{table.digits}f}"

    published, ours = shown(table.published[row][column]), shown(table.ours[row][column])
    if not table.compared:
        return (ours,)
    difference = table.difference(row, column)
    return published, ours, "" if difference is None else f"{difference:+.{table.digits}f}".replace("-", "−")


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


INK, MUTED, LINE = "#1c2430", "#5c6675", "#d5dae1"
SERIES = ("#1f5fbf", "#b5530c", "#7a3fb0", "#1b7f4b")  # several curves in one figure, distinguishable in grey as well


class Sketch:
    """A drawing: its matplotlib axes while it is made, and its SVG on white when it is done."""

    def __init__(self, axes: Any) -> None:
        self.axes, self.svg = axes, ""


@contextmanager
def sketch(width: float, height: float) -> Iterator[Sketch]:
    """Begin a drawing of that many inches; it is turned into SVG at the end."""
    with blank_figure(width, height, Colours(INK, MUTED, MUTED)) as figure:
        drawn = Sketch(figure.subplots())
        yield drawn
        drawn.svg = figure_svg(figure, "white")


_RADIUS = 0.32


class Node(NamedTuple):
    """A variable at (x, y): observed ones are filled, fixed ones have no circle."""

    label: str
    x: float
    y: float
    kind: Literal["hidden", "observed", "fixed"] = "hidden"


class Plate(NamedTuple):
    """A box from (left, bottom) to (right, top) around what is repeated, and how often."""

    label: str
    left: float
    bottom: float
    right: float
    top: float


def graphical_model(nodes: Mapping[str, Node], arrows: Sequence[tuple[str, str]], plates: Sequence[Plate]) -> str:
    """Draw a graphical model as SVG.

    Parameters
    ----------
    nodes : mapping of str to Node
        The variables by name.
    arrows : sequence of (str, str)
        From what a variable depends on, to the variable.
    plates : sequence of Plate
    """
    unknown = sorted({name for arrow in arrows for name in arrow} - set(nodes))
    if unknown:
        raise InputError(f"an arrow names {unknown[0]!r}, which is not among the nodes {', '.join(nodes)}")
    xs, ys = ([getattr(node, side) for node in nodes.values()] for side in ("x", "y"))
    left, right, bottom, top = min(xs) - 1.0, max(xs) + 1.0, min(ys) - 0.8, max(ys) + 0.8
    from matplotlib.patches import Circle, FancyArrowPatch, Rectangle  # slow to import

    with sketch(0.62 * (right - left), 0.62 * (top - bottom)) as drawn:
        axes = drawn.axes
        axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        axes.axis("off")
        for plate in plates:
            size = plate.right - plate.left, plate.top - plate.bottom
            axes.add_patch(Rectangle((plate.left, plate.bottom), *size, fill=False, edgecolor=MUTED, linewidth=0.9))
            axes.text(plate.left + 0.08, plate.bottom + 0.07, plate.label, ha="left", va="bottom", fontsize=8)
        for start, end in arrows:
            ends = [(nodes[name].x, nodes[name].y) for name in (start, end)]
            axes.add_patch(
                FancyArrowPatch(
                    *ends, arrowstyle="-|>", mutation_scale=9, color=INK, linewidth=0.9, shrinkA=13, shrinkB=14
                )
            )
        for node in nodes.values():
            if node.kind != "fixed":
                fill = LINE if node.kind == "observed" else "white"
                axes.add_patch(
                    Circle((node.x, node.y), _RADIUS, facecolor=fill, edgecolor=INK, linewidth=0.9, zorder=2)
                )
            axes.text(node.x, node.y, node.label, ha="center", va="center", fontsize=11, zorder=3)
    return drawn.svg
