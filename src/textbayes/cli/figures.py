"""Measures and confusions as tables for people; every figure says what it is a mean over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textbayes.cli.output import console, make_table
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.evaluate import Confused

LABEL_COLUMNS = ("support", "precision", "recall", "f1", "log_loss", "brier", "ece")
_MOST_COLUMNS = 12  # of a confusion matrix that still fits a screen
_MOST_PAIRS = 20


def print_figures(result: Mapping[str, Any], per_label: bool) -> None:
    """Print the measures of ``textbayes.evaluate.evaluate``."""
    screen = console()
    screen.print(
        f"{plural(result['n_docs'], 'document')}, {plural(result['n_labels'], 'label')} ({result['kind']})",
        style="bold",
    )
    table = make_table("", "precision", "recall", "F1", right=("precision", "recall", "F1"))
    for name in _averages(result):
        words = macro_words(result) if name == "macro" else "micro, all decisions"
        table.add_row(words, *(number(result[f"{name}_{measure}"]) for measure in ("precision", "recall", "f1")))
    screen.print(table)
    for line in overall_lines(result):
        screen.print(line, soft_wrap=True)
    if per_label:
        screen.print(label_table(result))


def overall_lines(result: Mapping[str, Any]) -> list[str]:
    """Accuracy, log-loss, Brier score and calibration error, each with what it is a mean over."""
    exclusive = "accuracy" in result
    first = (
        f"accuracy {number(result['accuracy'])}"
        if exclusive
        else f"all labels right {number(result['subset_accuracy'])}"
    )
    lines = [f"{first} of the texts"]
    if "log_loss" in result:
        lines.append(f"log-loss {number(result['log_loss'])} per {result['log_loss_per']}")
        lines.append(f"Brier score {number(result['brier'])}, calibration error {number(result['ece'])} per decision")
    if result.get("unsure") is not None:
        total = result["n_docs"] if exclusive else result["n_docs"] * result["n_labels"]
        share = result["unsure"] / total if total else 0.0
        lines.append(
            f"left unsure: {result['unsure']:,} of {total:,} {'texts' if exclusive else 'decisions'} ({share:.1%})"
        )
    return lines


def headline(result: Mapping[str, Any]) -> dict[str, str]:
    """The figures that say most, by names that say what they are of."""
    exclusive = "accuracy" in result
    first = {"accuracy": result["accuracy"]} if exclusive else {"micro F1, all decisions": result["micro_f1"]}
    names = {**first, f"macro F1, {result['n_labels']:,} {'classes' if exclusive else 'labels'}": result["macro_f1"]}
    names[f"log-loss per {result['log_loss_per']}"] = result["log_loss"]
    return {name: number(value) for name, value in names.items()}


def macro_words(result: Mapping[str, Any]) -> str:
    """Description of the macro averages: the number of classes or labels they are means over."""
    return f"macro, {result['n_labels']:,} {'classes' if 'accuracy' in result else 'labels'}"


def label_table(result: Mapping[str, Any]) -> Table:
    """A row for each label; its log-loss is per text of the class, or per decision."""
    columns = [name for name in LABEL_COLUMNS if all(name in row for row in result["labels"].values())]
    heads = [name.replace("f1", "F1").replace("log_loss", "log-loss").replace("brier", "Brier") for name in columns]
    heads = [name.replace("ece", "ECE") for name in heads]
    rows = make_table("label", *heads, right=heads)
    for label, row in result["labels"].items():
        rows.add_row(label, *(number(row[name]) for name in columns))
    return rows


def print_confusion(found: Sequence[Confused], multilabel: bool) -> None:
    """Print true labels down, given ones across; where these are many, or texts have several, the common mistakes."""
    rows = list(dict.fromkeys(pair.true for pair in found))
    columns = sorted({pair.given for pair in found})
    if multilabel or len(columns) > _MOST_COLUMNS:
        _print_pairs([pair for pair in found if pair.true != pair.given])
        return
    counts = {(pair.true, pair.given): pair.n for pair in found}
    columns = sorted(set(rows) | set(columns))
    table = make_table("true, given →", *columns, right=columns)
    for row in rows:
        table.add_row(row, *(f"{counts.get((row, column), 0):,}" for column in columns))
    console().print(table)


def _print_pairs(wrong: list[Confused]) -> None:
    shown = sorted(wrong, key=lambda pair: -pair.n)[:_MOST_PAIRS]
    table = make_table("true", "given", "texts", right=("texts",))
    for pair in shown:
        table.add_row(pair.true, pair.given, f"{pair.n:,}")
    if not wrong:
        table.add_row("no mistakes", "", "0")
    console().print(table)
    if len(wrong) > len(shown):
        console().print(f"and {len(wrong) - len(shown):,} rarer confusions (--json and --csv have them all)")


def _averages(result: Mapping[str, Any]) -> tuple[str, ...]:
    """Kinds of averages to show: without micro averages where they all equal the accuracy."""
    same = all(result[f"micro_{name}"] == result.get("accuracy") for name in ("precision", "recall", "f1"))
    return ("macro",) if same else ("micro", "macro")


def number(value: float | int | None) -> str:
    """A figure to four decimals, a count as it is."""
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
