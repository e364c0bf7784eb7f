"""``textbayes classify``: a model and texts in, labels and probabilities out, batch by batch."""

from __future__ import annotations

import sys
from typing import Any

import click

from textbayes.cli.assess import BATCH, assess, class_names, decisions_row
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.settings import common_options, note


@click.command()
@click.argument("model")
@click.option("--top", type=click.IntRange(min=1), help="List the N most probable labels only.", metavar="N")
@click.option(
    "--batch", type=click.IntRange(min=1), default=BATCH, show_default=True, help="Documents read before each answer."
)
@click.option("--intervals", is_flag=True, help="Also the interval of each label's own probability; a sampled model.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability that an interval holds it.",
)
@input_options(usual_part="test", duplicates="keep")
@output_options
@common_options
def classify(
    model: str, inputs: Inputs, top: int | None, batch: int, intervals: bool, level: float, output: Output
) -> None:
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
    if intervals:
        columns += [f"{end}_{name}" for name in names for end in ("low", "high")]
    first = True
    on_screen = output.is_table and sys.stdout.isatty()
    for assessed in assess(categorizer, inputs.documents(count=not on_screen), batch, level if intervals else None):
        rows = [decisions_row(assessed, i, names, top) for i in range(len(assessed.documents))]
        if output.is_table:
            _print(rows, first, top or 3)
        else:
            output.write(map(_flat, rows) if output.kind == "csv" else rows, columns, header=first)
        first = False
    if first:
        note(f"{inputs.name} holds no documents")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {"id": row["id"], "labels": row["labels"]} | {f"p_{k}": p for k, p in row["probabilities"].items()}
    for name, (low, high) in row.get("intervals", {}).items():
        flat |= {f"low_{name}": low, f"high_{name}": high}
    return flat


def _print(rows: list[dict[str, Any]], header: bool, top: int) -> None:
    """One batch; the widths are those of the terminal, not of the batch, so that batches line up."""
    from rich.cells import cell_len, set_cell_size

    screen = console()
    narrow, wide = max(screen.width // 4 - 2, 8), max(screen.width // 2 - 2, 8)

    def cell(text: str) -> str:
        return set_cell_size(text if cell_len(text) <= narrow else f"{set_cell_size(text, narrow - 1)}…", narrow)

    if header:
        screen.print(f"{cell('document')}  {cell('labels')}  most probable", style="bold")
    for row in rows:
        labels = ", ".join(row["labels"]) or "–"
        if row.get("unsure"):
            labels += f" (unsure: {', '.join(row['unsure'])})"
        ranked = sorted(row["probabilities"].items(), key=lambda item: -item[1])[:top]
        ends = row.get("intervals", {})
        shown = [
            f"{name} {p:.3f}" + (f" ({ends[name][0]:.2f} to {ends[name][1]:.2f})" if ends else "") for name, p in ranked
        ]
        while len(shown) > 1 and cell_len("  ".join(shown)) > wide:
            shown.pop()
        screen.print(f"{cell(row['id'])}  {cell(labels)}  {'  '.join(shown)}")
