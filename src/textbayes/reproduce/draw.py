"""Drawing figures as SVG files that stand alone.

with blank(5.0, 3.5) as figure:
    axes = figure.subplots()
    axes.plot(x, y, color=SERIES[0])
    svg = to_svg(figure)
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INK, MUTED, LINE = "#1c2430", "#5c6675", "#d5dae1"
SERIES = ("#1f5fbf", "#b5530c", "#7a3fb0", "#1b7f4b")  # several curves in one figure, told apart in grey as well
_SETTINGS = {
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "svg.hashsalt": "textbayes",  # the same figure gives the same bytes
    "font.family": "DejaVu Sans",  # ships with matplotlib
    "font.size": 10.0,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@contextmanager
def blank(width: float, height: float) -> Iterator[Any]:
    """An empty matplotlib figure, in inches, without pyplot: no backend is chosen and nothing left in global state."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield Figure(figsize=(width, height), layout="constrained")


def to_svg(figure: Any) -> str:
    """The drawing as an SVG document on white; call it inside :func:`blank`, whose settings it needs."""
    stream = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # else a block of metadata with the time of day
    figure.savefig(stream, format="svg", facecolor="white", metadata=nothing)
    return stream.getvalue()
