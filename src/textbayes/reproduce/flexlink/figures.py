"""Figures 1, 2, 3 and 5: links, the prior of the variances, skewed densities. Figure 4 is a diagram of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from textbayes.core.types import FloatArray
from textbayes.links import make_link
from textbayes.reproduce.draw import INK, LINE, MUTED, SERIES, blank, to_svg
from textbayes.reproduce.results import Figure

_SIZE = 5.2, 3.6
_STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


def figure_1() -> Figure:
    """Normal, logistic and Student-t cdf."""
    x = np.linspace(-6.0, 6.0, 401)
    students = [(f"t, ν = {df}", f"student_t:df={df}") for df in (1, 2, 8)]
    with blank(*_SIZE) as figure:
        axes = figure.subplots()
        for i, (name, link) in enumerate([("normal", "probit"), ("logistic", "logit"), *students]):
            style = _STYLES[min(i, 2)]
            colour = (INK, MUTED, *SERIES)[i]
            axes.plot(x, make_link(link).probability(x), color=colour, linestyle=style, label=name)
        axes.set(xlabel="linear predictor", ylabel="probability")
        _finish(axes)
        svg = to_svg(figure)
    description = "Five S-shaped curves: that of t with 1 degree of freedom is the flattest far out."
    return Figure("1", "Normal (black), logistic (dashed) and Student-t (dotted) cdf.", svg, (), description)


def figure_2() -> Figure:
    """Logistic against Student-t quantiles with 8 degrees of freedom."""
    p = np.linspace(0.0005, 0.9995, 1999)
    of_t, logistic = stats.t.ppf(p, 8), stats.logistic.ppf(p)
    line = stats.linregress(of_t, logistic)
    inner = (p >= 0.001) & (p <= 0.999)
    off = float(np.abs(logistic - line.intercept - line.slope * of_t)[inner].max())
    with blank(*_SIZE) as figure:
        axes = figure.subplots()
        axes.plot(of_t, line.intercept + line.slope * of_t, color=MUTED, linewidth=1)
        axes.plot(of_t, logistic, color=SERIES[0], linestyle="none", marker=".", markersize=3)
        axes.set(xlabel="quantile of t with 8 degrees of freedom", ylabel="logistic quantile")
        _finish(axes, legend=False)
        svg = to_svg(figure)
    notes = (
        f"Fitted line: slope {line.slope:.3f}, correlation {line.rvalue:.5f}; largest distance from it between "
        f"probabilities 0.001 and 0.999: {off:.2f}.",
        "Probabilities from 0.0005 to 0.9995, as the text of section 2.1 says; the caption says 0.00005 to 0.99995.",
    )
    description = "Points that lie on a straight line almost to the ends."
    return Figure(
        "2", "Logistic quantiles against those of Student-t with 8 degrees of freedom.", svg, notes, description
    )


def figure_3() -> Figure:
    """The exponential prior of the variances."""
    tau = np.linspace(0.0, 10.0, 301)
    with blank(*_SIZE) as figure:
        axes = figure.subplots()
        for i, gamma in enumerate((0.1, 0.5, 1.0, 2.0)):
            density = 0.5 * gamma * np.exp(-0.5 * gamma * tau)
            axes.plot(tau, density, color=SERIES[i], linestyle=_STYLES[i], label=f"γ = {gamma:g}")
        axes.set(xlabel="variance τ", ylabel="density")
        _finish(axes)
        svg = to_svg(figure)
    notes = (
        "Drawn is (γ/2) exp(−γτ/2), whose mixture is the Laplace density of rate √γ that the paper derives; (2/γ) "
        "exp(−γτ), as printed, is a density for γ = √2 only.",
    )
    description = "Falling curves: the larger γ, the more mass close to zero."
    return Figure("3", "Exponential prior of the variances for several γ.", svg, notes, description)


def figure_5() -> Figure:
    """Skewed Student-t densities with 8 degrees of freedom."""
    x = np.linspace(-8.0, 8.0, 401)
    with blank(*_SIZE) as figure:
        axes = figure.subplots()
        for i, skew in enumerate((1.0, 0.5, 1.5, 2.0)):
            axes.plot(x, skew_density(x, 8.0, skew), color=SERIES[i], linestyle=_STYLES[i], label=f"δ = {skew:g}")
        axes.set(xlabel="z − x'β", ylabel="density")
        _finish(axes)
        svg = to_svg(figure)
    description = "Four densities with their mode at zero; δ above 1 gives a long right tail, below 1 a long left one."
    caption = "Skew Student-t densities with 8 degrees of freedom; the continuous line is symmetric."
    return Figure("5", caption, svg, (), description)


FIGURES: dict[str, Callable[[], Figure]] = {
    "figure 1": figure_1,
    "figure 2": figure_2,
    "figure 3": figure_3,
    "figure 5": figure_5,
}


def skew_density(x: FloatArray, df: float, skew: float) -> FloatArray:
    """Equation 1 with f the Student-t density: 2/(δ + 1/δ) · f(x/δ) for x ≥ 0 and f(x·δ) for x < 0."""
    density: FloatArray = 2.0 / (skew + 1.0 / skew) * stats.t.pdf(np.where(x >= 0.0, x / skew, x * skew), df)
    return density


def _finish(axes: Any, legend: bool = True) -> None:
    axes.grid(color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    if legend:
        axes.legend(frameon=False, fontsize=9)
