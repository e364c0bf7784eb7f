"""Plots as SVG to stand inside a page: no outside references, text as text, the page's light or dark colours."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from textbayes.display.drawing import Colours, blank_figure, figure_svg
from textbayes.report.records import Bin, Coverage, Curve

# matplotlib wants colours it can compute with; these stand for the page's own and are replaced in the finished SVG.
INK, MUTED, LINE, ACCENT, SECOND = "#010101", "#020202", "#030303", "#040404", "#050505"
THEME = {INK: "--ink", MUTED: "--muted", LINE: "--line", ACCENT: "--accent", SECOND: "--second"}
COLOURS = Colours(ink=INK, ticks=MUTED, axes=LINE)


def reliability_plot(bins: list[Bin]) -> str:
    """Plot of observed shares against probabilities, with 95% intervals, above the number of decisions in each bin."""
    with blank_figure(4.6, 4.8, COLOURS) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
        upper.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        said = [b.mean_proba for b in bins]
        seen = [b.observed.share for b in bins]
        below = [max(0.0, b.observed.share - b.observed.low) for b in bins]
        above = [max(0.0, b.observed.high - b.observed.share) for b in bins]
        upper.errorbar(said, seen, yerr=[below, above], fmt="o", color=ACCENT, markersize=6, elinewidth=1.5)
        upper.set(xlim=(-0.02, 1.02), ylim=(-0.03, 1.03), ylabel="observed frequency")
        counts = [b.n for b in bins]
        centres = [(min(int(b.mean_proba * 10), 9) + 0.5) / 10 for b in bins]
        lower.bar(centres, counts, width=0.085, color=ACCENT, alpha=0.55)
        for x, n in zip(centres, counts, strict=True):
            lower.text(x, n * 1.15, _short(n), ha="center", va="bottom", fontsize=8.5, color=INK)
        lower.set_yscale("log")
        lower.set(ylim=(0.7, max(counts) * 6), xlabel="predicted probability", ylabel="predictions")
        lower.yaxis.set_major_locator(_ticker().NullLocator())
        lower.yaxis.set_minor_locator(_ticker().NullLocator())
        _percent(upper.yaxis)
        _percent(lower.xaxis)
        said_true = ", ".join(f"{100 * b.mean_proba:.0f}%: {100 * b.observed.share:.0f}%" for b in bins)
        description = f"Calibration plot, predicted probability and observed frequency: {said_true}"
        return embed(figure_svg(figure), "reliability", description)


def coverage_plot(steps: list[Coverage]) -> str:
    """Plot of the accuracy of the surest texts against their share: one point for each least probability."""
    with blank_figure(4.6, 4.8, COLOURS) as figure:
        axes = figure.subplots()
        shares, rights = [step.share for step in steps], [step.accuracy for step in steps]
        axes.plot(shares, rights, color=SECOND, linewidth=1.5, marker="o", markersize=6)
        gap = max(0.004, (1.0 - min(rights)) * 0.2)
        last = None
        for step in steps:
            # Names that would lie on one another are left out; the points are all there.
            if last is None or last.share - step.share > 0.02 or step.accuracy - last.accuracy > gap / 3:
                name = f"p ≥ {step.at_least:g}" if step.at_least else "all texts"
                near_left = step.share - min(shares) < 0.35 * (1.0 - min(shares))
                place = {"ha": "left", "va": "bottom"} if near_left else {"ha": "right", "va": "top"}
                offset = (6, 3) if near_left else (-7, -3)
                point = (step.share, step.accuracy)
                axes.annotate(name, point, offset, textcoords="offset points", fontsize=9, color=MUTED, **place)
                last = step
        span = max(0.05, 1.0 - min(shares))
        axes.set(
            xlim=(min(shares) - 0.08 * span, 1.0 + 0.05 * span),
            ylim=(max(0.0, min(rights) - gap), max(rights) + gap / 2),
        )
        axes.set(xlabel="share of texts decided automatically", ylabel="accuracy on these texts")
        axes.grid(color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        _percent(axes.xaxis)
        _percent(axes.yaxis)
        first, surest = steps[0], steps[-1]
        return embed(
            figure_svg(figure),
            "coverage",
            f"Curve of accuracy against the share of texts decided: {100 * first.accuracy:.1f}% on all texts, "
            f"{100 * surest.accuracy:.1f}% on the most certain {100 * surest.share:.0f}%",
        )


def precision_recall_plot(curve: Curve) -> str:
    """Precision against recall of all yes-or-no decisions together, with a dot where the decisions are."""
    with blank_figure(4.6, 4.8, COLOURS) as figure:
        axes = figure.subplots()
        axes.plot(curve.recall, curve.precision, color=ACCENT, linewidth=1.8)
        said = f"average precision {curve.average_precision:.3f}"
        if curve.here is not None:
            axes.plot(*curve.here, "o", color=SECOND, markersize=8)
            said += f"; the predictions have recall {curve.here[0]:.3f} and precision {curve.here[1]:.3f}"
        axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.03), xlabel="recall", ylabel="precision")
        axes.grid(color=LINE, linewidth=0.6)
        axes.set_axisbelow(True)
        _percent(axes.xaxis)
        _percent(axes.yaxis)
        return embed(figure_svg(figure), "precision-recall", f"Curve of precision against recall: {said}")


def _short(n: int) -> str:
    """A count in at most four characters or so.

    >>> _short(1_234), _short(12_345), _short(2_345_678)
    ('1,234', '12k', '2.3M')
    """
    return f"{n:,}" if n < 10_000 else f"{n / 1e3:.0f}k" if n < 1_000_000 else f"{n / 1e6:.1f}M"


def _ticker() -> Any:
    from matplotlib import ticker

    return ticker


def _percent(axis: Any) -> None:
    axis.set_major_formatter(_ticker().FuncFormatter(lambda value, _: f"{100 * value:.4g}%"))
    axis.set_major_locator(_ticker().MaxNLocator(6))


def embed(svg: str, prefix: str, description: str) -> str:
    """Make a stand-alone SVG fit for a page: no prolog, no name spaces, ids of its own, the page's colours and font.

    ``description`` is read out in place of the drawing.

    Parameters
    ----------
    svg : str
    prefix : str
        Put before its ids.
    description : str
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", svg)
    box = re.findall(r'viewBox="[^"]*"', svg)[0]
    svg = f'<svg {box} role="img" aria-label="{escape(description)}">{svg[svg.index(">") + 1 :]}'
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    for colour, variable in THEME.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg.replace("'DejaVu Sans'", "system-ui, sans-serif")
