"""Tables 5 to 8, on Reuters-21578, Figures 1 to 5, and all exhibits of the paper.

Each is made twice: by the paper's EM as printed and stopped (Table 6), and of the posterior modes (Table 6a).

``quick``: 3 of the 10 data sets of each example, 1 of the 5 splits of Reuters-21578.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate import ContingencyTable, contingency, f_measure, paired_bootstrap, precision, recall
from textbayes.links import make_link
from textbayes.reproduce.experiment import Exhibit, PaperRun
from textbayes.reproduce.flexlink.simulated import example_outcomes, links_table, rates_table, zeros_table
from textbayes.reproduce.flexlink.systems import (
    METHODS,
    N_SPLITS,
    PUBLISHED,
    TOPICS,
    FlexlinkReading,
    SplitOutcome,
    Splits,
    documents,
)
from textbayes.reproduce.render import INK, LINE, MUTED, SERIES, Node, Plate, graphical_model, sketch
from textbayes.reproduce.results import Figure, MeanInterval, Table, mean_interval

_MARK = 0.01
_NUMBERS = {"F1": "6", "recall": "7", "precision": "8"}
_SPLITS = tuple(f"split {number}" for number in range(1, N_SPLITS + 1))
_FITS: dict[str, tuple[FlexlinkReading, str]] = {  # by what is added to a table's number
    "": (FlexlinkReading(fits="printed_em"), "EM as printed, stopped at a relative change of 0.005"),
    "a": (FlexlinkReading(), "posterior modes"),
}
_READING = (
    "9,035 stories (the paper: 9,033) with one of the ten topics; bodies without titles, word counts, one set of 100 "
    "words by the sum of the categories' information gains, Laplace rate √γ, a free intercept, p > ½."
)


Measure = Callable[[ContingencyTable], FloatArray]


def printed_macro_f1(table: ContingencyTable) -> FloatArray:
    """The harmonic mean of macro recall and macro precision: what the paper's Table 6 prints as macro F1.

    All of its 15 macro F1 are that to the last digit, given the recalls of Table 7 and the precisions of Table 8. The
    usual macro F1 is the mean of the categories' F1.
    """
    both = recall(table, "macro"), precision(table, "macro")
    total = both[0] + both[1]
    return np.divide(2.0 * both[0] * both[1], total, out=np.zeros_like(total), where=total > 0.0)


MEASURES: dict[str, tuple[Measure, Measure]] = {
    "F1": (lambda table: f_measure(table, "micro"), printed_macro_f1),
    "recall": (lambda table: recall(table, "micro"), lambda table: recall(table, "macro")),
    "precision": (lambda table: precision(table, "micro"), lambda table: precision(table, "macro")),
}
"""Micro and macro measure of Tables 6, 7 and 8."""


OVERLAP = 1.0 / 3.0
"""Of the paper's splits: a quarter is tested, three quarters are fitted."""


def usual_macro_f1(table: ContingencyTable) -> FloatArray:
    """The mean of the categories' F1."""
    return f_measure(table, "macro")


def measure_by_split(outcomes: Sequence[SplitOutcome], method: str, measure: Measure) -> list[float]:
    """Compute a measure of a method in every split."""
    return [float(measure(contingency(outcome.truth, outcome.decided[method]))) for outcome in outcomes]


def difference_over_splits(outcomes: Sequence[SplitOutcome], first: str, second: str, measure: Measure) -> MeanInterval:
    """The difference between two methods, paired by split: its mean and interval over the splits."""
    gains = np.subtract(measure_by_split(outcomes, first, measure), measure_by_split(outcomes, second, measure))
    return mean_interval(gains.tolist(), OVERLAP)


def difference_over_documents(
    outcomes: Sequence[SplitOutcome], n_docs: int, first: str, second: str, measure: Measure, n_resamples: int = 2000
) -> MeanInterval:
    """The same difference, with an interval over the documents: paired bootstrap, the models as they are.

    A document is in the test sets of several splits; it is drawn for all of them together. The measure is averaged
    over the splits.
    """
    n_splits, n_labels = len(outcomes), outcomes[0].truth.shape[1]

    def spread(parts: Sequence[BoolArray]) -> BoolArray:
        """Splits side by side, (n_docs, n_splits · n_labels): a document outside a test set is a true negative."""
        wide = np.zeros((n_docs, n_splits, n_labels), dtype=np.bool_)
        for i, (outcome, part) in enumerate(zip(outcomes, parts, strict=True)):
            wide[outcome.test, i] = part
        return wide.reshape(n_docs, -1)

    def mean(table: ContingencyTable) -> FloatArray:
        apart = ContingencyTable(*(part.reshape(*part.shape[:-1], n_splits, n_labels) for part in table))
        return measure(apart).mean(axis=-1)

    truth = spread([outcome.truth for outcome in outcomes])
    one, other = (spread([outcome.decided[method] for outcome in outcomes]) for method in (first, second))
    result = paired_bootstrap(truth, one, other, mean, n_resamples=n_resamples)
    return MeanInterval(result.first - result.second, result.low, result.high)


def _both(make: Callable[[Sequence[SplitOutcome], str], Table], run: PaperRun) -> Iterator[Table]:
    """Make a table of where the paper's EM stops, and of the modes."""
    found = run.load("Reuters-21578", lambda: Splits(documents(), 1 if run.quick else N_SPLITS))
    for suffix, (reading, what) in _FITS.items():
        outcomes = run.outcome(found, reading, f", tuning, {what}")
        yield make(outcomes, suffix)


def chosen_table(outcomes: Sequence[SplitOutcome], suffix: str = "") -> Table:
    """Table 5: the parameters each category chose in split 1; ``suffix`` says by which fits."""
    points = outcomes[0].chosen["FST"]
    halves = PUBLISHED["table 5"]
    every = [point for outcome in outcomes for point in outcome.chosen["FST"]]
    few, skewed = (sum(test) for test in ([p.df <= 2 for p in every], [p.skew > 1 for p in every]))
    notes = (
        f"In all splits run, {few} of {len(every)} choices have ν ≤ 2 and {skewed} have δ > 1 "
        "(published, split 1: 8 and 5 of 10).",
        "Splits are random and validation F1 is nearly flat in all three parameters: compare tendencies, not cells.",
        _READING,
    )
    return Table.by_column(
        f"5{suffix}",
        f"Reuters-21578: parameters chosen in split 1, {_FITS[suffix][1]}.",
        TOPICS,
        dict(zip("νγδ", zip(*points, strict=True), strict=True)),
        {name: [float(v or 0) for v in (*halves[i], *halves[i + 3])] for i, name in enumerate("νγδ")},
        digits=2,
        notes=notes,
        mark=float("inf"),
    )


def measure_table(name: str, outcomes: Sequence[SplitOutcome], suffix: str = "") -> Table:
    """Table 6, 7 or 8: ``name`` is F1, recall or precision; ``suffix`` says by which fits."""
    number, rows = _NUMBERS[name], (*_SPLITS, "mean", "sd")
    printed = PUBLISHED[f"table {number}"]
    columns = tuple(f"{method} {kind}" for method in METHODS for kind in ("micro", "macro"))
    values = np.array(
        [measure_by_split(outcomes, method, measure) for method in METHODS for measure in MEASURES[name]]
    ).T
    ours = dict(zip(_SPLITS, values.tolist(), strict=False)) | {"mean": values.mean(axis=0).tolist()}
    if len(values) > 1:
        ours["sd"] = values.std(axis=0, ddof=1).tolist()
    means = mean_notes(columns, printed[:N_SPLITS], values.tolist())
    return Table.by_row(
        f"{number}{suffix}",
        f"Reuters-21578: {name} at threshold ½, {_FITS[suffix][1]}.",
        columns,
        ours,
        dict(zip(rows, printed, strict=True)),
        rows,
        digits=3,
        notes=(*(_f1_notes(outcomes) if name == "F1" else ()), *means, _READING),
        mark=_MARK,
    )


def mean_notes(
    columns: Sequence[str], printed: Sequence[Sequence[float | None]], ours: Sequence[Sequence[float]]
) -> tuple[str, ...]:
    """The means over the splits with their intervals, published and ours, if there is more than one split."""
    notes = ["The splits are random: compare means, not rows."]
    if len(ours) > 1:
        parts = []
        for name, of_paper, own in zip(columns, zip(*printed, strict=True), zip(*ours, strict=True), strict=True):
            both = [mean_interval(side, OVERLAP) for side in ([float(v or 0.0) for v in of_paper], own)]
            parts.append(f"{name} published {both[0]}, ours {both[1]}")
        notes[0] += " Means (95% intervals): " + "; ".join(parts) + "."
    return tuple(notes)


def _f1_notes(outcomes: Sequence[SplitOutcome]) -> tuple[str, ...]:
    usual = ", ".join(
        f"{method} {np.mean(measure_by_split(outcomes, method, usual_macro_f1)):.3f}" for method in METHODS
    )
    definition = (
        "Macro F1 as printed is the harmonic mean of macro recall and macro precision; ours is computed alike. The "
        f"mean of the categories' F1, the usual macro F1, is {usual}."
    )
    return definition, *comparisons(outcomes)


def comparisons(outcomes: Sequence[SplitOutcome], n_resamples: int = 2000) -> list[str]:
    """Sentences on FST against logistic, and logistic against probit, in macro F1 of both definitions."""
    n_docs = 1 + max(int(outcome.test.max()) for outcome in outcomes)
    sentences = []
    for first, second in (("FST", "Logistic"), ("Logistic", "Probit")):
        for name, measure in (("as printed", printed_macro_f1), ("usual", usual_macro_f1)):
            documents_ = difference_over_documents(outcomes, n_docs, first, second, measure, n_resamples)
            sentence = f"{first} − {second}, macro F1 {name}: {documents_} by resampling documents"
            if len(outcomes) > 1:
                splits = difference_over_splits(outcomes, first, second, measure)
                sentence += f", {splits.low:.3f} to {splits.high:.3f} over splits"
            sentences.append(sentence.replace("-", "−") + ".")
    return sentences


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


def figure_1(run: PaperRun) -> Figure:
    """Normal, logistic and Student-t cdf."""
    x = np.linspace(-6.0, 6.0, 401)
    students = {f"t, ν = {df}": f"student_t:df={df}" for df in (1, 2, 8)}
    links = {"normal": "probit", "logistic": "logit", **students}
    colours, styles = (INK, MUTED, *SERIES[:3]), (*_STYLES[:3], *_STYLES[2:3] * 2)
    values = (make_link(link).probability(x) for link in links.values())
    svg = _curves(x, zip(links, values, colours, styles, strict=True), "linear predictor", "probability")
    description = "Five S-shaped curves: that of t with 1 degree of freedom is the flattest far out."
    return Figure("1", "Normal (black), logistic (dashed) and Student-t (dotted) cdf.", svg, (), description)


def figure_2(run: PaperRun) -> Figure:
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


def figure_3(run: PaperRun) -> Figure:
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


def figure_4(run: PaperRun) -> Figure:
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


def figure_5(run: PaperRun) -> Figure:
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


EXHIBITS: dict[str, Exhibit] = {
    **FIGURES,
    "table 1": lambda run: rates_table("1", example_outcomes(1, run)),
    "table 2": lambda run: links_table(example_outcomes(1, run)),
    "table 3": lambda run: rates_table("3", example_outcomes(2, run)),
    "table 4": lambda run: zeros_table(example_outcomes(2, run)),
    "table 5": lambda run: _both(chosen_table, run),
    **{f"table {number}": partial(_both, partial(measure_table, name)) for name, number in _NUMBERS.items()},
}
