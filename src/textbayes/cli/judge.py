"""``textbayes judge``: say whether a delivered document is relevant, while the filter runs or while it does not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.inputs import check_filter_path
from textbayes.cli.output import Output, output_options
from textbayes.cli.terminal import common_options, echo, note, read_key
from textbayes.core.errors import InputError, MalformedFileError
from textbayes.stream.judgements import (
    Judgement,
    give_judgements,
    most_informative,
    parse_judgement,
    parse_relevant,
    read_config,
    read_ledger,
    read_pending,
)

if TYPE_CHECKING:
    from textbayes.stream.judgements import Judgement

_ANSWERS = {"y": True, "n": False}
_KEYS = "y(es), n(o), s(kip), u(ndo: back to the last), q(uit)"


def judge_pending(folder: Path) -> None:
    """Ask about what was delivered and is not judged, the most informative first; every answer is on disk at once.

    A judgement that was given can be changed but not taken back: a filter cannot unlearn. So undo goes back to the
    document, to be answered again.
    """
    from textbayes.stream.folder import read_surface

    rows, forms = most_informative(read_pending(folder)), read_surface(folder)
    if not rows:
        note("nothing waits to be judged")
        return
    given: dict[int, bool] = {}
    at = 0
    while at < len(rows):
        _show(rows[at], at, len(rows), given.get(at), forms)
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


def _show(row: dict[str, Any], at: int, n: int, before: bool | None, forms: Mapping[str, str]) -> None:
    from textbayes.text.surface import shown

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
    """An information gain for a table. It is computed approximately: a slightly negative one is shown as 0."""
    return f"{max(0.0, gain):.3f}"


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
    if sys.stdin is None:
        raise click.UsageError("Give DOCUMENT, TOPIC and yes or no, or JSON lines on standard input.")
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        if line.strip():
            try:
                yield parse_judgement(line)
            except InputError as error:
                raise MalformedFileError("standard input", str(error), number) from error
