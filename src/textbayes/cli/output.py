"""Writing of results: tables for people, JSON lines or CSV for programs, by option or by where stdout goes."""

from __future__ import annotations

import functools
import itertools
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click
import cloup

from textbayes.cli.terminal import console
from textbayes.core.spreadsheet import PLAIN, CsvForm, csv_text, tsv_text
from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Output", "console", "make_table", "output_options", "print_table", "to_json"]

# Valid within JSON strings, but they steer terminals, turn texts round or end lines for some readers.
_UNSAFE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_TEXT_WIDTH = 20  # columns of a terminal that texts have before numbers are left out
Kind = Literal["table", "json", "csv", "tsv"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Output:
    """Standard output, or a file of results, in one of several forms."""

    kind: Kind
    keep_formulas: bool = False
    form: CsvForm = PLAIN

    @property
    def is_table(self) -> bool:
        return self.kind == "table"

    def write(self, rows: Iterable[Row], columns: Sequence[str], header: bool = True) -> None:
        """Write rows as JSON lines or CSV, flushed; ``columns`` are those of the CSV, with a header unless told not."""
        text = self.text(rows, columns, header)
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()

    def text(self, rows: Iterable[Row], columns: Sequence[str], header: bool = True) -> str:
        """Text that :meth:`write` writes."""
        if self.kind == "json":
            return "".join(to_json(row) + "\n" for row in rows)
        named = [columns] if header else []
        cells = itertools.chain(named, ([row.get(name, "") for name in columns] for row in rows))
        if self.kind == "tsv":
            return tsv_text(cells, self.keep_formulas)
        return csv_text(cells, self.keep_formulas, self.form)


def output_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``, ``--csv``, ``--table`` and ``--keep-formulas``; the command is given an ``output``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        group = click.get_current_context().parent
        above = {} if group is None else group.params  # `datasets --json list` means the same as `datasets list --json`
        kinds: tuple[Kind, ...] = ("json", "csv", "table")
        chosen = [kind for kind in kinds if given.pop(f"as_{kind}") or above.get(f"as_{kind}")]
        if len(chosen) > 1:
            raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} were both given; choose one of them.")
        usual: Kind = "table" if sys.stdout.isatty() else "json"
        keep = given.pop("keep_formulas") or bool(above.get("keep_formulas"))
        return function(*args, output=Output(chosen[0] if chosen else usual, keep), **given)

    return cloup.option_group("Output", *_OPTIONS)(command)


_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Write JSON, one object a line; the default in a pipe."),
    click.option("--csv", "as_csv", is_flag=True, help="Write CSV."),
    click.option("--table", "as_table", is_flag=True, help="Write tables, as on a terminal."),
    click.option(
        "--keep-formulas",
        is_flag=True,
        help="Leave text as it is in CSV and XLSX even where a spreadsheet would compute it (it begins with = + - @).",
    ),
)


def to_json(value: Any) -> str:
    """A value on one line; numbers that JSON does not have become null."""
    text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def make_table(*columns: str, title: str | None = None, right: Sequence[str] = ()) -> Table:
    """An empty table of the house style: no lines but one under the header; columns named in ``right`` hold numbers.

    Other columns are wrapped between words; a word that is wider than its column ends in …. A ``title`` is wrapped to
    the width of the table, so it had better be short.
    """
    from rich import box
    from rich.table import Table

    style: dict[str, Any] = {"title_justify": "left", "title_style": "bold", "box": box.SIMPLE_HEAD}
    table = Table(title=title, **style, pad_edge=False, padding=(0, 1, 0, 0))  # two spaces between columns
    for name in columns:
        if name in right:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="ellipsis")
    return table


def print_table(table: Table) -> None:
    """Print a table of :func:`make_table`, without its last columns of numbers where the terminal is too narrow."""
    from rich.cells import cell_len

    screen, left_out = console(), []
    needed = []
    for column in table.columns:
        widest = max((cell_len(str(cell)) for cell in (column.header, *column.cells)), default=0)
        needed.append(2 + (widest if column.no_wrap else min(widest, _TEXT_WIDTH)))
    while sum(needed) > screen.width and (numbers := [i for i, one in enumerate(table.columns) if one.no_wrap][1:]):
        left_out.append(str(table.columns.pop(numbers[-1]).header))
        needed.pop(numbers[-1])
    screen.print(table)
    if left_out:
        screen.print(f"Not shown, for lack of width: {', '.join(reversed(left_out))} (--json has them).")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # −0.0 + 0.0 is 0.0
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
