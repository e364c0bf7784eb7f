"""``textbayes classify``: a model and texts in, labels and probabilities out, batch by batch."""

from __future__ import annotations

import sys
from typing import Any

import click

from textbayes.cli.assess import BATCH, assess, class_names, decisions_row
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.settings import common_options, note


@click.command()
@click.argument("model")
@click.option("--top", type=click.IntRange(min=1), help="List the N most probable labels only.", metavar="N")
@click.option(
    "--batch", type=click.IntRange(min=1), default=BATCH, show_default=True, help="Documents read before each answer."
)
@input_options(usual_part="test", duplicates="keep")
@output_options
@common_options
def classify(model: str, inputs: Inputs, top: int | None, batch: int, output: Output) -> None:
    """Give new texts labels and probabilities.

    Texts are read, answered and forgotten batch by batch, so the input may be endless and memory stays flat.
    Each document becomes one object: its id, the labels decided on, and the probability of every label.

    \b
    textbayes classify model.tb new.jsonl
    tail -f feed.txt | textbayes classify model.tb --batch 1
    """
    from textbayes.store import load_model

    categorizer = load_model(model)
    names = class_names(categorizer)
    columns = ["id", "labels", *(f"p_{name}" for name in names)]
    first = True
    on_screen = output.is_table and sys.stdout.isatty()
    for assessed in assess(categorizer, inputs.documents(count=not on_screen), batch):
        rows = [decisions_row(assessed, i, names, top) for i in range(len(assessed.documents))]
        if output.is_table:
            _print(rows, first, top or 3)
        else:
            output.write(map(_flat, rows) if output.kind == "csv" else rows, columns, header=first)
        first = False
    if first:
        note(f"{inputs.name} holds no documents")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "labels": row["labels"]} | {f"p_{k}": p for k, p in row["probabilities"].items()}


def _print(rows: list[dict[str, Any]], header: bool, top: int) -> None:
    """One batch; the widths are fixed, so that batches line up."""
    screen = console()
    table = make_table("document", "labels", "most probable")
    table.show_header = header
    table.box = table.box if header else None
    for column, share in zip(table.columns, (0.3, 0.3, 0.4), strict=True):
        column.width = int((screen.width - 6) * share)
    for row in rows:
        ranked = sorted(row["probabilities"].items(), key=lambda item: -item[1])[:top]
        labels = ", ".join(row["labels"]) or "none"
        if row.get("unsure"):
            labels += f" (unsure of {', '.join(row['unsure'])})"
        table.add_row(row["id"], labels, "  ".join(f"{name} {p:.3f}" for name, p in ranked))
    screen.print(table)
