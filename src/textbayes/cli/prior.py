"""``textbayes prior``: a prior file from names, descriptions, earlier models and other prior files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import cloup
import numpy as np

from textbayes import knowledge, store
from textbayes.cli.labels import read_descriptions
from textbayes.cli.options import FloatRange, option
from textbayes.cli.output import Output, check_output, output_options
from textbayes.cli.terminal import common_options, note
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import plural

if TYPE_CHECKING:
    from textbayes.knowledge import WordPriors


@cloup.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "-o", "--output", "target", metavar="FILE", help="Prior file to write, .csv or .yaml; shown if not given."
)
@click.option(
    "--label", "labels", multiple=True, metavar="LABEL", help="The words of this label's name get positive weights."
)
@click.option(
    "--describe",
    "described",
    multiple=True,
    metavar="LABEL=TEXT",
    help="The words of the text get positive weights for the label.",
)
@click.option(
    "--descriptions",
    "file_of_descriptions",
    metavar="FILE",
    help="Table with the columns label and description, or a SKOS vocabulary (RDF/XML), with --label those of its "
    "concepts alone.",
)
@option("--language", default="en", metavar="CODE", help="Of the names and definitions of a SKOS vocabulary.")
@click.option("--model", metavar="MODEL", help="Use the weights of an earlier model as prior means of its words.")
@click.option(
    "--model-scale",
    type=FloatRange(min=0, min_open=True),
    help="Scale of the prior around these means: how far new weights may be from them.",
)
@click.option("--bxr", metavar="FILE", help="An individual-priors file of BBR or BXR whose features are words.")
@output_options
@common_options
def prior(
    files: tuple[str, ...],
    target: str | None,
    labels: tuple[str, ...],
    described: tuple[str, ...],
    file_of_descriptions: str | None,
    language: str,
    model: str | None,
    model_scale: float | None,
    bxr: str | None,
    output: Output,
) -> None:
    """Make a prior file: what you know about words, for train.

    A prior file is CSV with the columns word, label, mean, scale, family, sign and source, of which only word is
    needed, or YAML. Edit it as you like and give it to train with --prior. If two sources have the same
    word for the same label, the later one is used, in the order model, BXR file, names, descriptions, files.

    \b
    textbayes prior --label grain --describe "ship=Ships and cargo" -o priors.csv
    textbayes prior --descriptions thesaurus.rdf -o priors.csv
    textbayes prior --model last-year.tb --model-scale 1 -o priors.yaml
    textbayes train new.jsonl --prior priors.csv -o model.tb
    textbayes words model.tb --prior
    """
    path = None if target is None else check_output(target)
    if path is not None and path.suffix.lower() not in (".csv", ".yaml", ".yml"):
        raise click.UsageError(f"{path} ends neither in .csv nor in .yaml; name the prior file so.")

    tables = [] if model is None else [table_of_model(model, model_scale)]
    tables += [] if bxr is None else [knowledge.read_bxr(bxr)]
    tables += [knowledge.from_names(labels)] if labels else []
    if file_of_descriptions is not None:
        told = read_descriptions(file_of_descriptions, language, labels)
        tables += [knowledge.from_descriptions({label: text for label, text in told.items() if text})]
    tables += [knowledge.from_descriptions(_descriptions(described))] if described else []
    tables += [knowledge.WordPriors.read(file) for file in files]
    if not tables:
        raise click.UsageError(
            "Nothing to make priors of; give --label, --describe, --descriptions, --model, --bxr or prior files."
        )
    table = knowledge.WordPriors.merge(tables)
    if path is None:
        _show(table, output)
    else:
        _write(table, path)


def _descriptions(given: tuple[str, ...]) -> dict[str, str]:
    """Descriptions by label; several of one label are joined."""
    found: dict[str, list[str]] = {}
    for label, text in map(_described, given):
        found.setdefault(label, []).append(text)
    return {label: " ".join(texts) for label, texts in found.items()}


def _described(given: str) -> tuple[str, str]:
    label, equals, text = given.partition("=")
    if not equals or not label.strip() or not text.strip():
        raise click.UsageError(f"--describe {given!r} is not LABEL=TEXT; write, for example, 'ship=Ships and ports'.")
    return label.strip(), text.strip()


def table_of_model(path: str, scale: float | None) -> WordPriors:
    """What a model has learnt, as a mean for each word with weight."""
    from textbayes.text.views import TextViews

    model = store.load_categorizer(path)
    words, weights = list(model.vectorizer_.get_feature_names_out()), model.model_.word_weights().weights
    if isinstance(model.vectorizer_, TextViews):
        # Another model may read other views: it is given words, each with the weight of all views together. Pairs of
        # words would be the same to it as single ones where it leaves out stop words.
        merged = model.merged_words()
        single = [j for j, form in enumerate(merged.forms) if " " not in form]
        words, weights = [merged.forms[j] for j in single], np.array([merged.weight(row)[single] for row in weights])
    return knowledge.from_posterior(
        weights, words, model.label_space_.column_names, scale=scale, source=Path(path).name
    )


def _show(table: WordPriors, output: Output) -> None:
    columns = table[0]._fields
    output.write_table([row._asdict() for row in table], columns, {name: name for name in columns})


def _write(table: WordPriors, path: Path) -> None:
    text = table.to_csv() if path.suffix.lower() == ".csv" else table.to_yaml()

    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))
    note(f"{path}: {plural(len(table), 'row')}, {plural(len(table.labels), 'label')}")
