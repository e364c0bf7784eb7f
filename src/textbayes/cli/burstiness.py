"""``textbayes words --burstiness``: which of a model's words come in bursts in given texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from textbayes.cli.output import Output, console, make_table
from textbayes.core.errors import InputError

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.lexical.burstiness import Burstiness

COLUMNS = (
    "rank", "word", "count", "documents", "rate", "dispersion", "variance", "poisson_variance", "fitted_variance",
    "z", "p_value", "ks_poisson", "ks_negative_binomial", "fit_poisson", "fit_negative_binomial",
)  # fmt: skip


def show_burstiness(
    categorizer: TextCategorizer,
    texts: list[str],
    top: int,
    output: Output,
    target: Path | None = None,
    min_texts: int = 5,
) -> None:
    """Write the ``top`` burstiest words of a model in these texts, of those that ``min_texts`` texts have.

    ``target`` is a file for the drawing of observed against fitted variance (SVG).
    """
    from textbayes.lexical import burstiest, burstiness
    from textbayes.text.surface import readings

    vectorizer = readings(categorizer.vectorizer_)[0].vectorizer  # of several views the words themselves
    counts, lengths = vectorizer.transform(texts), vectorizer.document_lengths(texts)
    if not counts.nnz:
        raise InputError("no word of the model occurs in the texts; give texts like those it was trained on")
    chosen = burstiest(counts, lengths, top, min_texts)
    if not chosen.size:
        raise InputError(
            f"no word of the model occurs in min_texts={min_texts} of the {len(texts):,} texts; give more texts or a "
            "smaller number"
        )
    found = burstiness(counts, lengths, words=chosen)  # the tests cost milliseconds to a second a word
    words = [str(word) for word in vectorizer.get_feature_names_out()[chosen]]
    if target is not None:
        from textbayes.core.atomic import atomic_write
        from textbayes.report.variance import variance_svg

        with atomic_write(target) as stream:
            stream.write(variance_svg(found, words).encode("utf-8"))
    rows = _rows(found, words)
    if not output.is_table:
        output.write(rows, COLUMNS)
        return
    numbers = ("count", "texts", "rate", "δ", "p", "fit Poisson", "fit neg. bin.")
    table = make_table("word", *numbers, right=numbers)
    for row in rows:
        table.add_row(
            row["word"],
            f"{row['count']:,}",
            f"{row['documents']:,}",
            *(f"{row[name]:.3g}" for name in ("rate", "dispersion")),
            *(f"{row[name]:.2g}" for name in ("p_value", "fit_poisson", "fit_negative_binomial")),
        )
    console().print(table)


def _rows(found: Burstiness, words: list[str]) -> list[dict[str, Any]]:
    order = np.argsort(-found.dispersion, kind="stable")
    return [
        {"rank": rank, "word": words[j], "count": int(found.occurrences[j]), "documents": int(found.documents[j])}
        | {name: float(getattr(found, name)[j]) for name in COLUMNS[4:]}
        for rank, j in enumerate(order, start=1)
    ]
