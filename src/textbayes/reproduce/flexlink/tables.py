"""Tables 5 to 8, on Reuters-21578, and all exhibits of the paper.

Each is made twice: by the paper's EM as printed and stopped (Table 6), and of the posterior modes (Table 6a).

``quick``: 3 of the 10 data sets of each example, 1 of the 5 splits of Reuters-21578.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from textbayes.core.types import BoolArray, FloatArray
from textbayes.evaluate import ContingencyTable, contingency, f_measure, paired_bootstrap, precision, recall
from textbayes.reproduce.experiment import Exhibit, Run
from textbayes.reproduce.flexlink import published
from textbayes.reproduce.flexlink.examples import example_outcomes, links_table, rates_table, zeros_table
from textbayes.reproduce.flexlink.figures import FIGURES
from textbayes.reproduce.flexlink.systems import METHODS, N_SPLITS, Reading, SplitOutcome, Splits, documents
from textbayes.reproduce.intervals import Interval, mean_interval
from textbayes.reproduce.results import Table

_MARK = 0.01
_NUMBERS = {"F1": "6", "recall": "7", "precision": "8"}
_SPLITS = tuple(f"split {number}" for number in range(1, N_SPLITS + 1))
_FITS: dict[str, tuple[Reading, str]] = {  # by what is added to a table's number
    "": (Reading(fits="printed_em"), "EM as printed, stopped at a relative change of 0.005"),
    "a": (Reading(), "posterior modes"),
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


def difference_over_splits(outcomes: Sequence[SplitOutcome], first: str, second: str, measure: Measure) -> Interval:
    """The difference between two methods, paired by split: its mean and interval over the splits."""
    gains = np.subtract(measure_by_split(outcomes, first, measure), measure_by_split(outcomes, second, measure))
    return mean_interval(gains.tolist(), OVERLAP)


def difference_over_documents(
    outcomes: Sequence[SplitOutcome], n_docs: int, first: str, second: str, measure: Measure, n_resamples: int = 2000
) -> Interval:
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
    return Interval(result.first - result.second, result.low, result.high)


def _both(make: Callable[[Sequence[SplitOutcome], str], Table], run: Run) -> Iterator[Table]:
    """Make a table of where the paper's EM stops, and of the modes."""
    found = run.load("Reuters-21578", lambda: Splits(documents(), 1 if run.quick else N_SPLITS))
    for suffix, (reading, what) in _FITS.items():
        outcomes = run.outcome(found, reading, f", tuning, {what}")
        yield make(outcomes, suffix)


def chosen_table(outcomes: Sequence[SplitOutcome], suffix: str = "") -> Table:
    """Table 5: the parameters each category chose in split 1; ``suffix`` says by which fits."""
    points = outcomes[0].chosen["FST"]
    halves = published.PRINTED["5"]
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
        published.TOPICS,
        dict(zip("νγδ", zip(*points, strict=True), strict=True)),
        {name: [float(v or 0) for v in (*halves[i], *halves[i + 3])] for i, name in enumerate("νγδ")},
        digits=2,
        notes=notes,
        mark=float("inf"),
    )


def measure_table(name: str, outcomes: Sequence[SplitOutcome], suffix: str = "") -> Table:
    """Table 6, 7 or 8: ``name`` is F1, recall or precision; ``suffix`` says by which fits."""
    number, rows = _NUMBERS[name], (*_SPLITS, "mean", "sd")
    printed = published.PRINTED[number]
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
    columns: Sequence[str], printed: Sequence[published.Row], ours: Sequence[Sequence[float]]
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


EXHIBITS: dict[str, Exhibit] = {
    **FIGURES,
    "table 1": lambda run: rates_table("1", example_outcomes(1, run)),
    "table 2": lambda run: links_table(example_outcomes(1, run)),
    "table 3": lambda run: rates_table("3", example_outcomes(2, run)),
    "table 4": lambda run: zeros_table(example_outcomes(2, run)),
    "table 5": lambda run: _both(chosen_table, run),
    **{f"table {number}": partial(_both, partial(measure_table, name)) for name, number in _NUMBERS.items()},
}
