"""Results by document, to standard output or to a file of their own: the input's columns first if wanted, then ours."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from textbayes.cli.output import Kind, Output, Row, as_csv, to_json
from textbayes.cli.settings import note, warn
from textbayes.core.errors import InputError
from textbayes.core.types import Document

_PREFIX = "textbayes_"
_ENDINGS: dict[str, Kind] = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".xlsx": "csv"}

Write = Callable[[Iterable[Row], Sequence[str]], None]


def kind_by_ending(path: str) -> Kind:
    """What a file of this name holds: JSON, or rows of cells."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        listed = ", ".join(_ENDINGS)
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


@contextlib.contextmanager
def open_results(target: Path | None, output: Output) -> Iterator[Write]:
    """A function that writes rows; a file appears when all is well, and only then."""
    first = True
    if target is None:

        def write(rows: Iterable[Row], columns: Sequence[str]) -> None:
            nonlocal first
            output.write(rows, columns, header=first)
            first = False

        yield write
        return
    from textbayes.store.atomic import atomic_write

    count = 0

    def counted(rows: Iterable[Row]) -> Iterator[Row]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    if target.suffix.lower() == ".xlsx":
        from textbayes.cli.xlsx import XlsxWriter

        book = XlsxWriter(output.keep_formulas)
        with atomic_write(target) as stream:
            try:
                yield lambda rows, columns: book.write(counted(rows), columns)
            except BaseException:
                book.abandon()
                raise
            book.save(stream)
        if book.n_cut:
            warn(f"{book.n_cut:,} texts are longer than a cell of XLSX can be and were cut; .csv keeps them whole")
    else:
        with atomic_write(target) as stream:

            def to_file(rows: Iterable[Row], columns: Sequence[str]) -> None:
                nonlocal first
                if output.kind == "json":
                    text = "".join(to_json(row) + "\n" for row in counted(rows))
                else:
                    text = as_csv(counted(rows), columns, first, output.keep_formulas)
                first = False
                stream.write(text.encode())

            yield to_file
    note(f"{target}: {count:,} documents")
