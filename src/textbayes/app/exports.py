"""What can be taken along: tables of decisions, the model, and the whole project as one file that can be read again."""

from __future__ import annotations

import io
import json
import math
import re
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from textbayes._version import __version__
from textbayes.app.accounts import names_of
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.categories import NewCategories, table_of_labels
from textbayes.app.database import BY_HAND, FROM_FILE, Duplicate, Event, FullText, User
from textbayes.app.downloads import Download
from textbayes.app.entries import checked_entry
from textbayes.app.full_texts import LARGEST_PDF
from textbayes.app.importing import MOST_RECORDS
from textbayes.app.labelling import TOPIC
from textbayes.app.live import CATEGORIES, LiveReview, ReviewRegistry
from textbayes.app.prisma import is_included
from textbayes.app.projects import NewProject, Plan, create_project, documents_of, stored_documents
from textbayes.app.records import Said
from textbayes.app.stages import full_text_of, topic_of
from textbayes.categorizer import TextCategorizer
from textbayes.core.errors import InputError
from textbayes.core.tables import csv_text
from textbayes.core.types import Document
from textbayes.core.validation import check_choice
from textbayes.display import workbook
from textbayes.screen import ScreenSettings, export_model
from textbayes.screen.references import WRITERS
from textbayes.screen.status import SAID, table_rows
from textbayes.store import save_model
from textbayes.store.container import may_unpack_to

Rows = Sequence[dict[str, Any]]


def csv_of(rows: Rows) -> bytes:
    """Rows as CSV; text that a spreadsheet would compute is made plain text."""
    columns = _columns(rows)
    text = csv_text([columns, *([row.get(name) for name in columns] for row in rows)])
    return b"\xef\xbb\xbf" + text.encode("utf-8", "replace")  # the mark tells spreadsheets that it is UTF-8


def _xlsx(rows: Rows) -> bytes:
    stream = io.BytesIO()
    with workbook(stream) as book:
        book.write(rows, _columns(rows))
    return stream.getvalue()


def table_of(source: str, rows: Rows) -> Download:
    """Rows as a table of the kind that a file is: a workbook, or else CSV."""
    return table_named(source, _xlsx(rows) if _is_workbook(source) else csv_of(rows))


def table_named(source: str, content: bytes) -> Download:
    """A table that was made of a file, called after it."""
    kind = "xlsx" if _is_workbook(source) else "csv"
    stem = re.sub(r"[^A-Za-z0-9]+", "-", source.rpartition(".")[0] or source).strip("-") or "texts"
    return Download(f"{stem}-classified.{kind}", _TABLES[kind][0], content)


def _is_workbook(name: str) -> bool:
    return name.lower().endswith((".xlsx", ".xlsm"))


def _columns(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _json_lines(rows: Rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")


_TABLES: dict[str, tuple[str, Callable[[Rows], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", csv_of),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _xlsx),
    "jsonl": ("application/jsonl", _json_lines),
}
_REFERENCES = {
    "ris": "application/x-research-info-systems",
    "bib": "application/x-bibtex",
    "nbib": "text/plain; charset=utf-8",
    "xml": "application/xml",
}
OF_RECORDS = (*_TABLES, *_REFERENCES)
KINDS = (*OF_RECORDS, "tb", "zip")
CATEGORY_KINDS = (*_TABLES, "zip")
ONLY = ("all", "included")


def export(
    registry: ReviewRegistry, review: LiveReview, reviewer: ReviewerQueue, kind: str, only: str = "all"
) -> Download:
    """A file to take along, with what a person may see.

    Parameters
    ----------
    registry : ReviewRegistry
    review : LiveReview
    reviewer : ReviewerQueue
        Who asks; of a table, for which topic.
    kind : {"csv", "xlsx", "jsonl", "ris", "bib", "nbib", "xml", "tb", "zip"}
        A table of records with decisions, probabilities and words, or with labels; the model of a review; or the whole
        project.
    only : {"all", "included"}
        Which records a table of a review has: all of them, or those that are included in it.
    """
    check_choice("kind", kind, CATEGORY_KINDS if review.kind == CATEGORIES else KINDS)
    check_choice("only", only, ONLY)
    reviewer = reviewer._replace(topic=topic_of(reviewer.topic))
    more = "-included" if only == "included" else ""
    name = f"{re.sub(r'[^A-Za-z0-9]+', '-', review.name).strip('-') or 'project'}{more}.{kind}"
    if kind == "zip":
        return Download(name, "application/zip", write_project(registry, review, reviewer.user))
    if review.kind == CATEGORIES:
        media_type, write = _TABLES[kind]
        return Download(name, media_type, write(table_of_labels(registry, review, reviewer.user)))
    if kind == "tb":
        with review.model() as screening:
            model = export_model(screening)
        return Download(name, "application/octet-stream", model_file(model))
    records = documents_of(registry, review)
    said = _said(registry, review, reviewer, [record["id"] for record in records])
    for record, more_of in zip(records, said, strict=True):
        own = record["fields"] or {"text": record["text"]}
        record["fields"] = {**own, **{f"textbayes_{name}" if name in own else name: more_of[name] for name in more_of}}
    with review.model_for(reviewer.user) as screening:
        rows = table_rows(screening, records, reviewer.topic)
    if review.alone:  # probabilities are of the person's own model, decisions those of all
        with review.model() as screening:
            row_of, answers = screening.collection.row_of, screening.topic(reviewer.topic).answers.copy()
        for row in rows:
            stands = SAID[int(answers[row_of[row.get("textbayes_id", row["id"])]])]
            row["textbayes_decision" if "textbayes_decision" in row else "decision"] = stands
    if only == "included":
        with review.looking() as assignments:
            included = {one["id"] for one in records if is_included(assignments, reviewer.topic, one["id"])}
        rows = [row for row in rows if row.get("textbayes_id", row["id"]) in included]
    if kind in _REFERENCES:
        return Download(name, _REFERENCES[kind], WRITERS[f".{kind}"](rows).encode("utf-8", "replace"))
    media_type, write = _TABLES[kind]
    return Download(name, media_type, write(rows))


def _said(
    registry: ReviewRegistry, review: LiveReview, reviewer: ReviewerQueue, ids: Sequence[str]
) -> list[dict[str, str]]:
    """What a person may see of what was said of records, beside the decision; columns that are empty are left out."""
    people = names_of(registry.store)
    full_text = reviewer._replace(topic=full_text_of(reviewer.topic))
    found: list[dict[str, str]] = []
    with review.looking() as assignments:
        for id in ids:
            one, read = Said.of(assignments, reviewer, id), Said.of(assignments, full_text, id)
            notes = [
                *([one.note] if one.note else []),
                *(f"{people.get(who)}: {text}" for who, text in one.notes.items()),
            ]
            answers = assignments.answers_for(*reviewer, id) if assignments.double else {}
            found.append(
                {
                    "reason": one.excluded_for,
                    "tags": "; ".join(one.tags),
                    "note": "\n".join(notes),
                    "full_text": read.answer or "",
                    "full_text_reason": read.excluded_for,
                    **{f"answer of {people.get(who, '?')}": said for who, said in sorted(answers.items())},
                }
            )
    used = {name for one in found for name, text in one.items() if text}
    names = [name for name in dict.fromkeys(name for one in found for name in one) if name in used]
    return [{name: one.get(name, "") for name in names} for one in found]


def model_file(model: TextCategorizer) -> bytes:
    """A model as the bytes of its file."""
    with tempfile.TemporaryDirectory(prefix="textbayes-") as folder:
        path = Path(folder) / "model.tb"
        save_model(model, path)
        return path.read_bytes()


_MARK = {"format": "textbayes project", "format_version": 1}
_OF_ROOM = ("stranger", "person")  # who is who here says nothing elsewhere
_LARGEST = 1 << 30  # bytes of a part
_PARTS = ("project.json", "records.jsonl", "events.jsonl")
_DUPLICATES = "duplicates.jsonl"  # files of earlier versions have none
_PAPERS = "full texts/"  # two files of each: what it is, and the PDF


def write_project(registry: ReviewRegistry, review: LiveReview, user: int) -> bytes:
    """Everything of a project that a person may see as one file.

    Where two people read every record, answers and notes of others that this person must not know are left out.

    Parameters
    ----------
    registry : ReviewRegistry
    review : LiveReview
    user : int
        Who asks.
    """
    target, people = io.BytesIO(), names_of(registry.store)
    with registry.store.read() as session, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        project = {**_MARK, "textbayes": __version__, "name": review.name, "settings": review.settings}
        archive.writestr("project.json", json.dumps(project, indent=1))
        records = stored_documents(session, review.id)
        archive.writestr(
            "records.jsonl", _lines({"id": one.id, "text": one.text, "fields": dict(one.fields)} for one in records)
        )
        stored = session.scalars(select(Event).where(Event.project_id == review.id).order_by(Event.sequence)).all()
        with review.looking() as assignments:
            events = [
                {"user": people.get(assignments.person(one.user_id), "").removesuffix(FROM_FILE), "time": one.time,
                 "body": body}
                for one in stored
                if one.body["kind"] not in _OF_ROOM
                and (body := assignments.shown_to(user, one.user_id, one.body)) is not None
            ]  # fmt: skip
        archive.writestr("events.jsonl", _lines(events))
        merged = session.scalars(select(Duplicate).where(Duplicate.project_id == review.id).order_by(Duplicate.id))
        rows = ({"id": one.name, "into": one.into, "reason": one.reason, "text": one.text, "fields": one.fields}
                for one in merged)  # fmt: skip
        archive.writestr(_DUPLICATES, _lines(rows))
        found = session.scalars(select(FullText).where(FullText.project_id == review.id).order_by(FullText.name))
        for number, one in enumerate(found.yield_per(1), start=1):
            described = {"id": one.name, "file": one.file, "text": one.text}
            archive.writestr(f"{_PAPERS}{number}.json", json.dumps(described))
            archive.writestr(f"{_PAPERS}{number}.pdf", one.content)
    return target.getvalue()


def read_project(registry: ReviewRegistry, owner: User, content: bytes) -> str:
    """Make a project of a file; returns its id. Nothing in the file is believed.

    What others did is kept under their names as people who cannot log in: a file must not speak for those who can. An
    owner says who they are (:func:`~textbayes.app.accounts.match_person`); until then nobody reads again what they
    read.

    Parameters
    ----------
    registry : ReviewRegistry
    owner : User
        Who reads it, and will own it.
    content : bytes
    """
    project, records, events = _parts(content)
    papers, merged = _papers(content), _duplicates(content)
    try:
        plan, topics = _plan(str(project["name"]), project["settings"])
        documents = [_document(record) for record in records]
        ids = {document.id for document in documents}
        if len(ids) < len(documents) or not 0 < len(documents) <= MOST_RECORDS:
            raise InputError("the records of the file have no ids of their own; give a file that was not altered")
        duplicates = [_duplicate(row) for row in merged]
        by_hand = [one["name"] for one in duplicates if one["reason"] == BY_HAND]
        if len({*ids, *by_hand}) < len(ids) + len(by_hand) or not ids >= {one["into"] for one in duplicates}:
            raise _refusal("a duplicate is a record as well, or is that of none")
        known, labels = ids | set(by_hand), isinstance(plan, NewCategories)
        entries = [checked_entry(event["body"], topics, known, labels) for event in events]
        names, times = [str(event["user"])[:200] for event in events], [float(event["time"]) for event in events]
    except (KeyError, TypeError, AttributeError) as error:
        raise _refusal(f"a part is missing ({error})") from None
    except ValueError as error:
        raise error if isinstance(error, InputError) else _refusal("a number is not one") from None
    kept = [one for one in papers if one["name"] in ids]
    if not all(map(math.isfinite, times)):
        raise _refusal("a time is not a number")

    def store(session: Session, id: str) -> None:
        person = {name: _person(session, name, owner) for name in dict.fromkeys(names)}
        events = [(person[name], at, entry) for name, at, entry in zip(names, times, entries, strict=True)]
        strangers = [user for user in person.values() if user != owner.id]
        events += [(owner.id, time.time(), {"kind": "stranger", "user": user}) for user in strangers]
        rows = [
            {"project_id": id, "sequence": number, "user_id": user, "time": at, "body": entry}
            for number, (user, at, entry) in enumerate(events, start=1)
        ]
        if rows:
            session.execute(insert(Event), rows)
        if duplicates:
            session.execute(insert(Duplicate), [{"project_id": id, **one} for one in duplicates])
        if kept:
            session.execute(insert(FullText), [{"project_id": id, **one} for one in kept])

    return create_project(registry, owner, plan, documents, store)


def _plan(name: str, settings: dict[str, Any]) -> tuple[Plan, tuple[str, ...]]:
    """What the settings of a file say, and the topics of its events."""
    if settings.get("kind") == CATEGORIES:
        several, shown = settings.get("several") is True, settings.get("show_guess") is not False
        double = settings.get("double") is True
        return NewCategories(name, several=several, show_guess=shown, double=double), (TOPIC,)
    screen = ScreenSettings.from_json(settings["screen"])
    prior = str(settings.get("prior", "reviews"))
    return NewProject(
        name, screen, settings.get("double") is True, prior, str(settings.get("learns", "settled"))
    ), screen.topics


def _person(session: Session, name: str, owner: User) -> int:
    """The id of a person whom a file names."""
    if name == owner.name:
        return owner.id
    shown = f"{name or 'somebody'}{FROM_FILE}"
    found = session.scalar(select(User).where(User.name == shown))
    if found is None:
        found = User(name=shown, password=None, admin=False, active=False)
        session.add(found)
        session.flush()
    return found.id


def _document(record: dict[str, Any]) -> Document:
    fields = {str(name): str(value) for name, value in record["fields"].items()}
    if not isinstance(record["id"], str) or not isinstance(record["text"], str):
        raise _refusal("a record has no id or no text")
    if "\x00" in f"{record['id']}{record['text']}{fields}":
        raise _refusal("a record holds a NUL character")
    return Document(record["id"], record["text"], (), fields)


def _parts(content: bytes) -> tuple[dict[str, Any], list[Any], list[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = [_read(archive, name) for name in _PARTS]
        project = json.loads(found[0])
        lines = [[json.loads(line) for line in part.splitlines() if line] for part in found[1:]]
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, NotImplementedError, RuntimeError, OSError):
        raise _refusal("it is not such a file, or damaged") from None
    except (ValueError, RecursionError):
        raise _refusal("a part is not JSON") from None
    if not isinstance(project, dict) or project.get("format") != _MARK["format"]:
        raise _refusal("it does not say that it is one")
    if project.get("format_version") != _MARK["format_version"]:
        raise InputError("the file was written by a newer version of textbayes; update to read it")
    return project, lines[0], lines[1]


def _duplicates(content: bytes) -> list[dict[str, Any]]:
    """The merged records of a file: what they say is looked at as that of the others is."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            there = _DUPLICATES in archive.namelist()
            rows = [json.loads(line) for line in _read(archive, _DUPLICATES).splitlines() if line] if there else []
    except (ValueError, RecursionError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise _refusal("the duplicates are damaged") from None
    if len(rows) > MOST_RECORDS:
        raise _refusal("it has too many duplicates")
    return rows


def _duplicate(row: dict[str, Any]) -> dict[str, Any]:
    one, into, reason = _document(row), str(row["into"]), str(row["reason"])[:4_000]
    if "\x00" in into + reason:
        raise _refusal("a duplicate holds a NUL character")
    return {"name": one.id, "into": into, "reason": reason, "text": one.text, "fields": dict(one.fields)}


def _papers(content: bytes) -> list[dict[str, Any]]:
    """The full texts of a file; their text is plain text to us, and their PDFs are never opened by the room itself."""
    found = []
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
        for name in sorted(name for name in names if name.startswith(_PAPERS) and name.endswith(".json")):
            try:
                given = json.loads(_read(archive, name))
                pdf = _read(archive, name.removesuffix("json") + "pdf")
                values = {"name": str(given["id"]), "file": str(given["file"])[:200], "text": str(given["text"])}
            except (KeyError, TypeError, ValueError, RecursionError, zipfile.BadZipFile, zlib.error):
                raise _refusal("a full text is damaged") from None
            if len(pdf) > LARGEST_PDF or b"%PDF-" not in pdf[:1024] or "\x00" in "".join(values.values()):
                raise _refusal("a full text is no PDF, or too large")
            found.append({**values, "content": pdf, "created": time.time()})
    if len({one["name"] for one in found}) < len(found):
        raise _refusal("a record has two full texts")
    return found


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    member = archive.getinfo(name)
    if member.file_size > _LARGEST or not may_unpack_to(member.file_size, member.compress_size):
        raise _refusal(f"{name} unpacks to more than can be")
    with archive.open(member) as stream:
        read = stream.read(member.file_size + 1)
    if len(read) != member.file_size:
        raise _refusal(f"{name} is not as long as it says")
    return read


def _refusal(cause: str) -> InputError:
    return InputError(f"this is not a project that textbayes wrote: {cause}; give a file that `Export` made")


def _lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
