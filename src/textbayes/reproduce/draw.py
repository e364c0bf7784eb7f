"""Drawing figures as SVG files that stand alone.

with blank(5.0, 3.5) as figure:
    axes = figure.subplots()
    axes.plot(x, y, color=SERIES[0])
    svg = to_svg(figure)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from textbayes.display.drawing import Colours, blank_figure, figure_svg

INK, MUTED, LINE = "#1c2430", "#5c6675", "#d5dae1"
SERIES = ("#1f5fbf", "#b5530c", "#7a3fb0", "#1b7f4b")  # several curves in one figure, told apart in grey as well


def blank(width: float, height: float) -> AbstractContextManager[Any]:
    """An empty matplotlib figure, in inches."""
    return blank_figure(width, height, Colours(INK, MUTED, MUTED))


def to_svg(figure: Any) -> str:
    """The drawing as an SVG document on white; call it inside :func:`blank`, whose settings it needs."""
    return figure_svg(figure, "white")
