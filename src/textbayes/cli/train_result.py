"""What ``textbayes train`` prints on a terminal: the figures first, then what was found, the model, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from textbayes.cli.advice import advice_table
from textbayes.cli.figures import LABEL_COLUMNS, MOST_LABELS, headline_table, label_table
from textbayes.cli.inputs import Inputs
from textbayes.cli.output import console
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer
    from textbayes.cli.labelled import Labelled


def print_trained(
    model: TextCategorizer, given: Labelled, inputs: Inputs, path: Path | None, page: Path | None, per_label: bool
) -> None:
    """Print the held-out figures, the labels, what was found in the input, the model in a sentence, and next steps."""
    from textbayes.report.headline import caution

    screen, measures = console(), model.held_out_
    screen.print(headline_table(measures))
    for line in (measured_in_words(model), caution(measures)):
        if line:
            screen.print(line)
    shown = None if per_label else MOST_LABELS
    columns = LABEL_COLUMNS if per_label else LABEL_COLUMNS[:4]
    screen.print(label_table(measures, screen.width, columns, shown))
    if shown is not None and (more := len(measures["labels"]) - shown) > 0:
        screen.print(f"The {shown} labels with most texts; --per-label shows {more:,} more.\n")
    _print_section("Training set", list(found_in_words(model, given, inputs)))
    if model.prior_advice_:
        screen.print(advice_table(model.prior_advice_))
    screen.print("\nModel", style="bold")
    screen.print(model_in_words(model, path))
    _print_steps(list(_next_steps(inputs, path, page)))


def measured_in_words(model: TextCategorizer) -> str:
    """How the held-out figures of a training were measured, in a sentence or two."""
    choice, n_texts = model.choice_ or {}, int(model.weighting_.n_docs_)
    n_held_out = model.held_out_.get("n_docs") or n_texts
    folds = f"{choice.get('n_folds') or model.cv}-fold cross-validation"
    if n_held_out < n_texts:
        told = f"Measured on {n_held_out:,} of {n_texts:,} texts, held out in folds of a {folds}."
    else:
        told = f"Measured by {folds} on {plural(n_texts, 'text')}."
    if model.label_space_.kind == "multilabel":
        told += " Thresholds were chosen on the same texts, so F1 is slightly optimistic."
    return told


def found_in_words(model: TextCategorizer, given: Labelled, inputs: Inputs) -> Iterator[tuple[str, str]]:
    """What was found in the training set: texts, columns, labels, language, duplicates, texts left out."""
    yield "Texts", f"{len(given.documents):,} from {inputs.name}"
    if (columns := inputs.columns()) is not None:
        yield "Columns", columns.in_words()
    each = "any number per text" if model.label_space_.kind == "multilabel" else "one per text"
    yield "Labels", f"{len(model.classes_):,}, {each}"
    if language := _language(model, given):
        yield "Language", language
    if (copies := model.copies_) is not None:
        n_copies = sum(copies.values())
        kinds = f" ({copies['identical']:,} identical, {copies['near']:,} nearly identical)"
        yield "Duplicates", f"{n_copies:,}{kinds}; duplicates share a fold" if n_copies else "none"
    if given.left_out:
        yield "Left out", "; ".join(given.left_out)


def model_in_words(model: TextCategorizer, path: Path | None) -> str:
    """The model in a sentence, and the command that lists what it is made of."""
    from textbayes.categorizer.summary import model_sentence, partial_members

    if model.choice_ is not None:
        told = model_sentence(model.choice_)
        if partial := partial_members(model.choice_):
            told += f" The training was interrupted: it has {partial}."
    else:
        names = model.member_names()
        told = (
            f"One model: {names[0]}." if len(names) == 1 else f"An ensemble of {len(names)} models: {', '.join(names)}."
        )
    if path is None:
        return f"{told} It was not saved (--cv-only)."
    return f"{told} `textbayes show {shlex.quote(str(path))}` lists members, weights and settings."


def _language(model: TextCategorizer, given: Labelled) -> str:
    """The language of the texts, or empty where these are not at hand."""
    from textbayes.categorizer.reading import language_of
    from textbayes.text.language import UNKNOWN

    texts = [document.text for document in given.documents[:: max(len(given.documents) // 1_000, 1)]]
    if model.choice_ is None or not any(texts):
        return ""
    found = language_of(texts)
    if found.code == UNKNOWN:
        return "not recognised, so no stemmer and no stop words"
    name = found.name.capitalize()
    return name if found.stemmer or not found.spaced else f"{name} (no stemmer)"


def _next_steps(inputs: Inputs, path: Path | None, page: Path | None) -> Iterator[tuple[str, str]]:
    """Commands with the real names of files, and what each is for."""
    if path is None:
        yield "The same command with -o model.tb instead of --cv-only", "saves the model"
        return
    ending = "" if inputs.corpus is not None else Path(inputs.paths[0]).suffix
    name, new, test = shlex.quote(str(path)), f"new{ending or '.csv'}", f"test{ending or '.csv'}"
    yield f"textbayes classify {name} {new}", "label new texts"
    yield f"textbayes evaluate {name} {test}", "measure on other labelled texts"
    if page is None:
        yield f"textbayes words {name}", "the words behind each label"
    else:
        yield shlex.quote(str(page)), "the report: open it in a browser"


def _print_steps(rows: list[tuple[str, str]]) -> None:
    """Commands and what they are for, side by side where that fits; no command is broken."""
    from textbayes.display.lines import cell_width

    screen = console()
    screen.print("\nNext", style="bold")
    widest = max(cell_width(command) for command, _ in rows)
    beside = all(widest + 2 + cell_width(what) <= screen.width for _, what in rows)
    for command, what in rows:
        space = " " * (widest - cell_width(command) + 2) if beside else "\n    "
        screen.print(f"{command}{space}{what}", soft_wrap=True)


def _print_section(title: str, rows: list[tuple[str, str]]) -> None:
    screen = console()
    screen.print(title, style="bold")
    screen.print(grid(rows))


def grid(rows: list[tuple[str, str]]) -> Table:
    """Names and what is said of each, wrapped between words."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    return table
