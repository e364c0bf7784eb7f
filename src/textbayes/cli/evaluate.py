"""``textbayes evaluate`` and ``textbayes report``: a model and labelled texts in, measures or one HTML page out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes import report as pages
from textbayes import store
from textbayes.cli.answers import SeenTexts, above, assess, class_names, decisions_row
from textbayes.cli.inputs import Inputs, input_options, model_argument, require_documents
from textbayes.cli.labels import Labelling, label_options, read_truth, remedies
from textbayes.cli.options import COUNT, SHARE, most_used, option, strict_option
from textbayes.cli.output import Output, check_output, check_report_target, console, output_options, to_json
from textbayes.cli.terminal import common_options, echo, waiting, warn
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError, plural
from textbayes.core.types import BoolArray

if TYPE_CHECKING:
    from textbayes.report import ReportData

_OVERALL = ("micro_f1", "macro_f1", "micro_precision", "micro_recall", "macro_precision", "macro_recall")
_MORE = (
    *("accuracy", "accuracy_low", "accuracy_high", "subset_accuracy", "subset_accuracy_low", "subset_accuracy_high"),
    *(
        "micro_f1_low",
        "micro_f1_high",
        "log_loss",
        "log_loss_per",
        "brier",
        "ece",
        "unsure",
        "n_decided",
        "accuracy_decided",
    ),
    *("unsure", "n_decided", "accuracy_decided", "in_training"),
)


@cloup.command()
@most_used(
    "per_label", "confused", "n_errors", "text_field", "label_field", "sheet", "corpus", "save_decisions", "as_json"
)
@model_argument
@cloup.option_group(
    "Figures",
    click.option("--per-label", is_flag=True, help="Show each label in tables and CSV too (JSON always has them)."),
    click.option("--confusion", "confused", is_flag=True, help="Show which labels are given for which."),
    click.option(
        "--errors", "n_errors", type=COUNT, metavar="N", help="Show the N errors with the highest probability."
    ),
    click.option("--save-decisions", metavar="FILE", help="Write the decisions as JSON lines for `textbayes compare`."),
    click.option(
        "--threshold",
        type=SHARE,
        metavar="P",
        help="Decide as `classify --threshold P` does: labels above this probability only.",
    ),
    strict_option,
)
@label_options("unlabelled", "merge_case", "missing")
@input_options(usual_part="test", counts=True)
@output_options
@common_options
def evaluate(
    model: str,
    inputs: Inputs,
    labelling: Labelling,
    per_label: bool,
    confused: bool,
    n_errors: int | None,
    save_decisions: str | None,
    threshold: float | None,
    strict: bool,
    output: Output,
) -> None:
    """Measure a model on labelled texts.

    Precision, recall and F1, their means over labels (macro) and over all decisions (micro), log-loss, Brier score and
    calibration error, over all labels and for each. Where each text has one label, both classes of two count, and the
    log-loss is per text; where it may have several, per yes-or-no decision.

    Labels that are not in the training set cannot be predicted: they are named in a warning and under "unknown_labels",
    and have no row of their own. Where each text has one label, a text of an unknown label counts as an error, which
    the log-loss leaves out, and a text without a label is left out, with a warning.

    \b
    textbayes evaluate model.tb test.jsonl
    textbayes evaluate model.tb test.jsonl --confusion --errors 20
    textbayes evaluate model.tb test.jsonl --json --save-decisions decisions.jsonl
    """
    if output.kind == "csv" and per_label + confused + (n_errors is not None) > 1:
        raise click.UsageError("A CSV holds one table: choose one of --per-label, --confusion and --errors.")
    from textbayes.cli import figures
    from textbayes.evaluate import confusion
    from textbayes.evaluate.summary import decided_summary
    from textbayes.evaluate.summary import evaluate as measure

    target = check_output(save_decisions) if save_decisions is not None else None
    categorizer = store.load_categorizer(model)
    inputs = inputs.of_model(categorizer)
    names, kind = class_names(categorizer), categorizer.label_space_.kind
    mistakes = figures.Mistakes(n_errors or 0, names, kind != "multilabel")
    seen = SeenTexts(categorizer)
    proba, decisions, labels, unsure = [], [], [], []
    with _saved(target) as save:
        tree = categorizer.model_.label_tree
        for batch in assess(categorizer, read_truth(inputs, labelling, names, kind == "multilabel", tree)):
            if threshold is not None:
                batch = above(threshold, batch, categorizer)._replace(unsure=None)
            proba.append(batch.proba)
            decisions.append(batch.decisions)
            labels += [document.labels for document in batch.documents]
            seen.add(batch.documents)
            if batch.unsure is not None:
                unsure.append(batch.unsure)
            if n_errors is not None:
                mistakes.add(batch, label_indicator([document.labels for document in batch.documents], names))
            save(decisions_row(batch, i, names) for i in range(len(batch.documents)))
        require_documents(labels, inputs)
        unknown = unknown_labels(labels, names, strict)
    seen.warn(len(labels))
    decided = np.vstack(decisions)
    result = measure(label_indicator(labels, names), np.vstack(proba), decided, names, kind=kind)
    bands = np.vstack(unsure) if unsure else None
    result |= decided_summary(label_indicator(labels, names), decided, bands, kind)
    result |= {"in_training": seen.n, "unknown_labels": unknown}
    given = [[names[j] for j in np.flatnonzero(row)] for row in decided]
    found = confusion(labels, given, kind == "multilabel") if confused else []
    errors = mistakes.rows(categorizer) if n_errors is not None else []
    if output.is_table:
        figures.print_figures(result, per_label)
        if confused:
            figures.print_confusion(found, kind == "multilabel")
        if n_errors is not None:
            n_wrong = sum(set(due) != set(got) for due, got in zip(labels, given, strict=True))
            if not (per_label or confused):
                echo()  # a table ends with an empty line, the figures do not
            figures.print_mistakes(errors, n_wrong)
    elif output.kind == "json":
        if confused:
            result["confusion"] = [pair._asdict() for pair in found]
        if n_errors is not None:
            result["errors"] = errors
        output.write([result], [])
    elif per_label:
        output.write(
            [{"label": name} | row for name, row in result["labels"].items()], ["label", *figures.LABEL_COLUMNS]
        )
    elif confused:
        output.write([pair._asdict() for pair in found], ["true", "given", "n"])
    elif n_errors is not None:
        output.write(figures.flat(errors), figures.COLUMNS)
    else:
        row = figures.flat_figures(result)
        output.write([row], ["n_docs", "n_labels", *(name for name in (*_OVERALL, *_MORE) if name in row)])


def label_indicator(labels: list[tuple[str, ...]], names: list[str]) -> BoolArray:
    """Indicator matrix of the model's labels that each document has, (n_docs, n_names)."""
    column = {name: j for j, name in enumerate(names)}
    truth = np.zeros((len(labels), len(names)), dtype=np.bool_)
    for i, row in enumerate(labels):
        truth[i, [column[name] for name in row if name in column]] = True
    return truth


def unknown_labels(labels: list[tuple[str, ...]], names: list[str], strict: bool) -> dict[str, int]:
    """Count documents by label that the model has not seen; such labels are warned of, or refused if ``strict``."""
    known = set(names)
    unknown = Counter(name for row in labels for name in row if name not in known)
    if unknown:
        listed = ", ".join(f"{name!r} ({n:,})" for name, n in unknown.most_common(8))
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        message = f"{_not_trained(len(unknown))} (texts): {listed}{more}"
        if strict:
            raise InputError(f"{message}; correct them, or leave out --strict")
        warn(message + remedies(unknown, names))
    return dict(unknown.most_common())


def _not_trained(n_labels: int) -> str:
    return f"{plural(n_labels, 'label')} {'is' if n_labels == 1 else 'are'} not in the training set"


@contextlib.contextmanager
def _saved(target: Any) -> Iterator[Any]:
    """A function that writes rows to the file; the file appears when all is well."""
    if target is None:
        yield lambda rows: None
        return

    with atomic_write(target) as stream:
        yield lambda rows: stream.writelines(f"{to_json(row)}\n".encode() for row in rows)


_FIGURES = ("accuracy", "subset_accuracy", "micro_f1", "macro_f1", "log_loss")


@cloup.command()
@most_used("target", "title", "n_errors", "text_field", "label_field", "sheet", "corpus")
@model_argument
@cloup.option_group(
    "Page",
    click.option("-o", "--output", "target", required=True, metavar="FILE", help="HTML file to write."),
    click.option("--title", metavar="TEXT", help="Title of the page; the names of model and texts if not given."),
    option(
        "--errors",
        "n_errors",
        type=click.IntRange(min=0),
        default=50,
        metavar="N",
        help="How many of the errors are listed, the highest probability first.",
    ),
    strict_option,
)
@label_options("unlabelled", "merge_case", "missing")
@input_options(usual_part="test", counts=True)
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
    """Write an HTML page: how good a model is on labelled texts.

    One HTML file, without script and network, for large and small screens and for paper: measures of every label with
    intervals, the confusion matrix, calibration, precision and recall at other thresholds, the most influential words,
    explained texts, and the most certain errors with the words behind them.

    \b
    textbayes report model.tb test.csv -o report.html
    textbayes report model.tb --corpus bbc -o report.html
    """
    path = check_report_target(target)
    categorizer = store.load_categorizer(model)
    inputs = inputs.of_model(categorizer)
    names, kind = class_names(categorizer), categorizer.label_space_.kind
    tree = categorizer.model_.label_tree
    documents = list(read_truth(inputs, labelling, names, kind == "multilabel", tree))
    require_documents(documents, inputs)
    labels = [document.labels for document in documents]
    unknown = unknown_labels(labels, names, strict)
    seen = SeenTexts(categorizer)
    seen.add(documents)
    seen.warn(len(documents))
    with waiting("writing the report"):
        data = pages.collect_report(
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
    return [f"{_not_trained(len(unknown))} (texts): {listed}{more}; {counted}."]


def _seen_note(n_seen: int | None, n: int) -> list[str]:
    """That the figures are too good, if they are."""
    if not n_seen:
        return []
    return [f"{n_seen:,} of the {n:,} texts were in the training set of the model: the figures are too good."]


def _write(path: Path, data: ReportData, output: Output) -> None:
    pages.write_report(path, data)
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
