"""A folder per category with a file per document; a tar or zip of such folders reads the same.

The label is the name of the folder a file lies in, wherever that folder is: ``train/sport/07.txt`` is of ``sport``.

    for document in FORMATS.get("folder").read("reviews.zip"): ...
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.archives import as_container, iter_members, member_names
from textbayes.data.formats import FORMATS, Format
from textbayes.data.limits import Limits
from textbayes.data.records import Record
from textbayes.data.streams import Source, limits_of, read_text, source_label


def read_folder(
    source: Source, *, multilabel: bool = False, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[Record]:
    """Read the files of category folders; files that lie in no folder (a README at the top) are left out.

    With ``multilabel`` a file name that lies in several categories is one document with all their labels, and its id
    is that name with the path above the category; otherwise every file is a document and its id is its path.
    ``record.fields["path"]`` is the path.
    """
    path = _root(source)
    limits = limits_of(source)
    labels = _labels_by_document(path, limits) if multilabel else {}
    found = False
    for name, stream in iter_members(path, limits):
        above, category, file = _split(name)
        if not category:
            continue
        found = True
        if not multilabel:
            yield Record(read_text(stream, encoding, errors), (category,), name, fields={"path": name})
        elif (identity := above + file) in labels:
            # taken out, so that the copies in further categories are passed over
            yield Record(read_text(stream, encoding, errors), labels.pop(identity), identity, fields={"path": name})
    if not found:
        raise MalformedFileError(path, "no files in category folders: put each document in a folder named by its label")


def _root(source: Source) -> Path:
    path = as_container(source)
    if path is None:
        raise InputError(f"{source_label(source)}: a folder, a tar or a zip is needed; check the path")
    return path


def _labels_by_document(path: Path, limits: Limits) -> dict[str, tuple[str, ...]]:
    labels: dict[str, list[str]] = {}
    for name in member_names(path, limits):
        above, category, file = _split(name)
        if category:
            labels.setdefault(above + file, []).append(category)
    return {identity: tuple(sorted(names)) for identity, names in labels.items()}


def _split(name: str) -> tuple[str, str, str]:
    """``a/b/c/d`` as ``a/b/``, ``c``, ``d``; the category is empty for a file at the top."""
    folder, _, file = name.rpartition("/")
    above, slash, category = folder.rpartition("/")
    return above + slash, category, file


FORMATS.register("folder")(
    Format("folder", "a folder per category, a file per document (or its archive)", read_folder, takes_folders=True)
)
