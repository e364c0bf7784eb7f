"""Lay a report out as one HTML file: template and style from this folder, plots inline, nothing fetched.

So is a page on how many words a model needs: held-out F1 against the number of words, and the table behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textbayes._version import __version__
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import MissingExtraError
from textbayes.display import blank_figure, check_pages_extra, figure_svg, render_page
from textbayes.evaluate.intervals import digits_of, figure_in_words
from textbayes.report.plots import ACCENT, COLOURS, LINE, MUTED, SECOND, curve_svg, embed, heat_map_svg
from textbayes.report.records import Example, Fragment, LabelRow
from textbayes.tune import SparsityPath

if TYPE_CHECKING:
    from textbayes.report.collect import ReportData


_SMALL_TABLE = 6  # columns of a confusion table that can be read on a telephone; of more there is a map and a list
_LARGE_TABLE = 12  # and on a large screen
_OVERVIEW_LABELS = 8  # drawn at the top of the page
_OVERVIEW_CHARACTERS = 380  # of the text explained there
_FOLDER = Path(__file__).parent


def check_report_extra() -> None:
    """Refuse at once, rather than after minutes of training, if the packages a report needs are not there."""
    check_pages_extra("the HTML report")


def render_report(data: ReportData) -> str:
    """The report as HTML that needs no other file, no network and no script.

    All text is escaped, whatever documents and labels hold.
    """
    check_report_extra()
    filters: dict[str, Callable[..., Any]] = {"percent": percent, "signed": signed, "figure": figure, "odds": odds}
    filters |= {"told": figure_in_words, "digits": lambda share: digits_of((share.low, share.high))}
    template, style = _FOLDER / "report.html.jinja", _FOLDER / "report.css"
    return render_page(
        template, style, filters,
        data=data, plots=_plots(data), verdict=verdict, beginning=beginning, axis_start=axis_start,
        large=_LARGE_TABLE, overview_labels=_OVERVIEW_LABELS,
    )  # fmt: skip


def _plots(data: ReportData) -> dict[str, Any]:
    """The drawings, which are not escaped: they are ours, of numbers, and hold nothing of documents or labels."""
    from markupsafe import Markup

    from textbayes.report.plots import coverage_plot, precision_recall_plot, reliability_plot

    plots: dict[str, Any] = {"reliability": Markup(reliability_plot(data.reliability))}
    if len({step.share for step in data.coverage}) > 1:  # one point is no curve
        plots["coverage"] = Markup(coverage_plot(data.coverage))
    if data.overall_curve is not None:
        plots["precision_recall"] = Markup(precision_recall_plot(data.overall_curve))
    plots["curves"] = [Markup(curve_svg(curve)) for curve in data.curves]
    if data.confusion is not None and len(data.confusion.columns) > _SMALL_TABLE:
        plots["map"] = Markup(heat_map_svg(data.confusion))
    return plots


def write_report(path: str | Path, data: ReportData) -> None:
    """Write the report to ``path``, whole or not at all."""
    html = render_report(data).encode()
    with atomic_write(path) as stream:
        stream.write(html)


def framed_report(data: ReportData) -> str | None:
    """The page in a frame, for notebooks; None, so that they show the short form, where the extra is missing."""
    try:
        page = render_report(data)
    except MissingExtraError:
        return None
    # No scripts run in a sandbox, and there are none.
    return f'<iframe sandbox="" srcdoc="{escape(page)}" style="width:100%;height:45rem;border:0"></iframe>'


def percent(value: float | None, digits: int = 1) -> str:
    """A share in per cent; the ends of the scale are not claimed by rounding.

    >>> percent(0.98765), percent(0.99999), percent(0.00001), percent(None)
    ('98.8%', '> 99.9%', '< 0.1%', '–')
    """
    if value is None:
        return "–"
    edge = 10.0**-digits
    if value > 0.0 and 100.0 * value < edge / 2:
        return f"< {edge:.{digits}f}%"
    if value < 1.0 and 100.0 * value > 100.0 - edge / 2:
        return f"> {100.0 - edge:.{digits}f}%"
    return f"{100.0 * value:.{digits}f}%"


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, a true minus.

    >>> signed(1.234), signed(-0.5)
    ('+1.23', '−0.50')
    """
    return f"{value:+.{digits}f}".replace("-", "−")


def figure(value: float | None, digits: int = 3) -> str:
    """A number with a fixed number of digits, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def odds(log_odds: float) -> str:
    """Log-odds as people bet: 7.4 to 1, or 1 to 20 against.

    >>> odds(2.0), odds(-3.0), odds(99.0)
    ('7.4 to 1', '1 to 20', 'over a million to 1')
    """
    size = abs(log_odds)
    if size > 13.8:
        ratio = "over a million"
    else:
        number = 2.718281828459045**size
        ratio = f"{number:.1f}" if number < 10.0 else f"{number:,.0f}"
    return f"{ratio} to 1" if log_odds >= 0.0 else f"1 to {ratio}"


def verdict(example: Example) -> dict[str, Any]:
    """Outcome of an example, for its headline: right or wrong, and both sides in words."""
    return {
        "right": set(example.truth) == set(example.decided),
        "decided": ", ".join(example.decided) or "no label",
        "truth": ", ".join(example.truth) or "no label",
    }


def beginning(fragments: list[Fragment]) -> list[Fragment]:
    """The first fragments of a text, as many as the top of the page has room for, cut between words."""
    shown: list[Fragment] = []
    room = _OVERVIEW_CHARACTERS
    for piece in fragments:
        if len(piece.text) > room:
            rest = piece.text[:room].rpartition(" ")[0] if not piece.level else ""
            return [*shown, replace(piece, text=rest)]
        shown.append(piece)
        room -= len(piece.text)
    return shown


def axis_start(rows: list[LabelRow]) -> float:
    """Where the axis of the labels' F1 starts: the tenth below all of their intervals, 0.9 at most."""
    lowest = min((row.f1.low for row in rows if row.f1 is not None), default=0.0)
    return min(0.9, int(10.0 * lowest) / 10.0)


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
