"""Records that were merged when their file was read, or by hand: looked at beside the others, and taken out again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from textbayes.app.assignments import Assignments
from textbayes.app.database import BY_HAND, Duplicate, FullText, StoredRecord, User, note_audit
from textbayes.app.live import CATEGORIES, LiveReview, count_records, next_row
from textbayes.app.projects import insert_records, merged_by_hand
from textbayes.app.stages import is_full_text, stages_of, topic_of
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen.duplicates import with_own_ids
from textbayes.screen.screening import check_record
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


def merge(review: LiveReview, user: User, id: str, into: str) -> None:
    """Take a record for the same paper as another one; it is put aside as it is until somebody separates them.

    The other record stays as it is. Where it has no answer yet, it gets those of the first, under the names of those
    who gave them; likewise notes, tags and the full text.

    Parameters
    ----------
    review : LiveReview
    user : User
        Who says so.
    id, into : str
        The duplicate, and the record that stays.
    """
    if review.kind == CATEGORIES:
        raise InputError("records are merged where they are screened; this project sorts texts into categories")
    for one in (id, into):
        check_record(one, review.collection.row_of)
    if id == into:
        raise InputError(f"record {id!r} was named twice; name two records")
    paper: list[Entry] = []

    def store(session: Session) -> None:
        own = StoredRecord.project_id == review.id, StoredRecord.name.in_((id, into))
        found = {one.name: one for one in session.scalars(select(StoredRecord).where(*own))}
        if len(found) < 2:
            raise InputError("one of the records is not there any more; reload the page")
        one = found[id]
        theirs = Duplicate.project_id == review.id, Duplicate.into == id
        session.execute(update(Duplicate).where(*theirs).values(into=into))
        session.add(Duplicate(project_id=review.id, name=id, into=into, reason=BY_HAND, text=one.text,
                              fields=dict(one.fields)))  # fmt: skip
        session.delete(one)
        file = session.get(FullText, (review.id, id))
        if file is not None and session.get(FullText, (review.id, into)) is None:
            file.name = into
            paper.append({"kind": "full_text", "id": into, "file": file.file})
        note_audit(session, user.name, "merge duplicate", f"{id} into {into} in {review.name}")

    def entries(assignments: Assignments) -> list[tuple[int, Entry]]:
        carried = [*_answers(review, assignments, user, id, into), *_marks(assignments, id, into)]
        merged: Entry = {"kind": "merged", "id": id, "into": into}
        return [*carried, *((user.id, entry) for entry in paper), (user.id, merged)]

    review.write(entries, store)
    review.reload()


def _answers(
    review: LiveReview, assignments: Assignments, user: User, id: str, into: str
) -> Iterator[tuple[int, Entry]]:
    """The answers to a record as answers to another, as far as that one needs them."""
    for stage in stages_of(review.topics):
        theirs, own = assignments.opinions[stage].get(id, {}), assignments.opinions[stage].get(into, {})
        first = topic_of(stage)
        if is_full_text(stage) and "irrelevant" in {assignments.answer(first, one) for one in (id, into)}:
            continue  # the full text of what is excluded is not read
        missing = 0 if assignments.answer(stage, into) is not None else (2 if assignments.double else 1) - len(own)
        new = [who for who in theirs if assignments.own(assignments.person(who), own) is None][: max(missing, 0)]
        for who in new:
            entry: Entry = {"kind": "judgement", "topic": stage, "id": into, "answer": theirs[who]}
            reason = assignments.marks.own_reason(who, stage, id)
            yield who, {**entry, "reason": reason} if reason else entry
        if not own and len(new) == len(theirs) and id in assignments.settled[stage]:
            settled: Entry = {"kind": "settle", "topic": stage, "id": into, "answer": assignments.settled[stage][id]}
            reason = assignments.marks.reason(assignments, stage, id)
            yield user.id, {**settled, "reason": reason} if reason else settled


def _marks(assignments: Assignments, id: str, into: str) -> Iterator[tuple[int, Entry]]:
    """The notes and tags of a record as those of another, of people who have none there."""
    notes = assignments.notes.get(into, {})
    for who, text in assignments.notes.get(id, {}).items():
        if who not in notes:
            yield who, {"kind": "note", "id": into, "text": text}
    tags = assignments.marks.tagged(into)
    for who, given in assignments.marks.tagged(id).items():
        if who not in tags:
            yield who, {"kind": "tags", "id": into, "tags": list(given)}


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
        names = set(session.scalars(select(StoredRecord.name).where(StoredRecord.project_id == review.id)))
        names |= {one.document.id for one in merged_by_hand(session, review.id)} - {found.name}
        (record,) = with_own_ids([Document(found.name, found.text, (), found.fields)], names)
        insert_records(session, review.id, [record], next_row(session, review.id))
        session.delete(found)
        session.flush()
        made, n_records = record.id, count_records(session, review.id)
        note_audit(session, user.name, "separate duplicate", f"{made} in {review.name}")

    def entries(assignments: Assignments) -> list[Entry]:
        return [{"kind": "records", "n_records": n_records}, {"kind": "unmerged", "id": made}]

    review.step(user.id, entries, store)
    review.reload()
    return made
