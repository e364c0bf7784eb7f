"""Tables 1 to 4: the simulated examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textbayes.reproduce.experiment import Run, Systems
from textbayes.reproduce.flexlink.published import PRINTED, Row
from textbayes.reproduce.flexlink.simulated import Outcome, Rates, data_set, outcome
from textbayes.reproduce.intervals import mean_interval
from textbayes.reproduce.results import Table

N_DATA_SETS, N_QUICK = 10, 3
_SETS = tuple(str(number) for number in range(1, N_DATA_SETS + 1))
_PARAMETERS = "νδγ"  # columns whose names end so are not rates
_STAR = "– is the paper's *: several values of the parameter reach the smallest rate."
_SEEN = (
    "Misclassification is counted on the 100 observations that a model was fitted to, and FST, its links and enet are "
    "shown at the grid point where it is smallest: the reading that gives the printed level."
)
_RANDOM = "The data are random: compare means, not rows."

METHODS: Mapping[str, Callable[[Outcome], Rates]] = {
    "probit": lambda result: result.probit,
    "logit": lambda result: result.logit,
    "FST": lambda result: result.fst.rates,
    "enet": lambda result: result.enet.rates,
}
"""The methods of Tables 1 and 3 and their rates."""


class Simulations(Systems[int, int, Outcome, list[Outcome]]):
    """Run all methods on the data sets of an example, from the first on."""

    threads = False

    def __init__(self, n_sets: int = N_DATA_SETS) -> None:
        super().__init__(range(1, n_sets + 1))

    def fit(self, system: int, unit: int) -> Outcome:
        """All methods on data set ``unit`` of example ``system``."""
        return outcome(data_set(system, unit))

    def collect(self, system: int, parts: list[Outcome]) -> list[Outcome]:
        """The data sets one by one."""
        return parts


def example_outcomes(example: int, run: Run) -> list[Outcome]:
    """The data sets of an example, in quick mode the first few."""
    found = run.load("simulations", lambda: Simulations(N_QUICK if run.quick else N_DATA_SETS))
    return run.outcome(found, example, f", Example {example}")


def rates_table(number: str, outcomes: Sequence[Outcome]) -> Table:
    """Table 1 or 3: misclassification of all methods and the parameters of the best FST."""
    ours = [
        (r.probit.seen, r.logit.seen, r.fst.rates.seen, r.fst.df, r.fst.skew, r.fst.gamma, r.enet.rates.seen)
        for r in outcomes
    ]
    columns = ("probit", "logit", "FST", "ν", "δ", "γ", "enet")
    means, fresh = [], []
    for name, of in METHODS.items():
        of_paper = mean_interval([row[columns.index(name)] or 0.0 for row in PRINTED[number]])
        means.append(f"{name} {mean_interval([of(r).seen for r in outcomes])}, published {of_paper}")
        fresh.append(f"{name} {mean_interval([of(r).fresh for r in outcomes])}")
    notes = (
        _SEEN,
        f"{_RANDOM} Means (95% intervals): {'; '.join(means)}.",
        f"On fresh observations, that no method has seen: {', '.join(fresh)}.",
        _STAR,
    )
    return _table(number, f"Example {1 if number == '1' else 2}: misclassification rates.", columns, ours, notes)


def links_table(outcomes: Sequence[Outcome]) -> Table:
    """Table 2: the best probit (t30) and logit (t8) with their own skewness and γ."""
    ours = [
        (*(values for best in (r.best_probit, r.best_logit) for values in (best.rates.seen, best.skew, best.gamma)),)
        for r in outcomes
    ]
    columns = ("probit", "probit δ", "probit γ", "logit", "logit δ", "logit γ")
    caption = "Example 1: best probit and logit, approximated by t30 and t8."
    return _table("2", caption, columns, ours, (_RANDOM, _STAR))


def zeros_table(outcomes: Sequence[Outcome]) -> Table:
    """Table 4: how many weights are zero."""
    ours = {
        "enet": [float(result.enet.zeros) for result in outcomes],
        "FST": [float(result.fst.zeros) for result in outcomes],
    }
    printed = {name: [float(value or 0) for value in row] for name, row in zip(ours, PRINTED["4"], strict=True)}
    means = ", ".join(
        f"{name} {sum(row) / len(row):.1f} (published {sum(printed[name]) / N_DATA_SETS:.1f})"
        for name, row in ours.items()
    )
    notes = (f"Means: {means}.", "Where several models are best, the sparsest of them is counted.", _RANDOM)
    caption = "Example 2: weights equal to zero."
    return Table.by_row("4", caption, _SETS, ours, printed, digits=0, notes=notes, mark=float("inf"))


def _table(number: str, caption: str, columns: tuple[str, ...], ours: Sequence[Row], notes: tuple[str, ...]) -> Table:
    """One row per data set, and the mean of each column of rates; parameters have none."""

    def named(rows: Sequence[Row]) -> dict[str, Row]:
        means = (
            None if name[-1] in _PARAMETERS else sum(value or 0.0 for value in column) / len(column)
            for name, column in zip(columns, zip(*rows, strict=True), strict=True)
        )
        return {**dict(zip(_SETS, rows, strict=False)), "mean": tuple(means)}

    rows, printed, mark = (*_SETS, "mean"), named(PRINTED[number]), float("inf")
    return Table.by_row(number, caption, columns, named(ours), printed, rows, digits=2, notes=notes, mark=mark)
