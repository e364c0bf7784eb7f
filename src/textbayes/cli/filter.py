"""``textbayes filter``: a stream of documents in, those to read and those to judge out; it learns as it goes."""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.filter_options import filter_options
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labelled import no_label, read_topics
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.progress import reporting
from textbayes.cli.settings import common_options, note, warn
from textbayes.cli.terminal import echo

if TYPE_CHECKING:
    from textbayes.stream import FilterFolder

COLUMNS = ("id", "topic", "probability", "reason", "information_gain", "words")
_AHEAD = 1024  # documents of a file counted at once: no decision depends on it


def _without_input(function: Callable[..., Any]) -> Callable[..., Any]:
    """--pending and --replay read no documents, so that none need be named."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        flag = next((name for name in ("pending", "replay") if given[name]), None)
        if flag is not None:
            if given["paths"] or given["corpus"] is not None:
                raise click.UsageError(f"--{flag} reads no documents; leave them out.")
            given["paths"] = ("-",)
        return function(*args, **given)

    return command


@click.command("filter")
@click.argument("state")
@click.option("--train", is_flag=True, help="Start the filter: make STATE from these labelled documents.")
@click.option("--statements", metavar="FILE", help="With --train: texts on what topics are about, labelled.")
@click.option("--topic", "topics", multiple=True, metavar="NAME", help="With --train: topics; all labels if not given.")
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), help="With --train: threads; all cores if not given.")
@click.option(
    "--judgements",
    multiple=True,
    metavar="FILE|-",
    help="Read judgements from here as they come: a file that grows, a named pipe, or '-'.",
)
@click.option("--judge-by-labels", "by_labels", is_flag=True, help="Judge what is delivered at once, by its labels.")
@click.option("--continue", "go_on", is_flag=True, help="Pass over the documents of this input that were seen before.")
@click.option("--pending", is_flag=True, help="List what was delivered and is not judged yet.")
@click.option("--replay", is_flag=True, help="Compute every decision anew, and exit 1 if a bit differs.")
@filter_options
@label_options("merge_case", "missing")
@_without_input
@input_options(usual_part="test", duplicates="keep")
@output_options
@common_options
def filter_stream(
    state: str,
    inputs: Inputs,
    labelling: Labelling,
    train: bool,
    pending: bool,
    replay: bool,
    changes: dict[str, Any],
    text: dict[str, Any],
    output: Output,
    **rest: Any,
) -> None:
    """Deliver what matters from a stream, ask, and learn.

    A filter lives in a folder, STATE. It is started from labelled documents, whose labels become its topics, and then
    reads documents one by one. Delivered are those that are probably relevant to a topic, and those of which a
    judgement would teach most ("asked"). Judgements come by `textbayes judge`, at any time, or by --judgements.

    \b
    textbayes filter desk --train labelled.jsonl
    tail -f feed.jsonl | textbayes filter desk
    textbayes judge desk a7 grain yes
    textbayes filter desk --replay

    Every decision and judgement is in STATE/log.jsonl before it is told: the filter may be ended at any moment, even
    by kill -9, and goes on where it was. Only words are kept, not texts. Schedules, budget and threshold may be changed
    in later runs.
    """
    modes = [name for name, chosen in (("train", train), ("pending", pending), ("replay", replay)) if chosen]
    if len(modes) > 1:
        raise click.UsageError(f"--{modes[0]} and --{modes[1]} were both given; choose one of them.")
    if train:
        _start(state, inputs, labelling, changes, text, output, **rest)
        return
    if rest["statements"] or rest["topics"] or text:
        raise click.UsageError("--statements, --topic, --stemmer and --stop-words belong to --train.")
    if labelling != Labelling():
        raise click.UsageError("--merge-case and --missing-label belong to --train.")
    if pending:
        _pending(state, output)
    elif replay:
        _replay(state, output)
    else:
        _run(state, inputs, changes, output, **rest)


def _start(
    state: str,
    inputs: Inputs,
    labelling: Labelling,
    changes: dict[str, Any],
    text: dict[str, Any],
    output: Output,
    **rest: Any,
) -> None:
    from textbayes.data import open_documents
    from textbayes.stream import AdaptiveFilter, FilterFolder, FilterSettings
    from textbayes.stream.folder import check_new
    from textbayes.stream.settings import default_text_options

    if rest["judgements"] or rest["by_labels"] or rest["go_on"]:
        raise click.UsageError("--judgements, --judge-by-labels and --continue do not go with --train.")
    started = time.perf_counter()
    check_new(state)
    settings = FilterSettings(**changes, text=default_text_options(**text))
    inputs = replace(inputs, usual_part="train")
    documents = read_topics(inputs, labelling)
    statements = [] if rest["statements"] is None else list(open_documents(rest["statements"], duplicates="keep"))
    if not any(document.labels for document in (*documents, *statements)):
        raise no_label(inputs)
    with reporting() as progress:
        made = AdaptiveFilter.start(
            documents, statements, settings, rest["topics"] or None, rest["n_jobs"], progress=progress
        )
    FilterFolder.create(state, made)
    summary: dict[str, Any] = {
        "state": state,
        "documents": len(documents),
        "topics": {topic.name: {"relevant": topic.n_relevant, "words": len(topic.words)} for topic in made.topics},
        "seconds": round(time.perf_counter() - started, 2),
    }
    if output.is_table:
        _show_start(summary)
    else:
        rows = [{"topic": name, **told} for name, told in summary["topics"].items()]
        output.write([summary] if output.kind == "json" else rows, ["topic", "relevant", "words"])


def _run(state: str, inputs: Inputs, changes: dict[str, Any], output: Output, **rest: Any) -> None:
    from textbayes.cli.assess import batches
    from textbayes.stream import FilterFolder
    from textbayes.stream.judgements import open_source
    from textbayes.stream.run import run

    if "-" in inputs.paths and "-" in rest["judgements"]:
        raise click.UsageError("Documents and judgements are both to come from standard input; name a file for one.")
    with FilterFolder.open(state) as folder:
        for found in folder.notes:
            note(found)
        for path in rest["judgements"]:
            folder.listen(open_source(path))
        seen = folder.begin(inputs.name, changes)
        on_screen = output.is_table and sys.stdout.isatty()
        documents = inputs.documents(count=not on_screen)
        if rest["go_on"] and seen:
            note(f"{seen:,} documents of {inputs.name} were seen before and are passed over")
            documents = itertools.islice(documents, seen, None)
        before, n_delivered = folder.filter.n_seen, 0
        deliveries = run(
            folder,
            batches(documents, 1 if "-" in inputs.paths else _AHEAD),
            by_labels=rest["by_labels"],
            before_each=lambda: folder.take_judgements(warn),
        )
        for delivery in deliveries:
            _write([delivery._asdict()], output, first=not n_delivered)
            n_delivered += 1
        folder.take_judgements(warn)
        _close(folder, inputs, folder.filter.n_seen - before, n_delivered)


def _close(folder: FilterFolder, inputs: Inputs, n_seen: int, n_delivered: int) -> None:
    if n_seen:
        n_judged = len(folder.filter.judgements)
        note(f"{n_delivered:,} deliveries from {n_seen:,} documents; {n_judged:,} judgements in all")
    else:
        note(f"{inputs.name} holds no documents")


def _pending(state: str, output: Output) -> None:
    from pathlib import Path

    from textbayes.stream.ledger import read_pending
    from textbayes.stream.snapshot import read_config

    read_config(Path(state))
    for number, row in enumerate(read_pending(Path(state))):
        _write([row], output, first=number == 0)


def _replay(state: str, output: Output) -> None:
    from textbayes.core.errors import ModelFileError
    from textbayes.stream import replay_log

    with reporting("count") as progress:
        found = replay_log(state, progress)
    if found.difference is not None:
        raise ModelFileError(f"{state} does not replay: {found.difference}")
    summary = {name: value for name, value in found._asdict().items() if name != "difference"}
    if output.is_table:
        told = ", ".join(f"{value:,} {name}" for name, value in summary.items())
        echo(f"Every decision is the same when computed anew: {told}.")
    else:
        output.write([{"state": state, **summary, "identical": True}], ["state", *summary, "identical"])


def _write(rows: list[dict[str, Any]], output: Output, first: bool) -> None:
    if not output.is_table:
        flat = [{**row, "words": list(row["words"])} for row in rows]
        output.write(flat if output.kind == "csv" else rows, COLUMNS, header=first)
        return
    from rich.cells import set_cell_size

    screen = console()
    widths = [max(screen.width // 4 - 2, 8), max(screen.width // 6 - 2, 6), 5, 8]

    def line(cells: list[str]) -> str:
        return "  ".join([*(set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=False)), cells[-1]])

    if first:
        screen.print(line(["document", "topic", "p", "reason", "words"]), style="bold")
    for row in rows:
        cells = [row["id"], row["topic"], f"{row['probability']:.3f}", row["reason"], " ".join(row["words"])]
        screen.print(line(cells), overflow="ellipsis", no_wrap=True)


def _show_start(summary: dict[str, Any]) -> None:
    from textbayes.cli.output import make_table

    table = make_table("topic", "relevant", "words", right=("relevant", "words"))
    for name, told in summary["topics"].items():
        table.add_row(name, f"{told['relevant']:,}", f"{told['words']:,}")
    console().print(table)
    echo(f"{summary['state']} was started from {summary['documents']:,} documents.")
