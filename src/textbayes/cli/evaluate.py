"""``textbayes evaluate``: a model and labelled texts in, measures out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from textbayes.cli.assess import assess, class_names, decisions_row
from textbayes.cli.files import check_output
from textbayes.cli.inputs import Inputs, input_options, require_documents
from textbayes.cli.label_notes import remedies
from textbayes.cli.labelled import read_truth
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.output import Output, console, make_table, output_options, to_json
from textbayes.cli.settings import common_options, warn
from textbayes.core.errors import InputError
from textbayes.core.labels import Kind
from textbayes.core.types import BoolArray

_OVERALL = ("micro_f1", "macro_f1", "micro_precision", "micro_recall", "macro_precision", "macro_recall")
_MORE = ("accuracy", "subset_accuracy", "log_loss", "brier", "ece")
_COLUMNS = ("support", "precision", "recall", "f1", "log_loss", "brier", "ece")


@click.command()
@click.argument("model")
@click.option("--per-label", is_flag=True, help="Show each label in tables and CSV too (JSON always has them).")
@click.option("--save-decisions", metavar="FILE", help="Write the decisions as JSON lines for `textbayes compare`.")
@click.option("--strict", is_flag=True, help="Refuse labels that the model has not seen in training.")
@label_options("unlabelled", "merge_case", "missing")
@input_options(usual_part="test")
@output_options
@common_options
def evaluate(
    model: str,
    inputs: Inputs,
    labelling: Labelling,
    per_label: bool,
    save_decisions: str | None,
    strict: bool,
    output: Output,
) -> None:
    """Measure a model on labelled texts.

    Precision, recall and F1 over all decisions (micro) and averaged over labels (macro), log-loss, Brier score and
    calibration error, over all labels and for each.

    Labels that the model has not seen cannot be given: they are named in a warning and under "unknown_labels", and
    have no row of their own. Where each text has one label, a text of an unknown label counts as an error, and a text
    without a label is left out, with a warning.

    \b
    textbayes evaluate model.tb test.jsonl
    textbayes evaluate model.tb test.jsonl --json --save-decisions decisions.jsonl
    """
    from textbayes.evaluate import evaluate as measure
    from textbayes.store import load_model

    read = [model, *inputs.paths]
    target = check_output(save_decisions, read) if save_decisions is not None else None
    categorizer = load_model(model)
    names, kind = class_names(categorizer), categorizer.label_space_.kind
    proba, decisions, labels = [], [], []
    with _saved(target) as save:
        for batch in assess(categorizer, read_truth(inputs, labelling, names, kind == "multilabel")):
            proba.append(batch.proba)
            decisions.append(batch.decisions)
            labels += [document.labels for document in batch.documents]
            save(decisions_row(batch, i, names) for i in range(len(batch.documents)))
        require_documents(labels, inputs)
        truth, unknown = _truth(labels, names, strict)
    # Two classes are two columns here, as in the output of classify, so that both have a row.
    layout: Kind = "multilabel" if kind == "multilabel" else "multiclass"
    result = measure(truth, np.vstack(proba), np.vstack(decisions), names, kind=layout)
    result |= {"kind": kind, "unknown_labels": unknown}
    if output.is_table:
        _print(result, per_label)
    elif output.kind == "json":
        output.write([result], [])
    elif per_label:
        output.write([{"label": name} | row for name, row in result["labels"].items()], ["label", *_COLUMNS])
    else:
        output.write([result], ["n_docs", "n_labels", *(name for name in (*_OVERALL, *_MORE) if name in result)])


def _truth(labels: list[tuple[str, ...]], names: list[str], strict: bool) -> tuple[BoolArray, dict[str, int]]:
    """Indicator of the known labels, and how many documents have each unknown one."""
    column = {name: j for j, name in enumerate(names)}
    truth = np.zeros((len(labels), len(names)), dtype=np.bool_)
    unknown: Counter[str] = Counter()
    for i, row in enumerate(labels):
        for name in row:
            if name in column:
                truth[i, column[name]] = True
            else:
                unknown[name] += 1
    if unknown:
        listed = ", ".join(f"{name!r} ({n:,})" for name, n in unknown.most_common(8))
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        message = f"the model has not seen {len(unknown)} of the labels (documents): {listed}{more}"
        if strict:
            raise InputError(f"{message}; correct them, or leave out --strict")
        warn(message + remedies(unknown, names))
    return truth, dict(unknown.most_common())


@contextlib.contextmanager
def _saved(target: Any) -> Iterator[Any]:
    """A function that writes rows to the file; the file appears when all is well."""
    if target is None:
        yield lambda rows: None
        return
    from textbayes.store.atomic import atomic_write

    with atomic_write(target) as stream:
        yield lambda rows: stream.writelines(f"{to_json(row)}\n".encode() for row in rows)


def _print(result: dict[str, Any], per_label: bool) -> None:
    screen = console()
    screen.print(f"{result['n_docs']:,} documents, {result['n_labels']:,} labels ({result['kind']})", style="bold")
    table = make_table("", "precision", "recall", "F1", right=("precision", "recall", "F1"))
    for name in ("micro", "macro"):
        table.add_row(name, *(_number(result[f"{name}_{measure}"]) for measure in ("precision", "recall", "f1")))
    screen.print(table)
    screen.print("  ".join(f"{name.replace('_', ' ')} {_number(result[name])}" for name in _MORE if name in result))
    if per_label:
        rows = make_table("label", *_COLUMNS, right=_COLUMNS)
        for label, row in result["labels"].items():
            rows.add_row(label, *(_number(row[name]) for name in _COLUMNS))
        screen.print(rows)


def _number(value: float | int | None) -> str:
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
