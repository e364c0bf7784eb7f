"""``textbayes report``: a model and labelled texts in, one HTML page out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import cloup

from textbayes.cli.assess import class_names
from textbayes.cli.evaluate import label_indicator, unknown_labels
from textbayes.cli.inputs import Inputs, input_options, model_argument, require_documents
from textbayes.cli.labelled import read_truth
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import most_used, strict_option
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.progress import waiting
from textbayes.cli.report_file import check_report_target
from textbayes.cli.seen_texts import SeenTexts
from textbayes.cli.settings import common_options

if TYPE_CHECKING:
    from textbayes.report import ReportData

_FIGURES = ("accuracy", "subset_accuracy", "micro_f1", "macro_f1", "log_loss")


@cloup.command()
@most_used("target", "title", "n_errors", "text_field", "label_field", "sheet", "corpus")
@model_argument
@cloup.option_group(
    "Page",
    click.option("-o", "--output", "target", required=True, metavar="FILE", help="HTML file to write."),
    click.option("--title", metavar="TEXT", help="Title of the page; the names of model and texts if not given."),
    click.option(
        "--errors",
        "n_errors",
        type=click.IntRange(min=0),
        default=50,
        show_default=True,
        metavar="N",
        help="How many of the errors are listed, the highest probability first.",
    ),
    strict_option,
)
@label_options("unlabelled", "merge_case", "missing")
@input_options(usual_part="test")
@output_options
@common_options
def report(
    model: str,
    inputs: Inputs,
    labelling: Labelling,
    target: str,
    title: str | None,
    n_errors: int,
    strict: bool,
    output: Output,
) -> None:
    """Write a page about a model tried on labelled texts.

    One HTML file, without script and network, for large and small screens and for paper: measures of every label with
    intervals, the confusion matrix, calibration, precision and recall at other thresholds, the most influential words,
    explained texts, and the most certain errors with the words behind them.

    \b
    textbayes report model.tb test.csv -o report.html
    textbayes report model.tb --corpus bbc -o report.html
    """
    from textbayes.report import collect_report
    from textbayes.store import load_categorizer

    path = check_report_target(target)
    categorizer = load_categorizer(model)
    inputs = inputs.of_model(categorizer)
    names, kind = class_names(categorizer), categorizer.label_space_.kind
    documents = list(read_truth(inputs, labelling, names, kind == "multilabel"))
    require_documents(documents, inputs)
    labels = [document.labels for document in documents]
    unknown = unknown_labels(labels, names, strict)
    seen = SeenTexts(categorizer)
    seen.add(documents)
    seen.warn(len(documents))
    with waiting("writing the report"):
        data = collect_report(
            categorizer,
            [document.text for document in documents],
            label_indicator(labels, names),
            title=title or f"{Path(model).name} on {inputs.name}",
            source=inputs.name,
            model_name=model,
            ids=[document.id for document in documents],
            notes=[*_notes(unknown, kind), *_seen_note(seen.n, len(documents))],
            mistakes=n_errors,
        )
    _write(path, data, output)


def _notes(unknown: dict[str, int], kind: str) -> list[str]:
    """Notes on labels that the model cannot give."""
    if not unknown:
        return []
    listed = ", ".join(f"{name} ({n:,})" for name, n in list(unknown.items())[:8])
    more = f" and {len(unknown) - 8:,} more" if len(unknown) > 8 else ""
    counted = "these labels are left out" if kind == "multilabel" else "these texts count as errors"
    return [f"The model has not seen {len(unknown):,} of the labels (texts): {listed}{more}; {counted}."]


def _seen_note(n_seen: int | None, n: int) -> list[str]:
    """That the figures are too good, if they are."""
    if not n_seen:
        return []
    return [f"{n_seen:,} of the {n:,} texts were in the training set of the model: the figures are too good."]


def _write(path: Path, data: ReportData, output: Output) -> None:
    from textbayes.report import write_report

    write_report(path, data)
    figures = {name: data.measures[name] for name in _FIGURES if name in data.measures}
    summary = {"report": str(path), "documents": data.measures["n_docs"], "errors": data.n_wrong, **figures}
    if not output.is_table:
        output.write([summary], list(summary))
        return
    what = "all labels right" if data.kind == "multilabel" else "right"
    share, low, high = (f"{100 * one:.1f}%" for one in data.right)
    screen = console()
    screen.print(f"{data.measures['n_docs']:,} documents, {share} {what} (95% interval {low} to {high})")
    screen.print(f"Report: {path}", soft_wrap=True)
