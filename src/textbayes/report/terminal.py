"""The figures of a report on a terminal or in a pipe: the same numbers as the page, in a screen or two."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from textbayes.display import padded, wrapped
from textbayes.report.collect import ReportData
from textbayes.report.records import Example, Reason
from textbayes.report.render import figure, percent, signed, verdict
from textbayes.report.wording import caution, headline

_WORDS = 6  # of each label
_REASONS = 5  # words of each decision
_GLUE = "\u00a0"  # between a word and its number: no line ends there
_WIDEST = 100  # longer lines are hard to read


def print_report(data: ReportData, console: Console) -> None:
    """Print headline, table per label, strongest words and explained decisions."""
    _heading(data.title, console)
    console.print(_headline(data))
    for line in (data.split, caution(data.measures)):
        _paragraph(line, console)
    console.print(_label_table(data))
    for note in (data.corpus, *data.notes):
        _paragraph(note, console, style="dim")
    console.print()
    _heading("Words with the largest contributions, and their weights (log-odds)", console)
    leading = [group for group in data.words if group.leading]
    width = min(max((cell_len(group.label) for group in leading), default=0), console.width // 3)
    for group in leading:
        words = ", ".join(f"{word.word}{_GLUE}{signed(word.weight, 1)}" for word in group.words[:_WORDS])
        lead = f"{padded(group.label, width)}  "
        _paragraph(words or "no word has a positive contribution", console, lead, indent=width + 2)
    console.print()
    _heading("Decisions explained: base + words = log-odds", console)
    for example in data.examples:
        _print_example(example, data, console)


def _headline(data: ReportData) -> Table:
    """Accuracy or micro F1 with its interval, the baseline, macro F1, log-loss and calibration error."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="ellipsis")
    rows = [*headline(data.measures), ("ECE", figure(data.measures["ece"]), "expected calibration error")]
    for number, row in enumerate(rows):
        table.add_row(*map(Text, row), style="" if number else "bold")
    return table


def _heading(text: str, console: Console) -> None:
    _paragraph(text, console, style="bold")


def _paragraph(text: str, console: Console, lead: str = "", indent: int = 0, style: str = "") -> None:
    """A paragraph wrapped to the terminal, its lines after the first indented; nothing for an empty one."""
    if text:
        lines = wrapped(text, min(console.width, _WIDEST), " " * indent, lead).replace(_GLUE, " ")
        console.print(Text(lines, style=style), soft_wrap=True)


def _label_table(data: ReportData) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("label", overflow="ellipsis")
    columns = ["texts", "precision", "recall", "F1", *(["threshold"] if data.has_thresholds else [])]
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for row in data.labels:
        shares = (row.precision, row.recall, row.f1)
        cells = [f"{row.n_texts:,}"] + [figure(None if one is None else one.share) for one in shares]
        if data.has_thresholds:
            cells.append(figure(row.threshold))
        table.add_row(Text(row.label), *cells)
    return table


def _print_example(example: Example, data: ReportData, console: Console) -> None:
    went = verdict(example)
    end = "" if went["right"] else f"; the true label is {went['truth']}"
    _paragraph(f"“{example.headline}” ({example.id})", console, indent=2)
    _paragraph(f"{example.kind}: predicted {went['decided']}{end}", console, lead="  ", indent=4)
    for reason in example.reasons:
        _paragraph(_reason_line(reason, data.averaged), console, lead="  ", indent=4)


def _reason_line(reason: Reason, averaged: bool = False) -> str:
    """The sum: base + words = log-odds, then the probability."""
    named, rest = reason.words[:_REASONS], reason.words[_REASONS:]
    parts = [f"base{_GLUE}{signed(reason.base, 1)}", *(f"{word.word}{_GLUE}{signed(word.value, 1)}" for word in named)]
    others = [word.value for word in [*rest, reason.others_for, reason.others_against] if word is not None]
    if others:
        parts.append(f"other words{_GLUE}{signed(sum(others), 1)}")
    over = " averaged over the posterior" if averaged else ""
    result = f"log-odds {signed(reason.log_odds, 1)}, probability {percent(reason.probability)}{over}"
    return f"{reason.label}: {', '.join(parts)} = {result}"
