"""Results by document, to standard output or to a file of their own: the input's columns first if wanted, then ours."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from textbayes.cli.output import Kind, Output, Row
from textbayes.cli.settings import note, warn
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.core.wording import plural

_PREFIX = "textbayes_"
_ENDINGS: dict[str, Kind] = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".xlsx": "csv", ".tsv": "tsv"}

Write = Callable[[Iterable[Row], Sequence[str]], None]


def kind_by_ending(path: str) -> Kind:
    """Kind of results file by the ending of its name: JSON, or rows of cells."""
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
    """A function that writes rows, batch by batch; a file appears when all is well, and only then."""
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
            yield in_batches(lambda *batch: stream.write(output.text(*batch).encode()))
    note(f"{target}: {plural(n_rows, 'document')}")
