"""Tables 5 to 8, on Reuters-21578, and all exhibits of the paper.

``quick``: 3 of the 10 data sets of each example, 1 of the 5 splits of Reuters-21578.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textbayes.reproduce.experiment import Exhibit, Run
from textbayes.reproduce.flexlink import published
from textbayes.reproduce.flexlink.examples import links_table, of_example, rates_table, zeros_table
from textbayes.reproduce.flexlink.figures import FIGURES
from textbayes.reproduce.flexlink.measures import (
    MEASURES,
    OVERLAP,
    of_splits,
    over_documents,
    over_splits,
    printed_macro_f1,
    usual_macro_f1,
)
from textbayes.reproduce.flexlink.reuters import METHODS, N_SPLITS, Reading, SplitOutcome, Splits, documents
from textbayes.reproduce.intervals import mean_interval
from textbayes.reproduce.results import Table

_MARK = 0.01
_NUMBERS = {"F1": "6", "recall": "7", "precision": "8"}
_SPLITS = tuple(f"split {number}" for number in range(1, N_SPLITS + 1))
_READING = (
    "9,035 stories (the paper: 9,033) with one of the ten topics; bodies without titles, word counts, one set of 100 "
    "words by the sum of the categories' information gains, Laplace rate √γ, a free intercept, p > ½."
)


def _splits(run: Run) -> list[SplitOutcome]:
    found = run.load("Reuters-21578", lambda: Splits(documents(), 1 if run.quick else N_SPLITS))
    return run.outcomes(found, [Reading()], ", tuning")[Reading()]


EXHIBITS: dict[str, Exhibit] = {
    **FIGURES,
    "table 1": lambda run: rates_table("1", of_example(1, run)),
    "table 2": lambda run: links_table(of_example(1, run)),
    "table 3": lambda run: rates_table("3", of_example(2, run)),
    "table 4": lambda run: zeros_table(of_example(2, run)),
    "table 5": lambda run: chosen_table(_splits(run)),
    "table 6": lambda run: measure_table("F1", _splits(run)),
    "table 7": lambda run: measure_table("recall", _splits(run)),
    "table 8": lambda run: measure_table("precision", _splits(run)),
}


def chosen_table(outcomes: Sequence[SplitOutcome]) -> Table:
    """Table 5: the parameters each category chose in split 1."""
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
        "5",
        "Reuters-21578: parameters chosen in split 1.",
        published.TOPICS,
        dict(zip("νγδ", zip(*points, strict=True), strict=True)),
        {name: [float(v or 0) for v in (*halves[i], *halves[i + 3])] for i, name in enumerate("νγδ")},
        digits=2,
        notes=notes,
        mark=float("inf"),
    )


def measure_table(name: str, outcomes: Sequence[SplitOutcome]) -> Table:
    """Table 6, 7 or 8: ``name`` is F1, recall or precision."""
    number, rows = _NUMBERS[name], (*_SPLITS, "mean", "sd")
    printed = published.PRINTED[number]
    columns = tuple(f"{method} {kind}" for method in METHODS for kind in ("micro", "macro"))
    values = np.array([of_splits(outcomes, method, measure) for method in METHODS for measure in MEASURES[name]]).T
    ours = dict(zip(_SPLITS, values.tolist(), strict=False)) | {"mean": values.mean(axis=0).tolist()}
    if len(values) > 1:
        ours["sd"] = values.std(axis=0, ddof=1).tolist()
    means = mean_notes(columns, printed[:N_SPLITS], values.tolist())
    return Table.by_row(
        number,
        f"Reuters-21578: {name} at threshold ½.",
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
    usual = ", ".join(f"{method} {np.mean(of_splits(outcomes, method, usual_macro_f1)):.3f}" for method in METHODS)
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
            documents_ = over_documents(outcomes, n_docs, first, second, measure, n_resamples)
            sentence = f"{first} − {second}, macro F1 {name}: {documents_} by resampling documents"
            if len(outcomes) > 1:
                splits = over_splits(outcomes, first, second, measure)
                sentence += f", {splits.low:.3f} to {splits.high:.3f} over splits"
            sentences.append(sentence.replace("-", "−") + ".")
    return sentences
