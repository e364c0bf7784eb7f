"""``textbayes show`` and ``textbayes explain``: what is in a model file, and the words behind a decision."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import store
from textbayes.cli.inputs import Inputs, input_options, is_filter, model_argument
from textbayes.cli.options import label_option, most_used, top_option
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.terminal import common_options, note
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.display import shortened
from textbayes.knowledge.match import words_of
from textbayes.stream.judgements import read_config

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.explain import Explanation

_MOST_UNKNOWN = 12  # words of a text that are named as not known


@cloup.command()
@click.argument("model")
@output_options
@common_options
def show(model: str, output: Output) -> None:
    """Show what is in a model file.

    The held-out figures of its training; settings and features; members of the ensemble with their weights and held-out
    log-loss; labels with the number of training texts and the threshold of each, and with --pool best the model that
    each label has, with --pool label the weights of each; when the file was written and by which version.

    \b
    textbayes show model.tb
    textbayes show model.tb --json
    textbayes show model.tb --csv             (the labels)
    textbayes show desk                       (the folder of a filter)
    """

    from textbayes.cli import model_output

    path = Path(model)
    if is_filter(model):
        from textbayes.cli import filter_run

        categorizer, version = filter_run.exported(model), str(read_config(path).get("textbayes", "?"))
        path /= "log.jsonl"
    else:
        categorizer, version = store.load_categorizer(model), store.written_by(model)
    labels = model_output.label_rows(categorizer)
    if output.kind == "csv":
        chosen = ["model"] if labels and "model" in labels[0] else []
        output.write(labels, [*model_output.LABEL_FIGURES, *chosen])
        return
    shown = {"model": model, **model_output.model_summary(categorizer, path, version)}
    if output.is_table:
        model_output.print_model(categorizer, shown, labels)
    else:
        output.write([shown | {"labels": labels, "settings": model_output.settings_for_programs(categorizer)}], [])


_IDS_NAMED = 3  # where the one asked for is not there


@cloup.command()
@most_used("labels", "top", "wanted", "literal", "text_field", "id_field", "as_json")
@model_argument
@cloup.option_group(
    "Explanation",
    label_option("Label to explain; may be given several times."),
    top_option("Words to list.", 10),
    click.option("--id", "wanted", metavar="ID", help="The one document to explain."),
    click.option(
        "--columns",
        is_flag=True,
        help="Every column of the model by itself: stems, and each view of a word, as stored.",
    ),
    click.option("--literal", is_flag=True, help="TEXT is a text, even if it looks like the name of a file."),
)
@input_options(usual_part="test", duplicates="keep", counts=True, metavar="[TEXT|FILE|-]...")
@output_options
@common_options
def explain(
    model: str,
    inputs: Inputs,
    labels: tuple[str, ...],
    top: int,
    wanted: str | None,
    literal: bool,
    columns: bool,
    output: Output,
) -> None:
    """Show the words behind a decision.

    Log-odds of a label are the base (intercept) plus each word's contribution; they are those of its
    probability. If each text has one label, they are those against all other labels; the most probable of these are
    listed below. All forms of a word in the text count as one, as do the views of it that a model may have.

    Without --label the labels given to the text are explained, or the most probable one if it has none. The line with
    the probability says what decides: the label's threshold, or that the most probable label is chosen. A text without
    a word that the model knows is marked.

    \b
    textbayes explain model.tb "the striker scored in the last minute"
    textbayes explain model.tb new.jsonl --id 17 --label sport
    """

    categorizer = store.load_categorizer(model)
    inputs = inputs.of_model(categorizer)
    found, n_docs = False, 0
    ids: list[str] = []  # the first few
    for document in _documents(inputs, literal):
        n_docs += 1
        ids += [document.id] * (n_docs <= _IDS_NAMED)
        if wanted is not None and document.id != wanted:
            continue
        explanations = categorizer.explain(document.text, labels or None, top, merge=not columns)
        if output.is_table:
            _print_explanation(document, explanations, unknown_words(categorizer, document.text))
        else:
            _write(document, explanations, output, header=not found)
        found = True
    if not found:
        table, why = inputs.columns(), ""
        if wanted is not None and table is not None and table.id is None:
            why = f": no id column is known, so rows are numbered 1 to {n_docs:,}; name one with --id-field"
        elif wanted is not None and ids:
            why = f"; ids are such as {', '.join(map(repr, ids))}"
        which = "" if wanted is None else f" of id {wanted!r}"
        raise InputError(f"there is no document{which} to explain{why}")


def _documents(inputs: Inputs, literal: bool) -> Iterator[Document]:
    """Those of the files named; words that name no file are a text."""
    missing = [path for path in inputs.paths if literal or not (path == "-" or os.path.exists(path))]
    if not missing:
        return inputs.documents(count=False)
    text = " ".join(inputs.paths)
    looks_like_file = not any(map(str.isspace, text)) and (os.sep in text or os.path.splitext(text)[1])
    if not literal and (looks_like_file or len(missing) < len(inputs.paths)):
        raise InputError(f"there is no file {missing[0]}; check the path, or pass --literal to explain it as a text")
    return iter([Document("text", text)])


def _write(document: Document, explanations: list[Explanation], output: Output, header: bool) -> None:
    if output.kind == "json":
        output.write([{"id": document.id} | _as_row(explanation) for explanation in explanations], [])
        return
    rows = [
        {"id": document.id, "label": explanation.label, **part._asdict()}
        for explanation in explanations
        for part in explanation.contributions
    ]
    output.write(rows, ["id", "label", "word", "log_odds", "occurrences"], header)


def _as_row(explanation: Explanation) -> dict[str, Any]:
    row = explanation._asdict()
    row["words"] = [part._asdict() for part in row.pop("contributions")]
    row["rivals"] = [rival._asdict() for rival in explanation.rivals]
    return row | {"other_words": explanation.other_words, "notes": explanation.notes}


def unknown_words(model: TextCategorizer, text: str) -> list[str]:
    """The words of a text that the model does not know in any form, in their order; stop words are not among them."""
    views: list[Any] = getattr(model.vectorizer_, "vectorizers_", [model.vectorizer_])
    readers = [
        one for one in views if getattr(one, "analyzer", "") in ("word", "mixed") and hasattr(one, "vocabulary_")
    ]
    words = list(dict.fromkeys(re.findall(r"[^\W\d_]{2,}", text.lower())))
    if not readers or not words:
        return []
    found: set[str] = set()
    seen: set[str] = set()  # more than stop words to one of the views
    for one in readers:
        reader: Any = words_of(one)
        for word, terms in zip(words, reader.many(words), strict=True):
            seen |= {word} if terms else set()
            found |= {word} if any(term in one.vocabulary_ for term in terms) else set()
    return [word for word in words if word in seen - found]


def _print_explanation(document: Document, explanations: list[Explanation], unknown: list[str]) -> None:
    screen = console()
    name = "" if document.id == "text" else f" ({document.id})"
    screen.print(f"“{shortened(document.text, max(screen.width - len(name) - 2, 20))}”{name}")
    for explanation in explanations:
        screen.print(f"{explanation.label}? {explanation.answer}", style="bold")
        table = make_table("word", "times", "log-odds", right=("times", "log-odds"))
        for part in explanation.contributions:
            table.add_row(part.word, f"{part.occurrences:,}", f"{part.log_odds:+.3f}")
        for name, value in explanation.remainder:
            table.add_row(name, "", f"{value:+.3f}", end_section=name == "base")
        table.add_row("log-odds", "", f"{explanation.log_odds:+.3f}")
        screen.print(table)
        if explanation.against:
            screen.print(explanation.against)
        for line in explanation.notes:
            note(line)
    if unknown:
        more = ", …" if len(unknown) > _MOST_UNKNOWN else ""
        screen.print(f"not known: {', '.join(unknown[:_MOST_UNKNOWN])}{more}")
