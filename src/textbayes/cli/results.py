"""Results by document, to standard output or to a file of their own: the input's columns first if wanted, then ours."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from textbayes.cli.inputs import Inputs
from textbayes.cli.output import Kind, Output, Row
from textbayes.cli.settings import note, warn
from textbayes.core.errors import InputError
from textbayes.core.spreadsheet import CsvForm
from textbayes.core.types import Document
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from textbayes.data.layout import Columns
    from textbayes.data.layout import Layout as SourceLayout

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


class Layout(NamedTuple):
    """Columns of a table: those of the input, then ours, renamed where the input has one of the same name."""

    kept: tuple[str, ...]
    own: dict[str, str]

    @classmethod
    def of(cls, documents: Iterable[Document], own: Sequence[str]) -> Layout:
        """The layout for documents like these; the input's columns are those that they carry."""
        kept = tuple(dict.fromkeys(name for document in documents for name in document.fields))
        taken = set(kept)
        names = {}
        for name in own:
            shown = name
            while shown in taken:
                shown = _PREFIX + shown
            names[name] = shown
            taken.add(shown)
        return cls(kept, names)

    @property
    def columns(self) -> list[str]:
        return [*self.kept, *self.own.values()]

    def row(self, document: Document, answer: Row) -> dict[str, Any]:
        """One row of the table."""
        strange = document.fields.keys() - set(self.kept)
        if strange:
            raise InputError(
                f"document {document.id!r} has the column {min(strange)!r}, which the first documents lack, and the "
                "table has begun without it; write JSON lines, where documents may differ in their columns"
            )
        return {**document.fields, **{self.own[name]: value for name, value in answer.items() if name in self.own}}


def has_rows(inputs: Inputs) -> bool:
    """Whether all inputs are files of rows under one header, by their names."""
    from textbayes.data.documents import guess_from_name

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
    from textbayes.core.atomic import atomic_write

    with atomic_write(target) as stream:
        if target.suffix.lower() == ".xlsx":
            from textbayes.display.workbook import workbook

            with workbook(stream, output.keep_formulas, warn) as book:
                yield in_batches(book.write)
        else:
            yield in_batches(_Table(stream, output, None if inputs is None else inputs.layout).write)
    note(f"{target}: {plural(n_rows, 'document')}")


class _Table:
    """Text of rows on its way to a file, in the form that the layout of the input says once it was read."""

    def __init__(self, stream: BinaryIO, output: Output, layout: SourceLayout | None) -> None:
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
