"""What ``textbayes filter`` and ``judge`` do: start a filter, run it, show its status and what waits, ask about it."""

from __future__ import annotations

import itertools
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.answers import batches
from textbayes.cli.errors import INTERRUPTED, Signals, hold_signals, let_signals_through, typed_again
from textbayes.cli.inputs import Inputs
from textbayes.cli.labels import Labelling, no_label, read_topics
from textbayes.cli.output import Output, check_output, console, lines_of, make_table
from textbayes.cli.terminal import echo, note, read_key, reporting, warn
from textbayes.core.errors import InputError, MalformedFileError, ModelFileError, plural
from textbayes.core.types import Document
from textbayes.data.layout import Columns
from textbayes.knowledge import WordPriors
from textbayes.store import load_categorizer, save_model
from textbayes.stream import AdaptiveFilter, FilterFolder, FilterSettings, export_model, filter_from_model, replay_log
from textbayes.stream.folder import check_new, forms_for, newest_state, read_surface, write_surface
from textbayes.stream.judgements import (
    Judgement,
    give_judgements,
    most_informative,
    open_source,
    read_columns,
    read_config,
    read_pending,
)
from textbayes.stream.run import run
from textbayes.stream.settings import default_text_options
from textbayes.stream.status import reach, read_status, topic_words, why_silent
from textbayes.text.surface import shown

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.stream import AdaptiveFilter, Delivery, FilterFolder
    from textbayes.stream.status import FilterStatus

COLUMNS = ("id", "topic", "probability", "reason", "information_gain", "words", "snippet")
_SKIPPED = 3  # exit status of a run that skipped lines
_SHOWN = 1_000  # characters of a text, of which a line is shown
_NO_ID = (
    "the training file has no id column, so row numbers are the ids: documents of different files would share ids. "
    "Name a column with --id-field"
)
_TEXTS_FOR_FORMS = 1_000  # of the last deliveries, which show how new words are written
_AHEAD = 1024  # documents of a file counted at once: no decision depends on it
PENDING_COLUMNS = ("id", "topic", "probability", "reason", "information_gain", "words", "time", "snippet")


def threshold_in_words(filter: AdaptiveFilter) -> str:
    """What is delivered as relevant, and where the probabilities end if that is not 1."""
    threshold, highest = filter.settings.threshold, highest_probability(filter)
    sentence = f"Delivered as relevant: probability above {threshold:g} (change it with --threshold)."
    if highest == 1.0:
        return sentence
    why = f"the model allows for {1.0 - highest:.0%} wrong judgements (--link {filter.settings.link})"
    return f"{sentence} No probability exceeds {highest:.2g}, since {why}."


def highest_probability(filter: AdaptiveFilter) -> float:
    """The limit of the probabilities: below 1 under a link that allows for wrong judgements."""
    closed = filter.likelihood.closed_form
    return 1.0 if closed is None else 1.0 - closed[1]


def show_status(state: str, since: float, output: Output) -> None:
    """Topic by topic: words, deliveries, judgements, precision, and what is new."""

    found, filter = read_status(state, since, time.time()), newest_state(state).filter
    if output.is_table:
        _show_table(state, found, since)
        echo(threshold_in_words(filter))
        return
    for topic in found.topics:
        if topic.warning is not None:
            warn(topic.warning)
    rows = [topic._asdict() for topic in found.topics]
    limits = {"threshold": filter.settings.threshold, "highest_probability": highest_probability(filter)}
    summary = {"state": state, **found._asdict(), "since": since, **limits, "topics": rows}
    output.write([summary] if output.kind == "json" else rows, list(rows[0]))


def _show_table(state: str, found: FilterStatus, since: float) -> None:
    heads = ("words", "delivered", "asked", "judged", "precision", "pending", "new")
    table = make_table("topic", *heads, right=heads)
    for topic in found.topics:
        precision = "" if topic.precision is None else f"{topic.precision:.0%}"
        counts = (topic.words, topic.delivered, topic.asked, topic.judged)
        table.add_row(
            topic.topic, *(f"{n:,}" for n in counts), precision, f"{topic.pending:,}", f"+{topic.new_delivered:,}"
        )
    console().print(table)
    for topic in found.topics:
        if topic.warning is not None:
            echo(f"{topic.warning[0].upper()}{topic.warning[1:]}.")
    last = "" if found.last is None else f", the last at {_moment(found.last)}"
    echo(f"{state} has seen {plural(found.documents, 'document')}{last}.")
    judged, relevant = (sum(getattr(topic, name) for topic in found.topics) for name in ("new_judged", "new_relevant"))
    new = f"{plural(found.new_documents, 'document')}, {plural(judged, 'judgement')} ({relevant:,} relevant)"
    echo(f"New since {_moment(since)}: {new}.")
    if (utility := found.utility_in_words()) is not None:
        echo(utility)
    if found.budget is not None:
        echo(f"{plural(found.questions_left or 0, 'question')} of {found.budget} left.")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def show_pending(state: str, order: str, output: Output) -> None:
    """What was delivered and is not judged yet, the most informative first or in the order of time."""

    read_config(Path(state))
    pending = read_pending(Path(state))
    found = most_informative(pending) if order == "information" else list(pending)
    forms = read_surface(state)
    rows = [_as_shown(row, forms) for row in found]
    if output.is_table:
        longest = max((row["id"] for row in rows), key=len, default="")
        write = lines_of(("id", "topic", "p", "bits", "reason", "text"), (6, 6, 5, 6, 9), longest)
        for row in rows:
            numbers = f"{row['probability']:.3f}", bits_in_words(row["information_gain"])
            write([row["id"], row["topic"], *numbers, row["reason"], row["snippet"] or ", ".join(row["words"])])
    elif output.kind == "csv":
        output.write([{**row, "words": list(row["words"])} for row in rows], PENDING_COLUMNS, header=bool(rows))
    else:
        output.write(rows, PENDING_COLUMNS)


_ANSWERS = {"y": True, "n": False}
_KEYS = "y(es), n(o), s(kip), u(ndo: back to the last), q(uit)"


def judge_pending(folder: Path) -> None:
    """Ask about what was delivered and is not judged, the most informative first; every answer is on disk at once.

    A judgement that was given can be changed but not taken back: a filter cannot unlearn. So undo goes back to the
    document, to be answered again.
    """
    rows, forms = most_informative(read_pending(folder)), read_surface(folder)
    if not rows:
        note("every delivery is judged")
        return
    given: dict[int, bool] = {}
    at = 0
    while at < len(rows):
        _ask(rows[at], at, len(rows), given.get(at), forms)
        key = read_key(f"Relevant to {rows[at]['topic']}? [y/n/s/u/q] ")
        if key == "q":
            break
        if key == "u":
            if at == 0:
                echo("This is the first; there is none to go back to.")
            at = max(at - 1, 0)
            continue
        answer = _ANSWERS.get(key)
        if answer is None and key != "s":
            echo(f"Answer by one of {_KEYS}.")
            continue
        if answer is not None and given.get(at) != answer:
            give_judgements(folder, [Judgement(rows[at]["id"], rows[at]["topic"], answer)])
            given[at] = answer
        at += 1
    echo(f"{len(given):,} of {len(rows):,} judged.")


def _ask(row: dict[str, Any], at: int, n: int, before: bool | None, forms: Mapping[str, str]) -> None:
    echo()
    echo(f"{at + 1}/{n}  {row['id']}", bold=True)
    if row["snippet"]:
        echo(f"  {row['snippet']}")
    words = ", ".join(shown(word, forms) for word in row["words"]) or "none"
    gain = bits_in_words(row["information_gain"])
    echo(f"Probability {row['probability']:.3f}, information gain {gain} bits ({row['reason']}).")
    echo(f"Strongest words: {words}.")
    if before is not None:
        echo(f"You said {'yes' if before else 'no'}; another answer replaces it, s leaves it.")


def bits_in_words(gain: float) -> str:
    """An information gain for a table."""
    return f"{max(0.0, gain):.3f}"


def _as_shown(row: dict[str, Any], forms: Mapping[str, str]) -> dict[str, Any]:
    """A row with whole words for stems. The gain is an approximation: what comes out slightly negative is 0."""
    words = {shown(word, forms): weight for word, weight in row["words"].items()}
    return {**row, "information_gain": max(0.0, row["information_gain"]), "words": words}


def exported(state: str) -> TextCategorizer:
    """The topics of a filter as a model, with the columns and the whole words that the filter knows."""

    model = export_model(newest_state(state).filter)
    model.columns_, model.surface_ = read_columns(Path(state)), read_surface(state)
    return model


def show_export(state: str, path: str, output: Output) -> None:
    """Write the topics of a filter as a model file, without taking hold of the filter."""

    target = check_output(path)
    model = exported(state)
    save_model(model, target)
    n_topics, n_words = len(model.classes_), int(model.word_columns().sum())
    output.write_summary(
        {"state": state, "model": str(target), "topics": n_topics, "words": n_words},
        f"{target} holds {plural(n_topics, 'topic')} of {state} with {plural(n_words, 'word')}.",
    )


def show_replay(state: str, output: Output) -> None:
    """Compute every decision anew; a difference is an error."""

    with reporting("count") as progress:
        found = replay_log(state, progress)
    if found.difference is not None:
        raise ModelFileError(f"{state} does not replay: {found.difference}")
    summary = {name: value for name, value in found._asdict().items() if name != "difference"}
    counts = ", ".join(f"{value:,} {name}" for name, value in summary.items())
    sentence = f"Every decision is the same when computed anew: {counts}."
    output.write_summary({"state": state, **summary, "identical": True}, sentence)


def start(
    state: str,
    inputs: Inputs,
    labelling: Labelling,
    changes: dict[str, Any],
    text: dict[str, Any],
    output: Output,
    **rest: Any,
) -> None:
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
    _write_start(state, made, {"documents": len(documents), "columns": columns}, started, output)


def _read_statements(path: str | None, inputs: Inputs) -> list[Document]:
    """Statements on topics, in the columns of the labelled documents where they have the same."""
    if path is None:
        return []
    found = inputs.columns()
    return list(Inputs((path,), duplicates="keep").read_by(None if found is None else found.to_state()).documents())


def start_from_model(state: str, path: str, changes: dict[str, Any], output: Output, **rest: Any) -> None:
    _check_start("--model", rest)
    started = time.perf_counter()
    check_new(state)
    known = load_categorizer(path)
    made = filter_from_model(known, rest["topics"] or None, **changes)
    FilterFolder.create(state, made, known.columns_)
    write_surface(state, known.surface_)
    _write_start(state, made, {"model": path, "columns": known.columns_}, started, output)


def _check_start(option: str, rest: dict[str, Any]) -> None:
    if rest["judgements"] or rest["by_labels"] or rest["go_on"]:
        raise click.UsageError(f"--judgements, --judge-by-labels and --continue do not go with {option}.")


def _write_start(state: str, made: AdaptiveFilter, source: dict[str, Any], started: float, output: Output) -> None:
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
    for row in summary["topics"].values():
        if row["warning"] is not None:
            warn(row["warning"])
    if output.is_table:
        _show_start(summary)
        echo(threshold_in_words(made))
    else:
        rows = [{"topic": name, **row} for name, row in summary["topics"].items()]
        columns = ["topic", "relevant", "words", "can_deliver", "warning"]
        output.write([summary] if output.kind == "json" else rows, columns)


def _started(made: AdaptiveFilter, k: int) -> dict[str, Any]:
    """What there is to say of a topic at the start."""

    topic, found = made.topics[k], reach(made, k)
    warning = None if found.can_deliver else why_silent(made, k, found)
    row = {"relevant": topic.n_relevant, "words": len(topic.words), "can_deliver": found.can_deliver}
    return {**row, "warning": warning}


def run_filter(state: str, inputs: Inputs, changes: dict[str, Any], output: Output, **rest: Any) -> None:
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
        forms = read_surface(state)
        write = _writer(output, folder, forms)
        delivered: deque[str] = deque(maxlen=_TEXTS_FOR_FORMS)

        def before_each() -> None:
            let_signals_through()
            folder.take_judgements(warn)
            hold_signals()  # until the decision is in the log and printed, and judged if it is by labels

        waited_for = _waited_for(batches(documents, 1 if "-" in inputs.paths else _AHEAD))
        if rest["by_labels"]:
            waited_for = _with_labels(waited_for, inputs)
        try:
            for delivery in run(folder, waited_for, by_labels=rest["by_labels"], before_each=before_each):
                write(delivery)
                delivered.append(folder.last_text)
                n_delivered += 1
            let_signals_through()
        except KeyboardInterrupt:
            raise _interrupted("-" in inputs.paths) from None
        finally:
            Signals.held, Signals.waiting = False, 0
        folder.take_judgements(warn)
        if added := {**forms_for(folder.filter, list(delivered)), **forms}.items() - forms.items():
            write_surface(state, {**forms, **dict(added)})
        for path in folder.unread():
            warn(f"{path} ends in a line that is not whole JSON; it was not read")
        _close(folder, f"{inputs.name} holds no {'new ' if seen else ''}documents", before, n_delivered)
    if rest["by_labels"] and (utility := read_status(state, time.time(), time.time()).utility_in_words()) is not None:
        note(utility)
    if skipped.count:
        warn(f"{plural(skipped.count, 'line')} of {inputs.name} skipped: see above")
        raise click.exceptions.Exit(_SKIPPED)


def _waited_for(found: Iterable[list[Document]]) -> Iterator[list[Document]]:
    """Documents in lists; a signal ends the run while the next list is waited for."""
    documents = iter(found)
    while True:
        let_signals_through()
        batch = next(documents, None)
        if batch is None:
            return
        yield batch


def _with_labels(found: Iterator[list[Document]], inputs: Inputs) -> Iterator[list[Document]]:
    """The same documents, unless there is nothing in them to judge by: then all would be taught as irrelevant."""
    first = next(found, [])
    if first and not inputs.layout.found_label() and not any(document.labels for document in first):
        column = inputs.layout.expected.label if inputs.layout.expected is not None else ()
        lacks = f"has no column {column[0]!r}" if column else "has no labels"
        raise InputError(
            f"{inputs.name} {lacks}; --judge-by-labels needs a labelled feed: name the column with --label-field, or "
            "leave the option out and judge with `textbayes judge`"
        )
    yield from itertools.chain([first] if first else [], found)


def _interrupted(from_pipe: bool) -> click.exceptions.Exit:
    """How a run ends at Ctrl-C: with the command that goes on."""
    printed = "a delivery may not have been printed: see --pending" if Signals.held else "all deliveries are printed"
    go_on = "Start the filter again to go on" if from_pipe else "To go on:"
    echo(f"textbayes: interrupted; {printed}. {go_on}", err=True)
    if not from_pipe:
        more = () if "--continue" in typed_again() else ("--continue",)
        echo(f"  {typed_again(*more)}", err=True, wrap=False)
    return click.exceptions.Exit(INTERRUPTED)


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


def _writer(output: Output, folder: FilterFolder, forms: Mapping[str, str]) -> Callable[[Delivery], None]:
    """A function that writes deliveries as they come: each is of the document that the folder saw last."""
    if output.is_table:
        line = lines_of(("id", "topic", "p", "reason", "text"), (6, 6, 5, 9))
        return lambda delivery: line(
            [delivery.id, delivery.topic, f"{delivery.probability:.3f}", delivery.reason, folder.last_text[:_SHOWN]]
        )
    header = True

    def write(delivery: Delivery) -> None:
        nonlocal header
        row = _as_shown({**delivery._asdict(), "snippet": folder.last_snippet}, forms)
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
        counts = f"{plural(n_delivered, 'delivery', 'deliveries')} from {plural(n_seen, 'document')}"
        note(f"{counts}; {plural(n_judged, 'judgement')} in all")
    elif not folder.n_repeated:
        note(nothing)


def _show_start(summary: dict[str, Any]) -> None:
    table = make_table("topic", "relevant", "words", right=("relevant", "words"))
    for name, row in summary["topics"].items():
        table.add_row(name, f"{row['relevant']:,}", f"{row['words']:,}")
    console().print(table)
    if summary["columns"] is not None:
        echo(f"Columns: {Columns.from_state(summary['columns']).in_words()}.")
    source = summary["model"] if "model" in summary else plural(summary["documents"], "document")
    echo(f"{summary['state']} was started from {source}.")


def show_topic_words(state: str, topics: tuple[str, ...], level: float, top: int, output: Output) -> None:
    """List words, mean weights and intervals."""

    filter = newest_state(state).filter
    for topic in topics:
        if topic not in filter.index:
            raise InputError(f"label {topic!r} is not a topic of {state}; choose one of {', '.join(filter.index)}")
    forms = read_surface(state)
    rows = [
        {"label": topic, "rank": rank, **found._asdict(), "form": shown(found.word, forms), "level": level}
        for topic in topics or filter.index
        for rank, found in enumerate(topic_words(filter, topic, top, level), start=1)
    ]
    if output.is_table and any(row["low"] is not None for row in rows):
        console().print(f"low and high: {100 * level:g}% credible intervals of the weights")
    numbers = {name: f"{name}:+.2f" for name in ("weight", "low", "high")}
    columns = ["label", "rank", "word", "form", "weight", "low", "high", "level"]
    output.write_table(rows, columns, {"topic": "label", "word": "form", **numbers})
