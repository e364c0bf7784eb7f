"""``textbayes simulate``: how early a model would have found what reviews included, and when it would have stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import cloup
import numpy as np

from textbayes import data
from textbayes.cli.cluster import cluster_option, on_cluster
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.options import jobs_option, most_used, option
from textbayes.cli.output import Output, check_output, console, make_table, output_options
from textbayes.cli.terminal import common_options, reporting

if TYPE_CHECKING:
    from textbayes.core.types import Document
    from textbayes.screen.simulations import CalibrationBin, Result

_MODELS = ("textbayes", "elas_u4")
_COLUMNS = (
    "review", "model", "seed", "records", "relevant", "loss", "recall_10", "recall_20", "recall_50", "wss_95", "erf_10",
    "atd",
)  # fmt: skip


@cloup.command()
@most_used("relevant", "models", "seeds", "question", "target", "plot", "text_field", "label_field", "as_json")
@option("--relevant", default="1", metavar="LABEL", help="Label of what was included.")
@option("--model", "models", multiple=True, choices=_MODELS, help="Both if not given.")
@option("--seeds", default=5, type=click.IntRange(min=1), help="Starts of each review.")
@click.option("--question", metavar="TEXT", help="The review's question: counts as one relevant record.")
@option("--prior", default="none", metavar="FILE|reviews|none", help="Words of other reviews.")
@option("--strategy", default="likely", help="See `textbayes screen start`.")
@click.option("--rule", "rules", multiple=True, metavar="RULE", help="See `textbayes screen status`.")
@option("--target", default=0.95, type=click.FloatRange(0, 1, min_open=True), help="Of rules.")
@option("--confidence", default=0.9, type=click.FloatRange(0, 1), help="Of rules.")
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
    question: str | None,
    prior: str,
    strategy: str,
    rules: tuple[str, ...],
    target: float,
    confidence: float,
    plot: str | None,
    n_jobs: int | None,
    cluster: str | None,
    output: Output,
) -> None:
    """Screen reviews again whose answers are known.

    Each file is a review, each start one relevant and one irrelevant record drawn by chance. elas_u4 is ASReview's
    default model, for comparison. Measures leave the start out, as ASReview's do: loss (0 best), recall at 10, 20 and
    50 % read, work saved at 95 % recall, extra relevant found at 10 %, average time to discovery.

    For each rule you learn how often it was right, the worst recall, and what it read in excess; for the estimate also
    whether its probabilities are calibrated.

    \b
    textbayes simulate review.csv --label-field label_included
    textbayes simulate review.csv --label-field label_included --rule estimate
    """
    from textbayes.cli.screen import prior_table
    from textbayes.screen.simulations import SimulationTask, check_plot_ending, run_tasks

    drawing = None if plot is None else check_output(plot)
    if drawing is not None:
        check_plot_ending(drawing)
    table = prior_table(prior)
    reviews = _reviews(inputs)
    tasks = [
        SimulationTask(name, model, seed, strategy, tuple(rules) if model == "textbayes" else (), target, confidence)
        for name in reviews
        for model in models or _MODELS
        for seed in range(seeds)
    ]
    with on_cluster(cluster), reporting() as progress:
        results = run_tasks(tasks, reviews, relevant, question, table, n_jobs, progress)
    bins = _calibration(results)
    if drawing is not None:
        from textbayes.screen.simulations import draw_recall

        draw_recall(results, drawing, bins)
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
    table = make_table(*_COLUMNS, right=_COLUMNS[2:])
    for result in results:
        row = result.row
        table.add_row(*(f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name]) for name in _COLUMNS))
    console().print(table)


def _show_rules(results: list[Result], bins: list[CalibrationBin], target: float) -> None:
    from textbayes.screen.simulations import summarise_stops

    stopped = [result for result in results if result.simulation.stops]
    if stopped:
        each = make_table(
            "review", "seed", "rule", "read", "recall", "excess", "reason", right=("read", "recall", "excess")
        )
        for result in stopped:
            for stop in result.simulation.stops:
                figures = (f"{stop.n_read:,}", f"{stop.recall:.3f}", f"{stop.excess:,}")
                each.add_row(result.task.review, str(result.task.seed), stop.rule, *figures, stop.reason)
        console().print(each)
        table = make_table("rule", "stops", "right", "worst recall", "excess", right=("stops", "right", "excess"))
        runs = [(result.simulation.stops, len(result.simulation.rows)) for result in stopped]
        for found in summarise_stops(runs, target):
            shares = (f"{found.right:.1%}", f"{found.worst_recall:.3f}", f"{found.excess:.1%}")
            table.add_row(found.rule, str(found.stops), *shares)
        console().print(table)
    if bins:
        table = make_table("predicted", "observed", "cases", right=("predicted", "observed"))
        for one in bins:
            table.add_row(f"{one.said:.2f}", f"{one.reached:.2f}", f"{one.n:,}")
        console().print(table)
