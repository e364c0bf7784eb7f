"""``textbayes words``: the strongest words of each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.assess import class_names
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.settings import common_options

if TYPE_CHECKING:
    from rich.table import Table


@click.command()
@click.argument("model")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="This label only; may be given several times.")
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Words per label.")
@output_options
@common_options
def words(model: str, labels: tuple[str, ...], top: int, output: Output) -> None:
    """List the strongest words of each label.

    A positive weight speaks for the label, a negative one against it.
    """
    from textbayes.store import load_model

    categorizer = load_model(model)
    chosen = {label: categorizer.top_words(label, top) for label in labels or class_names(categorizer)}
    if output.is_table:
        from rich.columns import Columns

        console().print(Columns([_table(label, found) for label, found in chosen.items()], padding=(0, 3)))
        return
    rows: list[dict[str, Any]] = [
        {"label": label, "rank": rank, "word": word, "weight": weight}
        for label, found in chosen.items()
        for rank, (word, weight) in enumerate(found, start=1)
    ]
    output.write(rows, ["label", "rank", "word", "weight"])


def _table(label: str, found: list[tuple[str, float]]) -> Table:
    table = make_table("word", "weight", title=label, right=("weight",))
    table.min_width = min(len(label) + 1, 40)  # else the label is broken into lines of the width of the words
    for word, weight in found:
        table.add_row(word, f"{weight:+.2f}")
    if not found:
        table.add_row("(none)", "")
    return table
