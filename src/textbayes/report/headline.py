"""The figures that matter most, each in a row of three cells: what it is, the figure, and what to hold it against."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from textbayes.core.wording import plural

FEW_TEXTS = 100  # below this many, figures have two digits and are said to be rough
FEW_OF_A_LABEL = 10


def digits_for(n_texts: int) -> int:
    """Decimals that a share of so many texts deserves: its standard error is in the last one or two.

    >>> [digits_for(n) for n in (30, 1_114, 50_000)]
    [2, 3, 4]
    """
    return 2 if n_texts < FEW_TEXTS else 3 if n_texts < 10_000 else 4


def headline(measures: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Rows of the first table that people see: accuracy or micro F1 with its interval, baseline, macro F1, log-loss.

    Parameters
    ----------
    measures : mapping
        As ``textbayes.evaluate.evaluate`` gives them; figures that older model files lack are left out.
    """
    digits = digits_for(measures.get("n_docs") or 0)

    def row(name: str, key: str, said: str = "") -> list[tuple[str, str, str]]:
        value, ends = measures.get(key), measures.get(f"{key}_interval")
        interval = f"95% interval {ends[0]:.{digits}f} to {ends[1]:.{digits}f}" if ends else ""
        notes = "; ".join(part for part in (interval, said) if part)
        return [] if value is None else [(name, f"{value:.{digits}f}", notes)]

    support = {name: one["support"] for name, one in (measures.get("labels") or {}).items()}
    n_labels = measures.get("n_labels") or len(support)
    macro = row("Macro F1", "macro_f1", f"mean over {plural(n_labels, 'label')}" if n_labels else "")
    if "accuracy" not in measures:
        rows = [
            *row("Micro F1", "micro_f1"),
            *macro,
            *row("All right", "subset_accuracy", "texts with all labels right"),
        ]
        return [*rows, *row("Log-loss", "log_loss", f"per {_per(measures)}")]
    rows, said = row("Accuracy", "accuracy"), f"per {_per(measures)}"
    if total := sum(support.values()):
        commonest = max(support, key=lambda name: support[name])
        share = support[commonest] / total
        rows.append(("Baseline", f"{share:.{digits}f}", f"accuracy of always answering {commonest!r}"))
        entropy = -sum(n / total * math.log(n / total) for n in support.values() if n)
        said += f"; {entropy:.{digits}f} for the label frequencies alone"
    return [*rows, *macro, *row("Log-loss", "log_loss", said)]


def caution(measures: Mapping[str, Any]) -> str:
    """A sentence about figures that rest on few texts; empty where they do not.

    Parameters
    ----------
    measures : mapping
    """
    n_texts = measures.get("n_docs") or 0
    few = [name for name, one in (measures.get("labels") or {}).items() if one["support"] < FEW_OF_A_LABEL]
    if n_texts < FEW_TEXTS:
        return f"These figures rest on {plural(n_texts, 'text')}, so they are rough: see the interval."
    if few:
        which = f"{len(few):,} labels have" if len(few) > 1 else f"Label {few[0]!r} has"
        rough = "their figures are" if len(few) > 1 else "its figures are"
        return f"{which} fewer than {FEW_OF_A_LABEL} texts: {rough} rough."
    return ""


def _per(measures: Mapping[str, Any]) -> str:
    """What the log-loss is a mean over."""
    return "text" if measures.get("log_loss_per") == "text" else "yes-or-no decision"
