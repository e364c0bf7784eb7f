"""Drawings as SVG that are small, searchable and the same bytes every time; shared by reports and reproductions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "svg.hashsalt": "textbayes",  # the same drawing gives the same bytes
    "font.family": "DejaVu Sans",  # ships with matplotlib
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


class Colours(NamedTuple):
    """Colours of what is written, of the marks along the axes, and of the axes themselves."""

    ink: str
    ticks: str
    axes: str


@contextmanager
def blank_figure(width: float, height: float, colours: Colours) -> Iterator[Any]:
    """An empty matplotlib figure, in inches, without pyplot: no backend is chosen and nothing left in global state."""
    import matplotlib
    from matplotlib.figure import Figure

    settings = {
        **_SETTINGS,
        "axes.edgecolor": colours.axes,
        "axes.labelcolor": colours.ink,
        "text.color": colours.ink,
        "xtick.color": colours.ticks,
        "ytick.color": colours.ticks,
    }
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]
        yield Figure(figsize=(width, height), layout="constrained")


def figure_svg(figure: Any, background: str | None = None) -> str:
    """The figure as an SVG document, transparent without a background colour.

    To be called inside :func:`blank_figure`, whose settings it needs.
    """
    stream = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))  # else a block of web addresses and the time of day
    figure.savefig(
        stream, format="svg", transparent=background is None, facecolor=background or "none", metadata=nothing
    )
    return stream.getvalue()
