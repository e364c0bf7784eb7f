"""``textbayes classify``: a model and texts in, labels and probabilities out, batch by batch."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import click
import cloup
import numpy as np

from textbayes import store
from textbayes.cli.answers import (
    BATCH,
    above,
    assess,
    class_names,
    decisions_row,
    least_certain_first,
)
from textbayes.cli.cluster import cluster_option, score_on_cluster
from textbayes.cli.inputs import Inputs, input_options, model_argument
from textbayes.cli.options import COUNT, SHARE, NameOption, RuleSpec, level_option, most_used, option, top_option
from textbayes.cli.output import (
    Output,
    ResultColumns,
    check_output,
    console,
    has_rows,
    kind_by_ending,
    open_results,
    output_options,
)
from textbayes.cli.terminal import common_options, note
from textbayes.core.errors import InputError, plural
from textbayes.core.types import Document
from textbayes.display import cell_width, padded, shortened, visible

if TYPE_CHECKING:
    from textbayes.decide import Rule

UNKNOWN = "no known word"
_SHOWN = 1_000  # characters of a text, of which a line is shown
_SCORED = ("folder", "partitions", "finished_before", "documents")


@cloup.command()
@most_used("target", "top", "threshold", "sort", "keep_fields", "intervals", "text_field", "sheet", "as_json", "as_csv")
@model_argument
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
        "--keep-columns/--no-keep-columns",
        "keep_fields",
        default=None,
        help="Write the input's own columns too: first in CSV and XLSX, under 'fields' in JSON. The default where a "
        "table is read and -o writes one.",
    ),
    click.option(
        "--intervals",
        is_flag=True,
        help="Also the interval of each probability: the share of such texts that have the label, by held-out texts, "
        "and after train --intervals what models of other texts would give; of a sampled or online model its credible "
        "interval.",
    ),
    level_option("Probability that an interval holds it."),
    click.option(
        "--uncertainty",
        is_flag=True,
        help="Also the parts of the uncertainty of each label's yes or no, in bits: epistemic, for want of training "
        "texts, and aleatoric; of sampled and online models.",
    ),
    click.option(
        "--threshold",
        type=SHARE,
        metavar="P",
        help="Give labels above this probability only; where a text has one label, the most probable one or none.",
    ),
    click.option(
        "--rule",
        cls=NameOption,
        type=RuleSpec(),
        help="Decide by another rule than the model's, where it needs no training texts: fixed, top_label, "
        "unsure:low=0.3,high=0.7.",
    ),
    option(
        "--sort",
        choices=["input", "uncertain"],
        default="input",
        help="Order of the answers: that of the input, or the least certain first (all texts are read before): where "
        "the two most probable labels are nearest; of many labels, where one is nearest to its threshold.",
    ),
    click.option(
        "--guess", is_flag=True, help="Give texts without a known word labels too: those that any such text would have."
    ),
    click.option("--undecided", is_flag=True, help="Write only the texts that get no label, or are unsure."),
    option("--batch", type=COUNT, default=BATCH, help="Documents read before each answer."),
    cluster_option,
)
@input_options(usual_part="test", duplicates="keep", counts=True)
@output_options
@common_options
def classify(
    model: str,
    inputs: Inputs,
    target: str | None,
    keep_fields: bool | None,
    top: int | None,
    batch: int,
    intervals: bool,
    level: float,
    uncertainty: bool,
    threshold: float | None,
    rule: Any,
    sort: str,
    guess: bool,
    undecided: bool,
    cluster: str | None,
    output: Output,
) -> None:
    """Give new texts labels and probabilities.

    Texts are read, answered and forgotten batch by batch, so the input may be endless and memory stays flat.
    Each document becomes one object: its id, the labels decided on, their probability (of several labels the lowest),
    the number of its words that the model knows, and the probability of every label. A text without a word that the
    model knows is named as such and has no label, unless --guess is given: its probabilities are those of any such
    text.

    A CSV file or workbook becomes with -o the same rows with our columns behind its own, in its own form: delimiter,
    encoding, line ends, and a decimal comma where semicolons stand between the cells. Columns of ours that the input
    has too are named textbayes_…. Rows above the header are left out. Text that a spreadsheet would compute (=1+1) is
    made plain text in CSV and XLSX unless --keep-formulas says not.

    \b
    textbayes classify model.tb new.csv
    textbayes classify model.tb new.csv -o answers.csv
    textbayes classify model.tb new.xlsx -o answers.xlsx
    textbayes classify model.tb new.jsonl > answers.jsonl
    textbayes classify model.tb new.csv --sort uncertain --threshold 0.8
    tail -f feed.txt | textbayes classify model.tb --batch 1
    textbayes classify model.tb 'parts/*.parquet' --cluster local:2 -o scores

    With --cluster each file is a partition that a worker scores, into a Parquet file of its own in the folder; what is
    finished there is not done again, so that an interrupted run goes on by the same command.
    """
    if cluster is not None:
        chosen = (top, keep_fields or None, intervals or None, uncertainty or None, threshold, rule)
        if any(one is not None for one in (*chosen, undecided or None)) or sort != "input":
            raise click.UsageError(
                "--top, --keep-columns, --intervals, --uncertainty, --threshold, --rule, --sort and --undecided are "
                "not for --cluster; leave them out."
            )
        output.write([score_on_cluster(model, inputs, target, cluster, guess)], _SCORED)
        return
    path = None
    if target is not None:
        output = replace(output, kind=kind_by_ending(target))
        path = check_output(target)
    if keep_fields is None:
        keep_fields = path is not None and output.kind in ("csv", "tsv") and has_rows(inputs)
    if keep_fields:
        if output.is_table:
            raise click.UsageError("--keep-columns needs a form that has room for them: --csv, --json or -o FILE.")
        inputs = inputs.keeping_fields()

    categorizer = store.load_scorer(model)
    inputs = inputs.of_model(categorizer)
    if rule is not None:
        if threshold is not None:
            raise click.UsageError("--rule and --threshold were both given; choose one of them.")
        categorizer.rule_ = _usable(rule, categorizer, model)
    names = class_names(categorizer)
    own = keep_fields and output.kind != "json"  # the rows are the input's, with its ids
    columns = [
        *([] if own else ["id"]),
        "labels",
        "probability",
        *(["unsure"] if hasattr(categorizer.rule_, "unsure") else []),
        "known_words",
    ]
    columns += [f"p_{name}" for name in names]
    if intervals:
        columns += [f"{end}_{name}" for name in names for end in ("low", "high")]
    if uncertainty:
        columns += [f"{part}_{name}" for name in names for part in ("epistemic", "aleatoric")]
    layout, n_unknown, show = None, 0, _printer(top or 3) if output.is_table else None
    on_screen = output.is_table and sys.stdout.isatty()
    documents = inputs.documents(count=not on_screen)
    answers = assess(categorizer, documents, batch, level if intervals else None, uncertainty)
    if threshold is not None:
        answers = (above(threshold, one, categorizer) for one in answers)
    if sort == "uncertain":
        answers = least_certain_first(answers, categorizer, batch)
    began, n_answered = time.perf_counter(), 0
    with open_results(path, output, inputs) as write:
        for assessed in answers:
            rows = [decisions_row(assessed, i, names, top) for i in range(len(assessed.documents))]
            n_answered += len(rows)
            n_unknown += sum(not row["known_words"] for row in rows)
            rows = rows if guess else list(map(_without_guess, rows))
            layout = layout or ResultColumns.of(assessed.documents, columns)
            documents_of = assessed.documents
            if undecided:
                left = [i for i, row in enumerate(rows) if not row["labels"] or row.get("unsure")]
                rows, documents_of = [rows[i] for i in left], [documents_of[i] for i in left]
            if show is not None:
                show(rows, documents_of)
            elif output.kind == "json":
                write(map(_with_fields, rows, documents_of) if keep_fields else rows, [])
            else:
                write(map(layout.row, documents_of, map(_flat, rows)), layout.columns)
    if layout is None:
        note(f"{inputs.name} holds no documents")
    elif _has_encoder(categorizer):
        seconds = time.perf_counter() - began
        note(f"{n_answered:,} documents in {seconds:.1f} s, {n_answered / seconds:,.0f} a second, with the encoder")
    if n_unknown and not guess:
        has = (
            "has no word that the model knows and gets"
            if n_unknown == 1
            else "have no word that the model knows and get"
        )
        note(f"{plural(n_unknown, 'text')} {has} no label; --guess assigns one")


def _has_encoder(categorizer: Any) -> bool:
    """Whether a fine-tuned encoder is in the model, which takes most of the time."""
    choice = getattr(categorizer, "choice_", None) or {}
    return (choice.get("encoder") or {}).get("outcome") == "kept"


def _without_guess(row: dict[str, Any]) -> dict[str, Any]:
    """The same of a text that the model knows something of; else no label, which would say nothing of the text."""
    return row if row["known_words"] else {**row, "labels": [], "probability": None, "note": UNKNOWN}


def _usable(rule: Any, categorizer: Any, path: str) -> Rule:
    """A rule that can decide with what a model file keeps; one that learns from held-out texts is refused."""
    n_columns = categorizer.label_space_.n_columns
    if rule == "auto":
        rule = categorizer.rule_
    elif rule.learns:
        error = InputError(
            f"rule {rule.name!r} learns from held-out probabilities, which a model file does not keep; train again:"
        )
        error.add_note(f"  textbayes train TEXTS --rule {shlex.quote(_typed_rule(rule))} -o {shlex.quote(path)}")
        raise error
    else:
        rule.check_params(n_columns)
        rule.fit(np.full((1, n_columns), 0.5))
    return cast("Rule", rule)


def _typed_rule(rule: Any) -> str:
    """A rule and the parameters that were given, as one types it."""
    usual = type(rule)().get_params()
    given = ",".join(f"{name}={value}" for name, value in rule.get_params().items() if value != usual[name])
    return f"{rule.name}:{given}" if given else str(rule.name)


def _with_fields(row: dict[str, Any], document: Document) -> dict[str, Any]:
    return {"id": row["id"], "fields": document.fields, **row}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {name: row[name] for name in ("id", "labels", "known_words")} | {"unsure": row.get("unsure", [])}
    flat["probability"] = "" if row["probability"] is None else _short(row["probability"])
    flat |= {f"p_{k}": _short(p) for k, p in row["probabilities"].items()}
    for name, (low, high) in row.get("intervals", {}).items():
        flat |= {f"low_{name}": _short(low), f"high_{name}": _short(high)}
    for name, parts in row.get("uncertainty", {}).items():
        flat |= {f"{part}_{name}": _short(bits) for part, bits in parts.items()}
    return flat


def _short(probability: float) -> float:
    """A probability to six digits, as many as a person reads in a cell."""
    return float(f"{probability:.6g}")


def _printer(top: int) -> Callable[[list[dict[str, Any]], list[Document]], None]:
    """A function that prints batches; widths are those of the terminal and the first ids, so that batches line up."""
    screen, ids = console(), 0

    def show(rows: list[dict[str, Any]], documents: list[Document]) -> None:
        nonlocal ids
        if not rows:
            return
        first, ids = not ids, ids or min(max(cell_width(row["id"]) for row in rows), screen.width // 5, 16)
        ids = max(ids, 2)
        room = max(screen.width - ids - 6, 24)
        text, decided = (room // 4 if {"intervals", "uncertainty"} & set(rows[0]) else 2 * room // 5), room // 5
        probable = room - text - decided
        if first:
            heads = (padded("id", ids), padded("text", text), padded("labels", decided), "most probable")
            screen.print("  ".join(heads), style="bold")
        for row, document in zip(rows, documents, strict=True):
            labels = ", ".join(row["labels"]) or row.get("note", "–")
            if row.get("unsure"):
                labels = f"unsure ({labels})"
            cells = [padded(visible(cell), width) for cell, width in ((row["id"], ids), (document.text[:_SHOWN], text))]
            cells += [padded(visible(labels), decided), shortened(visible(_probable(row, top, probable)), probable)]
            screen.print("  ".join(cells), no_wrap=True)

    return show


def _probable(row: dict[str, Any], top: int, width: int) -> str:
    """The most probable labels, as many as fit."""
    ranked = sorted(row["probabilities"].items(), key=lambda item: -item[1])[:top]
    ends = row.get("intervals", {})
    shown = [
        f"{name} {p:.3f}" + (f" ({ends[name][0]:.2f} to {ends[name][1]:.2f})" if ends else "") for name, p in ranked
    ]
    if "uncertainty" in row:
        parts = (row["uncertainty"][name] for name, _ in ranked)
        shown = [
            f"{one} (epistemic {bits['epistemic']:.2f} of {sum(bits.values()):.2f})"
            for one, bits in zip(shown, parts, strict=True)
        ]
    if not row["known_words"]:
        shown[0] = f"any text: {shown[0]}"
    while len(shown) > 1 and cell_width(", ".join(shown)) > width:
        shown.pop()
    if cell_width(shown[0]) > width:  # the number is what matters
        name, figures = ranked[0][0], shown[0].removeprefix("any text: ")[len(ranked[0][0]) :]
        shown[0] = f"{shortened(name, max(width - cell_width(figures), 1))}{figures}"
    return ", ".join(shown)
