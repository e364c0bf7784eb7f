"""Tables 1 to 4: the simulated examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from textbayes.reproduce.flexlink import published
from textbayes.reproduce.flexlink.measures import interval
from textbayes.reproduce.flexlink.simulated import Outcome, data_set, outcome
from textbayes.reproduce.results import Cells, Progress, Table

N_DATA_SETS, N_QUICK = 10, 3
_PARAMETERS = "νδγ"  # columns whose names end so are not rates
_STAR = "– is the paper's *: several values of the parameter reach the smallest rate."
_SEEN = (
    "Misclassification is counted on the 100 observations that a model was fitted to, and FST, its links and enet are "
    "shown at the grid point where it is smallest: the reading that gives the printed level."
)
_RANDOM = "The data are random: compare means, not rows."

METHODS: dict[str, Callable[[Outcome], float]] = {
    "probit": lambda result: result.probit.seen,
    "logit": lambda result: result.logit.seen,
    "FST": lambda result: result.fst.rates.seen,
    "enet": lambda result: result.enet.rates.seen,
}
"""The methods of Tables 1 and 3 and their rate on the data they were fitted to."""


def run_examples(example: int, quick: bool, progress: Progress) -> list[Outcome]:
    """The data sets of an example, in quick mode the first few."""
    n = N_QUICK if quick else N_DATA_SETS
    done = []
    for number in range(1, n + 1):
        progress(f"Example {example}", number - 1, n)
        done.append(outcome(data_set(example, number)))
    progress(f"Example {example}", n, n)
    return done


def example_tables(
    example: int, outcomes: Sequence[Outcome], wanted: Sequence[str] = ("table 1", "table 2", "table 3", "table 4")
) -> Iterator[Table]:
    """The wanted tables that this example fills."""
    makers = {1: {"table 1": rates_table, "table 2": links_table}, 2: {"table 3": rates_table, "table 4": zeros_table}}
    for number, make in makers[example].items():
        if number in wanted:
            yield make(number.split()[1], outcomes)


def rates_table(number: str, outcomes: Sequence[Outcome]) -> Table:
    """Table 1 or 3: misclassification of all methods and the parameters of the best FST."""
    printed = published.EXAMPLE_1 if number == "1" else published.EXAMPLE_2
    ours = [
        (r.probit.seen, r.logit.seen, r.fst.rates.seen, r.fst.df, r.fst.skew, r.fst.gamma, r.enet.rates.seen)
        for r in outcomes
    ]
    columns = ("probit", "logit", "FST", "ν", "δ", "γ", "enet")
    example = 1 if number == "1" else 2
    fresh = (
        f"On fresh observations, that no method has seen: probit {_mean(outcomes, lambda r: r.probit.fresh)}, "
        f"logit {_mean(outcomes, lambda r: r.logit.fresh)}, FST {_mean(outcomes, lambda r: r.fst.rates.fresh)}, "
        f"enet {_mean(outcomes, lambda r: r.enet.rates.fresh)}."
    )
    notes = (_SEEN, _RANDOM + " " + _means(printed, outcomes), fresh, _STAR)
    return _table(number, f"Example {example}: misclassification rates.", columns, printed, ours, notes)


def links_table(number: str, outcomes: Sequence[Outcome]) -> Table:
    """Table 2: the best probit (t30) and logit (t8) with their own skewness and γ."""
    ours = [
        (*(values for best in (r.best_probit, r.best_logit) for values in (best.rates.seen, best.skew, best.gamma)),)
        for r in outcomes
    ]
    columns = ("probit", "probit δ", "probit γ", "logit", "logit δ", "logit γ")
    caption = "Example 1: best probit and logit, approximated by t30 and t8."
    return _table(number, caption, columns, published.EXAMPLE_1_LINKS, ours, (_RANDOM, _STAR))


def zeros_table(number: str, outcomes: Sequence[Outcome]) -> Table:
    """Table 4: how many weights are zero."""
    missing = (None,) * (N_DATA_SETS - len(outcomes))
    ours = tuple((*(float(value) for value in row), *missing) for row in zip(*map(_zeros, outcomes), strict=True))
    printed = (published.ENET_ZEROS, published.FST_ZEROS)
    means = ", ".join(
        f"{name} {sum(row[: len(outcomes)]) / len(outcomes):.1f} (published {sum(of) / len(of):.1f})"  # type: ignore[arg-type]
        for name, row, of in zip(("enet", "FST"), ours, printed, strict=True)
    )
    return Table(
        number,
        "Example 2: weights equal to zero.",
        ("enet", "FST"),
        tuple(str(i + 1) for i in range(N_DATA_SETS)),
        tuple(tuple(map(float, row)) for row in printed),
        ours,
        0,
        (f"Means: {means}.", "Where several models are best, the sparsest of them is counted.", _RANDOM),
        float("inf"),
    )


def _zeros(result: Outcome) -> tuple[int, int]:
    return result.enet.zeros, result.fst.zeros


def _table(
    number: str,
    caption: str,
    columns: tuple[str, ...],
    printed: Sequence[published.Row],
    ours: Sequence[published.Row],
    notes: tuple[str, ...],
) -> Table:
    missing = [(None,) * len(columns)] * (len(printed) - len(ours))
    rows = (*(str(i + 1) for i in range(len(printed))), "mean")
    both: list[Cells] = [(*map(tuple, values), _column_means(columns, values)) for values in (printed, ours)]
    padded = (*both[1][:-1], *missing, both[1][-1])
    return Table(number, caption, rows, columns, both[0], padded, 2, notes, float("inf"))


def _column_means(columns: Sequence[str], rows: Sequence[published.Row]) -> published.Row:
    """The mean of each column of rates; parameters have none."""
    return tuple(
        None if name[-1] in _PARAMETERS else sum(value or 0.0 for value in column) / len(column)
        for name, column in zip(columns, zip(*rows, strict=True), strict=True)
    )


def _mean(outcomes: Sequence[Outcome], value: Callable[[Outcome], float]) -> str:
    return str(interval([value(result) for result in outcomes]))


def _means(printed: Sequence[published.Row], outcomes: Sequence[Outcome]) -> str:
    places = dict(zip(METHODS, (0, 1, 2, 6), strict=True))
    parts = []
    for name, of in METHODS.items():
        of_paper = interval([float(row[places[name]] or 0.0) for row in printed])
        parts.append(f"{name} {_mean(outcomes, of)}, published {of_paper}")
    return "Means (95% intervals): " + "; ".join(parts) + "."
