"""What a report says, as plain records: strings, numbers and lists, so that ``dataclasses.asdict`` is JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Word(NamedTuple):
    """A vocabulary word, the form in which readers meet it most, and a number: its weight or its contribution."""

    word: str
    shown: str
    value: float
    occurrences: int = 0
    low: float | None = None  # ends of the interval of a weight, where it is known
    high: float | None = None


class Interval(NamedTuple):
    """A share with its 95% interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelWords:
    """The strongest words of a label, largest weight first whatever its sign."""

    label: str
    words: list[Word]


@dataclass(frozen=True)
class Confusion:
    """How many texts of each true label (row) were given each label (column).

    ``columns`` are the rows' labels, and "none or several" after them where a rule did not give exactly one.
    """

    rows: list[str]
    columns: list[str]
    counts: list[list[int]]


class Mistake(NamedTuple):
    """How many texts of one label were taken for another."""

    true: str
    given: str
    n: int


@dataclass(frozen=True)
class Bin:
    """One bin of the reliability diagram: what was said, what came true (with its interval) and how often."""

    mean_proba: float
    observed: Interval
    n: int


@dataclass(frozen=True)
class Coverage:
    """Of the texts with a probability of at least ``at_least``: their share of all, and how many are right."""

    at_least: float
    share: float
    accuracy: float


@dataclass(frozen=True)
class Fragment:
    """A piece of a text, and what it adds to the log-odds: ``level`` −4 … 4 is its strength, 0 for plain text."""

    text: str
    log_odds: float = 0.0
    level: int = 0


@dataclass(frozen=True)
class Reason:
    """The log-odds of one label, added up: base + words + what the other words add = log_odds."""

    label: str
    decision: bool
    base: float
    words: list[Word]
    others_for: Word | None
    others_against: Word | None
    log_odds: float
    own_probability: float
    probability: float


@dataclass(frozen=True)
class Example:
    """A text with its decision explained; ``fragments`` are coloured for the first of ``reasons``."""

    kind: str
    id: str
    headline: str
    truth: list[str]
    decided: list[str]
    probabilities: list[tuple[str, float]]
    reasons: list[Reason]
    fragments: list[Fragment]
    n_shown: int
    n_characters: int


@dataclass(frozen=True)
class ReportData:
    """All that a report of an evaluated model says; made by ``collect_report``.

    ``measures`` is what ``textbayes.evaluate.evaluate`` gives. ``right`` is the share of texts with all labels right.
    ``confusion`` is None where there are too many labels for a matrix, or several per text; ``mistakes`` are the most
    frequent ones of single labels. Lists that do not apply to the kind of labels are empty.
    """

    title: str
    corpus: str
    split: str
    settings: list[tuple[str, str]]
    notes: list[str]
    measures: dict[str, Any]
    right: Interval
    thresholds: dict[str, float]
    confusion: Confusion | None
    mistakes: list[Mistake]
    reliability: list[Bin]
    coverage: list[Coverage]
    words: list[LabelWords]
    stemmed: bool
    examples: list[Example]
    timings: list[tuple[str, float]] = field(default_factory=list)
    versions: list[tuple[str, str]] = field(default_factory=list)
    created: str = ""
    averaged: bool = False  # probabilities are averages over draws of the posterior

    @property
    def kind(self) -> str:
        """ "binary", "multiclass" or "multilabel"."""
        return str(self.measures["kind"])
