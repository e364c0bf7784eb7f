"""Readers of document files, one format per module; adding a module adds its format.

A module writes a generator ``records(source, *, option=default, …) -> Iterator[Record]`` and registers it:

    FORMATS.register("lines")(Format("lines", "plain text, one document per line", records, suffixes=(".lines",)))

Options are the generator's keyword-only parameters; the command line, the checks of option names and the duplicate
check pick them up from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from textbayes.core.registry import Registry
from textbayes.core.types import Document
from textbayes.core.validation import check_choice
from textbayes.data.limits import make_limits
from textbayes.data.options import check_options
from textbayes.data.records import Identifier, Record
from textbayes.data.streams import Bounded, Source, source_label


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
