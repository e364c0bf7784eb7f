"""What ``train`` shows: sampling as it goes, figures, what was found, the model, what to do next, a report."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import progress as rich
from rich.table import Table

from textbayes.categorizer.reading import language_of
from textbayes.categorizer.summary import describe_choice, model_sentence, partial_members, unlabelled_sentence
from textbayes.cli.figures import LABEL_COLUMNS, MOST_LABELS, headline_table, label_table, measured_in_words
from textbayes.cli.inputs import Inputs
from textbayes.cli.output import grid, make_table
from textbayes.cli.terminal import console, note, shown, waiting
from textbayes.core.types import AnyArray
from textbayes.display.lines import cell_width
from textbayes.models.sampling import SamplingCallback
from textbayes.report import collect_report, write_report
from textbayes.report.wording import caution, cross_validation_in_words
from textbayes.text.copies import copies_in_words
from textbayes.text.language import UNKNOWN

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer
    from textbayes.categorizer.knowledge import Advice
    from textbayes.cli.labels import Labelled
    from textbayes.inference.gibbs import SamplingProgress
    from textbayes.inference.gibbs.sampler import State
    from textbayes.posterior.draws import Draws


_VERDICTS = {
    "supported by held-out texts": "supported",
    "not supported by held-out texts": "not supported",
    "used, but held-out texts are inconclusive": "inconclusive",
    "used, but contradicted by held-out texts": "contradicted",
    "not tested: none of its words is in the texts": "not tested",
}


def advice_table(rows: Sequence[Advice]) -> Table:
    """Table of the prior file: a line for each label, with how held-out log-loss changes and what that means."""
    heads = ("weight", "words", "not in texts", "log-loss")
    table = make_table("prior of", *heads, "held-out texts", right=heads)
    for row in rows:
        verdict = _VERDICTS.get(row.why, row.why)
        table.add_row(row.label, f"{row.weight:.2g}", f"{row.words:,}", f"{row.not_in_texts:,}", _change(row), verdict)
    return table


def _change(row: Advice) -> str:
    """The change of the held-out log-loss, "−12.1 % ± 3.0 at 0.5"; a dash where there is none to tell."""
    if row.change != row.change:  # NaN
        return "–"
    at = "" if row.tried == row.weight else f" at {row.tried:.2g}"
    return f"{100 * row.change:+.1f} % ± {100 * row.error:.1f}{at}".replace("-", "−")


def write_training_report(
    path: Path, model: TextCategorizer, given: Labelled, source: str, model_path: Path | None
) -> None:
    """Write a page about the texts a model was just trained on, each decided by a model that had not seen it."""

    name = "" if model_path is None else f"{model_path.name}: "
    with waiting("writing the report"):
        data = collect_report(
            model,
            given.texts,
            given.labels,
            title=f"{name}cross-validation on {source}",
            split=f"{cross_validation_in_words(model)} "
            "Thresholds were tuned on these very decisions, which is a little kind to them.",
            source=source,
            model_name="" if model_path is None else str(model_path),
            ids=[document.id for document in given.documents],
            cross_validated=True,
        )
        write_report(path, data)


class Watching(SamplingCallback):
    """Shows how sampling goes, a line for each label of the present stage, and passes all on to ``folder``."""

    def __init__(self, folder: SamplingCallback, bars: Any) -> None:
        self._folder, self._bars = folder, bars
        self._labels: Sequence[str] = ()
        self._stage = ""
        self._tasks: dict[int, Any] = {}

    def begin(self, labels: Sequence[str], mark: str) -> None:
        self._labels = labels
        self._folder.begin(labels, mark)

    def progress(self, stage: str, at: SamplingProgress) -> None:
        self._folder.progress(stage, at)
        if self._bars is None:
            return
        if stage != self._stage:
            for task in self._tasks.values():
                self._bars.remove_task(task)
            self._stage, self._tasks = stage, {}
        if at.label not in self._tasks:
            drawn = "all classes" if at.together else self._labels[at.label]
            self._tasks[at.label] = self._bars.add_task(f"{stage}: {drawn}", total=None, said="")
        said = f"{at.n_draws:,} draws, R-hat {at.max_r_hat:.3f}, ESS {at.min_ess:,.0f}"
        done = {"total": 1, "completed": 1} if at.finished else {}
        self._bars.update(self._tasks[at.label], said=said, **done)

    def resume(self, stage: str) -> Mapping[int, State] | None:
        return self._folder.resume(stage)

    def recall(self, fold: str) -> AnyArray | None:
        return self._folder.recall(fold)

    def finish(self, fold: str, result: AnyArray) -> None:
        self._folder.finish(fold, result)


@contextlib.contextmanager
def watching(folder: SamplingCallback | None) -> Iterator[SamplingCallback]:
    """A watch that shows draws, the largest R-hat and the least effective sample size of each label as they come."""
    if not shown():
        yield Watching(folder or SamplingCallback(), None)
        return

    columns = [
        rich.SpinnerColumn(finished_text="✓"),
        rich.TextColumn("{task.description}", markup=False),
        rich.TextColumn("{task.fields[said]}"),
        rich.TimeElapsedColumn(),
    ]
    with rich.Progress(*columns, console=console(stderr=True), transient=True, redirect_stdout=False) as bars:
        yield Watching(folder or SamplingCallback(), bars)


def print_trained(
    model: TextCategorizer, given: Labelled, inputs: Inputs, path: Path | None, page: Path | None, per_label: bool
) -> None:
    """Print the held-out figures, the labels, what was found in the input, the model in a sentence, and next steps."""

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

    if model.choice_ is not None:
        told = model_sentence(model.choice_)
        if partial := partial_members(model.choice_):
            told += f" The training was interrupted: it has {partial}."
        if (unlabelled := model.choice_.get("unlabelled")) is not None:
            told += f" {unlabelled_sentence(unlabelled)}"
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


def summary_of(model: TextCategorizer, n_docs: int) -> dict[str, Any]:
    """A training in numbers, for programs."""
    space, choice, copies = model.label_space_, model.choice_, model.copies_ or {}
    drawn = {} if model.draws_ is None else _drawn(model.draws_)
    return {
        "documents": n_docs,
        **({f"{name}_copies": n for name, n in copies.items()} if any(copies.values()) else {}),
        "kind": space.kind,
        "labels": len(space.classes),
        "words": int(model.word_columns().sum()),
        "words_with_weight": int(model.words_with_weight().sum()),
        **drawn,
        **_calibrated(model),
        **({} if choice is None else {"chosen": describe_choice(choice)}),
        **({"partial": partial} if (partial := partial_members(choice)) else {}),
        "held_out": model.held_out_,
        **({"prior": [told._asdict() for told in model.prior_advice_]} if model.prior_weight_ is not None else {}),
    }


def _calibrated(model: TextCategorizer) -> dict[str, Any]:
    """Description of the weights, and the factor of the calibration where it was asked for."""
    factor = {"calibration": round(model.calibration_, 4)} if model.calibrate else {}
    return {"weights": model.weights_description, **factor}


def _drawn(draws: Draws) -> dict[str, Any]:
    """Number of draws the model keeps, and their size before they are packed."""
    arrays = draws.to_state()[1].values()
    return {
        "draws": max(one.intercept.size for one in draws.labels),
        "draws_megabytes": round(sum(array.nbytes for array in arrays) / 1e6, 1),
    }


def note_copies(model: TextCategorizer, n_docs: int) -> None:
    """Say how many texts are copies of others, if any are."""
    if told := copies_in_words(model.copies_, n_docs):
        note(told)
