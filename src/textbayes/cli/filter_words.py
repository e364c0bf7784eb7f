"""``textbayes words STATE``: the strongest words of each topic of a filter."""

from __future__ import annotations

from pathlib import Path

from textbayes.cli.output import Output, console, make_table
from textbayes.core.errors import InputError


def is_filter(path: str) -> bool:
    """Whether a path is the folder of a filter; a model is a file."""
    return Path(path).is_dir()


def show_topic_words(state: str, topics: tuple[str, ...], level: float | None, top: int, output: Output) -> None:
    """List words, mean weights and intervals."""
    from textbayes.stream.status import newest_state
    from textbayes.stream.topic_words import topic_words

    filter = newest_state(state).filter
    for topic in topics:
        if topic not in filter.index:
            raise InputError(f"label {topic!r} is not a topic of {state}; choose one of {', '.join(filter.index)}")
    rows = [
        {"label": topic, "rank": rank, **found._asdict()}
        for topic in topics or filter.index
        for rank, found in enumerate(topic_words(filter, topic, top, level or 0.9), start=1)
    ]
    if not output.is_table:
        output.write(rows, ["label", "rank", "word", "weight", "low", "high"])
        return
    table = make_table("topic", "word", "weight", "low", "high", right=("weight", "low", "high"))
    for row in rows:
        numbers = (row[name] for name in ("weight", "low", "high"))
        table.add_row(row["label"], row["word"], *("" if number is None else f"{number:+.2f}" for number in numbers))
    console().print(table)
