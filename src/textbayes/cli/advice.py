"""Report of the use that ``train --prior`` made of prior knowledge of words, label by label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textbayes.cli.output import make_table

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.categorizer.knowledge import Advice


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
