"""``textbayes update``: a model learns more labelled texts, as far as it can, and says what changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup
import numpy as np

from textbayes.cli.assess import class_names
from textbayes.cli.evaluate import label_indicator, unknown_labels
from textbayes.cli.files import check_output
from textbayes.cli.inputs import Inputs, input_options, model_argument, require_documents
from textbayes.cli.labelled import read_truth
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import most_used
from textbayes.cli.output import Output, console, make_table, output_options, print_table
from textbayes.cli.settings import common_options, note
from textbayes.core.errors import InputError
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.core.types import Document, FloatArray

_COLUMNS = ("label", "word", "before", "after", "change")


@cloup.command()
@most_used("target", "top", "text_field", "label_field", "sheet", "as_json")
@model_argument
@cloup.option_group(
    "Result",
    click.option(
        "-o", "--output", "target", metavar="FILE", help="Where to write the result; MODEL itself if not given."
    ),
    click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Words that changed most."),
)
@label_options()
@input_options(usual_part="train")
@output_options
@common_options
def update(model: str, target: str | None, top: int, labelling: Labelling, inputs: Inputs, output: Output) -> None:
    """Update a model with more labelled texts.

    What the model knows becomes the prior of what the texts say. Count models learn exactly what they would have learnt
    from all texts at once; online models and Gaussian processes go on as they began; linear and multinomial models need
    to know how sure they are (train --intervals, or gibbs). Words, labels and thresholds stay as they are: train anew
    when these have changed.

    The log-loss printed is that of the new texts before they were learnt: texts that were not in its training set.

    \b
    textbayes update model.tb more.jsonl
    textbayes update model.tb more.csv -o newer.tb
    """
    from textbayes.store import SharedModel, save_model

    path = check_output(target, may_replace=model) if target is not None else Path(model)
    shared = SharedModel(model)
    found = shared.model
    inputs = inputs.of_model(found)
    documents = list(read_truth(inputs, labelling, class_names(found), found.label_space_.kind == "multilabel"))
    require_documents(documents, inputs)
    if target is None or (path.exists() and path.samefile(model)):
        with shared.change(lambda: note(f"another process is changing {model}; waiting until it is done")) as learner:
            before, loss = _learn(learner, documents)
        categorizer = shared.model
    else:
        categorizer = found
        before, loss = _learn(categorizer, documents)
        save_model(categorizer, path)
    rows = _changes(categorizer, before, categorizer.model_.words().weights, top)
    counts = None if categorizer.label_counts_ is None else categorizer.label_counts_.tolist()
    told: dict[str, Any] = {
        "model": str(path),
        "documents": len(documents),
        "log_loss_before": round(loss, 4),
        "words_changed": int((before != categorizer.model_.words().weights).any(axis=0).sum()),
    }
    if output.is_table:
        _print(told, rows, categorizer)
    elif output.kind == "json":
        output.write([told | {"texts_of_labels": counts, "changes": rows}], [])
    else:
        output.write(rows, _COLUMNS)


def _print(told: dict[str, Any], rows: list[dict[str, Any]], model: TextCategorizer) -> None:
    from textbayes.text.surface import shown_names

    screen = console()
    learnt = plural(told["documents"], "text")
    screen.print(f"{told['model']} has learnt {learnt}; weights of {plural(told['words_changed'], 'word')} changed.")
    screen.print(f"Log-loss of these texts before they were learnt: {told['log_loss_before']:.4f}")
    table = make_table(*_COLUMNS, title="Largest changes of weights", right=_COLUMNS[2:])
    shown = shown_names([row["word"] for row in rows], model.vectorizer_, model.surface_)
    for row, word in zip(rows, shown, strict=True):
        table.add_row(row["label"], word, *(f"{row[name]:+.3f}" for name in _COLUMNS[2:]))
    if rows:
        print_table(table)


def _learn(model: TextCategorizer, documents: list[Document]) -> tuple[FloatArray, float]:
    """Teach a model documents; the weights of its words and the log-loss of the documents, both of before."""
    names, kind = class_names(model), model.label_space_.kind
    labels = [document.labels for document in documents]
    unknown = unknown_labels(labels, names, strict=False)
    if unknown:
        raise InputError(
            f"the texts have labels that the model does not know ({', '.join(list(unknown)[:5])}); train a model with "
            "all texts, or leave these out"
        )
    texts = [document.text for document in documents]
    before = model.model_.words().weights
    loss = _log_loss(model, texts, label_indicator(labels, names))
    model.update(texts, _typed(model, labels if kind == "multilabel" else [one[0] for one in labels]))
    return before, loss


def _typed(model: TextCategorizer, labels: Any) -> Any:
    """Labels in the type of the model's classes, which may be numbers."""
    by_name = {str(name): name for name in model.classes_.tolist()}
    if model.label_space_.kind == "multilabel":
        return [tuple(by_name[name] for name in row) for row in labels]
    return [by_name[name] for name in labels]


def _log_loss(model: TextCategorizer, texts: list[str], truth: Any) -> float:
    from textbayes.evaluate import evaluate

    proba = model.label_space_.both_columns(model.assess(texts).proba)
    result = evaluate(truth, proba, proba > 0.5, class_names(model), kind=model.label_space_.kind)
    return float(result["log_loss"] or 0.0)


def _changes(model: TextCategorizer, before: FloatArray, after: FloatArray, top: int) -> list[dict[str, Any]]:
    """The weights that changed most, largest change first."""
    change = after - before
    order = np.argsort(-np.abs(change), axis=None, kind="stable")[:top]
    names, words = model.label_space_.column_names, model.vectorizer_.get_feature_names_out()
    places = [np.unravel_index(place, change.shape) for place in order]
    return [
        {
            "label": names[k], "word": str(words[j]), "before": float(before[k, j]), "after": float(after[k, j]),
            "change": float(change[k, j]),
        }
        for k, j in places
        if change[k, j] != 0.0
    ]  # fmt: skip
