"""What ``textbayes screen`` shows: records to read, and how things stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.terminal import echo
from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from textbayes.screen import ScreenFolder


def record_row(folder: ScreenFolder, rows: Sequence[tuple[int, str]], topic: str | None) -> list[dict[str, Any]]:
    """Records that are handed out, with what is to be said of each."""
    from textbayes.screen.status import estimate

    screening = folder.screening
    known = screening.topic(topic)
    texts = _texts(folder, {row for row, _ in rows})
    told = []
    for (row, reason), found in zip(rows, estimate(known, [row for row, _ in rows]), strict=True):
        figures = {name: round(value, 4) for name, value in found._asdict().items()}
        words = {word: round(part, 3) for word, part in known.words_behind(row).items()}
        told.append(
            {"id": screening.collection.ids[row], **figures, "reason": reason, "words": words, "text": texts[row]}
        )
    return told


def show_records(rows: Sequence[dict[str, Any]]) -> None:
    """Records on a terminal, one below the other."""
    for row in rows:
        echo()
        echo(visible(f"record {row['id']}"))
        words = ", ".join(f"{word} {part:+.2f}" for word, part in row["words"].items())
        echo(f"p = {row['probability']:.3f} ({row['low']:.3f} to {row['high']:.3f}), {row['reason']}: {visible(words)}")
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
    told = status_of(Standing.of(folder.screening, name), times, rules)
    for advice in told["advice"]:
        if advice["stop"]:
            folder.note_advice(advice["rule"], True, advice["reason"], name)
    return told


def _texts(folder: ScreenFolder, rows: set[int]) -> dict[int, str]:
    """The texts of some records."""
    last = max(rows, default=-1)
    return {
        row: str(record["text"])
        for row, record in enumerate(itertools.islice(folder.records(), last + 1))
        if row in rows
    }
