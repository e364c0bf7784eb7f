"""``textbayes train``: labelled texts in, a model file out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.files import check_output
from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labelled import label_options, read_labelled
from textbayes.cli.model_options import ModelChoices, model_options
from textbayes.cli.output import Output, console, output_options
from textbayes.cli.parameters import NameOption, RegistryName, RuleSpec
from textbayes.cli.progress import reporting
from textbayes.cli.settings import common_options
from textbayes.cli.text_options import TextChoices, text_options

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer

_SCORES = RegistryName("textbayes.select:scores", "textbayes.select.score_functions")


@click.command()
@click.option("-o", "--output", "target", required=True, metavar="FILE", help="Model file to write.")
@label_options
@model_options
@click.option("--select", cls=NameOption, type=_SCORES, help="Score by which each label chooses its words.")
@click.option("--top-k", "select_k", type=click.IntRange(min=1), help="Words per label at most; needs --select.")
@click.option("--threshold", "select_threshold", type=float, help="Least score of a word; needs --select.")
@click.option("--rule", cls=NameOption, type=RuleSpec(), default="auto", help="How probabilities become decisions.")
@click.option("--folds", "cv", type=click.IntRange(min=2), default=5, show_default=True, help="For held-out decisions.")
@text_options
@click.option("--jobs", "n_jobs", type=click.IntRange(min=1), help="Threads over labels; all cores if not given.")
@click.option("--seed", "random_state", type=click.IntRange(min=0), default=0, show_default=True, help="Of the folds.")
@input_options(usual_part="train")
@output_options
@common_options
def train(
    inputs: Inputs,
    target: str,
    multi_label: bool | None,
    choices: ModelChoices,
    text: TextChoices,
    output: Output,
    **rest: Any,
) -> None:
    """Learn a model from labelled texts.

    Documents with exactly one label each make a model that gives one label; any others make one that gives none to
    several. Decision thresholds are chosen on held-out probabilities by cross-validation.

    \b
    textbayes train train.jsonl -o model.tb
    textbayes train reviews.csv --text-field review --label-field verdict -o model.tb
    textbayes train news/ -o model.tb            (a folder per label, a file per text)
    textbayes train --corpus bbc -o bbc.tb

    A decision rule may have parameters after a colon: fixed:threshold=0.3, max_f1:fbr=0.3,fallback=never,
    unsure:low=0.3,high=0.7. With auto the likelier class is taken, or for many labels a threshold per label.
    """
    started = time.perf_counter()
    path = check_output(target, inputs.paths)
    model = _untrained(choices, text, **rest)
    given = read_labelled(inputs, multi_label)
    with reporting() as progress:
        model.fit(given.texts, given.labels, progress=progress)
    from textbayes.store import save_model

    save_model(model, path)
    seconds = round(time.perf_counter() - started, 2)
    summary = {"model": str(path), **_summary(model, len(given.texts)), "seconds": seconds}
    if output.is_table:
        console().print(_table(summary))
    else:
        output.write([summary], list(summary))


def _untrained(choices: ModelChoices, text: TextChoices, **rest: Any) -> TextCategorizer:
    if (rest["select_k"] is not None or rest["select_threshold"] is not None) and rest["select"] is None:
        raise click.UsageError("--top-k and --threshold choose words by a score; name it with --select as well.")
    if rest["select"] is not None and rest["select_k"] is None and rest["select_threshold"] is None:
        raise click.UsageError("--select needs --top-k or --threshold to choose words by.")
    from textbayes.categorizer import TextCategorizer

    vectorizer = text.vectorizer() if text.changes else None
    rest["n_jobs"] = rest["n_jobs"] or -1
    return TextCategorizer(vectorizer, text.weighting, classifier=choices.classifiers(), **choices.settings(), **rest)


def _summary(model: TextCategorizer, n_docs: int) -> dict[str, Any]:
    space = model.label_space_
    return {
        "documents": n_docs,
        "kind": space.kind,
        "labels": len(space.classes),
        "words": int(model.coef_.shape[1]),
        "words_with_weight": int((model.coef_ != 0.0).any(axis=0).sum()),
        "held_out": {name: round(value, 4) for name, value in model.held_out_.items()},
    }


def _table(summary: dict[str, Any]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    held_out = {f"held-out {name}": value for name, value in summary["held_out"].items()}
    for name, value in {**summary, **held_out}.items():
        if name == "held_out":
            continue
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value))
    return table
