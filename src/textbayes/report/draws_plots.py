"""ArviZ' plots of the words of a sampled model, saved to a file: intervals, the course of chains, their ranks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.display.drawing import Colours, blank_figure, figure_svg
from textbayes.posterior.intervals import PRACTICAL_SIZE
from textbayes.report.arviz import arviz, in_step, weights_of
from textbayes.text.surface import shown_names

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
    place = {str(name): j for j, name in enumerate(model.vectorizer_.get_feature_names_out())}
    names = model.label_space_.column_names if labels is None else [str(label) for label in labels]
    words = {name: [one.word for one in model.word_intervals(name, k=top, by=by, size=size)] for name in names}
    chosen = [name for name in names if words[name]]
    n_rows = sum(len(words[name]) for name in chosen)
    if model.draws_ is None or not chosen:
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
