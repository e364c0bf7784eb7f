"""What people take with them: tables of decisions, the model, or the whole project."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from starlette.responses import Response

from textbayes.app.desk import Place
from textbayes.app.live import LiveReview, Room
from textbayes.app.people import names_of
from textbayes.app.project_file import write_project
from textbayes.app.projects import documents_of
from textbayes.app.showing import Said
from textbayes.categorizer import TextCategorizer
from textbayes.core.spreadsheet import csv_text
from textbayes.core.validation import check_choice
from textbayes.display.pages import workbook
from textbayes.screen import export_model
from textbayes.screen.references import WRITERS
from textbayes.screen.table import table_rows
from textbayes.store import save_model

Rows = Sequence[dict[str, Any]]


class Download(NamedTuple):
    """A file: its name, its type and its bytes."""

    name: str
    media_type: str
    content: bytes

    def answer(self) -> Response:
        """What a browser keeps under the name."""
        headers = {"Content-Disposition": f'attachment; filename="{self.name}"'}
        return Response(self.content, media_type=self.media_type, headers=headers)


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
KINDS = (*_TABLES, *_REFERENCES, "tb", "zip")


def export(room: Room, review: LiveReview, place: Place, kind: str) -> Download:
    """A file to take along, with what a person may see.

    Parameters
    ----------
    room : Room
    review : LiveReview
    place : Place
        Who asks; of a table, for which topic.
    kind : {"csv", "xlsx", "jsonl", "ris", "bib", "nbib", "xml", "tb", "zip"}
        A table of all records with decisions, probabilities and words; the model; or the whole project.
    """
    check_choice("kind", kind, KINDS)
    name = f"{re.sub(r'[^A-Za-z0-9]+', '-', review.name).strip('-') or 'project'}.{kind}"
    if kind == "zip":
        return Download(name, "application/zip", write_project(room, review, place.user))
    if kind == "tb":
        with review.model() as screening:
            model = export_model(screening)
        return Download(name, "application/octet-stream", model_file(model))
    records = documents_of(room, review)
    for record, more in zip(records, _said(room, review, place, [record["id"] for record in records]), strict=True):
        if more:
            own = record["fields"] or {"text": record["text"]}
            record["fields"] = {**own, **{f"textbayes_{name}" if name in own else name: more[name] for name in more}}
    with review.model() as screening:
        rows = table_rows(screening, records, place.topic)
    if kind in _REFERENCES:
        return Download(name, _REFERENCES[kind], WRITERS[f".{kind}"](rows).encode("utf-8", "replace"))
    media_type, write = _TABLES[kind]
    return Download(name, media_type, write(rows))


def _said(room: Room, review: LiveReview, place: Place, ids: Sequence[str]) -> list[dict[str, str]]:
    """What a person may see of what was said of records, beside the decision: notes, and where two read, their own."""
    people = names_of(room.store)
    with review.looking() as desk:
        said = [Said.of(desk, place, id) for id in ids]
        own = [desk.own(place.user, desk.opinions[place.topic].get(id, {})) or "" for id in ids]
        double = desk.double
    any_notes = any(one.note or one.notes for one in said)
    found = []
    for one, answer in zip(said, own, strict=True):
        notes = [*([one.note] if one.note else []), *(f"{people.get(who)}: {text}" for who, text in one.notes.items())]
        more = {"note": "\n".join(notes)} if any_notes else {}
        found.append({**more, "your_answer": answer} if double else more)
    return found


def model_file(model: TextCategorizer) -> bytes:
    """A model as the bytes of its file."""
    with tempfile.TemporaryDirectory(prefix="textbayes-") as folder:
        path = Path(folder) / "model.tb"
        save_model(model, path)
        return path.read_bytes()
