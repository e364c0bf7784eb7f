"""Open documents wherever they are: files, folders, archives, several of them, or standard input; oddities of labels.

>>> import io
>>> [doc.labels for doc in open_documents(io.StringIO('{"text": "a", "labels": "x"}'))]
[('x',)]
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from textbayes.core.errors import InputError, NotSupportedError, did_you_mean_path
from textbayes.core.parameters import check_options, option_defaults
from textbayes.core.types import MISSING_LABEL, Document
from textbayes.core.validation import check_choice
from textbayes.data.archives import is_archive, member_names, regular_files
from textbayes.data.decoding import ZIP_HEAD, guess_encoding, is_wide
from textbayes.data.download import fetch_address
from textbayes.data.formats import FORMATS, Identifier
from textbayes.data.layout import Layout
from textbayes.data.streams import (
    DEFAULT_LIMITS,
    Bounded,
    Input,
    Limits,
    Source,
    layout_of,
    make_limits,
    open_input,
    path_of,
    peek_head,
    source_label,
)

_LOOKED_AT = 64 << 20  # bytes that tell an encoding


def open_documents(
    source: Source | Iterable[Source],
    format: str | None = None,
    *,
    duplicates: str = "refuse",
    max_unpacked: int | None = None,
    max_record: int | None = None,
    layout: Layout | None = None,
    **options: Any,
) -> Iterator[Document]:
    """Documents of one source or several, one at a time; nothing is held in memory but the ids met.

    Parameters
    ----------
    source : path, ``"-"``, stream, address, or an iterable of these
        Files (gzip, xz or bzip2 compressed or not), folders, archives; ``"-"`` is standard input. A folder without
        folders in it stands for its files. What is at an address (https, such as that of a feed) is fetched each time.
    format : str, optional
        A name in :data:`textbayes.data.FORMATS`. Guessed if not given: by the file's name, then by its first bytes;
        what fits nothing is one document if a file, one document per line if a stream.
    duplicates : {"refuse", "keep"}
        An id met twice is refused with both lines; ``"keep"`` does not look, and needs no memory for it.
    max_unpacked : int, optional
        Bytes that one compressed file or archive may unpack to; by default 4 GiB, and beyond 64 MiB no more than 200
        times its own size.
    max_record : int, optional
        Bytes of one document (a line, a row, a message, a file of a folder); 64 MiB by default.
    layout : Layout, optional
        Columns to look for first; it receives what was found when the first document has been read.
    **options
        The format's own, such as ``text_field``, ``label_field``, ``keep_fields`` (columns that documents carry as
        ``fields``, or True for all of them), ``encoding`` and ``errors``.

    Raises
    ------
    MalformedFileError
        With file, line, cause and what to do, on reaching the place.
    """
    check_choice("duplicates", duplicates, ("refuse", "keep"))
    limits = make_limits(max_unpacked, max_record)
    single = isinstance(source, (str, os.PathLike)) or hasattr(source, "read")
    sources: list[Source] = list(_expand([source] if single else source, format))  # type: ignore[list-item, arg-type]
    if format is not None:
        check_options(f"format {format!r}", FORMATS.get(format).records, options)
    if not sources:
        raise InputError("no input was given; name a file, a folder, or '-' for standard input")
    ids = Identifier(keep_duplicates=duplicates == "keep", several=len(sources) > 1)
    return _chain(sources, format, ids, limits, layout or Layout(), options)


def _expand(sources: Iterable[Source], format: str | None) -> Iterator[Source]:
    for source in sources:
        if not isinstance(source, (str, os.PathLike)) or source == "-":
            yield source
            continue
        if isinstance(source, str) and source.lower().startswith(("https://", "http://")):
            yield fetch_address(source)
            continue
        path = Path(source)
        if not path.exists():
            raise InputError(f"there is no file or folder {path}{did_you_mean_path(path) or '; check the path'}")
        whole = not path.is_dir() or (format is not None and FORMATS.get(format).takes_folders)
        files = None if whole else flat_files(path)
        yield from [source] if files is None else files


def _chain(
    sources: list[Source], format: str | None, ids: Identifier, limits: Limits, layout: Layout, options: dict[str, Any]
) -> Iterator[Document]:
    for source in sources:
        label, path = source_label(source), path_of(source)
        bounded = Bounded(source, limits, layout)  # type: ignore[arg-type]  # not bounded before
        if path is not None and (path.is_file() or path.is_dir()):
            yield from _documents(format or guess_format(path, limits), bounded, label, ids, options)
        else:  # opened once: what was looked at of a pipe is gone
            with open_input(bounded) as stream:
                name = format or guess_from_content(stream, otherwise=_named_in(label) or "lines")
                yield from _documents(name, stream, label, ids, options)
        layout = layout.for_next_file()


def _named_in(label: str) -> str | None:
    """The format that the end of an address names; None of what is no address."""
    path = Path(urlsplit(label).path) if "://" in label else Path()
    return None if path.name.lower().endswith(_SHARED) else guess_from_name(path)


def _documents(name: str, source: Source, label: str, ids: Identifier, options: dict[str, Any]) -> Iterator[Document]:
    records = FORMATS.get(name).records
    check_options(f"format {name!r}", records, options)
    expected = layout_of(source).expected
    if expected is not None and "encoding" not in options and option_defaults(records).get("encoding") == "utf-8":
        options = options | _encoding(source, expected.encoding, single=not ids.several)
    yield from ids.documents(records(source, **options), label)


def _encoding(source: Source, expected: str | None, single: bool) -> dict[str, str]:
    """The encoding of an earlier input, for a file that is no UTF-8, and for a ``single`` file of ASCII alone.

    ASCII reads the same in both, but results are written in the encoding of the input, and labels may not be ASCII.
    """
    if expected is None or expected in ("utf-8", "utf-8-sig"):
        return {}
    with open_input(source) as stream:  # a file is opened again to be read, a pipe only looked at
        head = stream.peek() if path_of(source) is None else stream.read(_LOOKED_AT)
    if head.isascii() and b"\0" not in head:
        whole = single and path_of(source) is not None and len(head) < _LOOKED_AT
        return {"encoding": expected} if whole and not is_wide(expected) else {}
    cut = head[: head.rfind(b"\n") + 1] or head
    return {} if guess_encoding(cut) == "utf-8" else {"encoding": expected}


_COMPRESSIONS = (".gz", ".xz", ".bz2")
_SHARED = tuple(f".xml{ending}" for ending in ("", *_COMPRESSIONS))  # feeds have this ending too: the content tells


def guess_format(path: Path, limits: Limits = DEFAULT_LIMITS) -> str:
    """The name of the format of a file, folder or archive; plain text, one document, where nothing else fits.

    >>> guess_format(Path("mail.csv.gz"))
    'csv'
    """
    if path.is_dir() or is_archive(path):
        return "reuters" if any(name.lower().endswith(".sgm") for name in member_names(path, limits)) else "folder"
    by_name = guess_from_name(path)
    if by_name == "text" and path.name.lower().endswith(".txt"):  # what PubMed saves ends so too
        with open_input(Bounded(path, limits)) as stream:
            return next((name for name in ("nbib", "ris") if _recognises(name, peek_head(stream))), by_name)
    if by_name is not None and not path.name.lower().endswith(_SHARED):
        return by_name
    with open_input(Bounded(path, limits)) as stream:
        return guess_from_content(stream, otherwise=by_name or "text")


def _recognises(name: str, head: bytes) -> bool:
    sniff = FORMATS.get(name).sniff
    return sniff is not None and sniff(head)


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
        if _recognises(name, head):
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


_REFERENCES = "references for a reference manager, in a form that is not read: export them as RIS"
_DOCUMENT = "a document with a layout, not text: save it as plain text (.txt)"
_ENDINGS = {
    (".enw", ".ciw"): _REFERENCES,
    (".xls", ".xlsb", ".ods", ".numbers"): "a workbook in a form that is not read: save it as .xlsx or CSV",
    (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pptx", ".ppt", ".odp", ".epub"): _DOCUMENT,
    (".msg", ".pst"): "mail as Outlook keeps it: save the messages as .eml, or export the folder as .mbox",
    (".7z", ".rar", ".zst"): "an archive of a kind that is not read: pack it as .zip, .tar.gz or .gz",
    (".tb",): "a model file, where texts are needed; name it as MODEL",
}
_HEADS = {b"%0 ": _REFERENCES}
# Files in the zip archive that an office document is.
_PARTS = {
    b"word/": _DOCUMENT,
    b"ppt/": _DOCUMENT,
    b"mimetypeapplication/vnd.oasis": "an OpenDocument file: save it as "
    ".xlsx or CSV if it is a workbook, as plain text if it is a document",
}


def refuse_by_name(name: str, path: Path) -> None:
    """Refuse a file by how its name (in lower case, without a compression's ending) ends."""
    for endings, what in _ENDINGS.items():
        if name.endswith(endings):
            raise NotSupportedError(f"{path} holds {what}")


def refuse_by_content(head: bytes, label: str) -> None:
    """Refuse an input of unknown name by its first bytes."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    for sign, what in _HEADS.items():
        if start.startswith(sign):
            raise NotSupportedError(f"{label} holds {what}")
    if head.startswith(ZIP_HEAD):
        for sign, what in _PARTS.items():
            if sign in head:
                raise NotSupportedError(f"{label} holds {what}")


MISSING_WORDS = frozenset({"n/a", "#n/a", "na", "n.a.", "nan", "null", "none", "nil", "-", "--", "–", "?"})
LABEL_SEPARATORS = (";", "|", ",", "/")  # that may stand between labels in one cell
_LEAST_LETTERS, _LEAST_TEXTS = 5, 3  # of a label that another may be a misspelling of
_MOST_COMPARED = 100_000  # pairs of labels


class LabelFindings(NamedTuple):
    """Labels that may not mean what they say, by what may be wrong with them; the most frequent first."""

    case_twins: list[list[str]]
    missing_words: list[str]
    unsplit: dict[str, list[str]]
    lone: list[str]
    slips: dict[str, str]  # a label that one text has → one that many have, and that is a letter away


def examine_labels(counts: Mapping[str, int]) -> LabelFindings:
    """Find oddities among labels, given the number of texts that have each.

    >>> found = examine_labels({"Trump": 9, "trump": 1, "N/A": 2, "UK": 4, "US": 5, "UK;US": 1})
    >>> found.case_twins, found.missing_words, found.unsplit
    ([['Trump', 'trump']], ['N/A'], {';': ['UK;US']})
    >>> examine_labels({"Graphics": 8, "Medicine": 5, "Grahpics": 1}).slips
    {'Grahpics': 'Graphics'}
    """
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    return LabelFindings(
        [twins for twins in _by_case(ranked).values() if len(twins) > 1],
        [label for label in ranked if label.casefold() in MISSING_WORDS],
        {mark: found for mark in LABEL_SEPARATORS if (found := _unsplit(ranked, mark))},
        [label for label in ranked if counts[label] == 1],
        _slips(ranked, counts),
    )


def merge_case(counts: Mapping[str, int]) -> dict[str, str]:
    """The most frequent spelling of each label that is written in several letter cases.

    >>> merge_case({"Trump": 9, "trump": 1, "TRUMP": 1, "Clinton": 3})
    {'TRUMP': 'Trump', 'trump': 'Trump'}
    """
    ranked = sorted(counts, key=lambda label: (-counts[label], label))
    return {other: twins[0] for twins in _by_case(ranked).values() for other in twins[1:]}


def relabel(document: Document, names: Mapping[str, str], missing: Iterable[str] = ()) -> Document:
    """Respell the labels of a document as ``names`` says, and drop those that mean a missing label (in any case).

    Parameters
    ----------
    document : Document
    names : label → its new spelling
        Labels that are not in it stay.
    missing : iterable of str
        In small letters.
    """
    if not document.labels:
        return document
    named = dict.fromkeys(names.get(label, label) for label in document.labels if label.casefold() not in missing)
    # The one label that was there says that it is missing; of a list, the others remain.
    labels = MISSING_LABEL if not named and len(document.labels) == 1 else tuple(named)
    return document._replace(labels=labels)


def _by_case(labels: Iterable[str]) -> dict[str, list[str]]:
    twins: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        twins[label.casefold()].append(label)
    return twins


def _slips(ranked: Sequence[str], counts: Mapping[str, int]) -> dict[str, str]:
    """Words that one text has as its label, and the more frequent one that each may be a misspelling of."""
    words = [label for label in ranked if len(label) >= _LEAST_LETTERS and label.replace(" ", "").isalpha()]
    usual = [label for label in words if counts[label] >= _LEAST_TEXTS]
    rare = [label for label in words if counts[label] == 1]
    if len(usual) * len(rare) > _MOST_COMPARED:
        return {}
    found = {one: next((other for other in usual if _is_slip(one.casefold(), other.casefold())), None) for one in rare}
    return {one: other for one, other in found.items() if other is not None}


def _is_slip(one: str, other: str) -> bool:
    """Whether words differ in one letter that is missing, added or another, or in two that changed places."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = _n_shared(one, other)
    end = _n_shared(one[start:][::-1], other[start:][::-1])
    a, b = one[start : len(one) - end], other[start : len(other) - end]
    return (len(a) <= 1 and len(b) <= 1) or (len(a) == 2 and a == b[::-1])


def _n_shared(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _unsplit(labels: list[str], mark: str) -> list[str]:
    """Labels all of whose parts between ``mark`` are labels by themselves, or parts of another such label."""
    parts = {label: [part.strip() for part in label.split(mark)] for label in labels if mark in label}
    within: dict[str, int] = defaultdict(int)
    for found in parts.values():
        for part in set(found):
            within[part] += 1
    alone = set(labels) - set(parts)
    return [
        label
        for label, found in parts.items()
        if all(part and (part in alone or within[part] > 1) for part in found) and len(set(found)) > 1
    ]
