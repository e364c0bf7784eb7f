"""Text files: a document per line, per file, or per file in category folders (or archives), and posts of newsgroups.

In category folders the label is the name of the folder a file lies in, wherever that folder is: ``train/sport/07.txt``
is of ``sport``.

>>> import io
>>> [doc.text for doc in FORMATS.get("lines").read(io.BytesIO(b"first\\r\\n\\r\\nthird\\n"))]
['first', '', 'third']
>>> strip_headers("From: a@b\\nSubject: Re: x\\n\\nHello.")
'Hello.'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from textbayes.core.errors import InputError, MalformedFileError
from textbayes.core.validation import check_choice
from textbayes.data.archives import as_container, iter_members, member_names
from textbayes.data.formats import FORMATS, Format, Record
from textbayes.data.streams import Limits, Source, limits_of, path_of, read_lines, read_text, source_label


def read_document_lines(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read every line as a document, blank ones too, so that output and input agree line by line."""
    for number, line in read_lines(source, encoding, errors):
        yield Record(line.rstrip("\r\n"), (), None, number)


def read_whole_file(source: Source, *, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Record]:
    """Read a file as one document, called by the file's name."""
    path = path_of(source)
    yield Record(read_text(source, encoding, errors), id=None if path is None else path.name)


FORMATS.register("lines")(Format("lines", "plain text, one document per line", read_document_lines, (".lines",)))
FORMATS.register("text")(Format("text", "plain text, one document per file", read_whole_file, (".txt", ".text", ".md")))


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


_QUOTATION = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def read_newsgroups(
    source: Source, *, remove: Collection[str] = (), encoding: str = "latin-1", errors: str = "strict"
) -> Iterator[Record]:
    """Read posts; ``remove`` names any of ``headers``, ``footers`` and ``quotes``, with the results of scikit-learn.

    ``record.fields["split"]`` is ``train`` or ``test`` where a folder of the path ends so.
    """
    for part in remove:
        check_choice("remove", part, tuple(_REMOVERS))
    for record in read_folder(source, encoding=encoding, errors=errors):
        text = record.text
        for part, strip in _REMOVERS.items():
            if part in remove:
                text = strip(text)
        *above, group, number = record.fields["path"].split("/")
        split = next((name for name in ("train", "test") if any(part.endswith(name) for part in above)), None)
        identity = f"{group}/{number}" if split else record.id
        yield record._replace(text=text, id=identity, fields={**record.fields, "split": split})


def strip_headers(text: str) -> str:
    """Remove the headers: the text after the first blank line."""
    return text.partition("\n\n")[2]


def strip_footer(text: str) -> str:
    """The text before the last line that is blank or made of hyphens; a text without one stays whole."""
    lines = text.strip().split("\n")
    last = next((i for i in range(len(lines) - 1, -1, -1) if not lines[i].strip().strip("-")), 0)
    return "\n".join(lines[:last]) if last > 0 else text


def strip_quotes(text: str) -> str:
    """Remove lines that quote (``>``, ``|``) or introduce a quotation (``… writes:``)."""
    return "\n".join(line for line in text.split("\n") if not _QUOTATION.search(line))


# In scikit-learn's order, which matters: the header's end is a blank line like the signature's start.
_REMOVERS: dict[str, Callable[[str], str]] = {
    "headers": strip_headers,
    "footers": strip_footer,
    "quotes": strip_quotes,
}

FORMATS.register("newsgroups")(
    Format("newsgroups", "20 Newsgroups posts in folders or a tar", read_newsgroups, takes_folders=True)
)
