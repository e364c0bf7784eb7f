"""Results of a reproduction: tables with published and own figures, drawings, and intervals of means."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from textbayes.core.errors import InputError
from textbayes.core.types import AnyArray, FloatArray


@cache
def published_figures(paper: str) -> dict[str, Any]:
    """The figures of a paper as printed: ``published.toml`` of its folder, with tuples in place of lists.

    None stands where the paper has no figure: "" and "*" in the file. "7.7 for 77.7" and "200 for ?" are misprints.
    """
    with (Path(__file__).parent / paper / "published.toml").open("rb") as stream:
        return {name: _cells(value) for name, value in tomllib.load(stream).items()}


def _cells(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cells(one) for name, one in value.items()}
    if isinstance(value, list):
        return tuple(map(_cells, value))
    if isinstance(value, str) and (wrong := _MISPRINT.fullmatch(value)):
        return Misprint(wrong[1], float("nan" if wrong[2] == "?" else wrong[2]))
    return None if value in ("", "*") else value


_MISPRINT = re.compile(r"(\w[\w.]*) for ([\d.]+|\?)")


class Misprint(float):
    """What a figure must be, NaN where that is not known, which the paper or its scan has otherwise.

    It is shown as ``printed``, with a mark, and compared with nothing.

    >>> f"{Misprint('7.7', 77.7):.1f}", Misprint("7.7", 77.7) + 0.0
    ('7.7†', 77.7)
    """

    MARK: ClassVar[str] = "†"

    def __new__(cls, printed: str, meant: float) -> Misprint:
        made = super().__new__(cls, meant)
        made.printed = printed
        return made

    printed: str

    def __format__(self, spec: str) -> str:
        return f"{self.printed}{self.MARK}"


class MeanInterval(NamedTuple):
    """A mean and its 95% confidence interval; without one, both ends are NaN."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def mean_interval(
    values: Sequence[float] | AnyArray, overlap: float = 0.0, quantile: float | None = None
) -> MeanInterval:
    """Return the mean of values with its 95% interval, Student's unless another ``quantile`` is given.

    ``overlap`` is the number of test over the number of training documents where the values come from random splits of
    the same documents: their training sets overlap, so the variance of the mean is not s²/J but s²·(1/J + overlap).

    Reference: Nadeau & Bengio (2003), Inference for the generalization error, Machine Learning 52, 239–281.

    >>> mean_interval([1.0, 2.0, 3.0])
    MeanInterval(mean=2.0, low=-0.48..., high=4.48...)
    """
    from scipy import stats  # papers are listed without it

    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return MeanInterval(mean, float("nan"), float("nan"))
    factor = stats.t.ppf(0.975, n - 1) if quantile is None else quantile
    half = factor * np.std(values, ddof=1) * np.sqrt(1.0 / n + overlap)
    return MeanInterval(mean, float(mean - half), float(mean + half))


def standard_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the first axis; NaN where there is one value only."""
    n = len(values)
    spread = values.std(axis=0, ddof=1) if n > 1 else np.full(values.shape[1:], np.nan)
    return np.asarray(spread / np.sqrt(n))


Cell: TypeAlias = float | None
Cells: TypeAlias = tuple[tuple[Cell, ...], ...]
Figures: TypeAlias = Mapping[str, Sequence[Cell]]


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

    @classmethod
    def by_row(
        cls, number: str, caption: str, columns: Iterable[str], ours: Figures, published: Figures | None = None,
        rows: Iterable[str] = (), **settings: Any,
    ) -> Table:  # fmt: skip
        """Make a table of rows of figures, published and ours, by their names.

        Parameters
        ----------
        number, caption : str
        columns : iterable of str
        ours, published : mapping of str to sequence of float or None
            Figures of a row; a row that one of them lacks, and the end of a row that is too short, stay empty, and so
            does a figure that is not a number.
        rows : iterable of str
            All rows in order; those of ``published`` and then those of ``ours`` unless given.
        **settings
            ``digits``, and ``notes`` and ``mark`` if need be.
        """
        columns, printed = tuple(columns), published or {}
        rows = tuple(rows) or tuple(dict.fromkeys([*printed, *ours]))
        theirs, own = (_filled(of, rows, len(columns)) for of in (printed, ours))
        return cls(number, caption, rows, columns, theirs, own, **settings)

    @classmethod
    def by_column(
        cls, number: str, caption: str, rows: Iterable[str], ours: Figures, published: Figures | None = None,
        columns: Iterable[str] = (), **settings: Any,
    ) -> Table:  # fmt: skip
        """Make a table of columns of figures; as :meth:`by_row` otherwise."""
        turned = cls.by_row(number, caption, rows, ours, published, columns, **settings)
        theirs, own = (tuple(zip(*cells, strict=True)) for cells in (turned.published, turned.ours))
        return turned._replace(rows=turned.columns, columns=turned.rows, published=theirs, ours=own)

    @property
    def name(self) -> str:
        """The table as the paper calls it."""
        return f"Table {self.number}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and what is said of misprints."""
        found = [
            f"{Misprint.MARK} {row}, {column}: the paper or its scan has {cell.printed}, "
            + ("which cannot be" if cell != cell else f"which must be {float(cell):,.{self.digits}f}")
            + "; it is compared with nothing."
            for row, cells in zip(self.rows, self.published, strict=True)
            for column, cell in zip(self.columns, cells, strict=True)
            if isinstance(cell, Misprint)
        ]
        return (*self.notes, *found)

    @property
    def compared(self) -> bool:
        """Whether there is a published figure at all; a table of our own beyond the paper has none."""
        return any(value is not None for row in self.published for value in row)

    def difference(self, row: int, column: int) -> float | None:
        """Ours minus published, both as printed; None where either is missing, or the published one a misprint."""
        published, ours = self.published[row][column], self.ours[row][column]
        if published is None or ours is None or isinstance(published, Misprint):
            return None
        # Rounded again: 97.1 − 96.1 would be a hair more than 1.
        return round(round(ours, self.digits) - published, self.digits)

    def marked(self, row: int, column: int) -> bool:
        """Whether the difference is above ``mark``."""
        difference = self.difference(row, column)
        return difference is not None and abs(difference) > self.mark + 1e-9


def _filled(figures: Figures, names: Sequence[str], width: int) -> Cells:
    """The figures of each name in one width: what is missing at the end, or is not a number, is None."""
    for name, row in figures.items():
        if name not in names or len(row) > width:
            raise InputError(f"{len(row)} figures of {name!r} are given; the table has {width} for {', '.join(names)}")
    known = [[value if _is_figure(value) else None for value in figures.get(name, ())] for name in names]
    return tuple((*row, *(None,) * (width - len(row))) for row in known)


def _is_figure(value: Cell) -> bool:
    return isinstance(value, Misprint) or (value is not None and value == value)


class Figure(NamedTuple):
    """A figure of the paper drawn from our own results: ``svg`` stands alone, see :mod:`textbayes.reproduce.render`.

    ``description`` is read out in place of the drawing.
    """

    number: str
    caption: str
    svg: str
    notes: tuple[str, ...] = ()
    description: str = ""

    @property
    def name(self) -> str:
        """The figure as the paper calls it."""
        return f"Figure {self.number}"


Result: TypeAlias = Table | Figure
