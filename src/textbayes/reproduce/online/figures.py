"""The paper's Figure 1."""

from __future__ import annotations

from textbayes.reproduce.draw import SERIES, blank, to_svg
from textbayes.reproduce.results import Figure
from textbayes.stream import paper_threshold


def schedule() -> Figure:
    """Figure 1: the information gain θ that a document must promise, by the number of documents retrieved."""
    retrieved = range(101)
    theta = [paper_threshold(n) for n in retrieved]
    with blank(5.0, 3.2) as figure:
        axes = figure.subplots()
        axes.plot(retrieved, theta, color=SERIES[0])
        axes.set(xlabel="documents retrieved, N_ret", ylabel="θ, bits")
        svg = to_svg(figure)
    return Figure(
        number="1",
        caption="θ = 0.999/(1 + exp(−(N_ret − 50)/10)) + 0.001, tuned for T9P.",
        svg=svg,
        description=f"A curve rising from {theta[0]:.3f} at 0 over {theta[50]:.2f} at 50 to {theta[100]:.2f} at 100",
    )
