"""``textbayes words STATE``: the strongest words of each topic of a filter."""

from __future__ import annotations

from textbayes.cli.output import Output, console, make_table, print_table
from textbayes.core.errors import InputError


def show_topic_words(state: str, topics: tuple[str, ...], level: float | None, top: int, output: Output) -> None:
    """List words, mean weights and intervals."""
    from textbayes.stream.folder import newest_state, read_surface
    from textbayes.stream.status import topic_words
    from textbayes.text.surface import shown

    filter = newest_state(state).filter
    for topic in topics:
        if topic not in filter.index:
            raise InputError(f"label {topic!r} is not a topic of {state}; choose one of {', '.join(filter.index)}")
    level, forms = level or 0.9, read_surface(state)
    rows = [
        {"label": topic, "rank": rank, **found._asdict(), "form": shown(found.word, forms), "level": level}
        for topic in topics or filter.index
        for rank, found in enumerate(topic_words(filter, topic, top, level), start=1)
    ]
    if not output.is_table:
        output.write(rows, ["label", "rank", "word", "form", "weight", "low", "high", "level"])
        return
    if any(row["low"] is not None for row in rows):
        console().print(f"low and high: {100 * level:g}% credible intervals of the weights")
    table = make_table("topic", "word", "weight", "low", "high", right=("weight", "low", "high"))
    for row in rows:
        numbers = (row[name] for name in ("weight", "low", "high"))
        table.add_row(row["label"], row["form"], *("" if number is None else f"{number:+.2f}" for number in numbers))
    print_table(table)
