"""``textbayes screen judge`` without a record: records are shown one by one and answered by a key."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from textbayes.cli.screen_views import record_row, show_records
from textbayes.cli.settings import note
from textbayes.cli.terminal import echo
from textbayes.core.wording import plural
from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from textbayes.screen import ScreenFolder

_ANSWERS = {"r": "relevant", "i": "irrelevant", "u": "unsure"}
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
        key = _key()
        while key not in (*_ANSWERS, "b", "q"):
            echo(f"Answer by one of {_KEYS}.")
            key = _key()
        if key == "q":
            break
        if key == "b" and not given:
            echo("There is no answer to withdraw yet.")
        elif key == "b":
            again = [given.pop()]
            id = opened.withdraw(*again[0], topic)
            echo(visible(f"{id}: withdrawn; answer it again"))
        else:
            opened.judge(str(shown[0]["id"]), _ANSWERS[key], topic)
            given += rows
            again = []
    echo(f"{plural(len(given), 'record')} judged.")


def _key() -> str:
    """A key on a terminal, the first letter of a line elsewhere, and q at the end of the input."""
    echo("Relevant? [r/i/u/b/q] ", nl=False)
    if sys.stdin is not None and sys.stdin.isatty():
        key = click.getchar()
        echo(key if key.isprintable() else "")
        return key.lower()
    line = "" if sys.stdin is None else sys.stdin.readline()
    return line.strip().lower()[:1] if line else "q"
