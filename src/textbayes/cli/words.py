"""``textbayes words``: the strongest words of each label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from textbayes.cli.assess import class_names
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.settings import common_options
from textbayes.core.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer import TextCategorizer

AUDIT_COLUMNS = (
    "word", "label", "source", "prior_mean", "prior_scale", "posterior", "shift", "n_documents", "p_value", "conflict",
)  # fmt: skip


@click.command()
@click.argument("model")
@click.option("--label", "labels", multiple=True, metavar="LABEL", help="This label only; may be given several times.")
@click.option("--prior", "audit", is_flag=True, help="What became of the prior of each word, most surprising first.")
@click.option("--intervals", is_flag=True, help="The interval of each weight; the model needs train --intervals.")
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="Probability that an interval holds its weight.",
)
@click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="Words per label.")
@output_options
@common_options
def words(
    model: str, labels: tuple[str, ...], audit: bool, intervals: bool, level: float, top: int, output: Output
) -> None:
    """List the strongest words of each label.

    A positive weight speaks for the label, a negative one against it. With --prior the words of the prior file are
    listed instead: prior mean and scale, the weight learnt, its shift in prior scales, and whether the texts
    contradict the prior (the chance of texts that contradict it as much, were it right).
    """
    from textbayes.store import load_model

    categorizer = load_model(model)
    if audit:
        _show_audit(categorizer, labels, top, output)
        return
    if intervals:
        _show_intervals(categorizer, labels, level, top, output)
        return
    chosen = {label: categorizer.top_words(label, top) for label in labels or class_names(categorizer)}
    if output.is_table:
        from rich.columns import Columns

        console().print(Columns([_table(label, found) for label, found in chosen.items()], padding=(0, 3)))
        return
    rows: list[dict[str, Any]] = [
        {"label": label, "rank": rank, "word": word, "weight": weight}
        for label, found in chosen.items()
        for rank, (word, weight) in enumerate(found, start=1)
    ]
    output.write(rows, ["label", "rank", "word", "weight"])


def _show_intervals(
    categorizer: TextCategorizer, labels: tuple[str, ...], level: float, top: int, output: Output
) -> None:
    rows = [
        {"label": label, "rank": rank, **found._asdict()}
        for label in labels or class_names(categorizer)
        for rank, found in enumerate(categorizer.word_intervals(label, level, top), start=1)
    ]
    if not output.is_table:
        output.write(rows, ["label", "rank", "word", "weight", "low", "high"])
        return
    table = make_table("label", "word", "weight", "low", "high", right=("weight", "low", "high"))
    for row in rows:
        table.add_row(row["label"], row["word"], *(f"{row[name]:+.2f}" for name in ("weight", "low", "high")))
    console().print(table)


def _show_audit(categorizer: TextCategorizer, labels: tuple[str, ...], top: int, output: Output) -> None:
    names = categorizer.label_space_.column_names
    for label in labels:
        if label not in names:
            raise InputError(f"label {label!r} is not known; choose one of {', '.join(names)}")
    if categorizer.prior_weight_ is None:
        raise InputError("this model was trained without a prior file; give one to train with --prior")
    weights = dict(zip(names, categorizer.prior_weight_.tolist(), strict=True))
    rows = []
    for label in labels or names:
        found = [row for row in categorizer.prior_audit_ if row.label == label][:top]
        rows += [{**row._asdict(), "followed": weights[label]} for row in found]
    if not output.is_table:
        output.write(rows, [*AUDIT_COLUMNS, "followed"])
        return
    for label in labels or names:
        # A weight of 0 is how bad advice is turned down: worth a line of its own.
        click.echo(f"{label}: the prior is followed at weight {weights[label]:g}")
    table = make_table("label", "word", "prior", "weight", "shift", "p", "", right=("prior", "weight", "shift", "p"))
    for row in rows:
        prior = f"{row['prior_mean']:+.2f} ± {row['prior_scale']:.2f}"
        conflict = "conflict" if row["conflict"] else ""
        table.add_row(
            row["label"], row["word"], prior, f"{row['posterior']:+.2f}", f"{row['shift']:+.1f}",
            f"{row['p_value']:.3f}", conflict,
        )  # fmt: skip
    console().print(table)


def _table(label: str, found: list[tuple[str, float]]) -> Table:
    table = make_table("word", "weight", title=label, right=("weight",))
    table.min_width = min(len(label) + 1, 40)  # else the label is broken into lines of the width of the words
    for word, weight in found:
        table.add_row(word, f"{weight:+.2f}")
    if not found:
        table.add_row("(none)", "")
    return table
