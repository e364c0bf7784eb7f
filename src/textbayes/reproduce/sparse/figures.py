"""The paper's Figures 2 and 3. Its Figure 1 is a drawing of the model."""

from __future__ import annotations

import numpy as np

from textbayes.links import make_link
from textbayes.reproduce.draw import INK, LINE, SERIES, blank, to_svg
from textbayes.reproduce.results import Figure, Table
from textbayes.reproduce.sparse.published import TOPICS


def boxplots(table: Table) -> Figure:
    """Figure 2: minimum, quartiles and maximum of F1 over the ten topics for each column of Table 1, and ours."""
    names = [*table.columns, "Sparse Bayes, ours"]
    published = np.array(table.published[: len(TOPICS)], dtype=np.float64)
    columns = [*published.T, np.array([row[-1] for row in table.ours[: len(TOPICS)]], dtype=np.float64)]
    with blank(6.4, 3.8) as figure:
        axes = figure.subplots()
        drawn = axes.boxplot(columns, tick_labels=names, whis=(0, 100), widths=0.5, medianprops={"color": INK})
        for line in (part for kind in ("boxes", "whiskers", "caps") for part in drawn[kind]):
            line.set_color(SERIES[0])
        axes.set(ylabel="F1 over the ten topics")
        axes.grid(axis="y", color=LINE, linewidth=0.6)
        axes.tick_params(axis="x", labelsize=8)
        svg = to_svg(figure)
    medians = ", ".join(f"{name} {np.median(column):.1f}" for name, column in zip(names, columns, strict=True))
    return Figure(
        number="2",
        caption="Box plots of Table 1: minimum, quartiles and maximum of F1 over the ten topics.",
        svg=svg,
        notes=("The first four boxes are of the published figures.",),
        description=f"Box plots of F1 with medians {medians}",
    )


def curvature() -> Figure:
    """Figure 3: f(w) = d² ln Φ(w)/dw², negative everywhere, so the probit likelihood is log-concave."""
    w = np.linspace(-8.0, 8.0, 321)
    f = -make_link("probit").hessian(w, np.ones_like(w))
    with blank(5.0, 3.2) as figure:
        axes = figure.subplots()
        axes.plot(w, f, color=SERIES[0])
        axes.axhline(0.0, color=LINE, linewidth=0.8)
        axes.set(xlabel="w", ylabel="f(w)")
        svg = to_svg(figure)
    return Figure(
        number="3",
        caption="The function f of the paper's appendix: (φ′Φ − φ²)/Φ², the second derivative of ln Φ.",
        svg=svg,
        description=f"A curve that rises from −{-f[0]:.2f} at w = −8 to 0, and is negative everywhere",
    )
