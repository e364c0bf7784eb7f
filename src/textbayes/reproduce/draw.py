"""Drawing figures as SVG files that stand alone.

with sketch(5.0, 3.5) as drawn:
    drawn.axes.plot(x, y, color=SERIES[0])
svg = drawn.svg
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textbayes.display.pages import Colours, blank_figure, figure_svg

INK, MUTED, LINE = "#1c2430", "#5c6675", "#d5dae1"
SERIES = ("#1f5fbf", "#b5530c", "#7a3fb0", "#1b7f4b")  # several curves in one figure, told apart in grey as well


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
