"""Figure 1: the posterior means of one domain's words."""

from __future__ import annotations

import numpy as np

from textbayes.core.types import AnyArray, FloatArray
from textbayes.reproduce.draw import INK, LINE, MUTED, SERIES, sketch
from textbayes.reproduce.gibbs.domains import Documents, choose_words, random_split
from textbayes.reproduce.gibbs.published import DOMAINS, N_TOP
from textbayes.reproduce.gibbs.sampling import sample, top_words
from textbayes.reproduce.results import Figure

_N_NAMED = 8  # words that are named in the drawing, and in the note on either side


def figure_1(documents: Documents, positive: int = 0, resampling: int = 0, draws: int | None = None) -> Figure:
    """Posterior means of the 800 words of mathematics in the first division, in alphabetical order."""
    split = random_split(documents.domain, positive, resampling)
    y = documents.domain[split.train] == positive
    words = choose_words(documents.X[split.train], y)
    fit = sample(documents.X[split.train][:, words], y, len(DOMAINS) * resampling + positive, draws)
    names = documents.words[words]
    order = np.argsort(names, kind="stable")
    return drawn(fit.mean[order], names[order], DOMAINS[positive].replace("_", " "))


def drawn(mean: FloatArray, names: AnyArray, domain: str) -> Figure:
    """The drawing: top words dark, the strongest of them by name."""
    top = top_words(mean)
    rest = np.setdiff1d(np.arange(len(mean)), top)
    with sketch(6.4, 3.8) as sketched:
        axes = sketched.axes
        axes.axhline(0.0, color=LINE, linewidth=0.8)
        axes.vlines(rest, 0.0, mean[rest], color=MUTED, linewidth=0.6, label="other words")
        axes.vlines(top, 0.0, mean[top], color=SERIES[0], linewidth=1.0, label=f"top {len(top)}")
        for word in top[:_N_NAMED]:
            up = mean[word] > 0.0
            axes.annotate(
                str(names[word]), (word, mean[word]), textcoords="offset points", xytext=(0, 2 if up else -8),
                ha="center", fontsize=7, color=INK,
            )  # fmt: skip
        axes.set(xlabel="word", ylabel="posterior mean of θ")
        axes.legend(frameon=False, fontsize=8)
    outer = np.abs(mean[top]).min() if len(top) else 0.0
    positive, negative = top[mean[top] > 0.0], top[mean[top] < 0.0]
    notes = (
        f"{domain}, first resampling: {len(positive)} of the top {min(N_TOP, len(mean))} words speak for the domain, "
        f"{len(negative)} against it; the least of them has |θ̄| = {outer:.2f}, the median of the others is "
        f"{np.median(np.abs(mean[rest])) if len(rest) else 0.0:.2f}, and {np.count_nonzero(mean[rest] < 0.0)} of these "
        f"{len(rest)} speak against it.",
        "Strongest for: " + ", ".join(map(str, names[positive[:_N_NAMED]])) + ". Strongest against: "
        + ", ".join(map(str, names[negative[:_N_NAMED]])) + ".",
        "The paper does not say which domain it shows; its axis is marked from −1 to 0.5.",
    )  # fmt: skip
    description = "Lines of middling length downwards for most words, few upwards, some of which are the longest."
    return Figure("1", f"Posterior means of θ, {domain}.", sketched.svg, notes, description)
