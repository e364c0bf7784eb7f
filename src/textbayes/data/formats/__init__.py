"""Readers of document files, one format per module; adding a module adds its format.

A module writes a generator ``records(source, *, option=default, …) -> Iterator[Record]`` and registers it:

    FORMATS.register("lines")(Format("lines", "plain text, one document per line", records, suffixes=(".lines",)))

Options are the generator's keyword-only parameters; the command line, the checks of option names and the duplicate
check pick them up from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from textbayes.core.errors import MalformedFileError
from textbayes.core.parameters import check_options
from textbayes.core.registry import Registry
from textbayes.core.types import NO_FIELDS, Document
from textbayes.core.validation import check_choice
from textbayes.data.streams import Bounded, Source, make_limits, source_label


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


@dataclass(frozen=True)
class Format:
    """A kind of file that documents can be read from.

    Parameters
    ----------
    name, title : str
        The name users write and a few words on what it is.
    records : callable
        ``records(source, *, …) -> Iterator[Record]``, streaming.
    suffixes : tuple of str
        Endings of file names (without a compression's ending) that mean this format.
    sniff : callable, optional
        Whether a head of some bytes is unmistakably this format.
    takes_folders : bool
        Whether ``records`` reads a folder or an archive as a whole.
    """

    name: str
    title: str
    records: Callable[..., Iterator[Record]]
    suffixes: tuple[str, ...] = ()
    sniff: Callable[[bytes], bool] | None = None
    takes_folders: bool = False

    def read(
        self,
        source: Source,
        *,
        duplicates: str = "refuse",
        max_unpacked: int | None = None,
        max_record: int | None = None,
        **options: Any,
    ) -> Iterator[Document]:
        """Read the documents of one source, streaming; ids met twice are refused unless ``duplicates="keep"``.

        Parameters
        ----------
        source : path, "-" or stream
        duplicates, max_unpacked, max_record
            As for :func:`textbayes.data.open_documents`.
        **options
            The format's own.
        """
        check_choice("duplicates", duplicates, ("refuse", "keep"))
        check_options(f"format {self.name!r}", self.records, options)
        ids = Identifier(keep_duplicates=duplicates == "keep")
        bounded = Bounded(source, make_limits(max_unpacked, max_record))  # type: ignore[arg-type]  # not bounded before
        return ids.documents(self.records(bounded, **options), source_label(source))


FORMATS: Registry[Format] = Registry("format", "textbayes.data.formats")
