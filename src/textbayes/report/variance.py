"""Observed against fitted variance of words' rates: what the Poisson misses and the negative binomial mends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from textbayes.core.errors import InputError
from textbayes.display.drawing import Colours, blank_figure, figure_svg

if TYPE_CHECKING:
    from textbayes.core.types import FloatArray
    from textbayes.lexical.burstiness import Burstiness

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
