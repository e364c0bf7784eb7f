"""Tables 1 to 6 and Figure 2: Reuters-21578."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from textbayes.reproduce.results import Cell, Result, Table
from textbayes.reproduce.sparse import published
from textbayes.reproduce.sparse.choices import open_choices
from textbayes.reproduce.sparse.columns import Column, Runner, transposed
from textbayes.reproduce.sparse.experiment import JEFFREYS, Experiment, Model, laplace
from textbayes.reproduce.sparse.figures import boxplots
from textbayes.reproduce.sparse.published import AVERAGES, GAMMAS, LAPLACE, LAPLACE_SIZES, TOPICS
from textbayes.reproduce.sparse.study import rank_correlation, study

_QUICK_GAMMAS = (0.1, 1.0, 10.0)


def reuters_tables(experiment: Experiment, wanted: Collection[str], quick: bool, runner: Runner) -> Iterator[Result]:
    """Tables 1 to 6 and Figure 2."""
    gammas = _QUICK_GAMMAS if quick else GAMMAS
    if "table 1" in wanted or "figure 2" in wanted:
        table = table_1(experiment, runner)
        if "table 1" in wanted:
            yield table
        if "figure 2" in wanted:
            yield boxplots(table)
    if "table 2" in wanted:
        yield table_2(experiment, runner)
    if "table 3" in wanted:
        yield table_3(experiment, runner, gammas)
    if "table 3a" in wanted:
        yield open_choices(quick, runner)
    if "table 4" in wanted:
        yield table_4(experiment, runner, gammas)
    if "table 4a" in wanted:
        yield from study(experiment, quick, runner.progress)
    if "table 5" in wanted:
        yield table_5(experiment, runner, quick)
    if "table 6" in wanted:
        yield table_6(experiment, runner)


def _f1_table(
    number: str, caption: str, columns: Sequence[Column], experiment: Experiment, runner: Runner, *notes: str
) -> Table:
    """F1 of the ten topics and their averages."""
    ours = runner.outcomes(f"table {number}", experiment, [column.model for column in columns])
    return Table(
        number=number,
        caption=caption,
        rows=(*TOPICS, *AVERAGES),
        columns=tuple(column.name for column in columns),
        published=transposed([column.published for column in columns]),
        ours=transposed(ours),
        digits=1,
        notes=notes,
    )


def table_1(experiment: Experiment, runner: Runner) -> Table:
    columns = [
        Column("Naive Bayes", published.NAIVE_BAYES),
        Column("Log. Reg.", published.ZHANG_OLES_LOGISTIC),
        Column("SVM", published.ZHANG_OLES_SVM),
        Column("Sparse Bayes", LAPLACE[10.0], laplace(10.0)),
    ]
    collection = experiment.collection
    notes = (
        f"{collection.train.shape[0]:,} training and {collection.test.shape[0]:,} test stories.",
        "The first three columns are figures of Zhang & Oles (2001), cited by the paper and not run here.",
    )
    return _f1_table("1", "F1 on Reuters-21578 ModApte.", columns, experiment, runner, *notes)


def table_2(experiment: Experiment, runner: Runner) -> Table:
    columns = [
        Column("Jeffreys raw TF", published.JEFFREYS_RAW, JEFFREYS._replace(scheme="raw")),
        Column("Jeffreys log TF", published.JEFFREYS, JEFFREYS),
        Column("Laplace γ = 10 raw TF", published.LAPLACE_RAW, laplace(10.0)._replace(scheme="raw")),
        Column("Laplace γ = 10 log TF", LAPLACE[10.0], laplace(10.0)),
    ]
    return _f1_table("2", "Role of the term frequency measure: F1.", columns, experiment, runner)


def table_3(experiment: Experiment, runner: Runner, gammas: Collection[float]) -> Table:
    columns = [Column("Jeffreys", published.JEFFREYS, JEFFREYS)]
    columns += [Column(f"Laplace γ = {g:g}", LAPLACE[g], laplace(g) if g in gammas else None) for g in GAMMAS]
    table = _f1_table("3", "Role of priors: F1.", columns, experiment, runner)
    notes = []
    for reading, power in (("γ", 1.0), ("√γ", 0.5)):
        models = [Model("probit", "laplace", gamma**-power, exact=True) for gamma in gammas]
        micro = [column[-1] for column in runner.outcomes("table 3: the optimum", experiment, models)]
        shown = ", ".join(f"{value:.1f} (γ = {gamma:g})" for gamma, value in zip(gammas, micro, strict=True))
        notes.append(f"Micro-average at the posterior mode itself, with Laplace rate {reading}: {shown}.")
    return table._replace(notes=tuple(notes))


def table_4(experiment: Experiment, runner: Runner, gammas: Collection[float]) -> Table:
    """Parameters left; the Laplace cells are compared by rank correlation."""
    models = [JEFFREYS, *(laplace(gamma) if gamma in gammas else None for gamma in GAMMAS)]
    runner.outcomes("table 4", experiment, models)
    sizes = [None if model is None else experiment.outcome(model).sizes for model in models]
    nothing: tuple[Cell, ...] = (None,) * len(TOPICS)
    ours = [nothing if size is None else tuple(map(float, size)) for size in sizes]
    there = [(gamma, size) for gamma, size in zip(GAMMAS, sizes[1:], strict=True) if size is not None]
    left, printed = (np.array(side) for side in zip(*((size, LAPLACE_SIZES[g]) for g, size in there), strict=True))
    notes = (
        f"Rank correlation (Spearman) over the {left.size} Laplace cells run: {rank_correlation(left, printed):.3f}; "
        f"mean absolute difference {np.abs(left - printed).mean():.1f} parameters.",
        "The prior rate is γ; EM starts at least squares and ends at a relative change of "
        f"{experiment.stop.tol:g}; parameters of at most {experiment.stop.zero:g} count as zero (see Table 4a).",
    )
    return Table(
        number="4",
        caption="Sparsity by prior: parameters left of 301 (300 words and the intercept).",
        rows=TOPICS,
        columns=("Jeffreys", *(f"Laplace γ = {gamma:g}" for gamma in GAMMAS)),
        published=transposed([published.JEFFREYS_SIZES, *LAPLACE_SIZES.values()]),
        ours=transposed(ours),
        digits=0,
        notes=notes,
        mark=15.0,
    )


def table_5(experiment: Experiment, runner: Runner, quick: bool) -> Table:
    many = [None if quick else model._replace(n_words=1000) for model in (JEFFREYS, laplace(10.0))]
    columns = [
        Column("Jeffreys 300", published.JEFFREYS, JEFFREYS),
        Column("Jeffreys 1,000", published.JEFFREYS_1000, many[0]),
        Column("Laplace γ = 10, 300", LAPLACE[10.0], laplace(10.0)),
        Column("Laplace γ = 10, 1,000", published.LAPLACE_1000, many[1]),
    ]
    return _f1_table("5", "Role of the number of features: F1.", columns, experiment, runner)


def table_6(experiment: Experiment, runner: Runner) -> Table:
    columns = [
        Column("Probit Gaussian", published.GAUSSIAN, Model("probit", "gaussian", 0.1)),
        Column("Probit Laplace", LAPLACE[10.0], laplace(10.0)),
        Column("Logistic Gaussian", published.LOGISTIC_GAUSSIAN, Model("logit", "gaussian", 0.1, scheme="tfidf")),
        Column("Logistic Laplace", published.LOGISTIC_LAPLACE, Model("logit", "laplace", 0.1, scheme="tfidf")),
    ]
    note = "Gaussian variance 0.01, Laplace rate γ = 10; the logistic columns use log TF × IDF, as the paper's."
    return _f1_table("6", "Sparse and non-sparse binary regression: F1.", columns, experiment, runner, note)
