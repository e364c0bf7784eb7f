"""Records that a format's reader yields, and the way from there to documents with unique ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.core.types import NO_FIELDS, Document


class Record(NamedTuple):
    """One document as found in a file.

    ``fields`` holds whatever else the file says of it (date, split, …), ``kept`` what of it the document shall carry.
    """

    text: str
    labels: tuple[str, ...] = ()
    id: str | None = None
    line: int | None = None
    fields: Mapping[str, Any] = NO_FIELDS
    kept: Mapping[str, str] = NO_FIELDS


class Identifier:
    """Gives every record an id and refuses an id met before, naming both places.

    Records without an id are numbered from 1; with several sources the number carries the source's name. Ids given
    in the file are remembered, some 200 bytes each, unless duplicates are kept: then memory stays flat for ever.
    A file gives ids to all its documents or to none: numbers given out could otherwise meet ids that follow.

    >>> ids = Identifier()
    >>> [doc.id for doc in ids.documents(iter([Record("a"), Record("b")]), "two.jsonl")]
    ['1', '2']
    """

    def __init__(self, keep_duplicates: bool = False, several: bool = False) -> None:
        self._keep, self.several = keep_duplicates, several
        self._seen: dict[str, tuple[str, int | None]] = {}

    def documents(self, records: Iterator[Record], label: str) -> Iterator[Document]:
        """Documents of one source; ``label`` is what messages call it."""
        given = None
        for number, record in enumerate(records, start=1):
            text, labels, id, line, _, kept = record
            if given is None:
                given = id is not None
            elif given != (id is not None) and not self._keep:
                cause = "some documents here have an id and some have none: give all an id, or pass duplicates='keep'"
                raise MalformedFileError(label, cause, line)
            if id is None:
                id = f"{label}:{number}" if self.several else str(number)
            elif not self._keep:
                self._refuse_duplicate(id, line, label)
            yield Document(id, text, labels, kept)

    def _refuse_duplicate(self, id: str, line: int | None, label: str) -> None:
        if id not in self._seen:
            self._seen[id] = (label, line)
            return
        first, at = self._seen[id]
        where = first if at is None else f"line {at}" if first == label else f"{first}, line {at}"
        cause = f"id {id!r} was used before ({where}): make ids unique, or pass duplicates='keep'"
        raise MalformedFileError(label, cause, line)
