"""``textbayes simulate``: how early a model would have found what reviews included, and when it would have stopped."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes import data
from textbayes.cli.cluster import cluster_option, on_cluster
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.options import EMBEDDINGS, FloatRange, jobs_option, most_used, option
from textbayes.cli.output import Output, check_output, make_table, output_options, print_table
from textbayes.cli.terminal import common_options, note, reporting
from textbayes.core.errors import plural

if TYPE_CHECKING:
    from textbayes.core.types import Document
    from textbayes.screen.simulations import CalibrationBin, Result

_MODELS = ("textbayes", "elas_u4")
_STARTS = ("known", "none")
_NAME_WIDTH = 20  # of a review in tables, which then fit into 80 columns
_COLUMNS = (
    "review", "model", "seed", "records", "relevant", "loss", "recall_10", "recall_20", "recall_50", "wss_95", "erf_10",
    "atd",
)  # fmt: skip


@cloup.command()
@most_used(
    "relevant", "models", "seeds", "start", "questions", "target", "plot", "text_field", "label_field", "as_json"
)
@option("--relevant", default="1", metavar="LABEL", help="Label of what was included.")
@option("--model", "models", multiple=True, choices=_MODELS, help="Both if not given.")
@option("--seeds", default=5, type=click.IntRange(min=1), help="Starts of each review.")
@option(
    "--start",
    default="known",
    choices=_STARTS,
    help="known: one relevant and one irrelevant record; none: nothing is judged (elas_u4 always needs the two).",
)
@click.option(
    "--question",
    "questions",
    multiple=True,
    metavar="TEXT",
    help="The review's question or title, as for `screen start`; of several reviews one each, in their order.",
)
@option("--prior", default="reviews", metavar="FILE|reviews|none", help="See `textbayes screen start`.")
@EMBEDDINGS
@option("--strategy", default="likely", help="See `textbayes screen start`.")
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="See `textbayes screen status`.")
@option("--target", default=0.95, type=FloatRange(0, 1, min_open=True), help="Of rules.")
@option("--confidence", default=0.9, type=FloatRange(0, 1), help="Of rules.")
@click.option(
    "--plot", "plot", metavar="FILE", help="Draw recall curves and the calibration of the estimate: .png, .svg, .pdf."
)
@jobs_option
@cluster_option
@input_options(duplicates="keep")
@output_options
@common_options
def simulate(
    inputs: Inputs,
    relevant: str,
    models: tuple[str, ...],
    seeds: int,
    start: str,
    questions: tuple[str, ...],
    prior: str,
    embeddings: str,
    strategy: str,
    rules: tuple[str, ...],
    target: float,
    confidence: float,
    plot: str | None,
    n_jobs: int | None,
    cluster: str | None,
    output: Output,
) -> None:
    """Simulate screening on reviews whose answers are known.

    Each file is a review, read by the model of `textbayes screen start` with its defaults and by ASReview's default
    model, elas_u4. Each start has one relevant and one irrelevant record, drawn by chance, or nothing. Measures leave
    the start out, as ASReview's do: loss (0 best), recall at 10, 20 and 50 % read, work saved (WSS) at 95 % recall,
    average time to discovery (ATD). Tables show means; --json and --csv have every start.

    For each rule you learn how often it was right, the worst recall, and what it read in excess; for the estimate also
    whether its probabilities are calibrated.

    \b
    textbayes simulate review.csv --label-field included --question "green tea"
    textbayes simulate review.csv --label-field included --plot recall.svg
    """
    from textbayes.cli.screen import prior_table
    from textbayes.screen.simulations import SimulationTask, check_plot_ending, run_tasks

    drawing = None if plot is None else check_output(plot)
    if drawing is not None:
        check_plot_ending(drawing)
    table = prior_table(prior)
    reviews = _reviews(inputs)
    if len(questions) not in (0, 1, len(reviews)):
        given = f"{len(questions)} questions for {plural(len(reviews), 'review')}"
        raise click.UsageError(f"{given}: give one, or one each.")
    asked = dict(zip(reviews, questions * len(reviews) if len(questions) == 1 else questions, strict=False))
    if inputs.corpus == "systematic_reviews" and prior == "reviews":
        note("the table of words was learnt from these reviews, which makes losses too low; --prior none leaves it out")
    known = {"elas_u4": True, "textbayes": start == "known"}
    tasks = [
        SimulationTask(
            name, model, seed, known[model], strategy, rules if model == "textbayes" else (), target, confidence
        )
        for name in reviews
        for model in models or _MODELS
        for seed in range(seeds)
    ]
    with on_cluster(cluster), reporting() as progress:
        results = run_tasks(tasks, reviews, relevant, asked, table, n_jobs, progress, embeddings)
    bins = _calibration(results)
    if drawing is not None:
        from textbayes.screen.simulations import draw_recall

        draw_recall(results, drawing, bins, target)
    if output.is_table:
        _show(results)
        _show_rules(results, bins, target)
    else:
        output.write([result.row for result in results], [*_COLUMNS, "stops", "estimate"])


def _reviews(inputs: Inputs) -> dict[str, list[Document]]:
    """Documents by review: a file each, or a part of a corpus each."""
    from dataclasses import replace

    if inputs.corpus is not None:
        corpus = data.load_corpus(inputs.corpus, download=inputs.download, **dict(inputs.options))
        names = inputs.parts or tuple(corpus.parts) or (inputs.corpus,)
        return {name: list((corpus.part(name) if corpus.parts else corpus).documents()) for name in names}
    return {path: list(replace(inputs, paths=(path,)).documents()) for path in inputs.paths}


def _calibration(results: list[Result]) -> list[CalibrationBin]:
    """Predicted and observed frequencies of the estimate over all simulations."""

    from textbayes.screen.simulations import calibration, estimate_checks

    checks = [estimate_checks(result.simulation, result.task.target) for result in results]
    predicted, observed = (np.concatenate(part) for part in zip(*checks, strict=True))
    return calibration(predicted, observed)


def _show(results: list[Result]) -> None:
    """The means of each review and model, and those of each model over all reviews beside elas_u4."""
    from textbayes.screen.simulations import summarise_losses

    shares = ("recall\n10 %", "recall\n20 %", "recall\n50 %")
    measures = ("loss", *shares, "WSS\n95 %", "ATD")
    table = make_table("review", "model", *measures, right=measures)
    names = ("loss", "recall_10", "recall_20", "recall_50", "wss_95", "atd")
    by_task: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for result in results:
        by_task.setdefault((result.task.review, result.task.model), []).append(result.row)
    for (review, model), rows in by_task.items():
        means = (f"{np.mean([row[name] for row in rows]):.3f}" for name in names)
        table.add_row(_short(review), model, *means)
    print_table(table)
    right = ("mean loss", "relative to elas_u4", "geometric mean")
    table = make_table("model", *right, right=right)
    for model, mean, ratio, geometric in summarise_losses(results):
        table.add_row(model, f"{mean:.3f}", *("" if value is None else f"{value:.3f}" for value in (ratio, geometric)))
    print_table(table)


def _short(review: str) -> str:
    """The name of a file without its folder and ending, broken over lines where it is long."""
    return "\n".join(textwrap.wrap(Path(review).stem, _NAME_WIDTH, break_long_words=True))


def _show_rules(results: list[Result], bins: list[CalibrationBin], target: float) -> None:
    from textbayes.screen.simulations import summarise_stops

    stopped = [result for result in results if result.simulation.stops]
    if stopped:
        right = ("start", "read", "recall", "excess")
        each = make_table("review", "rule", *right, right=right)
        for result in stopped:
            for stop in result.simulation.stops:
                figures = (f"{stop.n_read:,}", f"{stop.recall:.3f}", f"{stop.excess:,}")
                each.add_row(_short(result.task.review), stop.rule, str(result.task.seed), *figures)
        print_table(each)
        right = ("stops", "right", "worst recall", "excess")
        table = make_table("rule", *right, right=right)
        runs = [(result.simulation.stops, len(result.simulation.rows)) for result in stopped]
        for found in summarise_stops(runs, target):
            shares = (f"{found.right:.1%}", f"{found.worst_recall:.3f}", f"{found.excess:.1%}")
            table.add_row(found.rule, str(found.stops), *shares)
        print_table(table)
    if bins:
        table = make_table("predicted", "observed", "cases", right=("predicted", "observed"))
        for one in bins:
            table.add_row(f"{one.said:.2f}", f"{one.reached:.2f}", f"{one.n:,}")
        print_table(table)
