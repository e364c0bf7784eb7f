"""Records that were merged when their file was read: looked at beside the others, and taken out again."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from textbayes.app.assignments import Assignments
from textbayes.app.database import Duplicate, StoredRecord, User, note_audit
from textbayes.app.live import LiveReview, count_records
from textbayes.app.projects import insert_records
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen.duplicates import with_own_ids
from textbayes.store.event_folder import Entry

AT_ONCE = 25


class MergedPair(NamedTuple):
    """A duplicate as it was, the record that it was merged into, and what both have in common."""

    number: int
    duplicate: Document
    record: Document
    reason: str


class MergedPairs(NamedTuple):
    """Some of the duplicates of a project, the place of the first of them, and how many there are."""

    pairs: list[MergedPair]
    start: int
    n_found: int


def list_duplicates(review: LiveReview, start: int = 0) -> MergedPairs:
    """Duplicates in the order in which they came.

    Parameters
    ----------
    review : LiveReview
    start : int
    """
    own = Duplicate.project_id == review.id
    same = (StoredRecord.project_id == Duplicate.project_id) & (StoredRecord.name == Duplicate.into)
    with review.store.read() as session:
        n_found = session.scalar(select(func.count()).select_from(Duplicate).where(own)) or 0
        start = max(0, min(start, n_found)) // AT_ONCE * AT_ONCE
        found = select(Duplicate, StoredRecord).join(StoredRecord, same).where(own).order_by(Duplicate.id)
        rows = session.execute(found.offset(start).limit(AT_ONCE)).all()
    pairs = [
        MergedPair(one.id, Document(one.name, one.text, (), one.fields),
                   Document(record.name, record.text, (), record.fields), one.reason)
        for one, record in rows
    ]  # fmt: skip
    return MergedPairs(pairs, start, n_found)


def unmerge(review: LiveReview, user: User, number: int) -> str:
    """Make a duplicate a record of its own, which is screened like the others; returns its id.

    Parameters
    ----------
    review : LiveReview
    user : User
    number : int
        Of the pair.
    """
    made = ""
    n_records = 0

    def store(session: Session) -> None:
        nonlocal made, n_records
        found = session.get(Duplicate, number)
        if found is None or found.project_id != review.id:
            raise InputError("there is no such duplicate; it may be a record of its own already")
        names = session.scalars(select(StoredRecord.name).where(StoredRecord.project_id == review.id)).all()
        (record,) = with_own_ids([Document(found.name, found.text, (), found.fields)], names)
        insert_records(session, review.id, [record], len(names))
        session.delete(found)
        session.flush()
        made, n_records = record.id, count_records(session, review.id)
        note_audit(session, user.name, "separate duplicate", f"{made} in {review.name}")

    def entries(assignments: Assignments) -> list[Entry]:
        return [{"kind": "records", "n_records": n_records}, {"kind": "unmerged", "id": made}]

    review.step(user.id, entries, store)
    review.reload()
    return made
