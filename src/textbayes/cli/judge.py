"""``textbayes judge``: say whether a delivered document is relevant, while the filter runs or while it does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import cloup

from textbayes.cli.inputs import check_filter_path
from textbayes.cli.judge_pending import judge_pending
from textbayes.cli.output import Output, output_options
from textbayes.cli.settings import common_options, note
from textbayes.cli.terminal import echo

if TYPE_CHECKING:
    from textbayes.stream.judgements import Judgement

_SAID = {"new": "", "same": " (as before)", "changed": " (another answer than before)"}


@cloup.command()
@click.argument("state")
@click.argument("document", required=False)
@click.argument("topic", required=False)
@click.argument("answer", required=False, metavar="[yes|no]")
@click.option("--interactive", is_flag=True, help="Show what waits, one by one, and ask; the default on a terminal.")
@output_options
@common_options
def judge(
    state: str, document: str | None, topic: str | None, answer: str | None, interactive: bool, output: Output
) -> None:
    """Tell a filter whether a document is relevant.

    Without DOCUMENT, TOPIC and answer, what waits to be judged is shown on a terminal, the most informative first, and
    answered by a key: y, n, s(kip), u(ndo), q(uit). Elsewhere judgements are read from standard input as JSON lines and
    answered one by one. A document that was delivered can be judged for any topic; another one with its "text" in the
    JSON line.

    \b
    textbayes judge desk
    textbayes judge desk a7 grain yes
    echo '{"id": "a7", "topic": "grain", "relevant": true}' | textbayes judge desk

    A judgement is on disk when this command says so. The filter learns it before its next document, or when it is next
    started. The same judgement twice counts once; another answer for the same document and topic replaces the first.
    """
    from textbayes.core.errors import InputError
    from textbayes.stream.judgements import Judgement, give_judgements, parse_relevant
    from textbayes.stream.ledger import read_config, read_ledger

    check_filter_path(state)
    folder = Path(state)
    read_config(folder)
    on_terminal = document is None and sys.stdin is not None and sys.stdin.isatty()
    if interactive or on_terminal:
        if document is not None:
            raise click.UsageError("--interactive shows what waits; leave DOCUMENT, TOPIC and the answer out.")
        judge_pending(folder)
        return
    if answer is not None:
        assert document is not None
        assert topic is not None
        given: Iterator[Judgement] = iter([Judgement(document, topic, parse_relevant(answer))])
    elif document is not None:
        raise click.UsageError("Give DOCUMENT, TOPIC and yes or no, or none of them to read JSON lines.")
    else:
        given = _from_standard_input()
    ledger, n_given = read_ledger(folder), 0
    for judgement in given:
        try:
            verdict = ledger.verdict(judgement)
        except InputError:
            ledger = read_ledger(folder)  # it may have been delivered since
            verdict = ledger.verdict(judgement)
        give_judgements(folder, [judgement])
        ledger.take(judgement)
        n_given += 1
        row = {**judgement._replace(text=None).to_json(), "status": verdict}
        if output.is_table:
            told = "relevant" if judgement.relevant else "not relevant"
            echo(f"{judgement.id} is {told} to {judgement.topic}{_SAID[verdict]}")
        else:
            output.write([row], list(row), header=n_given == 1)
    if not n_given:
        note("standard input holds no judgements")


def _from_standard_input() -> Iterator[Judgement]:
    from textbayes.core.errors import InputError, MalformedFileError
    from textbayes.stream.judgements import parse_judgement

    if sys.stdin is None:
        raise click.UsageError("Give DOCUMENT, TOPIC and yes or no, or JSON lines on standard input.")
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        if line.strip():
            try:
                yield parse_judgement(line)
            except InputError as error:
                raise MalformedFileError("standard input", str(error), number) from error
