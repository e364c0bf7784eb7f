"""Plots of simulated screenings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, MissingExtraError
from textbayes.screen.calibration import Bin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from textbayes.screen.simulations import Result


def check_plot_ending(path: str | Path) -> str:
    """The format of a drawing by the ending of its file; others than PNG, SVG and PDF are refused."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in ("png", "svg", "pdf"):
        raise InputError(f"{path} does not say what to draw; end it in .png, .svg or .pdf")
    return ending


def draw_recall(results: Sequence[Result], path: str | Path, bins: Sequence[Bin] = ()) -> None:
    """Draw how recall grows with reading: a panel for each review, a thin line for each seed, a colour for each model.

    Parameters
    ----------
    results : sequence of Result
    path : str or Path
    bins : sequence of Bin
        The gauge's calibration, in a panel of its own.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", "demo", "drawing recall curves") from None
    ending = check_plot_ending(path)
    reviews = list(dict.fromkeys(result.task.review for result in results))
    models = list(dict.fromkeys(result.task.model for result in results))
    n_panels = len(reviews) + bool(bins)
    columns = min(4, n_panels)
    rows = -(-n_panels // columns)
    figure = Figure(figsize=(3.2 * columns, 2.8 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[n_panels:]:
        panel.set_axis_off()
    for result in results:
        order = result.simulation.order
        panel = panels[reviews.index(result.task.review)]
        colour = f"C{models.index(result.task.model)}"
        panel.plot(np.arange(1, len(order) + 1) / len(order), np.cumsum(order) / order.sum(), color=colour, lw=0.8)
        panel.set_title(Path(result.task.review).stem, fontsize=9)
        for stop in result.simulation.stops:
            panel.plot(stop.n_read / len(result.simulation.rows), stop.recall, ".", color=colour)
    for k, model in enumerate(models):
        panels[0].plot([], [], color=f"C{k}", label=model)
    panels[0].legend(fontsize=8, loc="lower right")
    if bins:
        draw_calibration(panels[n_panels - 1], bins)
    figure.supxlabel("share of the records read", fontsize=9)
    figure.supylabel("recall", fontsize=9)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=ending, dpi=120)


def draw_calibration(panel: Axes, bins: Sequence[Bin]) -> None:
    """Draw how often the target was reached by what the gauge had said; points on the line are right.

    Parameters
    ----------
    panel : matplotlib Axes
    bins : sequence of Bin
    """
    panel.plot([0, 1], [0, 1], color="0.7", lw=0.8)
    panel.scatter(
        [told.said for told in bins], [told.reached for told in bins], s=[8 + 3 * told.n**0.5 for told in bins]
    )
    panel.set_title("calibration: predicted (x), observed (y)", fontsize=9)
