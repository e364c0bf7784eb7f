"""What a reproduction yields, table by table and figure by figure, and what a paper must offer to be reproduced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import ClassVar, NamedTuple, TypeAlias

from textbayes.core.errors import InputError

Cell: TypeAlias = float | None
Cells: TypeAlias = tuple[tuple[Cell, ...], ...]
Progress: TypeAlias = Callable[[str, int, int | None], None]


class Table(NamedTuple):
    """A table of the paper: one row per name in ``rows``, published and own figures in the same shape.

    ``published`` is None where the paper prints nothing, ``ours`` is None where nothing was run. ``digits`` are those
    after the decimal point. A difference above ``mark`` (as rounded for print) is marked: one point of a hundred unless
    said otherwise; for figures between 0 and 1 it is 0.01, and ``inf`` marks none.
    """

    number: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    published: Cells
    ours: Cells
    digits: int
    notes: tuple[str, ...] = ()
    mark: float = 1.0

    @property
    def name(self) -> str:
        return f"Table {self.number}"

    @property
    def compared(self) -> bool:
        """Whether there is a published figure at all; a table of our own beyond the paper has none."""
        return any(value is not None for row in self.published for value in row)

    def difference(self, row: int, column: int) -> float | None:
        """Ours minus published, both as printed; None where either is missing."""
        published, ours = self.published[row][column], self.ours[row][column]
        if published is None or ours is None:
            return None
        # Rounded again: 97.1 − 96.1 would be a hair more than 1.
        return round(round(ours, self.digits) - published, self.digits)

    def marked(self, row: int, column: int) -> bool:
        """Whether the difference is above ``mark``."""
        difference = self.difference(row, column)
        return difference is not None and abs(difference) > self.mark + 1e-9


class Figure(NamedTuple):
    """A figure of the paper drawn from our own results: ``svg`` stands alone, see :mod:`textbayes.reproduce.draw`.

    ``description`` is read out in place of the drawing.
    """

    number: str
    caption: str
    svg: str
    notes: tuple[str, ...] = ()
    description: str = ""

    @property
    def name(self) -> str:
        return f"Figure {self.number}"


Result: TypeAlias = Table | Figure


class Paper(ABC):
    """A paper whose experiments can be run again.

    ``numbers`` names what can be reproduced, in the paper's order, such as ``"table 1"`` and ``"figure 2"``;
    ``corpora`` names the corpora that they need. Importing the module of a paper must be cheap: the command line does.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]
    numbers: ClassVar[tuple[str, ...]]
    corpora: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def run(self, wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
        """Yield each of the ``wanted`` numbers as soon as it is done; ``quick`` runs part of it, in minutes."""

    def with_draws(self, draws: int) -> Paper:
        """The same with chains of a given length, for a paper that samples."""
        raise InputError(f"paper {self.name!r} draws no samples; leave --draws out")

    def corpora_for(self, wanted: Collection[str]) -> tuple[str, ...]:
        """The corpora that the ``wanted`` numbers need: all of the paper's, unless it knows better."""
        return self.corpora


def wanted_numbers(paper: Paper, only: Iterable[str]) -> tuple[str, ...]:
    """The numbers asked for, in the paper's order; all of them if none is named.

    >>> class Short(Paper):
    ...     name, title, reference, numbers = "short", "A short paper", "1999", ("table 1", "table 2", "figure 1")
    ...     def run(self, wanted, quick, progress): return iter(())
    >>> wanted_numbers(Short(), ["Figure 1", "table  1"])
    ('table 1', 'figure 1')
    """
    asked = {" ".join(number.lower().split()) for number in only}
    unknown = sorted(asked.difference(paper.numbers))
    if unknown:
        raise InputError(f"{paper.name!r} has no {unknown[0]!r} to reproduce; it has {', '.join(paper.numbers)}")
    return tuple(number for number in paper.numbers if number in asked or not asked)


def silent(what: str, done: int, total: int | None) -> None:
    """No progress wanted."""
