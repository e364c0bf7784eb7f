"""A page on how many words a model needs: held-out F1 against the number of words, and the table behind it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write
from textbayes.display.pages import blank_figure, figure_svg, render_page
from textbayes.report.plots import ACCENT, COLOURS, LINE, MUTED, SECOND, embed
from textbayes.report.render import check_report_extra
from textbayes.tune import SparsityPath

_FOLDER = Path(__file__).parent


def write_sparsity_page(path: str | Path, found: SparsityPath, source: str = "") -> None:
    """Write the page, whole or not at all.

    Parameters
    ----------
    path : str or Path
    found : SparsityPath
    source : str
        What the texts are, such as the name of their file.
    """
    check_report_extra()
    from markupsafe import Markup

    html = render_page(
        _FOLDER / "sparsity.html.jinja", _FOLDER / "report.css",
        found=found, rows=found.rows(), plot=Markup(sparsity_plot(found)), source=source, version=__version__,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )  # fmt: skip
    with atomic_write(path) as stream:
        stream.write(html.encode())


def sparsity_plot(found: SparsityPath) -> str:
    """Plot of macro F1, ± a standard error, against the number of words; dots mark the best and the one chosen."""
    from matplotlib import ticker

    points = [point for point in found.points if point.words]  # none has a place on a scale of logarithms
    with blank_figure(7.5, 4.2, COLOURS) as figure:
        axes = figure.subplots()
        words, f1 = [point.words for point in points], [point.macro_f1 for point in points]
        errors = [point.standard_error for point in points]
        axes.errorbar(words, f1, yerr=errors, color=MUTED, fmt="-o", markersize=4, linewidth=1.2, elinewidth=1)
        best, chosen = found.points[found.best], found.points[found.chosen]
        axes.axhline(best.macro_f1 - best.standard_error, color=LINE, linewidth=1, linestyle=(0, (4, 3)))
        axes.plot([best.words], [best.macro_f1], "o", color=ACCENT, markersize=9, label="best")
        axes.plot([chosen.words], [chosen.macro_f1], "o", color=SECOND, markersize=9, label="chosen")
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.set(xlabel="words with a weight", ylabel="macro F1, held out")
        axes.grid(color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="lower right")
        description = (
            f"Curve of held-out F1 against the number of words: best {best.macro_f1:.3f} with {best.words:,} words; "
            f"chosen {chosen.macro_f1:.3f} with {chosen.words:,}"
        )
        return embed(figure_svg(figure), "sparsity", description)
