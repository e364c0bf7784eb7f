"""Files that were sent: what is in them, which fields mean what, which records are there twice; nothing is believed.

Those that wait to be taken are in the database for a day.
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import delete, select

from textbayes.app.database import Store, Upload, User
from textbayes.app.decisions import EarlierDecisions, take_decisions
from textbayes.core.errors import InputError, TextBayesError
from textbayes.core.parameters import option_defaults
from textbayes.core.types import Document
from textbayes.data import open_documents
from textbayes.data.decoding import guess_encoding
from textbayes.data.documents import guess_format
from textbayes.data.formats import FORMATS
from textbayes.data.formats._fields import FieldReader, NoTextFieldError
from textbayes.data.streams import DAMAGE, damaged, open_input
from textbayes.screen.duplicates import PUBMED_FIELDS, Merged, merge_duplicates, with_own_ids

MOST_RECORDS = 500_000
_MOST_COLUMNS = 16_384  # as many as Excel has
_SEVERAL = 5  # records of a preview
_ROWS = ("csv", "tsv", "jsonl", "xlsx", "parquet")  # formats whose fields have names of anybody's choice
_LOOKED_AT = 64 << 20  # bytes that tell an encoding
_REFUSED = ("svmlight", "lyrl2004")  # numbers, not texts


class Mapping(NamedTuple):
    """Which fields of a file mean what; an empty one is guessed.

    Parameters
    ----------
    text : tuple of str
        Fields of title and text, in order; where the first of several is empty, the title is guessed.
    id : str
    """

    text: tuple[str, ...] = ()
    id: str = ""


class TakenFields(NamedTuple):
    """Which column of a table each part of its records was taken from.

    Parameters
    ----------
    title : str
        Empty where it is the first line of the text.
    text : tuple of str
    id : str
        Empty where records are numbered.
    links : dict
        "DOI" and "PubMed" → their columns, as far as there are any.
    others : tuple of str
        Columns that are kept, and shown with each record.
    """

    title: str
    text: tuple[str, ...]
    id: str
    links: dict[str, str]
    others: tuple[str, ...]


class ReadFile(NamedTuple):
    """What was read of a file.

    Parameters
    ----------
    name : str
    records : list of Document
        Those of one paper merged, each with an id of its own, without what was decided of them elsewhere.
    merged : list of Merged
    duplicates : list of Document
        Those that were merged, as they were.
    decisions : EarlierDecisions
    """

    name: str
    records: list[Document]
    merged: list[Merged]
    duplicates: list[Document]
    decisions: EarlierDecisions


class Preview(NamedTuple):
    """What a file holds.

    Parameters
    ----------
    name, format, encoding : str
        The last is empty where the format says what it is.
    fields : list of str
        Names that can be chosen; empty where the format says what they mean.
    chosen : Mapping
    taken : TakenFields or None
        None where the format says what its fields mean.
    records : list of Document
        The first of them.
    n_records : int
        Without duplicates.
    merged : list of Merged
    decisions : EarlierDecisions
    """

    name: str
    format: str
    encoding: str
    fields: list[str]
    chosen: Mapping
    taken: TakenFields | None
    records: list[Document]
    n_records: int
    merged: list[Merged]
    decisions: EarlierDecisions


def preview(name: str, content: bytes, mapping: Mapping | None = None) -> Preview:
    """Look at a file before it is taken.

    Parameters
    ----------
    name : str
        As the sender called it; its ending tells the format.
    content : bytes
    mapping : Mapping, optional
    """
    chosen = mapping or Mapping()
    with as_file(name, content) as path:
        format = guess_format(path)
        fields = _field_names(path, format)
        chosen = _with_title(path, fields, chosen)
        try:
            read = _records(path, format, chosen)
        except NoTextFieldError:
            if not fields:
                raise
            chosen = chosen._replace(text=(fields[0],))  # no field is called text or title: let the person choose
            read = _records(path, format, chosen)
        taken = _taken(path, fields, chosen, read.decisions.columns) if fields else None
        encoding = _usual(path, format).get("encoding", "")
    n_records, some = len(read.records), read.records[:_SEVERAL]
    return Preview(path.name, format, encoding, fields, chosen, taken, some, n_records, read.merged, read.decisions)


def read_records(name: str, content: bytes, mapping: Mapping | None = None) -> ReadFile:
    """The records of a file.

    Parameters
    ----------
    name, content, mapping
        As for :func:`preview`.
    """
    with as_file(name, content) as path:
        format, chosen = guess_format(path), mapping or Mapping()
        if "" in chosen.text:
            chosen = _with_title(path, _field_names(path, format), chosen)
        return _records(path, format, chosen)


class as_file:  # named like a function: it is used as one
    """A file of its own for as long as it is read; messages call it by its name alone."""

    def __init__(self, name: str, content: bytes) -> None:
        base = Path(name.replace("\\", "/")).name
        safe = "".join(char if char.isalnum() or char in " ._-()" else "_" for char in base).lstrip(".")
        self._name, self._content = safe[-100:] or "records", content

    def __enter__(self) -> Path:
        self._folder = tempfile.TemporaryDirectory(prefix="textbayes-")
        path = Path(self._folder.name) / self._name
        path.write_bytes(self._content)
        return path

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        folder = self._folder.name
        self._folder.cleanup()
        if isinstance(error, TextBayesError):
            raise InputError(str(error).replace(f"{folder}/", "").replace(folder, self._name)) from None
        if isinstance(error, (MemoryError, RecursionError)):
            raise InputError(f"{self._name} cannot be read; save it in another format, such as CSV") from None


def _records(path: Path, format: str, mapping: Mapping) -> ReadFile:
    if format in _REFUSED:
        raise InputError(f"{path.name} holds numbers, not texts; give a file with titles and texts")
    read = list(with_own_ids(_bounded(path, format, mapping)))
    if not read:
        raise InputError(f"{path.name} has no records; give a file with at least one")
    plain, decisions = take_decisions(read)
    records, merged = merge_duplicates(plain)
    into = {one.id: one.into for one in merged}
    for id in into.keys() & decisions.by_id.keys():  # of one paper the decision of the first record counts
        decisions.by_id.setdefault(into[id], decisions.by_id[id])
        del decisions.by_id[id]
    return ReadFile(path.name, records, merged, [one for one in plain if one.id in into], decisions)


def _bounded(path: Path, format: str, mapping: Mapping) -> Iterator[Document]:
    options: dict[str, Any] = {}
    if format in _ROWS:
        options |= {"text_field": list(mapping.text)} if mapping.text else {}
        options |= {"id_field": mapping.id} if mapping.id else {}
    return read_documents(path, format, **options)


def read_documents(path: Path, format: str | None = None, **options: Any) -> Iterator[Document]:
    """The documents of a file with all their fields, as a database can hold them.

    Parameters
    ----------
    path : Path
    format : str, optional
        Guessed if not given.
    **options
        Of the format's reader.
    """
    format = format or guess_format(path)
    for number, document in enumerate(open_documents(path, format, **options, **_usual(path, format)), start=1):
        if number > MOST_RECORDS:
            raise InputError(f"{path.name} has more than {MOST_RECORDS:,} records, which is the most; split it")
        _check_width(path, len(document.fields))
        yield _storable(document, number)


def _check_width(path: Path, n_columns: int) -> None:
    if n_columns > _MOST_COLUMNS:
        raise InputError(
            f"{path.name} has {n_columns:,} columns, more than the {_MOST_COLUMNS:,} of a spreadsheet; give a table "
            "with the columns of the title, the text and the labels"
        )


def _usual(path: Path, format: str) -> dict[str, Any]:
    """Options for files of people who cannot be asked for any: all fields, and the encoding that they are in."""
    known = option_defaults(FORMATS.get(format).records)
    found: dict[str, Any] = {"duplicates": "keep"}
    if "keep_fields" in known:
        found["keep_fields"] = True
    if known.get("encoding") == "utf-8":
        with open_input(path) as stream:
            try:
                start = stream.read(_LOOKED_AT)
            except DAMAGE as error:
                raise damaged(path.name, error) from error
        found["encoding"] = guess_encoding(start if len(start) < _LOOKED_AT else start[: start.rfind(b"\n")])
    return found


def _storable(document: Document, number: int) -> Document:
    """The document as a database can hold it: no NUL, no halves of characters."""
    fields = {_clean(name): _clean(value) for name, value in document.fields.items()}
    return document._replace(id=_clean(document.id)[:500] or str(number), text=_clean(document.text), fields=fields)


def _clean(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def _field_names(path: Path, format: str) -> list[str]:
    """Names of the fields of the first record, where they are of anybody's choice."""
    if format not in _ROWS:
        return []
    try:
        first = next(open_documents(path, format, **_usual(path, format)), None)
        names = [] if first is None else list(first.fields)
    except NoTextFieldError as error:
        names = list(error.names)
    _check_width(path, len(names))
    return names


def _with_title(path: Path, fields: Sequence[str], mapping: Mapping) -> Mapping:
    """The mapping, with the title that is found by itself where only the text was chosen."""
    if mapping.text[:1] != ("",):
        return mapping
    text = tuple(filter(None, mapping.text))
    with contextlib.suppress(NoTextFieldError):
        found = FieldReader(path.name).choose(fields).text
        if len(found) > 1 and found[0] not in text:
            text = (found[0], *text)
    return mapping._replace(text=text)


def _taken(path: Path, fields: Sequence[str], mapping: Mapping, decided: Sequence[str]) -> TakenFields:
    """Where the reader takes title, text and id, and where links are found."""
    reader = FieldReader(path.name, text_field=list(mapping.text) or None, id_field=mapping.id or None)
    found = reader.choose(fields)
    links: dict[str, str] = {}
    for name in fields:
        for kind, names in (("DOI", ("doi",)), ("PubMed", PUBMED_FIELDS)):
            if name.lower() in names:
                links.setdefault(kind, name)
    title, text = (found.text[0], found.text[1:]) if len(found.text) > 1 else ("", found.text)
    used = {*found.text, found.id, *links.values(), *decided}
    return TakenFields(title, text, found.id or "", links, tuple(name for name in fields if name not in used))


_SECONDS = 86_400.0
_MOST = 5  # of one person at a time


def keep_upload(store: Store, user: User, name: str, content: bytes) -> str:
    """Keep a file for a day; returns its id. Of one person the newest few are kept.

    Parameters
    ----------
    store : Store
    user : User
    name : str
        As the sender calls it.
    content : bytes
    """
    if not content:
        raise InputError("the file is empty; choose one with records")
    id = secrets.token_urlsafe(16)
    with store.write() as session:
        session.execute(delete(Upload).where(Upload.created < time.time() - _SECONDS))
        own = session.scalars(
            select(Upload.id).where(Upload.user_id == user.id).order_by(Upload.created.desc()).offset(_MOST - 1)
        ).all()
        session.execute(delete(Upload).where(Upload.id.in_(own)))
        session.add(Upload(id=id, user_id=user.id, name=name.replace("\x00", "")[-200:], content=content))
    return id


def find_upload(store: Store, user: User, id: str) -> Upload:
    """A file that this person sent."""
    with store.read() as session:
        found = session.scalar(select(Upload).where(Upload.id == id, Upload.user_id == user.id))
    if found is None:
        raise InputError("the uploaded file has expired; upload it again")
    return found


def drop_upload(store: Store, id: str) -> None:
    """Forget a file that was taken."""
    with store.write() as session:
        session.execute(delete(Upload).where(Upload.id == id))
