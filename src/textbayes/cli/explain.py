"""``textbayes explain``: the words behind a decision, with their parts in the log-odds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.assess import explain_document
from textbayes.cli.inputs import Inputs
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.settings import common_options, note
from textbayes.core.errors import InputError
from textbayes.core.types import Document

if TYPE_CHECKING:
    from textbayes.categorizer import Explanation


@click.command()
@click.argument("model")
@click.argument("text", required=False, metavar="[TEXT|FILE|-]")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="Label to explain; may be given several times.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Words to list.")
@click.option("--id", "wanted", metavar="ID", help="The one document of the file to explain.")
@click.option("--literal", is_flag=True, help="TEXT is a text, even if it looks like the name of a file.")
@output_options
@common_options
def explain(
    model: str,
    text: str | None,
    labels: tuple[str, ...],
    top: int,
    wanted: str | None,
    literal: bool,
    output: Output,
) -> None:
    """Show the words behind a decision.

    Log-odds of a label are the base (what holds before a word is read) plus each word's part. Without --label the
    labels decided on are explained, or the likeliest where there is none.

    \b
    textbayes explain model.tb "the striker scored in the last minute"
    textbayes explain model.tb new.jsonl --id 17 --label sport
    """
    from textbayes.store import load_model

    categorizer = load_model(model)
    found = False
    for document in _documents(text, literal):
        if wanted is not None and document.id != wanted:
            continue
        found = True
        told = list(explain_document(categorizer, document.text, labels, top))
        if output.is_table:
            _print(document, told)
        else:
            _write(document, told, output)
    if not found:
        raise InputError("there is no document" + ("" if wanted is None else f" of id {wanted!r}") + " to explain")


def _documents(text: str | None, literal: bool) -> Iterator[Document]:
    if text is None and sys.stdin.isatty():
        raise click.UsageError("There is no text: give one in quotes, name a file, or '-' for standard input.")
    if text is None or text == "-" or (not literal and os.path.exists(text)):
        return Inputs((text or "-",), duplicates="keep").documents(count=False)
    looks_like_file = not any(map(str.isspace, text)) and (os.sep in text or os.path.splitext(text)[1])
    if looks_like_file and not literal:
        raise InputError(f"there is no file {text}; check the path, or pass --literal to explain it as a text")
    return iter([Document("text", text)])


def _write(document: Document, told: list[Explanation], output: Output) -> None:
    if output.kind == "json":
        output.write([{"id": document.id} | _as_row(explanation) for explanation in told], [])
        return
    rows = [
        {"id": document.id, "label": explanation.label, **part._asdict()}
        for explanation in told
        for part in explanation.contributions
    ]
    output.write(rows, ["id", "label", "word", "log_odds", "occurrences"])


def _as_row(told: Explanation) -> dict[str, Any]:
    row = told._asdict()
    row["words"] = [part._asdict() for part in row.pop("contributions")]
    return row | {"other_words": _others(told)}


def _others(told: Explanation) -> float:
    """What the words not listed add up to."""
    return told.log_odds - told.base - sum(part.log_odds for part in told.contributions)


def _print(document: Document, told: list[Explanation]) -> None:
    screen = console()
    for explanation in told:
        decided = "yes" if explanation.decision else "no"
        name = "" if document.id == "text" else f"{document.id}: "
        screen.print(f"{name}{explanation.label}? {decided}, probability {explanation.probability:.3f}", style="bold")
        table = make_table("word", "times", "log-odds", right=("times", "log-odds"))
        for part in explanation.contributions:
            table.add_row(part.word, f"{part.occurrences:,}", f"{part.log_odds:+.3f}")
        if abs(others := _others(explanation)) > 5e-4:
            table.add_row("other words", "", f"{others:+.3f}")
        table.add_row("base", "", f"{explanation.base:+.3f}", end_section=True)
        table.add_row("log-odds", "", f"{explanation.log_odds:+.3f}")
        screen.print(table)
        if not explanation.contributions:
            note("no word of the text has a weight for this label")
