"""Records of a report: strings, numbers and lists, so that ``dataclasses.asdict`` is JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Word(NamedTuple):
    """A word, in the form in which readers meet it most, and what it adds to the log-odds of a text."""

    word: str
    value: float
    occurrences: int = 0


class Interval(NamedTuple):
    """A share with its 95% interval."""

    share: float
    low: float
    high: float


class StrongWord(NamedTuple):
    """A word and what it did on the texts of the report: ``total`` is what it added to the log-odds of all of them."""

    word: str
    weight: float
    n_texts: int  # that have it
    total: float
    low: float | None = None  # ends of the interval of the weight, where it is known
    high: float | None = None


@dataclass(frozen=True)
class LabelWords:
    """The words that added most to a label's log-odds, and those that took most away; ``leading`` labels come first."""

    label: str
    words: list[StrongWord]
    against: list[StrongWord]
    leading: bool


@dataclass(frozen=True)
class LabelRow:
    """Measures of one label with their intervals; None where there is nothing to count.

    ``places`` says where the row stands when labels are sorted by a column, so that a page can sort without a script.
    """

    label: str
    n_texts: int
    n_given: int
    n_right: int
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None
    average_precision: float | None
    threshold: float | None
    places: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Curve:
    """Precision against recall as the threshold falls; ``here`` is where the decisions are, if any were made."""

    label: str
    recall: list[float]
    precision: list[float]
    average_precision: float
    here: tuple[float, float] | None


@dataclass(frozen=True)
class Confusion:
    """Confusion table: texts of each true label (row) given each label (column); ``cells`` are those that are not 0.

    ``columns`` are the model's labels, and "none or several" after them where a rule did not give exactly one; ``rows``
    are the same, and "a label that the model does not know" where texts have one.
    """

    rows: list[str]
    columns: list[str]
    cells: list[tuple[int, int, int]]

    @property
    def counts(self) -> list[list[int]]:
        """The whole table."""
        table = [[0] * len(self.columns) for _ in self.rows]
        for row, column, n in self.cells:
            table[row][column] = n
        return table

    def worst(self, row: int, most: int = 10) -> list[tuple[int, int]]:
        """Labels that the texts of a row were taken for most often: column and number of texts."""
        wrong = [(column, n) for place, column, n in self.cells if place == row != column]
        return sorted(wrong, key=lambda one: -one[1])[:most]


class Mistake(NamedTuple):
    """Number of texts of one label taken for another; ``share`` is of the texts of the true label, if any."""

    true: str
    given: str
    n: int
    share: float | None


@dataclass(frozen=True)
class WrongText:
    """A text decided wrongly: the probability of each label in question, and the words that spoke for it."""

    id: str
    headline: str
    truth: list[str]
    decided: list[str]
    labels: list[tuple[str, float]]
    words: list[list[Word]]


@dataclass(frozen=True)
class ReliabilityBin:
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
    """The log-odds of one label, added up: base + words + what the other words add = log_odds, those of probability.

    ``rivals`` are the likeliest classes that exclude it, with their probabilities and log-odds.
    """

    label: str
    decision: bool
    base: float
    words: list[Word]
    others_for: Word | None
    others_against: Word | None
    log_odds: float
    probability: float
    rivals: list[tuple[str, float, float]]


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
