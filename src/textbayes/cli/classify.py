"""``textbayes classify``: a model and texts in, labels and probabilities out, batch by batch."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import click
import cloup

from textbayes.cli.assess import BATCH, assess, class_names, decisions_row
from textbayes.cli.cluster import cluster_option, score_on_cluster
from textbayes.cli.files import check_output
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.options import COUNT, level_option, top_option
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.results import Layout, kind_by_ending, open_results
from textbayes.cli.settings import common_options, note
from textbayes.core.types import Document
from textbayes.display.escapes import visible

UNKNOWN = "no known word"
_SCORED = ("folder", "partitions", "finished_before", "documents")


@cloup.command()
@click.argument("model")
@cloup.option_group(
    "Answers",
    click.option(
        "-o",
        "--output",
        "target",
        metavar="FILE",
        help="Write a file: .csv, .jsonl or .xlsx, by its ending; with --cluster a folder.",
    ),
    top_option("List the N most probable labels only."),
    click.option(
        "--keep-columns",
        "keep_fields",
        is_flag=True,
        help='The input\'s own columns too: first in CSV and XLSX, under "fields" in JSON.',
    ),
    click.option(
        "--intervals",
        is_flag=True,
        help="Also the interval of each probability: the share of such texts that have the label, by held-out texts; "
        "of a sampled or online model its credible interval.",
    ),
    level_option("Probability that an interval holds it.", 0.9),
    click.option(
        "--guess", is_flag=True, help="Give texts without a known word labels too: those that any such text would have."
    ),
    click.option("--batch", type=COUNT, default=BATCH, show_default=True, help="Documents read before each answer."),
    cluster_option,
)
@input_options(usual_part="test", duplicates="keep")
@output_options
@common_options
def classify(
    model: str,
    inputs: Inputs,
    target: str | None,
    keep_fields: bool,
    top: int | None,
    batch: int,
    intervals: bool,
    level: float,
    guess: bool,
    cluster: str | None,
    output: Output,
) -> None:
    """Give new texts labels and probabilities.

    Texts are read, answered and forgotten batch by batch, so the input may be endless and memory stays flat.
    Each document becomes one object: its id, the labels decided on, the number of its words that the model knows, and
    the probability of every label. A text without a word that the model knows is named as such and has no label, unless
    --guess is given: its probabilities are those of any such text.

    With --keep-columns a table has the input's columns first; ours that the input has too are named textbayes_….
    Text that a spreadsheet would compute (=1+1) is made plain text in CSV and XLSX unless --keep-formulas says not.

    \b
    textbayes classify model.tb new.jsonl
    textbayes classify model.tb new.csv --keep-columns -o answers.xlsx
    tail -f feed.txt | textbayes classify model.tb --batch 1
    textbayes classify model.tb 'parts/*.parquet' --cluster local:2 -o scores

    With --cluster each file is a partition that a worker scores, into a Parquet file of its own in the folder; what is
    finished there is not done again, so that an interrupted run goes on by the same command.
    """
    if cluster is not None:
        if top is not None or keep_fields or intervals:
            raise click.UsageError("--top, --keep-columns and --intervals are not for --cluster; leave them out.")
        output.write([score_on_cluster(model, inputs, target, cluster, guess)], _SCORED)
        return
    path = None
    if target is not None:
        output = replace(output, kind=kind_by_ending(target))
        path = check_output(target)
    if keep_fields:
        if output.is_table:
            raise click.UsageError("--keep-columns needs a form that has room for them: --csv, --json or -o FILE.")
        inputs = inputs.keeping_fields()
    from textbayes.store import load_scorer

    categorizer = load_scorer(model)
    names = class_names(categorizer)
    columns = ["id", "labels", *(["unsure"] if hasattr(categorizer.rule_, "unsure") else []), "known_words"]
    columns += [f"p_{name}" for name in names]
    if intervals:
        columns += [f"{end}_{name}" for name in names for end in ("low", "high")]
    layout, n_unknown = None, 0
    on_screen = output.is_table and sys.stdout.isatty()
    documents = inputs.documents(count=not on_screen)
    with open_results(path, output) as write:
        for assessed in assess(categorizer, documents, batch, level if intervals else None):
            rows = [decisions_row(assessed, i, names, top) for i in range(len(assessed.documents))]
            n_unknown += sum(not row["known_words"] for row in rows)
            rows = rows if guess else list(map(_without_guess, rows))
            first, layout = layout is None, layout or Layout.of(assessed.documents, columns)
            if output.is_table:
                _print(rows, first, top or 3)
            elif output.kind == "json":
                write(map(_with_fields, rows, assessed.documents) if keep_fields else rows, [])
            else:
                write(map(layout.row, assessed.documents, map(_flat, rows)), layout.columns)
    if layout is None:
        note(f"{inputs.name} holds no documents")
    if n_unknown and not guess:
        note(f"{n_unknown:,} without a word that the model knows, which have no label; --guess gives them one")


def _without_guess(row: dict[str, Any]) -> dict[str, Any]:
    """The same of a text that the model knows something of; else no label, which would say nothing of the text."""
    return row if row["known_words"] else {**row, "labels": [], "note": UNKNOWN}


def _with_fields(row: dict[str, Any], document: Document) -> dict[str, Any]:
    return {"id": row["id"], "fields": document.fields, **row}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {name: row[name] for name in ("id", "labels", "known_words")} | {"unsure": row.get("unsure", [])}
    flat |= {f"p_{k}": p for k, p in row["probabilities"].items()}
    for name, (low, high) in row.get("intervals", {}).items():
        flat |= {f"low_{name}": low, f"high_{name}": high}
    return flat


def _print(rows: list[dict[str, Any]], header: bool, top: int) -> None:
    """One batch; the widths are those of the terminal, not of the batch, so that batches line up."""
    from rich.cells import cell_len, set_cell_size

    screen = console()
    narrow, wide = max(screen.width // 4 - 2, 8), max(screen.width // 2 - 2, 8)

    def cell(text: str) -> str:
        text = visible(text)  # as it will be shown, for its width
        return set_cell_size(text if cell_len(text) <= narrow else f"{set_cell_size(text, narrow - 1)}…", narrow)

    if header:
        screen.print(f"{cell('document')}  {cell('labels')}  most probable", style="bold")
    for row in rows:
        labels = ", ".join(row["labels"]) or row.get("note", "–")
        if row.get("unsure"):
            labels += f" (unsure: {', '.join(row['unsure'])})"
        ranked = sorted(row["probabilities"].items(), key=lambda item: -item[1])[:top]
        ends = row.get("intervals", {})
        shown = [
            f"{name} {p:.3f}" + (f" ({ends[name][0]:.2f} to {ends[name][1]:.2f})" if ends else "") for name, p in ranked
        ]
        if not row["known_words"]:
            shown[0] = f"any text: {shown[0]}"
        while len(shown) > 1 and cell_len("  ".join(shown)) > wide:
            shown.pop()
        screen.print(f"{cell(row['id'])}  {cell(labels)}  {'  '.join(shown)}")
