"""``textbayes screen``: read records in the best order, and know when to stop."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes import data, knowledge, store
from textbayes import screen as engine
from textbayes.cli.inputs import Inputs, input_options, require_documents
from textbayes.cli.options import EMBEDDINGS, SEED, FloatRange, most_used, option, top_option
from textbayes.cli.output import Output, check_output, kind_by_ending, open_results, output_options
from textbayes.cli.terminal import common_options, echo, note, read_key, reporting
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, plural
from textbayes.core.parameters import option_defaults
from textbayes.data.documents import guess_format
from textbayes.data.formats import FORMATS
from textbayes.display import visible
from textbayes.screen.duplicates import merge_duplicates, with_own_ids
from textbayes.screen.references import WRITERS
from textbayes.screen.settings import MEDIUM, STRENGTHS, TOPIC

if TYPE_CHECKING:
    from textbayes.core.types import Document
    from textbayes.screen import ScreenFolder
    from textbayes.screen.duplicates import Merged
    from textbayes.screen.topic import ScreeningTopic


def record_row(folder: ScreenFolder, rows: Sequence[tuple[int, str]], topic: str | None) -> list[dict[str, Any]]:
    """Records that are handed out, with what is to be said of each."""
    from textbayes.screen.status import estimate

    screening = folder.screening
    known = screening.topic(topic)
    texts = _texts(folder, {row for row, _ in rows})
    shown, chosen = [], [row for row, _ in rows]
    behind = known.words_behind_each(chosen)
    for (row, reason), found, parts in zip(rows, estimate(known, chosen), behind, strict=True):
        figures = {name: round(value, 4) for name, value in found._asdict().items()}
        words = {word: round(part, 3) for word, part in parts.items()}
        shown.append(
            {"id": screening.collection.ids[row], **figures, "reason": reason, "words": words, "text": texts[row]}
        )
    return shown


_REASONS = {"likely": "most probable of those left", "informative": "an informative one", "random": "drawn at random"}


def show_records(rows: Sequence[dict[str, Any]]) -> None:
    """Records on a terminal, one below the other."""
    for row in rows:
        echo()
        echo(visible(f"record {row['id']}"))
        words = ", ".join(f"{word} {part:+.2f}" for word, part in row["words"].items())
        why = _REASONS.get(row["reason"], row["reason"])
        echo(f"p = {row['probability']:.3f} ({row['low']:.3f} to {row['high']:.3f}), {why}; words: {visible(words)}")
        for line in row["text"].splitlines():
            echo(click.wrap_text(visible(line), initial_indent="  ", subsequent_indent="  "))


def status_and_notes(folder: ScreenFolder, rules: Sequence[str], topic: str | None) -> dict[str, Any]:
    """How a topic stands; rules that say stop are noted in the log."""
    from textbayes.screen.status import Standing, status_of

    name = folder.screening.topic(topic).name
    times = [
        entry["time"]
        for entry in folder.log()
        if entry["kind"] == "judgement" and entry["topic"] == name and "time" in entry
    ]
    found = status_of(Standing.of(folder.screening, name), times, rules)
    for advice in found["advice"]:
        if advice["stop"]:
            folder.note_advice(advice["rule"], True, advice["reason"], name)
    return found


def _texts(folder: ScreenFolder, rows: set[int]) -> dict[int, str]:
    """The texts of some records."""
    last = max(rows, default=-1)
    return {
        row: str(record["text"])
        for row, record in enumerate(itertools.islice(folder.records(), last + 1))
        if row in rows
    }


_ANSWER_KEYS = {"r": "relevant", "i": "irrelevant", "u": "unsure"}
_QUESTION = "Relevant? [r/i/u/b/q] "
_KEYS = "r(elevant), i(rrelevant), u(nsure), b(ack: withdraw the last answer), q(uit)"


def judge_one_by_one(opened: ScreenFolder, topic: str | None) -> None:
    """Ask about records until there are none or the user quits; every answer is on disk at once."""
    echo(f"Answer by a key: {_KEYS}.")
    given: list[tuple[int, str]] = []  # rows that were answered, with the reasons for which they were handed out
    again: list[tuple[int, str]] = []
    while True:
        waiting = again or list(opened.screening.topic(topic).handed_out.items())[:1]
        rows = waiting or [(pick.row, pick.reason) for pick in opened.next_records(1, topic)]
        if not rows:
            note("there is nothing more to read")
            break
        shown = record_row(opened, rows, topic)
        show_records(shown)
        key = read_key(_QUESTION)
        while key not in (*_ANSWER_KEYS, "b", "q"):
            echo(f"Answer by one of {_KEYS}.")
            key = read_key(_QUESTION)
        if key == "q":
            break
        if key == "b" and not given:
            echo("There is no answer to withdraw yet.")
        elif key == "b":
            again = [given.pop()]
            id = opened.withdraw(*again[0], topic)
            echo(visible(f"{id}: withdrawn; answer it again"))
        else:
            opened.judge(str(shown[0]["id"]), _ANSWER_KEYS[key], topic)
            given += rows
            again = []
    echo(f"{plural(len(given), 'record')} judged.")


_ANSWERS = ("relevant", "irrelevant", "unsure", "withdrawn")
_topic = click.option("--topic", metavar="NAME", help="Which topic, where there are several.")


@cloup.group()
@output_options
@common_options
def screen(output: Output) -> None:
    """Read records in the best order, and know when to stop.

    A screening lives in a folder. It is started from references as databases export them, and then says which to read
    next; every answer is learnt at once.

    \b
    textbayes screen start review refs.ris --question "tea and blood pressure"
    textbayes screen next review
    textbayes screen judge review 17 relevant
    textbayes screen status review
    textbayes screen export review -o decisions.csv

    Every answer is on disk when a command says so: end any of them at any moment, even by kill -9. Several people may
    read at once; no record is shown twice.
    """


@screen.command("start")
@most_used("question", "topics", "prior", "target", "confidence", "text_field", "id_field", "sheet")
@click.argument("folder")
@click.option("--question", metavar="TEXT", help="What the review asks: counts as one relevant record.")
@click.option("--topic", "topics", multiple=True, metavar="NAME[=QUESTION]", help="Several topics, each by itself.")
@option(
    "--prior",
    default="reviews",
    metavar="FILE|reviews|none",
    help="Words of other reviews: the table included in textbayes, a prior file, a model (.tb), or none.",
)
@EMBEDDINGS
@click.option("--strategy", help="likely, informative, random, or a mixture such as likely=0.95,random=0.05.")
@click.option("--target", type=FloatRange(0, 1), help="Share of the relevant records to find.")
@click.option("--confidence", type=FloatRange(0, 1), help="Probability that this share is found, to stop at.")
@click.option("--seed", "random_state", type=SEED, help="Of what is drawn by chance.")
@input_options(duplicates="keep")
@output_options
@common_options
def start(
    folder: str,
    inputs: Inputs,
    output: Output,
    question: str | None,
    topics: tuple[str, ...],
    prior: str,
    embeddings: str,
    **chosen: Any,
) -> None:
    """Start a screening from files of references.

    \b
    textbayes screen start review refs.ris --question "tea and blood pressure"

    Files are RIS, PubMed (NBIB), BibTeX, EndNote XML, CSV, TSV, XLSX or JSON lines. Records of the same paper (DOI,
    PubMed number or title) are merged and listed.
    """

    if question and topics:
        raise click.UsageError("--question is that of one topic; give each its own: --topic NAME=QUESTION.")
    parts = [part.partition("=")[::2] for part in topics] or [(TOPIC, question or "")]
    given = {name: value for name, value in chosen.items() if value is not None}
    asked = {name: text for name, text in parts if text}
    settings = engine.ScreenSettings(topics=tuple(name for name, _ in parts), questions=asked, **given)
    table = prior_table(prior)
    records, merged = merge_duplicates(with_own_ids(_read(inputs)))
    with reporting() as progress:
        engine.ScreenFolder.create(folder, records, settings, table, embeddings, progress)
    _write_merged(output, f"{folder} was started with", folder, len(records), merged)
    if output.is_table:
        if prior == "reviews":
            echo("Words of reviews of drug trials help to find the first records; --prior none leaves them out.")
        if not any(asked.values()):
            echo("With --question, the topic of the review in a sentence, the first records are chosen better.")
        echo(f"Read the first record: textbayes screen next {shlex.quote(folder)}")


@screen.command("add")
@most_used("text_field", "id_field", "sheet", "format")
@click.argument("folder")
@input_options(duplicates="keep")
@output_options
@common_options
def add(folder: str, inputs: Inputs, output: Output) -> None:
    """Add records to a screening that has begun.

    Those that are there already are merged and listed; every answer stays, and is learnt again with all records.
    """

    opened, read = engine.ScreenFolder.open(folder), _read(inputs)
    with reporting() as progress:
        merged = opened.add(read, progress)
    opened.close()
    _write_merged(output, f"{folder} has got", folder, len(read) - len(merged), merged)


@screen.command("next")
@click.argument("folder")
@option("-n", "--number", default=1, type=click.IntRange(min=1), help="Records to show.")
@click.option("--again", is_flag=True, help="Show again what was shown and has no answer yet.")
@_topic
@output_options
@common_options
def next_(folder: str, number: int, again: bool, topic: str | None, output: Output) -> None:
    """Show the records to read next.

    Each has its probability and the words with the largest effect on it.
    """

    opened = engine.ScreenFolder.open(folder)
    if again:
        rows = list(opened.screening.topic(topic).handed_out.items())[:number]
    else:
        rows = [(pick.row, pick.reason) for pick in opened.next_records(number, topic)]
    if not rows:
        note("there is nothing more to read" if not again else "everything that was shown has an answer")
    shown = record_row(opened, rows, topic)
    opened.close()
    if output.is_table:
        show_records(shown)
    else:
        output.write(shown, ["id", "probability", "low", "high", "reason", "words", "text"])


@screen.command("judge")
@click.argument("folder")
@click.argument("record", required=False)
@click.argument("answer", required=False, type=click.Choice(_ANSWERS), metavar=f"[{'|'.join(_ANSWERS)}]")
@_topic
@common_options
def judge(folder: str, record: str | None, answer: str | None, topic: str | None) -> None:
    """Say whether a record is relevant; withdrawn takes an answer back.

    Without RECORD and answer, records are shown one by one and answered by a key: r(elevant), i(rrelevant), u(nsure),
    b(ack: withdraw the last answer), q(uit).
    """

    opened = engine.ScreenFolder.open(folder)
    if record is None:
        judge_one_by_one(opened, topic)
    elif answer is None:
        raise click.UsageError(f"Give RECORD and one of {', '.join(_ANSWERS)}, or none of them.")
    else:
        opened.judge(record, answer, topic)
        echo(f"{record}: {answer}")
    opened.close()


@screen.command("words")
@click.argument("folder")
@click.option("--favour", multiple=True, metavar="WORD", help="A word that makes a record more relevant.")
@click.option("--disfavour", multiple=True, metavar="WORD", help="A word that makes a record less relevant.")
@click.option("--forget", multiple=True, metavar="WORD", help="Take back what was said of a word.")
@option(
    "--strength",
    choices=list(STRENGTHS),
    help="How much these words are to count: medium if not given, weak is half of that, strong twice as much.",
)
@top_option("Words to show.", 20)
@_topic
@output_options
@common_options
def words(
    folder: str, strength: str | None, top: int, topic: str | None, output: Output, **said: tuple[str, ...]
) -> None:
    """Set the direction of words, and show those with the largest weights."""

    if strength is not None and not (said["favour"] or said["disfavour"]):
        raise click.UsageError("--strength is that of words: give --favour WORD or --disfavour WORD with it.")
    opened = engine.ScreenFolder.open(folder)
    for given, direction in (("favour", "for"), ("disfavour", "against"), ("forget", "forget")):
        for word in said[given]:
            opened.favour(word, direction, topic, strength or MEDIUM)
            if not opened.screening.collection.has_word(word):
                note(f"no record has {word!r}: it will say nothing")
    known = opened.screening.topic(topic)
    rows = [
        {"word": word, "weight": round(weight, 3), "said": " ".join(filter(None, _said_of(known, word)))}
        for word, weight in known.strongest_words(top).items()
    ]
    opened.close()
    shown = {"word": "word", "weight": "weight:+.3f", "said": "said"}
    output.write_table(rows, list(shown), shown)


def _said_of(topic: ScreeningTopic, word: str) -> tuple[str | None, str | None]:
    """How strongly a word was said to count, where that is not medium, and for or against."""
    return topic.strengths.get(word), topic.words.get(word)


@screen.command("status")
@click.argument("folder")
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    help="Stopping rules; estimate and hypergeometric if not given.",
)
@_topic
@output_options
@common_options
def status(folder: str, rules: tuple[str, ...], topic: str | None, output: Output) -> None:
    """Say what was found, how much is left, and whether enough was read.

    Rules are estimate, hypergeometric, audit, qbcb, consecutive:50 and share:0.5; with + all of several must agree.
    """
    from textbayes.screen.status import DEFAULT_RULES
    from textbayes.screen.stopping import NOTHING_READ

    opened = engine.ScreenFolder.open(folder)
    found = status_and_notes(opened, rules or DEFAULT_RULES, topic)
    opened.close()
    if not output.is_table:
        output.write([found], list(found))
        return
    for name in ("records", "read", "relevant", "unsure"):
        echo(f"{name:12s} {found[name]:,}")
    echo(f"unanswered   {found['handed_out']:,} shown by `next` or `judge` and not answered yet")
    left = f"about {found['left']:,.0f} relevant, at most {found['left_at_most']:,} (90 % upper bound)"
    echo(f"left         {left if found['read'] else NOTHING_READ}")
    for advice in found["advice"]:
        echo(f"{advice['rule']}: {'STOP' if advice['stop'] else 'go on'}: {advice['reason']}")
        if not advice["stop"]:
            echo(f"  if nothing more is found: {advice['reads_left']:,} more records{_duration(advice['hours_left'])}")


@screen.command("export")
@click.argument("folder")
@click.option(
    "-o",
    "--output",
    "target",
    required=True,
    metavar="FILE",
    help=".csv, .tsv, .xlsx, .jsonl, .ris, .bib, .nbib, .xml, .tb.",
)
@_topic
@output_options
@common_options
def export(folder: str, target: str, topic: str | None, output: Output) -> None:
    """Write all records with their decisions, or the model.

    Records have decisions, probabilities and the words with the largest effect. A model (.tb) serves classify,
    words, explain and report, and starts another screening (--prior).
    """
    from dataclasses import replace

    from textbayes.screen.status import table_rows

    path = check_output(target)
    opened = engine.ScreenFolder.open(folder)
    if path.suffix.lower() == ".tb":
        store.save_model(engine.export_model(opened.screening), path)
        note(f"{path}: the model of {', '.join(opened.settings.topics)}")
        return
    rows = table_rows(opened.screening, opened.records(), topic)
    if path.suffix.lower() in WRITERS:
        with atomic_write(path) as stream:
            stream.write(WRITERS[path.suffix.lower()](rows).encode("utf-8", "replace"))
        note(f"{path}: {plural(len(rows), 'record')}")
        return
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open_results(path, replace(output, kind=kind_by_ending(target, (*WRITERS, ".tb")))) as write:
        write(rows, columns)


@screen.command("prior")
@click.argument("reviews", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="Prior file to write, .csv or .yaml.")
@click.option("--label-field", metavar="FIELD", help="Field that says whether a record was included.")
@option("--relevant", default="1", metavar="LABEL", help="What it says where it was.")
@common_options
def prior(reviews: tuple[str, ...], target: str, label_field: str | None, relevant: str) -> None:
    """Make a prior file of words from your finished reviews.

    Give one file for each review. Only words that occur in at least three of the reviews are used.
    """

    from textbayes.screen.transfer import FinishedReview, learn_prior

    path = check_output(target)
    options: dict[str, Any] = {} if label_field is None else {"label_field": label_field}
    finished = []
    for name in reviews:
        documents = list(data.open_documents(name, duplicates="keep", **options))
        included = np.array([relevant in document.labels for document in documents], dtype=np.bool_)
        finished.append(FinishedReview([document.text for document in documents], included))
    table = learn_prior(finished)
    with atomic_write(path) as stream:
        stream.write((table.to_csv() if path.suffix.lower() == ".csv" else table.to_yaml()).encode())
    echo(f"{path}: {plural(len(table), 'word')} of {plural(len(finished), 'review')}")


def prior_table(prior: str) -> knowledge.WordPriors | None:
    """The table that ``--prior`` names."""
    from textbayes.cli.prior import table_of_model
    from textbayes.screen.transfer import shipped_prior

    if prior == "none":
        return None
    if prior.lower().endswith(".tb"):
        return table_of_model(prior, None)
    return shipped_prior() if prior == "reviews" else knowledge.WordPriors.read(prior)


def _read(inputs: Inputs) -> list[Document]:
    for path in filter(Path.is_file, map(Path, inputs.paths)):
        format = FORMATS.get(inputs.format or guess_format(path))
        if "keep_fields" not in option_defaults(format.records):
            raise InputError(
                f"{path} is not a file of references; give RIS, PubMed (NBIB), BibTeX, EndNote XML, CSV or Excel"
            )
    read = list(inputs.keeping_fields().documents())
    require_documents(read, inputs)
    return read


def _write_merged(output: Output, what: str, folder: str, n_records: int, merged: list[Merged]) -> None:
    output.write_summary(
        {"folder": folder, "records": n_records, "merged": [found._asdict() for found in merged]},
        *(f"{found.id} is the same as {found.into}: {found.reason}" for found in merged),
        f"{what} {plural(n_records, 'record')}; duplicates merged: {len(merged):,}.",
    )


def _duration(hours: float | None) -> str:
    """Minutes below one hour; nothing where it is less than a minute, or not known."""
    minutes = 0 if hours is None else round(60 * hours)
    if not minutes:
        return ""
    return f", about {plural(minutes, 'minute') if minutes < 60 else plural(round(minutes / 60), 'hour')} at your pace"
