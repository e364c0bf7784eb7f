"""Figures 1 to 5: links, the prior of the variances, the model as a graph, skewed densities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import stats

from textbayes.core.types import FloatArray
from textbayes.links import make_link
from textbayes.reproduce.draw import INK, LINE, MUTED, SERIES, sketch
from textbayes.reproduce.experiment import Exhibit, Run
from textbayes.reproduce.graphical import Node, Plate, graphical_model
from textbayes.reproduce.results import Figure

_SIZE = 5.2, 3.6
_STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def _curves(x: FloatArray, curves: Iterable[tuple[str, FloatArray, str, Any]], xlabel: str, ylabel: str) -> str:
    """Curves (name, y, colour, style) with a legend, as SVG."""
    with sketch(*_SIZE) as drawn:
        for name, y, colour, style in curves:
            drawn.axes.plot(x, y, color=colour, linestyle=style, label=name)
        drawn.axes.set(xlabel=xlabel, ylabel=ylabel)
        _grid(drawn.axes)
        drawn.axes.legend(frameon=False, fontsize=9)
    return drawn.svg


def _grid(axes: Any) -> None:
    axes.grid(color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)


def figure_1(run: Run) -> Figure:
    """Normal, logistic and Student-t cdf."""
    x = np.linspace(-6.0, 6.0, 401)
    students = {f"t, ν = {df}": f"student_t:df={df}" for df in (1, 2, 8)}
    links = {"normal": "probit", "logistic": "logit", **students}
    colours, styles = (INK, MUTED, *SERIES[:3]), (*_STYLES[:3], *_STYLES[2:3] * 2)
    values = (make_link(link).probability(x) for link in links.values())
    svg = _curves(x, zip(links, values, colours, styles, strict=True), "linear predictor", "probability")
    description = "Five S-shaped curves: that of t with 1 degree of freedom is the flattest far out."
    return Figure("1", "Normal (black), logistic (dashed) and Student-t (dotted) cdf.", svg, (), description)


def figure_2(run: Run) -> Figure:
    """Logistic against Student-t quantiles with 8 degrees of freedom."""
    p = np.linspace(0.0005, 0.9995, 1999)
    of_t, logistic = stats.t.ppf(p, 8), stats.logistic.ppf(p)
    line = stats.linregress(of_t, logistic)
    inner = (p >= 0.001) & (p <= 0.999)
    off = float(np.abs(logistic - line.intercept - line.slope * of_t)[inner].max())
    with sketch(*_SIZE) as drawn:
        drawn.axes.plot(of_t, line.intercept + line.slope * of_t, color=MUTED, linewidth=1)
        drawn.axes.plot(of_t, logistic, color=SERIES[0], linestyle="none", marker=".", markersize=3)
        drawn.axes.set(xlabel="quantile of t with 8 degrees of freedom", ylabel="logistic quantile")
        _grid(drawn.axes)
    notes = (
        f"Fitted line: slope {line.slope:.3f}, correlation {line.rvalue:.5f}; largest distance from it between "
        f"probabilities 0.001 and 0.999: {off:.2f}.",
        "Probabilities from 0.0005 to 0.9995, as the text of section 2.1 says; the caption says 0.00005 to 0.99995.",
    )
    caption = "Logistic quantiles against those of Student-t with 8 degrees of freedom."
    return Figure("2", caption, drawn.svg, notes, "Points that lie on a straight line almost to the ends.")


def figure_3(run: Run) -> Figure:
    """The exponential prior of the variances."""
    tau, gammas = np.linspace(0.0, 10.0, 301), (0.1, 0.5, 1.0, 2.0)
    names, densities = [f"γ = {g:g}" for g in gammas], [0.5 * g * np.exp(-0.5 * g * tau) for g in gammas]
    svg = _curves(tau, zip(names, densities, SERIES, _STYLES, strict=True), "variance τ", "density")
    notes = (
        "Drawn is (γ/2) exp(−γτ/2), whose mixture is the Laplace density of rate √γ that the paper derives; (2/γ) "
        "exp(−γτ), as printed, is a density for γ = √2 only.",
    )
    description = "Falling curves: the larger γ, the more mass close to zero."
    return Figure("3", "Exponential prior of the variances for several γ.", svg, notes, description)


def figure_4(run: Run) -> Figure:
    """The model with the skewed Student-t link as a graph."""
    nodes = {
        "gamma": Node("γ", 0.0, 3.4, "fixed"), "tau": Node("τⱼ", 1.6, 3.4), "beta": Node("βⱼ", 3.2, 3.4),
        "x": Node("xᵢ", 3.2, 0.1, "observed"), "delta": Node("δ", 4.8, 3.4, "fixed"), "z": Node("zᵢ", 4.8, 0.9),
        "lambda": Node("λᵢ", 6.4, 1.7), "nu": Node("ν", 8.2, 1.7, "fixed"), "y": Node("yᵢ", 6.4, 0.1, "observed"),
    }  # fmt: skip
    arrows = [("gamma", "tau"), ("tau", "beta"), ("nu", "lambda"), ("z", "y")]
    arrows += [(name, "z") for name in ("beta", "x", "lambda", "delta")]
    plates = [Plate("j = 1, …, m", 0.9, 2.7, 3.9, 4.0), Plate("i = 1, …, n", 2.5, -0.65, 7.1, 2.3)]
    svg = graphical_model(nodes, arrows, plates)
    description = "γ leads to τ, τ to β; x, β, λ, which depends on ν, and δ lead to z, and z to y."
    return Figure("4", "Graphical model with the skew Student-t link; x and y are observed.", svg, (), description)


def figure_5(run: Run) -> Figure:
    """Skewed Student-t densities with 8 degrees of freedom."""
    x, skews = np.linspace(-8.0, 8.0, 401), (1.0, 0.5, 1.5, 2.0)
    names, densities = [f"δ = {skew:g}" for skew in skews], [skew_density(x, 8.0, skew) for skew in skews]
    svg = _curves(x, zip(names, densities, SERIES, _STYLES, strict=True), "z − x'β", "density")
    description = "Four densities with their mode at zero; δ above 1 gives a long right tail, below 1 a long left one."
    caption = "Skew Student-t densities with 8 degrees of freedom; the continuous line is symmetric."
    return Figure("5", caption, svg, (), description)


FIGURES: dict[str, Exhibit] = {
    "figure 1": figure_1,
    "figure 2": figure_2,
    "figure 3": figure_3,
    "figure 4": figure_4,
    "figure 5": figure_5,
}


def skew_density(x: FloatArray, df: float, skew: float) -> FloatArray:
    """Equation 1 with f the Student-t density: 2/(δ + 1/δ) · f(x/δ) for x ≥ 0 and f(x·δ) for x < 0."""
    density: FloatArray = 2.0 / (skew + 1.0 / skew) * stats.t.pdf(np.where(x >= 0.0, x / skew, x * skew), df)
    return density
