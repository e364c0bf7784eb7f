"""Tables 5 to 8: Reuters-21578."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from textbayes.reproduce.flexlink import published
from textbayes.reproduce.flexlink.measures import (
    MEASURES,
    OVERLAP,
    interval,
    of_splits,
    over_documents,
    over_splits,
    printed_macro_f1,
    usual_macro_f1,
)
from textbayes.reproduce.flexlink.reuters import METHODS, N_SPLITS, SplitOutcome, documents, random_split, run_split
from textbayes.reproduce.results import Progress, Table

_MARK = 0.01
_PRINTED = {
    "F1": ("6", published.F1, published.F1_MEAN, published.F1_SD),
    "recall": ("7", published.RECALL, published.RECALL_MEAN, published.RECALL_SD),
    "precision": ("8", published.PRECISION, published.PRECISION_MEAN, published.PRECISION_SD),
}
_READING = (
    "9,035 stories (the paper: 9,033) with one of the ten topics; bodies without titles, word counts, one set of 100 "
    "words by the sum of the categories' information gains, Laplace rate √γ, a free intercept, p > ½."
)


def run_splits(quick: bool, progress: Progress) -> list[SplitOutcome]:
    """The five splits, in quick mode the first."""
    n, per_split = (1 if quick else N_SPLITS), len(published.REUTERS_SKEWS)
    texts = documents()
    done = [0]

    def advance() -> None:
        done[0] += 1
        progress("Reuters-21578, tuning", done[0], n * per_split)

    progress("Reuters-21578, tuning", 0, n * per_split)
    return [run_split(texts, random_split(i + 1, len(texts.Y)), advance=advance) for i in range(n)]


def chosen_table(outcomes: Sequence[SplitOutcome]) -> Table:
    """Table 5: the parameters each category chose in split 1."""
    points = outcomes[0].chosen["FST"]
    ours = [(point.df, point.gamma, point.skew) for point in points]
    printed = zip(published.CHOSEN_DF, published.CHOSEN_GAMMA, published.CHOSEN_SKEW, strict=True)
    every = [point for outcome in outcomes for point in outcome.chosen["FST"]]
    few, skewed = (sum(test) for test in ([p.df <= 2 for p in every], [p.skew > 1 for p in every]))
    notes = (
        f"In all splits run, {few} of {len(every)} choices have ν ≤ 2 and {skewed} have δ > 1 "
        "(published, split 1: 8 and 5 of 10).",
        "Splits are random and validation F1 is nearly flat in all three parameters: compare tendencies, not cells.",
        _READING,
    )
    return Table(
        "5",
        "Reuters-21578: parameters chosen in split 1.",
        published.TOPICS,
        ("ν", "γ", "δ"),
        tuple(tuple(map(float, row)) for row in printed),
        tuple(ours),
        2,
        notes,
        float("inf"),
    )


def measure_table(name: str, outcomes: Sequence[SplitOutcome]) -> Table:
    """Table 6, 7 or 8: ``name`` is F1, recall or precision."""
    number, printed, mean, sd = _PRINTED[name]
    columns = tuple(f"{method} {kind}" for method in METHODS for kind in ("micro", "macro"))
    values = np.array([of_splits(outcomes, method, measure) for method in METHODS for measure in MEASURES[name]]).T
    empty = (None,) * len(columns)
    spread = tuple(values.std(axis=0, ddof=1).tolist()) if len(values) > 1 else empty
    ours = (
        *(tuple(row) for row in values.tolist()),
        *(empty,) * (N_SPLITS - len(values)),
        tuple(values.mean(axis=0).tolist()),
        spread,
    )
    return Table(
        number,
        f"Reuters-21578: {name} at threshold ½.",
        (*(f"split {i + 1}" for i in range(N_SPLITS)), "mean", "sd"),
        columns,
        (*printed, mean, sd),
        ours,
        3,
        (*(_f1_notes(outcomes) if name == "F1" else ()), *mean_notes(columns, printed, values.tolist()), _READING),
        _MARK,
    )


def mean_notes(
    columns: Sequence[str], printed: Sequence[published.Row], ours: Sequence[Sequence[float]]
) -> tuple[str, ...]:
    """The means over the splits with their intervals, published and ours, if there is more than one split."""
    notes = ["The splits are random: compare means, not rows."]
    if len(ours) > 1:
        parts = []
        for name, of_paper, own in zip(columns, zip(*printed, strict=True), zip(*ours, strict=True), strict=True):
            both = interval([float(value or 0.0) for value in of_paper], OVERLAP), interval(own, OVERLAP)
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
