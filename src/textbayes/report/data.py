"""All that a report says, as one record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from textbayes.report.records import (
    Bin,
    Confusion,
    Coverage,
    Curve,
    Example,
    Interval,
    LabelRow,
    LabelWords,
    Mistake,
    WrongText,
)


@dataclass(frozen=True, repr=False)
class ReportData:
    """Data of a report on an evaluated model, made by ``collect_report``. In a notebook it shows itself.

    ``measures`` is what ``textbayes.evaluate.evaluate`` gives, with a row for either of two classes. ``right`` is the
    share of texts with all labels right. ``micro_f1`` is there where texts may have several labels; ``confusion`` is
    None then, and ``mistakes`` are labels missed and labels wrongly given to the same text. Lists that do not apply to
    the kind of labels are empty.
    """

    title: str
    corpus: str
    split: str
    facts: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    notes: list[str]
    measures: dict[str, Any]
    right: Interval
    micro_f1: Interval | None
    labels: list[LabelRow]
    confusion: Confusion | None
    mistakes: list[Mistake]
    n_wrong: int
    wrong: list[WrongText]
    reliability: list[Bin]
    coverage: list[Coverage]
    overall_curve: Curve | None
    curves: list[Curve]
    words: list[LabelWords]
    stemmed: bool
    examples: list[Example]
    timings: list[tuple[str, float]] = field(default_factory=list)
    versions: list[tuple[str, str]] = field(default_factory=list)
    created: str = ""
    averaged: bool = False  # probabilities are averages over draws of the posterior
    cross_validated: bool = False  # decisions are those of models that had not seen the text

    @property
    def kind(self) -> str:
        """ "binary", "multiclass" or "multilabel"."""
        return str(self.measures["kind"])

    @property
    def has_thresholds(self) -> bool:
        """Whether labels are given by a threshold of their own."""
        return any(row.threshold is not None for row in self.labels)

    def __repr__(self) -> str:
        n, share = self.measures["n_docs"], self.right.share
        return f"<report {self.title!r}: {n:,} texts, {100.0 * share:.1f}% with all labels correct>"

    def _repr_html_(self) -> str | None:
        """The whole page in a frame of its own, so that its style and the notebook's do not meet."""
        from textbayes.report.render import framed_report

        return framed_report(self)
