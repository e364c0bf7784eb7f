"""What a filter shows without reading documents: status, what waits to be judged, its topics as a model, a replay."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from textbayes.cli.output import Output, console, make_table
from textbayes.cli.progress import reporting
from textbayes.cli.settings import warn
from textbayes.cli.terminal import echo
from textbayes.core.errors import InputError
from textbayes.core.wording import plural
from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.stream import AdaptiveFilter
    from textbayes.stream.status import Status

PENDING_COLUMNS = ("id", "topic", "probability", "reason", "information_gain", "words", "time", "snippet")
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}
_LEAST_TEXT = 8  # characters: a shorter beginning says nothing


def parse_moment(text: str) -> float:
    """Seconds of a moment: so long ago, such as 1d or 12h, or a date, such as 2026-11-15 or 2026-11-15T08:00."""
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found is not None:
        return time.time() - int(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{text!r} is no moment; write 1d (or m, h, w), or a date such as 2026-11-15") from None


def threshold_in_words(filter: AdaptiveFilter) -> str:
    """What is delivered as relevant, and where the probabilities end if that is not 1."""
    threshold, highest = filter.settings.threshold, highest_probability(filter)
    told = f"Delivered as relevant: probability above {threshold:g} (--threshold; later runs keep it)."
    if highest == 1.0:
        return told
    why = f"{1.0 - highest:.0%} of judgements may be wrong (--link {filter.settings.link})"
    return f"{told} No probability exceeds {highest:.2g}, since {why}."


def highest_probability(filter: AdaptiveFilter) -> float:
    """The limit of the probabilities: below 1 under a link that allows for wrong judgements."""
    closed = filter.likelihood.closed_form
    return 1.0 if closed is None else 1.0 - closed[1]


def show_status(state: str, since: float, output: Output) -> None:
    """Topic by topic: words, deliveries, judgements, precision, and what is new."""
    from textbayes.stream.folder import newest_state
    from textbayes.stream.status import read_status

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
    told = {"state": state, **found._asdict(), "since": since, **limits, "topics": rows}
    output.write([told] if output.kind == "json" else rows, list(rows[0]))


def _show_table(state: str, found: Status, since: float) -> None:
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
    if found.budget is not None:
        echo(f"{plural(found.questions_left or 0, 'question')} of {found.budget} left.")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def show_pending(state: str, order: str, output: Output) -> None:
    """What was delivered and is not judged yet, the most informative first or in the order of time."""
    from textbayes.stream.ledger import most_informative, read_config, read_pending

    read_config(Path(state))
    pending = read_pending(Path(state))
    rows = most_informative(pending) if order == "information" else list(pending)
    if output.is_table:
        write = lines_of(("id", "topic", "p", "bits", "reason", "text"), (6, 6, 5, 6, 9))
        for row in rows:
            numbers = f"{row['probability']:.3f}", bits_in_words(row["information_gain"])
            write([row["id"], row["topic"], *numbers, row["reason"], row["snippet"] or " ".join(row["words"])])
    elif output.kind == "csv":
        output.write([{**row, "words": list(row["words"])} for row in rows], PENDING_COLUMNS, header=bool(rows))
    else:
        output.write(rows, PENDING_COLUMNS)


def bits_in_words(gain: float) -> str:
    """An information gain for a table. It is computed approximately: a slightly negative one is shown as 0."""
    return f"{max(0.0, gain):.3f}"


def lines_of(heads: tuple[str, ...], widths: tuple[int, ...]) -> Callable[[list[str]], None]:
    """A function that prints rows as they come, one a line, a bold header before the first.

    The first two widths are shares of the terminal, the others characters; the last column has what is left. The first
    column is never shortened: it is what ``judge`` is given.
    """
    from textbayes.display.lines import cell_width, padded, shortened

    screen = console()
    sizes = [max(screen.width // share - 2, 6) for share in widths[:2]] + list(widths[2:])
    left = max(screen.width - sum(sizes) - 2 * len(sizes), _LEAST_TEXT)

    def line(cells: list[str]) -> str:
        key, *others, last = [visible(cell) for cell in cells]
        over = max(cell_width(key) - sizes[0], 0)
        last = shortened(last, left - over) if left - over >= _LEAST_TEXT else ""
        return "  ".join([padded(key, sizes[0] + over), *map(padded, others, sizes[1:]), last]).rstrip()

    first = True

    def write(cells: list[str]) -> None:
        nonlocal first
        if first:
            screen.print(line(list(heads)), style="bold")
        first = False
        screen.print(line(cells), no_wrap=True)

    return write


def exported(state: str) -> TextCategorizer:
    """The topics of a filter as a model, with the columns and the whole words that the filter knows."""
    from textbayes.stream import export_model
    from textbayes.stream.folder import newest_state, read_surface
    from textbayes.stream.ledger import read_columns

    model = export_model(newest_state(state).filter)
    model.columns_, model.surface_ = read_columns(Path(state)), read_surface(state)
    return model


def show_export(state: str, path: str, output: Output) -> None:
    """Write the topics of a filter as a model file, without taking hold of the filter."""
    from textbayes.cli.files import check_output
    from textbayes.store import save_model

    target = check_output(path)
    model = exported(state)
    save_model(model, target)
    n_topics, n_words = len(model.classes_), int(model.word_columns().sum())
    if output.is_table:
        echo(f"{target} holds {plural(n_topics, 'topic')} of {state} with {plural(n_words, 'word')}.")
    else:
        told = {"state": state, "model": str(target), "topics": n_topics, "words": n_words}
        output.write([told], list(told))


def show_replay(state: str, output: Output) -> None:
    """Compute every decision anew; a difference is an error."""
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
