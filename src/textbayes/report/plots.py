"""Drawings of a report, of draws and of words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.display import Colours, blank_figure, figure_svg
from textbayes.posterior.intervals import PRACTICAL_SIZE
from textbayes.report.arviz import arviz, in_step, weights_of
from textbayes.report.records import Confusion, Coverage, Curve, ReliabilityBin
from textbayes.text.surface import shown_names

if TYPE_CHECKING:
    from textbayes.core.types import FloatArray
    from textbayes.lexical.burstiness import Burstiness

# matplotlib wants colours it can compute with; these stand for the page's own and are replaced in the finished SVG.
INK, MUTED, LINE, ACCENT, SECOND = "#010101", "#020202", "#030303", "#040404", "#050505"
THEME = {INK: "--ink", MUTED: "--muted", LINE: "--line", ACCENT: "--accent", SECOND: "--second"}
COLOURS = Colours(ink=INK, ticks=MUTED, axes=LINE)


def reliability_plot(bins: list[ReliabilityBin]) -> str:
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


_NAME_WIDTH, _NAME_HEIGHT = 0.2, 0.05  # of a point's name in the plot of accuracy and coverage, in parts of the axes


def coverage_plot(steps: list[Coverage]) -> str:
    """Plot of the accuracy of the surest texts against their share: one point for each least probability."""
    with blank_figure(4.6, 4.8, COLOURS) as figure:
        axes = figure.subplots()
        shares, rights = [step.share for step in steps], [step.accuracy for step in steps]
        axes.plot(shares, rights, color=SECOND, linewidth=1.5, marker="o", markersize=6)
        gap = max(0.004, (1.0 - min(rights)) * 0.2)
        for step, near_left in _with_room(steps, gap):
            name = f"p ≥ {step.at_least:g}" if step.at_least else "all texts"
            place = {"ha": "left", "va": "bottom"} if near_left else {"ha": "right", "va": "top"}
            offset = (6, 3) if near_left else (-7, -3)
            point = (step.share, step.accuracy)
            axes.annotate(name, point, offset, textcoords="offset points", fontsize=9, color=MUTED, **place)
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


def _with_room(steps: list[Coverage], gap: float) -> Iterator[tuple[Coverage, bool]]:
    """The points whose names do not collide, in order, and whether the name stands to the right of its point."""
    shares, rights = [step.share for step in steps], [step.accuracy for step in steps]
    width = 1.13 * max(0.05, 1.0 - min(shares))
    height = max(rights) - min(rights) + 1.5 * gap
    taken: list[tuple[float, float]] = []  # middles of the names, in parts of the axes
    for step in steps:
        near_left = step.share - min(shares) < 0.35 * (1.0 - min(shares))
        side = 1.0 if near_left else -1.0
        x, y = step.share / width + side * (0.02 + _NAME_WIDTH / 2), step.accuracy / height + side * 0.03
        if all(abs(x - other[0]) > _NAME_WIDTH or abs(y - other[1]) > _NAME_HEIGHT for other in taken):
            taken.append((x, y))
            yield step, near_left


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


KINDS = ("forest", "trace", "rank")
FORMATS = (".svg", ".pdf", ".png")
_COLOURS = Colours(ink="#1a1a1a", ticks="#444444", axes="#888888")
_RESERVED = ("chain", "draw")
_ROW, _WIDTH, _MARGIN = {"forest": 0.28, "trace": 1.6, "rank": 1.9}, {"forest": 6.5, "trace": 9.0, "rank": 7.0}, 1.2
_MOST_ROWS = 200  # of a drawing that can still be looked at


def plot_words(
    model: TextCategorizer,
    path: str | Path,
    kind: str = "forest",
    labels: Sequence[str] | None = None,
    *,
    top: int = 20,
    by: str = "mean",
    size: float = PRACTICAL_SIZE,
    level: float = 0.95,
) -> None:
    """Draw the most telling words of some labels by ``arviz.plot_forest``, ``plot_trace`` or ``plot_rank``.

    Parameters
    ----------
    model : TextCategorizer
        Fitted with ``inference="gibbs"``.
    path : str or Path
        The file to write, ending in .svg, .pdf or .png.
    kind : {"forest", "trace", "rank"}
        Intervals of the weights; densities and courses of the chains; whether every chain takes every rank as often.
    labels : which; all by default
    top, by, size : how many words of each label, and ranked how, see ``TextCategorizer.word_intervals``
    level : share of the posterior in an interval, which here is the shortest that holds it (forest)

    Notes
    -----
    Needs the extra ``gibbs``, and matplotlib, which ArviZ brings.
    """
    check_choice("kind", kind, KINDS)
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level!r} is given; an interval holds a share between 0 and 1, such as 0.95")
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path} does not say what to draw it as; end it in {', '.join(FORMATS)}")
    if not isinstance(model, TextCategorizer):
        raise InputError(f"a {type(model).__name__} is given; pass a fitted TextCategorizer")
    data, n_rows = _data(model, labels, top, by, size)
    az = arviz()
    with warnings.catch_warnings():
        # ArviZ 0.23 calls matplotlib in a way that 3.11 warns of.
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=PendingDeprecationWarning)
        height = _MARGIN + _ROW[kind] * n_rows
        with blank_figure(_WIDTH[kind], height, _COLOURS) as figure:
            if kind == "forest":
                axes = figure.subplots()
                az.plot_forest(data, combined=True, hdi_prob=level, ax=axes, textsize=9, linewidth=1.5, markersize=3)
                axes.axvline(0.0, color=_COLOURS.axes, linewidth=0.8, zorder=0)
                axes.set_title(f"weights, {100 * level:g}% intervals", fontsize=10)
            elif kind == "trace":
                az.plot_trace(data, compact=False, axes=figure.subplots(n_rows, 2, squeeze=False))
            else:
                az.plot_rank(data, ax=figure.subplots(n_rows, 1, squeeze=False)[:, 0])
            _save(figure, path)


def _data(model: TextCategorizer, labels: Sequence[str] | None, top: int, by: str, size: float) -> tuple[Any, int]:
    """Draws with one variable for each label, which holds its own words; and how many words that is in all."""
    if model.draws_ is None:
        raise InputError(
            "the model has no draws to plot: it was not sampled (textbayes train --inference gibbs), or it was updated "
            "since, which leaves weights and standard errors alone"
        )
    place = {str(name): j for j, name in enumerate(model.vectorizer_.get_feature_names_out())}
    names = model.label_space_.column_names if labels is None else [str(label) for label in labels]
    rows = {name: model.word_intervals(name, k=top, by=by, size=size, whole=False) for name in names}
    words = {name: [one.word for one in rows[name]] for name in names}
    chosen = [name for name in names if words[name]]
    n_rows = sum(len(words[name]) for name in chosen)
    if not chosen:
        raise InputError("none of the labels has a word that was sampled; there is nothing to draw")
    if n_rows > _MOST_ROWS:
        raise InputError(f"{n_rows:,} words are too many for one drawing; ask for fewer words, or for some labels only")
    columns = [model._column(name) for name in chosen]
    common = in_step([model.draws_.labels[column] for column, _ in columns])
    draws, coords, dims = {}, {}, {}
    for number, (name, one, (_, mirrored)) in enumerate(zip(chosen, common, columns, strict=True)):
        variable = f"{name} " if name in _RESERVED else name
        values = weights_of(one, np.array([place[word] for word in words[name]]))
        draws[variable] = -values if mirrored else values
        shown = shown_names(words[name], model.vectorizer_, model.surface_)
        coords[f"word {number}"], dims[variable] = shown, [f"word {number}"]
    return arviz().from_dict(posterior=draws, coords=coords, dims=dims), n_rows


def _save(figure: Any, path: Path) -> None:
    from textbayes.core.atomic import atomic_write

    if path.suffix.lower() == ".svg":
        content = figure_svg(figure, "white").encode()
        with atomic_write(path) as stream:
            stream.write(content)
        return
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix.lower().removeprefix("."), dpi=150)


_INK, _MUTED, _POISSON, _BURSTY = "#1b1f24", "#6b7280", "#b3541e", "#1f5fa8"
_N_NAMED = 8


def common_dispersion(found: Burstiness) -> float:
    """One δ for all words: Σ(v − μ̂) / Σ μ̂r, r read off the words' own fits; 0 where words vary less than Poisson."""
    r = _r(found)
    return max(0.0, float((found.variance - found.rate).sum() / (found.rate.sum() * r))) if r > 0.0 else 0.0


def variance_svg(found: Burstiness, names: Sequence[str] | None = None) -> str:
    """An SVG document: each word twice, its observed variance over that of the Poisson and of the negative binomial.

    The negative binomial has one δ for all words here, since a δ of its own would fit every word's variance by
    construction. On the diagonal observed and fitted agree. ``names``, one for each word, label the words that vary
    most beyond Poisson.
    """
    if names is not None and len(names) != len(found.words):
        raise InputError(f"names holds {len(names)} words for {len(found.words)}; pass one for each, or none")
    seen = (found.variance > 0.0) & (found.rate > 0.0)
    if not seen.any():
        raise InputError("no word varies, so there is nothing to draw; pass words that occur in two documents or more")
    delta = common_dispersion(found)
    r = _r(found)
    observed, poisson = found.variance[seen], found.rate[seen]
    negative_binomial: FloatArray = poisson * (1.0 + delta * r)
    with blank_figure(5.6, 5.0, Colours(ink=_INK, ticks=_MUTED, axes=_MUTED)) as figure:
        axes = figure.subplots()
        ends = [min(observed.min(), poisson.min()) / 1.5, max(observed.max(), negative_binomial.max()) * 1.5]
        axes.plot(ends, ends, color=_MUTED, linewidth=1, linestyle=(0, (4, 3)))
        axes.scatter(poisson, observed, s=14, color=_POISSON, alpha=0.7, label="Poisson", linewidths=0)
        label = f"negative binomial, δ = {delta:.2g}"
        axes.scatter(negative_binomial, observed, s=14, color=_BURSTY, alpha=0.7, label=label, linewidths=0)
        if names is not None:
            shown = np.array(names, dtype=object)[seen]
            for j in _apart(poisson, observed, ends[1] / ends[0]):
                point = (poisson[j], observed[j])
                axes.annotate(str(shown[j]), point, (-4, 3), textcoords="offset points", fontsize=8, ha="right")
        axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
        axes.set(xlabel="variance of the rate per thousand words, fitted", ylabel="observed")
        axes.legend(frameon=False, loc="upper left", fontsize=9)
        return figure_svg(figure, background="white")


def _apart(poisson: FloatArray, observed: FloatArray, span: float) -> list[int]:
    """The words that vary most beyond Poisson, without those whose names would lie on one another."""
    chosen: list[int] = []
    x, y = np.log(poisson) / np.log(span), np.log(observed) / np.log(span)
    for j in np.argsort(-observed / poisson, kind="stable").tolist():
        if all(abs(x[j] - x[i]) > 0.15 or abs(y[j] - y[i]) > 0.03 for i in chosen):
            chosen.append(j)
        if len(chosen) == _N_NAMED:
            break
    return chosen


def _r(found: Burstiness) -> float:
    """r of Mosteller & Wallace, the same for all words: fitted variance is μ̂(1 + δ̂r)."""
    bursty = found.dispersion > 0.0
    if not bursty.any():
        return 0.0
    word = int(np.flatnonzero(bursty)[0])
    return float((found.fitted_variance[word] / found.rate[word] - 1.0) / found.dispersion[word])


_SIDE = 100.0  # of a curve's frame
_MAP = 360.0  # of the map's frame
_MAP_MARGIN = 42.0  # for the names of the axes and the numbers along the map
_MOST_CELLS = 6_000


def curve_svg(curve: Curve) -> str:
    """Precision (up) against recall (right) in a square, and a dot where the decisions are."""
    points = " ".join(
        f"{_SIDE * r:.1f},{_SIDE * (1 - p):.1f}" for r, p in zip(curve.recall, curve.precision, strict=True)
    )
    said = f"Precision against recall: average precision {curve.average_precision:.3f}"
    dot = ""
    if curve.here is not None:
        recall, precision = curve.here
        said += f"; the predictions have recall {recall:.3f} and precision {precision:.3f}"
        dot = f'<circle class="here" cx="{_SIDE * recall:.1f}" cy="{_SIDE * (1 - precision):.1f}" r="4"/>'
    half = _SIDE / 2
    return (
        f'<svg viewBox="-19 -5 {_SIDE + 24:.0f} {_SIDE + 24:.0f}" role="img" aria-label="{said}">'
        f'<path class="frame" d="M0 0V{_SIDE:.0f}H{_SIDE:.0f}V0Z M0 {half:.0f}H{_SIDE:.0f} M{half:.0f} 0V{_SIDE:.0f}"/>'
        f'<polyline class="curve" points="{points}"/>{dot}'
        f'<text x="{half:.0f}" y="{_SIDE + 15:.0f}" text-anchor="middle">recall</text>'
        f'<text transform="translate(-7 {half:.0f}) rotate(-90)" text-anchor="middle">precision</text></svg>'
    )


def heat_map_svg(confusion: Confusion) -> str:
    """The confusion table as squares, rows true and columns predicted, by number; the fuller the colour the more texts.

    A square is coloured by its share of the texts of its row; what is wrong starts from a colour that can be seen.
    """
    size = max(len(confusion.rows), len(confusion.columns))
    cell = _MAP / size
    totals: dict[int, int] = {}
    for row, _, n in confusion.cells:
        totals[row] = totals.get(row, 0) + n
    squares = []
    for row, column, n in sorted(confusion.cells, key=lambda one: -one[2])[:_MOST_CELLS]:
        share = n / totals[row]
        kind, opacity = ("r", 0.15 + 0.85 * share) if row == column else ("w", min(1.0, 0.3 + 1.4 * share))
        place = f"M{column * cell:.1f} {row * cell:.1f}h{cell:.1f}v{cell:.1f}h-{cell:.1f}z"
        squares.append(f'<path class="{kind}" d="{place}" fill-opacity="{opacity:.2f}"/>')
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if size / step <= 14)
    numbers = []
    for number in range(step, size + 1, step):
        middle = (number - 0.5) * cell
        numbers.append(f'<text x="{middle:.1f}" y="-6" text-anchor="middle">{number}</text>')
        numbers.append(f'<text x="-6" y="{middle + 4:.1f}" text-anchor="end">{number}</text>')
    whole = _MAP + _MAP_MARGIN + 10  # a little more, for the half of a number beyond the last square
    wrong = sum(n for row, column, n in confusion.cells if row != column)
    shape = f"{len(confusion.rows)} true by {len(confusion.columns)} predicted labels"
    said = f"Confusion matrix of {shape}; {wrong:,} texts are off the diagonal"
    return (
        f'<svg class="map" viewBox="{-_MAP_MARGIN:.0f} {-_MAP_MARGIN:.0f} {whole:.0f} {whole:.0f}" role="img" '
        f'aria-label="{said}"><rect class="frame" width="{_MAP:.0f}" height="{_MAP:.0f}"/>'
        f"{''.join(squares)}{''.join(numbers)}"
        f'<text x="{_MAP / 2:.0f}" y="-26" text-anchor="middle">predicted label (number in the list below)</text>'
        f'<text transform="translate(-30 {_MAP / 2:.0f}) rotate(-90)" text-anchor="middle">true label</text></svg>'
    )
