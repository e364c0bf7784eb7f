"""Results: tables for people, JSON lines or CSV for programs, on standard output or in files of their own."""

from __future__ import annotations

import codecs
import contextlib
import functools
import glob
import itertools
import json
import math
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import click
import cloup

from textbayes import report
from textbayes.cli.inputs import Inputs
from textbayes.cli.terminal import console, echo, note, warn
from textbayes.core.atomic import atomic_write, output_path
from textbayes.core.errors import InputError, plural
from textbayes.core.tables import PLAIN, CsvForm, csv_text, tsv_text
from textbayes.core.types import Document
from textbayes.data.documents import guess_from_name
from textbayes.display import cell_width, padded, shortened, visible, workbook

if TYPE_CHECKING:
    from rich.table import Table

    from textbayes.data.layout import Columns, Layout

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
        """Write rows as JSON lines or CSV, flushed; ``columns`` are those of the CSV, named above if ``header``."""
        text = self.text(rows, columns, header)
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
        sys.stdout.flush()

    def write_table(self, rows: Sequence[Row], columns: Sequence[str], shown: Mapping[str, str]) -> None:
        """Write rows as a table with the columns ``shown`` (see :func:`table_of`), or as :meth:`write` does."""
        if self.is_table:
            print_table(table_of(rows, shown))
        else:
            self.write(rows, columns)

    def write_summary(self, summary: Row, *sentences: str) -> None:
        """Write one object for programs, or sentences for people."""
        if not self.is_table:
            self.write([summary], list(summary))
            return
        for sentence in sentences:
            echo(sentence)

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
        if not chosen and usual == "json" and not given.get("target"):
            _note_json()
        return function(*args, output=Output(chosen[0] if chosen else usual, keep), **given)

    return cloup.option_group("Output", *_OPTIONS)(command)


def _note_json() -> None:
    """Say how to get a spreadsheet where JSON lines, which nobody asked for, go to a file that is called one."""
    try:
        name = os.readlink(f"/proc/self/fd/{sys.stdout.fileno()}")  # where the system tells
    except (OSError, ValueError):
        return
    if os.path.isfile(name) and name.lower().endswith((".csv", ".tsv", ".xlsx")):
        options = click.get_current_context().command.params
        writes = any(one.name == "target" and ".csv" in (getattr(one, "help", None) or "") for one in options)
        how = f"use -o {os.path.basename(name)}" if writes else "add --csv"
        note(f"standard output gets JSON lines; for a spreadsheet {how}")


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


_LEAST_TEXT = 8  # characters: a shorter beginning says nothing


def lines_of(heads: tuple[str, ...], widths: tuple[int, ...], longest: str = "") -> Callable[[list[str]], None]:
    """A function that prints rows as they come, one a line, a bold header before the first.

    The first two widths are shares of the terminal, the others characters; the last column has what is left. The first
    column is never shortened, as it is what ``judge`` is given: it is as wide as the ``longest`` one needs, or
    else the first, up to half of the terminal.
    """

    screen = console()
    sizes = [max(screen.width // share - 2, 6) for share in widths[:2]] + list(widths[2:])
    left = max(screen.width - sum(sizes) - 2 * len(sizes), _LEAST_TEXT)

    def line(cells: list[str]) -> str:
        key, *others, last = [visible(cell) for cell in cells]
        over = max(cell_width(key) - sizes[0], 0)
        last = shortened(last, left - over) if left - over >= _LEAST_TEXT else ""
        return "  ".join([padded(key, sizes[0] + over), *map(padded, others, sizes[1:]), last]).rstrip()

    first = True

    def write(cells: list[str]) -> None:
        nonlocal first, left
        if first:
            widest = max(cell_width(visible(longest or cells[0])), sizes[0])
            wider = min(widest, screen.width // 2) - sizes[0]
            sizes[0], left = sizes[0] + wider, max(left - wider, _LEAST_TEXT)
            screen.print(line(list(heads)), style="bold")
        first = False
        screen.print(line(cells), no_wrap=True)

    return write


def grid(rows: list[tuple[str, str]]) -> Table:
    """Names and what is said of each, wrapped between words."""

    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="ellipsis")
    for row in rows:
        table.add_row(*row)
    return table


def table_of(rows: Iterable[Row], columns: Mapping[str, str], title: str | None = None) -> Table:
    """A table with a line for each row.

    Parameters
    ----------
    rows : iterable of mappings
    columns : heading → field of the rows
        A field may have a format after a colon (``"p_value:.2g"``): its column holds numbers, and None is left empty.
    title : str, optional
    """
    fields = {head: place.partition(":")[::2] for head, place in columns.items()}
    table = make_table(*fields, title=title, right=[head for head, (_, form) in fields.items() if form])
    for row in rows:
        table.add_row(*("" if row[name] is None else format(row[name], form) for name, form in fields.values()))
    return table


def print_table(table: Table) -> None:
    """Print a table of :func:`make_table`, without its last columns of numbers where the terminal is too narrow."""
    from rich.cells import cell_len

    screen, left_out = console(), []
    needed = []
    for column in table.columns:
        lines = "\n".join(map(str, (column.header, *column.cells))).splitlines()
        widest = max(map(cell_len, lines), default=0)
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


_STATE = re.compile(r"(log|records(-\d+)?)\.jsonl|words(-\d+)?\.tbw|config\.json|prior\.csv|lock|snapshots|inbox")
_PATHS = ("FILE", "FOLDER", "MODEL")  # in the metavar of an option whose value is the path of something


def check_output(path: str | Path, may_replace: str | Path | None = None) -> Path:
    """Check the path of an output file: it must be possible to make, and no other that the command was given.

    Whatever else the command at hand was given to read or to write is looked at by itself: its arguments, and the
    options that name files and folders.

    Parameters
    ----------
    path : path
        As the user gave it.
    may_replace : path, optional
        What the command may read and then replace.
    """
    target = output_path(path)
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f"{path} is write-protected; name another file or change its permissions")
    _check_apart(str(path), target, may_replace)
    try:
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); choose a folder that exists and allows it"
        ) from error
    return target if Path(path).is_symlink() else Path(path)


def check_report_target(target: str) -> Path:
    """The path of the page, if it can be written there, replaces no other file and the packages it needs are here."""

    report.check_report_extra()
    return check_output(target)


def _check_apart(given: str, target: Path, may_replace: str | Path | None) -> None:
    """Refuse a file that is named a second time, as an input or as another output, by whatever name."""
    named = list(_named_paths())
    own = [one for one in named if one[0] == given]
    own.sort(key=lambda one: isinstance(one[1], click.Argument))  # an output is an option, where it can be either
    for value, parameter in named:
        if (value, parameter) in own[:1] or (may_replace is not None and value == str(may_replace)):
            continue
        if os.path.isdir(value):
            # A folder of texts is read anew each time; of other folders their own files are named in the manuals.
            if target.is_relative_to(os.path.realpath(value)) and _holds(Path(value), target):
                raise InputError(f"{given} is a file of the folder {value}, which is in use; name one somewhere else")
        elif any(_is_same(target, one) for one in (glob.glob(value) if glob.has_magic(value) else [value])):
            raise InputError(
                f"{given} would replace {value}, which the command was given as {_called(parameter)} too; name another "
                "file for the output"
            )


def _named_paths() -> Iterator[tuple[str, click.Parameter]]:
    """Paths that the command at hand was given, with the argument or option of each."""
    context = click.get_current_context(silent=True)
    for parameter in [] if context is None else context.command.params:
        metavar = parameter.metavar or ""
        if isinstance(parameter, click.Argument) or any(one in metavar for one in _PATHS):
            for value in _flat(context.params.get(parameter.name or "")):  # type: ignore[union-attr]  # as above
                if value not in ("", "-"):
                    yield value, parameter


def _flat(value: Any) -> list[str]:
    if isinstance(value, (tuple, list)):
        return [one for part in value for one in _flat(part)]
    return [str(value)] if isinstance(value, (str, Path)) else []


def _called(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len) if isinstance(parameter, click.Option) else "an input"


def _holds(folder: Path, target: Path) -> bool:
    """Whether a file belongs to what is read from a folder: a state that is stored there, or a folder of texts."""
    if not target.exists():
        return False
    inside = target.relative_to(os.path.realpath(folder))
    if (folder / "log.jsonl").exists():  # a filter or a screening
        return bool(_STATE.fullmatch(inside.parts[0]))
    return not zipfile.is_zipfile(target)  # a model that an earlier run wrote there is no text


def _is_same(target: Path, other: str) -> bool:
    """Whether two paths are of one file, which need not be there yet."""
    try:
        if target.exists() or os.path.exists(other):
            return os.path.samefile(target, other)
    except OSError:
        return False  # only one of them is there, or the other cannot be a file
    found = os.path.realpath(other)
    if os.path.normcase(target) == os.path.normcase(found):
        return True
    return str(target).casefold() == found.casefold() and _ignores_case(target.parent)


def _ignores_case(folder: Path) -> bool:
    """Whether names that differ in case are one name in a folder."""
    try:
        with tempfile.NamedTemporaryFile(prefix="textbayes", dir=folder) as made:
            return os.path.exists(folder / Path(made.name).name.swapcase())
    except OSError:
        return False


_PREFIX = "textbayes_"
_ENDINGS: dict[str, Kind] = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".xlsx": "csv", ".tsv": "tsv"}
Write = Callable[[Iterable[Row], Sequence[str]], None]


def kind_by_ending(path: str, others: Iterable[str] = ()) -> Kind:
    """Kind of results file by the ending of its name: JSON, or rows of cells; ``others`` the command writes itself."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        listed = ", ".join((*_ENDINGS, *others))
        raise click.UsageError(f"-o {path} ends in none of {listed}; the ending says how results are written.")
    return _ENDINGS[ending]


class ResultColumns(NamedTuple):
    """Columns of a table: those of the input, then ours, renamed where the input has one of the same name."""

    of_input: tuple[str, ...]
    own: dict[str, str]

    @classmethod
    def of(cls, documents: Iterable[Document], own: Sequence[str]) -> ResultColumns:
        """The layout for documents like these; the input's columns are those that they carry."""
        of_input = tuple(dict.fromkeys(name for document in documents for name in document.fields))
        taken = set(of_input)
        names = {}
        for name in own:
            shown = name
            while shown in taken:
                shown = _PREFIX + shown
            names[name] = shown
            taken.add(shown)
        return cls(of_input, names)

    @property
    def columns(self) -> list[str]:
        return [*self.of_input, *self.own.values()]

    def row(self, document: Document, answer: Row) -> dict[str, Any]:
        """One row of the table."""
        strange = document.fields.keys() - set(self.of_input)
        if strange:
            raise InputError(
                f"document {document.id!r} has the column {min(strange)!r}, which the first documents lack, and the "
                "table has begun without it; write JSON lines, where documents may differ in their columns"
            )
        return {**document.fields, **{self.own[name]: value for name, value in answer.items() if name in self.own}}


def has_rows(inputs: Inputs) -> bool:
    """Whether all inputs are files of rows under one header, by their names."""

    if inputs.corpus is not None or "-" in inputs.paths:
        return False
    formats = {inputs.format or (None if os.path.isdir(path) else guess_from_name(Path(path))) for path in inputs.paths}
    return formats <= {"csv", "tsv", "xlsx", "parquet"}


@contextlib.contextmanager
def open_results(target: Path | None, output: Output, inputs: Inputs | None = None) -> Iterator[Write]:
    """A function that writes rows, batch by batch; a file appears when all is well, and only then.

    Parameters
    ----------
    target : Path or None
        Standard output if None.
    output : Output
    inputs : Inputs, optional
        Where the rows came from: a CSV file is written in the form of a CSV file that was read.
    """
    n_rows = 0

    def in_batches(put: Callable[[list[Row], Sequence[str], bool], object]) -> Write:
        def write(rows: Iterable[Row], columns: Sequence[str]) -> None:
            nonlocal n_rows
            batch = list(rows)
            put(batch, columns, n_rows == 0)
            n_rows += len(batch)

        return write

    if target is None:
        yield in_batches(output.write)
        return

    with atomic_write(target) as stream:
        if target.suffix.lower() == ".xlsx":
            with workbook(stream, output.keep_formulas, warn) as book:
                yield in_batches(book.write)
        else:
            yield in_batches(_Table(stream, output, None if inputs is None else inputs.layout).write)
    note(f"{target}: {plural(n_rows, 'document')}")


class _Table:
    """Text of rows on its way to a file, in the form that the layout of the input says once it was read."""

    def __init__(self, stream: BinaryIO, output: Output, layout: Layout | None) -> None:
        self._stream, self._output, self._layout = stream, output, layout
        self._encoder = codecs.getincrementalencoder("utf-8")()

    def write(self, rows: list[Row], columns: Sequence[str], header: bool) -> None:
        if header and self._layout is not None and self._layout.found is not None:
            self._begin(rows, columns, self._layout.found)
        self._stream.write(self._encoder.encode(self._output.text(rows, columns, header)))

    def _begin(self, rows: list[Row], columns: Sequence[str], found: Columns) -> None:
        if self._output.kind not in ("csv", "tsv") or found.format not in ("csv", "tsv"):
            return
        form = CsvForm(line_end=found.line_end or "\n")
        if found.format == "csv" and self._output.kind == "csv":
            delimiter = found.delimiter or ","
            form = replace(form, delimiter=delimiter, decimal="," if delimiter == ";" and _has_commas(rows) else ".")
        encoding = found.encoding or "utf-8"
        try:
            "".join(columns).encode(encoding)
        except UnicodeEncodeError:  # the names of labels have letters that the input's encoding lacks
            note(f"a label cannot be written in {encoding}, the encoding of the input; the file is in UTF-8")
            encoding = "utf-8-sig"
        if encoding == "utf-8" and self._only_labels_are_not_ascii(rows, columns):
            encoding = "utf-8-sig"  # spreadsheets take a file without the mark for one of Windows
        self._output = replace(self._output, form=form)
        self._encoder = codecs.getincrementalencoder(encoding)("replace")

    def _only_labels_are_not_ascii(self, rows: list[Row], columns: Sequence[str]) -> bool:
        """Whether the input is ASCII, the names of labels are not, and the model does not remember plain UTF-8."""
        assert self._layout is not None
        expected = self._layout.expected
        if "".join(columns).isascii() or (expected is not None and expected.encoding == "utf-8"):
            return False
        named = self._layout.rows[0] if self._layout.rows else {}
        return "".join(named).isascii() and all(
            cell.isascii() for row in rows for cell in row.values() if isinstance(cell, str)
        )


def _has_commas(rows: list[Row]) -> bool:
    """Whether numbers have a decimal comma, as spreadsheets expect that write semicolons; not if all have points."""
    cells = [cell for row in rows for cell in row.values() if isinstance(cell, str)]
    return not any(map(_POINT.fullmatch, cells)) or any(map(_COMMA.fullmatch, cells))


_POINT, _COMMA = re.compile(r"-?\d+\.\d+"), re.compile(r"-?\d+,\d+")
