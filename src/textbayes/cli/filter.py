"""``textbayes filter``: a stream of documents in, those to read and those to judge out; it learns as it goes."""

from __future__ import annotations

import functools
import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.filter_options import filter_options
from textbayes.cli.filter_views import (
    highest_probability,
    lines_of,
    parse_moment,
    show_export,
    show_pending,
    show_replay,
    show_status,
    threshold_in_words,
)
from textbayes.cli.inputs import Inputs, check_filter_path, input_options, is_model, model_file
from textbayes.cli.labelled import no_label, read_topics
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import jobs_option, most_used
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.parameters import Checked
from textbayes.cli.progress import reporting
from textbayes.cli.settings import common_options, note, warn
from textbayes.cli.terminal import echo
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from textbayes.core.errors import MalformedFileError
    from textbayes.stream import AdaptiveFilter, Delivery, FilterFolder

COLUMNS = ("id", "topic", "probability", "reason", "information_gain", "words", "snippet")
_SKIPPED = 3  # exit status of a run that skipped lines
_SHOWN = 1_000  # characters of a text, of which a line is shown
_NO_ID = (
    "the training file has no id column, so row numbers are the ids: documents of different files would share ids. "
    "Name a column with --id-field"
)
_AHEAD = 1024  # documents of a file counted at once: no decision depends on it


def _without_input(function: Callable[..., Any]) -> Callable[..., Any]:
    """What reads no documents need not be told any."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        flag = next((name for name in ("status", "pending", "replay", "model", "export") if given[name]), None)
        if flag is not None:
            if given["paths"] or given["corpus"] is not None:
                raise click.UsageError(f"--{flag} reads no documents; leave them out.")
            given["paths"] = ("-",)
        return function(*args, **given)

    return command


@cloup.command("filter")
@most_used("train", "model", "topics", "judgements", "by_labels", "status", "pending", "budget", "export", "text_field")
@click.argument("state")
@cloup.option_group(
    "Start a filter",
    click.option("--train", is_flag=True, help="Make STATE from these labelled documents."),
    click.option(
        "--model",
        metavar="FILE",
        callback=model_file,
        help="Make STATE from what a trained model knows, in place of --train.",
    ),
    click.option("--statements", metavar="FILE", help="Texts on what topics are about, labelled."),
    click.option("--prior", metavar="FILE", help="What is known of words, see `textbayes prior`."),
    click.option("--topic", "topics", multiple=True, metavar="NAME", help="Topics; all labels if not given."),
    jobs_option,
)
@cloup.option_group(
    "Run it",
    click.option(
        "--judgements",
        multiple=True,
        metavar="FILE|-",
        help="Read judgements from here as they come: a file that grows, a named pipe, or '-'.",
    ),
    click.option(
        "--judge-by-labels", "by_labels", is_flag=True, help="Judge what is delivered at once, by its labels."
    ),
    click.option(
        "--continue", "go_on", is_flag=True, help="Pass over the documents of this input that were seen before."
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="At a line of JSON lines, CSV or TSV that cannot be read: stop; or report it, go on, and exit 3 at last.",
    ),
)
@cloup.option_group(
    "Look at it",
    click.option("--status", is_flag=True, help="Show how each topic is doing, and what is new."),
    click.option(
        "--since",
        type=Checked(parse_moment),
        default="1d",
        show_default=True,
        metavar="TIME|DATE",
        help="What --status calls new: since so long ago, such as 12h or 1d, or since a date.",
    ),
    click.option("--pending", is_flag=True, help="List what was delivered and is not judged yet."),
    click.option(
        "--order",
        type=click.Choice(["information", "time"]),
        default="information",
        show_default=True,
        help="Of --pending: what would teach most first, or what came first.",
    ),
    click.option("--replay", is_flag=True, help="Compute every decision anew, and exit 1 if a bit differs."),
    click.option(
        "--export", metavar="FILE", help="Write the topics as a model, for classify, words, explain and report."
    ),
)
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
    model: str | None,
    export: str | None,
    status: bool,
    since: str,
    pending: bool,
    order: str,
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
    textbayes filter desk --train labelled.jsonl     # or --model model.tb
    tail -f feed.jsonl | textbayes filter desk
    textbayes judge desk a7 grain yes
    textbayes filter desk --status
    textbayes filter desk --export model.tb

    Every decision and judgement is written to STATE/log.jsonl before it is printed: the filter may be ended at any
    moment, even by kill -9, and goes on where it was. Of texts only words are kept, and of those delivered
    the beginning (--snippet). STATE remembers the columns of the labelled file, its label separator, delimiter,
    encoding and sheet; later files are read in the same way unless options say otherwise. Schedules, budget and
    threshold may be changed in later runs; what is not given stays as it was.

    The default link assumes that one judgement in ten is wrong, so that probabilities lie between 0.1 and 0.9: 0.9 is
    as sure as the filter can be. Another --link, such as probit with --noise 0.5, goes from 0 to 1.
    """
    check_filter_path(state)
    check_judgement_files(rest["judgements"])
    chosen = {"train": train, "model": model, "status": status, "pending": pending, "replay": replay, "export": export}
    modes = [name for name, wanted in chosen.items() if wanted]
    if len(modes) > 1:
        raise click.UsageError(f"--{modes[0]} and --{modes[1]} were both given; choose one of them.")
    if train:
        _start(state, inputs, labelling, changes, text, output, **rest)
        return
    if rest["statements"] or rest["prior"] or text:
        raise click.UsageError("--statements, --prior, --stemmer and --stop-words belong to --train.")
    if rest["topics"] and model is None:
        raise click.UsageError("--topic belongs to --train and --model.")
    if labelling != Labelling():
        raise click.UsageError("--merge-case and --missing-label belong to --train.")
    if model is not None:
        _start_from_model(state, model, changes, output, **rest)
    elif export is not None:
        show_export(state, export, output)
    elif status:
        show_status(state, parse_moment(since), output)
    elif pending:
        show_pending(state, order, output)
    elif replay:
        show_replay(state, output)
    else:
        _run(state, inputs, changes, output, **rest)


def check_judgement_files(paths: tuple[str, ...]) -> None:
    """Refuse model files where judgements are to be read."""
    for path in paths:
        if is_model(path):
            raise InputError(f"--judgements {path} is a model file; name a file of judgements in JSON lines")


def _start(
    state: str,
    inputs: Inputs,
    labelling: Labelling,
    changes: dict[str, Any],
    text: dict[str, Any],
    output: Output,
    **rest: Any,
) -> None:
    from textbayes.knowledge import WordPriors
    from textbayes.stream import AdaptiveFilter, FilterFolder, FilterSettings
    from textbayes.stream.folder import check_new, forms_for, write_surface
    from textbayes.stream.settings import default_text_options

    _check_start("--train", rest)
    started = time.perf_counter()
    check_new(state)
    settings = FilterSettings(**changes, text=default_text_options(**text))
    inputs = replace(inputs, usual_part="train")
    prior = None if rest["prior"] is None else WordPriors.read(rest["prior"])
    documents = read_topics(inputs, labelling)
    statements = _read_statements(rest["statements"], inputs)
    if not any(document.labels for document in (*documents, *statements)):
        raise no_label(inputs)
    with reporting() as progress:
        made = AdaptiveFilter.start(
            documents, statements, settings, rest["topics"] or None, rest["n_jobs"], progress, prior
        )
    found = inputs.columns()
    columns = None if found is None else found.to_state()
    FilterFolder.create(state, made, columns)
    write_surface(state, forms_for(made, [document.text for document in (*documents, *statements)]))
    _tell_start(state, made, {"documents": len(documents), "columns": columns}, started, output)


def _read_statements(path: str | None, inputs: Inputs) -> list[Document]:
    """Statements on topics, in the columns of the labelled documents where they have the same."""
    if path is None:
        return []
    found = inputs.columns()
    return list(Inputs((path,), duplicates="keep").read_by(None if found is None else found.to_state()).documents())


def _start_from_model(state: str, path: str, changes: dict[str, Any], output: Output, **rest: Any) -> None:
    from textbayes.store import load_categorizer
    from textbayes.stream import FilterFolder, filter_from_model
    from textbayes.stream.folder import check_new, write_surface

    _check_start("--model", rest)
    started = time.perf_counter()
    check_new(state)
    known = load_categorizer(path)
    made = filter_from_model(known, rest["topics"] or None, **changes)
    FilterFolder.create(state, made, known.columns_)
    write_surface(state, known.surface_)
    _tell_start(state, made, {"model": path, "columns": known.columns_}, started, output)


def _check_start(option: str, rest: dict[str, Any]) -> None:
    if rest["judgements"] or rest["by_labels"] or rest["go_on"]:
        raise click.UsageError(f"--judgements, --judge-by-labels and --continue do not go with {option}.")


def _tell_start(state: str, made: AdaptiveFilter, source: dict[str, Any], started: float, output: Output) -> None:
    """Say what a filter begins with, and of which topics nothing can be expected yet."""
    summary: dict[str, Any] = {
        "state": state,
        **source,
        "topics": {topic.name: _started(made, k) for k, topic in enumerate(made.topics)},
        "threshold": made.settings.threshold,
        "highest_probability": highest_probability(made),
        "seconds": round(time.perf_counter() - started, 2),
    }
    if summary["columns"] is not None and summary["columns"]["id"] is None:
        warn(_NO_ID)
    for told in summary["topics"].values():
        if told["warning"] is not None:
            warn(told["warning"])
    if output.is_table:
        _show_start(summary)
        echo(threshold_in_words(made))
    else:
        rows = [{"topic": name, **told} for name, told in summary["topics"].items()]
        columns = ["topic", "relevant", "words", "can_deliver", "warning"]
        output.write([summary] if output.kind == "json" else rows, columns)


def _started(made: AdaptiveFilter, k: int) -> dict[str, Any]:
    """What there is to say of a topic at the start."""
    from textbayes.stream.status import reach, why_silent

    topic, found = made.topics[k], reach(made, k)
    warning = None if found.can_deliver else why_silent(made, k, found)
    told = {"relevant": topic.n_relevant, "words": len(topic.words), "can_deliver": found.can_deliver}
    return {**told, "warning": warning}


def _run(state: str, inputs: Inputs, changes: dict[str, Any], output: Output, **rest: Any) -> None:
    from textbayes.cli.assess import batches
    from textbayes.stream import FilterFolder, FilterSettings
    from textbayes.stream.judgements import open_source
    from textbayes.stream.ledger import read_columns
    from textbayes.stream.run import run

    if "-" in inputs.paths and "-" in rest["judgements"]:
        raise click.UsageError("Documents and judgements are both to come from standard input; name a file for one.")
    inputs = inputs.read_by(read_columns(Path(state)))
    with FilterFolder.open(state) as folder:
        for found in folder.notes:
            note(found)
        for path in rest["judgements"]:
            folder.listen(open_source(path))
        seen = folder.begin(_key(inputs), changes, rest["go_on"])
        skipped = _SkippedLines(report=not seen)
        if rest["on_error"] == "skip":
            inputs = inputs.skipping(skipped)
        threshold = folder.filter.settings.threshold
        if "threshold" not in changes and threshold != FilterSettings.threshold:
            note(f"the threshold is {threshold:g}, as an earlier run set it; --threshold changes it")
        on_screen = output.is_table and sys.stdout.isatty()
        documents = inputs.documents(count=not on_screen)
        if seen:
            passed_over = sum(1 for _ in itertools.islice(documents, seen))
            skipped.report = True
            note(f"{plural(passed_over, 'document')} of {inputs.name} seen before: passed over")
        before, n_delivered = folder.filter.n_seen, 0
        write = _writer(output, folder)
        deliveries = run(
            folder,
            batches(documents, 1 if "-" in inputs.paths else _AHEAD),
            by_labels=rest["by_labels"],
            before_each=lambda: folder.take_judgements(warn),
        )
        for delivery in deliveries:
            write(delivery)
            n_delivered += 1
        folder.take_judgements(warn)
        _close(folder, f"{inputs.name} holds no {'new ' if seen else ''}documents", before, n_delivered)
    if skipped.count:
        warn(f"{plural(skipped.count, 'line')} of {inputs.name} skipped: see above")
        raise click.exceptions.Exit(_SKIPPED)


class _SkippedLines:
    """Reports and counts lines that cannot be read; not those before the place where a run goes on."""

    def __init__(self, report: bool) -> None:
        self.report, self.count = report, 0

    def __call__(self, error: MalformedFileError) -> None:
        if self.report:
            self.count += 1
            warn(f"{error} (line skipped)")


def _key(inputs: Inputs) -> str:
    """What an input goes under in the log: several files by all their names."""
    return inputs.name if len(inputs.paths) < 2 else ", ".join(inputs.paths)


def _writer(output: Output, folder: FilterFolder) -> Callable[[Delivery], None]:
    """A function that writes deliveries as they come: each is of the document that the folder saw last."""
    if output.is_table:
        line = lines_of(("id", "topic", "p", "reason", "text"), (6, 6, 5, 9))
        return lambda told: line(
            [told.id, told.topic, f"{told.probability:.3f}", told.reason, folder.last_text[:_SHOWN]]
        )
    header = True

    def write(told: Delivery) -> None:
        nonlocal header
        row = {**told._asdict(), "snippet": folder.last_snippet}
        output.write([{**row, "words": list(row["words"])} if output.kind == "csv" else row], COLUMNS, header=header)
        header = False

    return write


def _close(folder: FilterFolder, nothing: str, before: int, n_delivered: int) -> None:
    n_seen = folder.filter.n_seen - before
    if folder.n_repeated:
        skipped = plural(folder.n_repeated, "document")
        counted = "skipped, and counted once" if folder.filter.settings.skip_seen else "not delivered again"
        note(f"{skipped} seen before, under the same id with the same text: {counted}")
    if n_seen:
        n_judged = len(folder.filter.judgements)
        told = f"{plural(n_delivered, 'delivery', 'deliveries')} from {plural(n_seen, 'document')}"
        note(f"{told}; {plural(n_judged, 'judgement')} in all")
    elif not folder.n_repeated:
        note(nothing)


def _show_start(summary: dict[str, Any]) -> None:
    from textbayes.cli.output import make_table
    from textbayes.data.layout import Columns

    table = make_table("topic", "relevant", "words", right=("relevant", "words"))
    for name, told in summary["topics"].items():
        table.add_row(name, f"{told['relevant']:,}", f"{told['words']:,}")
    console().print(table)
    if summary["columns"] is not None:
        echo(f"Columns: {Columns.from_state(summary['columns']).in_words()}.")
    source = summary["model"] if "model" in summary else plural(summary["documents"], "document")
    echo(f"{summary['state']} was started from {source}.")
