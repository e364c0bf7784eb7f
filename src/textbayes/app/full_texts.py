"""Full texts of records that are included on title and abstract: PDFs in the database, with the text found in them."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from textbayes.app.assignments import Assignments, ReviewerQueue
from textbayes.app.database import FullText, StoredRecord
from textbayes.app.downloads import Download
from textbayes.app.live import LiveReview
from textbayes.app.pdf_text import pdf_text
from textbayes.app.stages import full_text_of, topic_of
from textbayes.core.errors import InputError
from textbayes.screen.screening import check_record
from textbayes.store.event_folder import Entry

LARGEST_PDF = 64 << 20  # bytes


class ListedFullText(NamedTuple):
    """A record of the second stage: its file, if there is one, and what may be seen of the answer and its reason."""

    id: str
    title: str
    file: str
    answer: str
    excluded_for: str


def list_full_texts(review: LiveReview, reviewer: ReviewerQueue) -> list[ListedFullText]:
    """The records that are included on title and abstract, in the order of their answers.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    """
    topic, stage = topic_of(reviewer.topic), full_text_of(reviewer.topic)
    with review.looking() as assignments, review.store.read() as session:
        ids = assignments.to_assess(topic)
        of_project = StoredRecord.project_id == review.id
        found = select(StoredRecord.name, StoredRecord.text).where(of_project, StoredRecord.name.in_(ids))
        title_of = {one.name: one.text.split("\n", 1)[0] for one in session.execute(found).all()}
        files = select(FullText.name, FullText.file).where(FullText.project_id == review.id)
        file_of = {one.name: one.file for one in session.execute(files).all()}
        return [
            ListedFullText(
                id,
                title_of[id],
                file_of.get(id, ""),
                assignments.answer_for(reviewer.user, stage, id) or "",
                assignments.marks.reason_for(assignments, reviewer.user, stage, id),
            )
            for id in ids
        ]


def add_full_text(review: LiveReview, user: int, id: str, file: str, content: bytes) -> bool:
    """Keep the PDF of a record, in place of the one there was; whether text was found in it.

    Parameters
    ----------
    review : LiveReview
    user : int
    id : str
    file : str
        As the sender calls it.
    content : bytes
    """
    check_record(id, review.collection.row_of)
    if len(content) > LARGEST_PDF:
        raise InputError(f"the PDF has {len(content) >> 20} MB; {LARGEST_PDF >> 20} MB is the most")
    text = pdf_text(content)
    name = file.replace("\x00", "").replace("\\", "/").rpartition("/")[2][-200:] or "paper.pdf"

    def store(session: Session) -> None:
        _remove(session, review, id)
        session.add(FullText(project_id=review.id, name=id, file=name, content=content, text=text))

    review.step(user, lambda assignments: [{"kind": "full_text", "id": id, "file": name}], store)
    return bool(text)


def remove_full_text(review: LiveReview, user: int, id: str) -> None:
    """Remove the PDF of a record."""

    def entries(assignments: Assignments) -> list[Entry]:
        return [{"kind": "full_text", "id": id, "file": ""}]

    find_full_text(review, id)
    review.step(user, entries, lambda session: _remove(session, review, id))


def _remove(session: Session, review: LiveReview, id: str) -> None:
    session.execute(delete(FullText).where(FullText.project_id == review.id, FullText.name == id))


def find_full_text(review: LiveReview, id: str) -> Download:
    """The PDF of a record. It is always a file to keep: within a page it could do what our pages may do."""
    with review.store.read() as session:
        found = session.get(FullText, (review.id, id))
    if found is None:
        raise InputError(f"record {id!r} has no full text; upload its PDF")
    safe = "".join(char if char.isascii() and (char.isalnum() or char in " ._-()") else "_" for char in found.file)
    return Download(safe, "application/pdf", found.content)
