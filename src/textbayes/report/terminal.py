"""The figures of a report on a terminal or in a pipe: the same numbers as the page, in a screen or two."""

from __future__ import annotations

import textwrap

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textbayes.report.data import ReportData
from textbayes.report.records import Example, Reason
from textbayes.report.render import figure, percent, signed, verdict

_WORDS = 6  # of each label
_REASONS = 5  # words of each decision
_WIDEST = 100  # longer lines are hard to read


def print_report(data: ReportData, console: Console) -> None:
    """Print headline, table per label, overall figures, strongest words and explained decisions."""
    _heading(data.title, console)
    for line in (data.corpus, data.split):
        _paragraph(line, console)
    console.print(_label_table(data))
    for line in _overall(data):
        _paragraph(line, console)
    for note in data.notes:
        _paragraph(note, console, style="dim")
    console.print()
    _heading("Strongest words on these texts, and their weights", console)
    leading = [group for group in data.words if group.leading]
    width = max((len(group.label) for group in leading), default=0)
    for group in leading:
        words = ", ".join(f"{word.word} {signed(word.weight, 1)}" for word in group.words[:_WORDS])
        _paragraph(f"{group.label:<{width}}  {words or 'no word spoke for it'}", console, indent=width + 2)
    console.print()
    _heading("Decisions explained: log-odds before a word is read, and what words add", console)
    for example in data.examples:
        _print_example(example, data, console)


def _heading(text: str, console: Console) -> None:
    _paragraph(text, console, style="bold")


def _paragraph(text: str, console: Console, first: int = 0, indent: int = 0, style: str = "") -> None:
    """A paragraph wrapped to the terminal, its lines after the first indented; nothing for an empty one."""
    width = min(console.width, _WIDEST)
    for line in textwrap.wrap(text, width, initial_indent=" " * first, subsequent_indent=" " * indent):
        console.print(Text(line, style=style), soft_wrap=True)


def _label_table(data: ReportData) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("label", overflow="fold")
    columns = ["precision", "recall", "F1", "texts", *(["threshold"] if data.has_thresholds else [])]
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for row in data.labels:
        shares = (row.precision, row.recall, row.f1)
        cells = [figure(None if one is None else one.share) for one in shares] + [f"{row.n_texts:,}"]
        if data.has_thresholds:
            cells.append(figure(row.threshold))
        table.add_row(Text(row.label), *cells)
    return table


def _overall(data: ReportData) -> list[str]:
    m = data.measures
    many = data.kind == "multilabel"
    first = "all labels right" if many else "accuracy"
    return [
        f"{first} {data.right.share:.4f} (95% interval {data.right.low:.4f} to {data.right.high:.4f})",
        *([f"micro F1 {figure(m['micro_f1'], 4)}"] if many else []),
        f"macro F1 {figure(m['macro_f1'], 4)}, mean over {m['n_labels']:,} {'labels' if many else 'classes'}",
        f"log-loss {figure(m['log_loss'], 4)} per {m['log_loss_per']}, calibration error {figure(m['ece'], 4)} per "
        "yes-or-no decision",
    ]


def _print_example(example: Example, data: ReportData, console: Console) -> None:
    went = verdict(example)
    end = "" if went["right"] else f", in truth {went['truth']}"
    _paragraph(f"{example.id} “{example.headline}”", console, indent=2)
    _paragraph(f"{example.kind}: {went['decided']}{end}", console, first=2, indent=4)
    for reason in example.reasons:
        _paragraph(_reason_line(reason, data.kind, data.averaged), console, first=2, indent=4)


def _reason_line(reason: Reason, kind: str, averaged: bool = False) -> str:
    """The sum: base + words = log-odds, then the probability."""
    named, rest = reason.words[:_REASONS], reason.words[_REASONS:]
    parts = [signed(reason.base, 1), *(f"{word.word} {signed(word.value, 1)}" for word in named)]
    others = [word.value for word in [*rest, reason.others_for, reason.others_against] if word is not None]
    if others:
        parts.append(f"others {signed(sum(others), 1)}")
    shared = " when shared out among the labels" if kind == "multiclass" else ""
    over = " over the posterior" if averaged else ""
    result = f"log-odds {signed(reason.log_odds, 1)}, {percent(reason.probability)}{over}{shared}"
    return f"{reason.label}: {', '.join(parts)} = {result}"
