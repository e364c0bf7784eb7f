"""Drawings of figures as SVG files that stand alone, and graphical models as the papers draw them.

with sketch(5.0, 3.5) as drawn:
    drawn.axes.plot(x, y, color=SERIES[0])
svg = drawn.svg
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from textbayes.core.errors import InputError
from textbayes.display.pages import Colours, blank_figure, figure_svg

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
