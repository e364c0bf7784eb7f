"""Format of a file, guessed by its name, then by its first bytes."""

from __future__ import annotations

from pathlib import Path

from textbayes.core.errors import InputError
from textbayes.data.archives import is_archive, member_names, regular_files
from textbayes.data.formats import FORMATS
from textbayes.data.limits import DEFAULT_LIMITS, Limits
from textbayes.data.refusals import refuse_by_content, refuse_by_name
from textbayes.data.streams import Bounded, Input, open_input, peek_head

_COMPRESSIONS = (".gz", ".xz", ".bz2")


def guess_format(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    """The name of the format of a file, folder or archive; plain text, one document, where nothing else fits.

    >>> guess_format(Path("mail.csv.gz"))
    'csv'
    """
    if path.is_dir() or is_archive(path):
        return "reuters" if any(name.lower().endswith(".sgm") for name in member_names(path, limits)) else "folder"
    if (by_name := guess_from_name(path)) is not None:
        return by_name
    with open_input(Bounded(path, limits)) as stream:
        return guess_from_content(stream, otherwise="text")


def guess_from_name(path: Path) -> str | None:
    """The format whose files have such a name, None if there is none.

    >>> guess_from_name(Path("mail.csv.gz")), guess_from_name(Path("mail"))
    ('csv', None)
    """
    name = path.name.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    refuse_by_name(name, path)
    for format_name in FORMATS.names():
        if name.endswith(FORMATS.get(format_name).suffixes):
            return format_name
    return None


def guess_from_content(stream: Input, otherwise: str) -> str:
    """The one format that recognises the first bytes of an input, or else the one named."""
    head = peek_head(stream)
    for name in FORMATS.names():
        sniff = FORMATS.get(name).sniff
        if sniff is not None and sniff(head):
            return name
    refuse_by_content(head, stream.label)
    return otherwise


def flat_files(folder: Path) -> list[Path] | None:
    """The files of a folder that has no folders in it, sorted; None for a folder that a format reads as a whole."""
    entries = [entry for entry in folder.iterdir() if not entry.name.startswith(".")]
    if any(entry.is_dir() for entry in entries):
        return None
    files = list(regular_files(iter(entries)))
    if any(file.name.lower().endswith(".sgm") for file in files):
        return None
    if not files:
        raise InputError(
            f"the folder {folder} is empty; put documents in it, in a folder per label if they have labels"
        )
    return files
