"""``textbayes judge STATE`` on a terminal: what waits is shown one by one, and answered by a key."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from textbayes.cli.filter_views import bits_in_words
from textbayes.cli.settings import note
from textbayes.cli.terminal import echo

_ANSWERS = {"y": True, "n": False}
_KEYS = "y(es), n(o), s(kip), u(ndo: back to the last), q(uit)"


def judge_pending(folder: Path) -> None:
    """Ask about what was delivered and is not judged, the most informative first; every answer is on disk at once.

    A judgement that was given can be changed but not taken back: a filter cannot unlearn. So undo goes back to the
    document, to be answered again.
    """
    from textbayes.stream.folder import read_surface
    from textbayes.stream.judgements import Judgement, give_judgements
    from textbayes.stream.ledger import most_informative, read_pending

    rows, forms = most_informative(read_pending(folder)), read_surface(folder)
    if not rows:
        note("nothing waits to be judged")
        return
    given: dict[int, bool] = {}
    at = 0
    while at < len(rows):
        _show(rows[at], at, len(rows), given.get(at), forms)
        key = _key(rows[at]["topic"])
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


def _key(topic: str) -> str:
    """The next answer: a key on a terminal, the first letter of a line elsewhere, and q at the end of the input."""
    echo(f"Relevant to {topic}? [y/n/s/u/q] ", nl=False)
    if sys.stdin is not None and sys.stdin.isatty():
        key = click.getchar()
        echo(key if key.isprintable() else "")
        return key.lower()
    line = "" if sys.stdin is None else sys.stdin.readline()
    echo(line.strip())
    return line.strip().lower()[:1] if line else "q"
