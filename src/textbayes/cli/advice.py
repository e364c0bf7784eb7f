"""Report of the use that ``train --prior`` made of prior knowledge of words, label by label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textbayes.cli.output import make_table

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer.knowledge import Advice


def advice_table(rows: Sequence[Advice]) -> Table:
    """A line for each label that the prior file speaks of."""
    heads = ("weight", "words", "not in texts", "log-loss")
    table = make_table("prior of", *heads, "", right=heads)
    for told in rows:
        table.add_row(
            told.label, f"{told.weight:.2g}", f"{told.words:,}", f"{told.not_in_texts:,}", _change(told), told.why
        )
    return table


def _change(told: Advice) -> str:
    """The change of the held-out log-loss, "−12.1 % ± 3.0 at 0.5"; a dash where there is none to tell."""
    if told.change != told.change:  # NaN
        return "–"
    return f"{100 * told.change:+.1f} % ± {100 * told.error:.1f} at {told.tried:.2g}".replace("-", "−")
