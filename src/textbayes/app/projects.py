"""Projects: made, given more records, listed and deleted."""

from __future__ import annotations

import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from textbayes.app.assignments import Assignments
from textbayes.app.database import BY_HAND, Duplicate, Event, Membership, Project, StoredRecord, User, note_audit
from textbayes.app.importing import ReadFile
from textbayes.app.labelling import TOPIC
from textbayes.app.live import SCREENING, LiveReview, ReviewRegistry, count_records, next_row
from textbayes.app.marks import checked_list
from textbayes.app.stages import check_topics, stages_of
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.core.validation import check_choice
from textbayes.screen import ScreenSettings
from textbayes.screen.duplicates import Merged, merge_duplicates, with_own_ids
from textbayes.store.event_folder import Entry

LONGEST_NAME = 200
_AT_ONCE = 1_000  # records of a statement


class Plan(Protocol):
    """What a new project of some kind is to be: its name, and its settings as they are stored."""

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...


class NewProject(NamedTuple):
    """What a new project of screening is to be.

    Parameters
    ----------
    name : str
    screen : ScreenSettings
    double : bool
        Whether every record is read by two people.
    prior : {"reviews", "none"}
        Whether words of other reviews help at the start.
    learns : {"settled", "own"}
        Where two people read every record: from what the model learns that orders a person's records, the records that
        both have answered, or that person's answers alone.
    """

    name: str
    screen: ScreenSettings
    double: bool = False
    prior: str = "reviews"
    learns: str = "settled"

    @property
    def settings(self) -> dict[str, Any]:
        """As they are stored."""
        check_topics(self.screen.topics)
        if self.prior not in ("reviews", "none"):
            raise InputError(f"prior={self.prior!r} is not known; choose reviews or none")
        check_choice("learns", self.learns, ("settled", "own"))
        if self.learns == "own" and not self.double:
            raise InputError(
                "learns='own' is for projects in which two people read every record; set double, or leave it"
            )
        settings = {"screen": self.screen.to_json(), "double": self.double, "prior": self.prior}
        return {**settings, "learns": "own"} if self.learns == "own" else settings


def create_project(
    registry: ReviewRegistry,
    owner: User,
    plan: Plan,
    records: Sequence[Document],
    store: Callable[[Session, str], None] | None = None,
) -> str:
    """Make a project; returns its id. It is there whole or not at all.

    Parameters
    ----------
    registry : ReviewRegistry
    owner : User
    plan : NewProject or NewCategories
    records : sequence of Document
        Duplicates merged.
    store : callable, optional
        What else is stored of the project, whose id it is given, in the same transaction.
    """
    name, settings = checked_name(plan.name), plan.settings
    id = secrets.token_hex(8)
    with registry.store.write() as session:
        session.add(Project(id=id, name=name, settings=settings))
        session.flush()
        session.add(Membership(project_id=id, user_id=owner.id, role="owner"))
        insert_records(session, id, records)
        if store is not None:
            store(session, id)
        note_audit(session, owner.name, "create project", name)
    return id


def project_of_file(
    registry: ReviewRegistry, owner: User, plan: NewProject, read: ReadFile, take_answers: bool = False
) -> str:
    """Make a project of a file; returns its id.

    Parameters
    ----------
    registry : ReviewRegistry
    owner : User
    plan : NewProject
    read : ReadFile
    take_answers : bool
        Whether the decisions of the file become answers of the owner, to the first topic.
    """
    entries = [_imported(read.name, len(read.records), len(read.merged))]
    if take_answers:
        entries += _answers(read, plan.screen.topics[0], (), ())

    def store(session: Session, id: str) -> None:
        now = time.time()
        rows = [
            {"project_id": id, "sequence": number, "user_id": owner.id, "time": now, "body": entry}
            for number, entry in enumerate(entries, start=1)
        ]
        session.execute(insert(Event), rows)
        _keep_duplicates(session, id, read.duplicates, read.merged)

    return create_project(registry, owner, plan, read.records, store)


def _imported(source: str, n_new: int, n_merged: int) -> Entry:
    return {"kind": "imported", "source": source, "n_found": n_new + n_merged, "n_merged": n_merged}


def _answers(read: ReadFile, topic: str, reasons: Sequence[str], tags: Sequence[str]) -> list[Entry]:
    """What a file says of its records as events: answers with reasons, tags, and the lists that these need."""
    found = read.decisions
    all_reasons = checked_list([*reasons, *found.reasons], "reasons")
    all_tags = checked_list([*tags, *found.tags], "tags")
    entries: list[Entry] = []
    if (all_reasons, all_tags) != (list(reasons), list(tags)):
        entries.append({"kind": "lists", "reasons": all_reasons, "tags": all_tags})
    for id, one in found.by_id.items():
        entry: Entry = {"kind": "judgement", "topic": topic, "id": id, "answer": one.answer}
        reason = " ".join(one.reason.split())
        entries.append({**entry, "reason": reason} if reason in all_reasons else entry)
        if one.tags:
            entries.append({"kind": "tags", "id": id, "tags": list(one.tags)})
    return entries


def _keep_duplicates(session: Session, id: str, duplicates: Sequence[Document], merged: Sequence[Merged]) -> None:
    """Store records that were merged, so that they can be looked at beside the others and taken out again."""
    by_id = {one.id: one for one in duplicates}
    rows = [
        {"project_id": id, "name": one.id, "into": one.into, "reason": one.reason, "text": by_id[one.id].text,
         "fields": dict(by_id[one.id].fields)}
        for one in merged
    ]  # fmt: skip
    if rows:
        session.execute(insert(Duplicate), rows)


class PutAside(NamedTuple):
    """A record that was merged into another one by hand, as it was."""

    document: Document
    into: str


def merged_by_hand(session: Session, project_id: str) -> list[PutAside]:
    """Records of a project that were merged by hand."""
    asked = select(Duplicate).where(Duplicate.project_id == project_id, Duplicate.reason == BY_HAND)
    found = session.scalars(asked.order_by(Duplicate.id))
    return [PutAside(Document(one.name, one.text, (), one.fields), one.into) for one in found]


class Added(NamedTuple):
    """How many records were added, and which were there already."""

    n_added: int
    merged: list[Merged]


def add_records(review: LiveReview, user: User, read: ReadFile, take_answers: bool = False) -> Added:
    """Add records to a project that people are working on; those that it has already are merged into them.

    Parameters
    ----------
    review : LiveReview
    user : User
    read : ReadFile
    take_answers : bool
        Whether the decisions of the file become answers of the user, to the first topic.
    """
    merged: list[Merged] = []
    n_records = n_added = 0
    taken = read

    def store(session: Session) -> None:
        nonlocal n_records, n_added, taken
        there = list(stored_documents(session, review.id))
        put_aside = merged_by_hand(session, review.id)  # what is met again belongs where its like was put
        before = [*there, *(one.document for one in put_aside)]
        into = {one.document.id: one.into for one in put_aside}
        given = list(with_own_ids(read.records, [document.id for document in before]))
        taken = _renamed(read, [one.id for one in given])
        all_of, pairs = merge_duplicates(given, before)
        found = [one._replace(into=into.get(one.into, one.into)) for one in pairs]
        new = all_of[len(before) :]
        insert_records(session, review.id, new, next_row(session, review.id))
        merged.extend(found)
        _keep_duplicates(session, review.id, [*taken.duplicates, *given], [*taken.merged, *found])
        n_records, n_added = len(there) + len(new), len(new)
        note_audit(session, user.name, "add records", f"{len(new)} to {review.name}")

    def entries(assignments: Assignments) -> list[Entry]:
        marks, topic = assignments.marks, review.screening.settings.topics[0]
        known = {one.id for one in taken.records} - {one.id for one in merged}
        found = [_imported(read.name, n_added, len(read.merged) + len(merged))]
        if take_answers:
            said = _answers(taken, topic, marks.reasons, marks.tags)
            found += [entry for entry in said if entry.get("id", None) is None or entry["id"] in known]
        return [{"kind": "records", "n_records": n_records}, *found]

    review.step(user.id, entries, store)
    review.reload()
    return Added(n_added, [*read.merged, *merged])


def _renamed(read: ReadFile, names: Sequence[str]) -> ReadFile:
    """What was read, its records under other ids."""
    name_of = {one.id: name for one, name in zip(read.records, names, strict=True)}
    by_id = {name_of.get(id, id): said for id, said in read.decisions.by_id.items()}
    return read._replace(
        records=[one._replace(id=name_of[one.id]) for one in read.records],
        merged=[one._replace(into=name_of.get(one.into, one.into)) for one in read.merged],
        decisions=replace(read.decisions, by_id=by_id),
    )


def delete_project(registry: ReviewRegistry, review: LiveReview, user: User) -> None:
    """Delete a project with all its records and events; only the audit log remembers it."""
    with registry.store.write() as session:
        session.execute(delete(Project).where(Project.id == review.id))
        note_audit(session, user.name, "delete project", review.name)
    registry.forget(review.id)


class TopicProgress(NamedTuple):
    """How far a topic is: records that have the answers they need, and those that are relevant."""

    topic: str
    n_answered: int
    n_relevant: int


class Progress(NamedTuple):
    """How far a project is: each topic; conflicts, and records that wait for a second reviewer, in both stages."""

    topics: list[TopicProgress]
    n_conflicts: int = 0
    n_waiting: int = 0

    @classmethod
    def of(cls, assignments: Assignments, topics: Sequence[str]) -> Self:
        """That of a project."""
        found = []
        for topic in topics:
            ids = assignments.opinions[topic].keys() | assignments.gold.keys()
            answers = Counter(assignments.answer(topic, id) for id in ids)
            found.append(TopicProgress(topic, answers.total() - answers[None], answers["relevant"]))
        stages = stages_of(topics)
        conflicts = sum(len(assignments.conflicts(stage)) for stage in stages)
        return cls(found, conflicts, sum(assignments.n_waiting(stage) for stage in stages))


@dataclass(frozen=True)
class ProjectListed:
    """A project in a list: id, name, one's role in it, number of records, when it was made, its kind and progress."""

    id: str
    name: str
    role: str
    n_records: int
    created: float
    kind: str
    progress: Progress

    @property
    def state(self) -> str:
        """In a word or two."""
        answered = [one.n_answered for one in self.progress.topics]
        if not any(answered) and not self.progress.n_waiting:
            return "not started"
        return "complete" if min(answered) >= self.n_records else "in progress"


def list_projects(registry: ReviewRegistry, user: User) -> list[ProjectListed]:
    """The projects that a person may see, newest first."""
    found = (
        select(Project, Membership.role)
        .join(Membership, Membership.project_id == Project.id)
        .where(Membership.user_id == user.id)
        .order_by(Project.created.desc())
    )
    last = select(Event.project_id, func.max(Event.sequence)).group_by(Event.project_id)
    with registry.store.read() as session:
        listed = [(project, role, count_records(session, project.id)) for project, role in session.execute(found)]
        ids = [one.id for one, *_ in listed]
        events = dict(session.execute(last.where(Event.project_id.in_(ids))).all())
    return [
        ProjectListed(
            one.id, one.name, role, n_records, one.created, one.settings.get("kind", SCREENING),
            _progress(registry, one, events.get(one.id, 0)),
        )
        for one, role, n_records in listed
    ]  # fmt: skip


def _progress(registry: ReviewRegistry, project: Project, last: int) -> Progress:
    """How far a project is after its last event; counted again only when there are more events."""
    screening = project.settings.get("kind", SCREENING) == SCREENING
    topics = project.settings["screen"]["topics"] if screening else [TOPIC]
    known, progress = registry.progress.get(project.id, (-1, None))
    if progress is None or known < last:
        with registry.looking(project) as assignments:
            progress = Progress.of(assignments, topics)
        registry.progress[project.id] = last, progress
    return progress


def checked_name(name: str) -> str:
    """A name that can be shown on one line."""
    tidy = " ".join(name.replace("\x00", "").split())
    if not 1 <= len(tidy) <= LONGEST_NAME:
        raise InputError(f"the name has {len(tidy)} characters; give one of 1 to {LONGEST_NAME}")
    return tidy


def documents_of(registry: ReviewRegistry, review: LiveReview) -> list[dict[str, Any]]:
    """All records of a project in the order of rows, as tables of the screening take them."""
    with registry.store.read() as session:
        return [
            {"id": one.id, "text": one.text, "fields": dict(one.fields)} for one in stored_documents(session, review.id)
        ]


def stored_documents(session: Session, project_id: str) -> Iterator[Document]:
    """The records of a project in the order of rows."""
    found = select(StoredRecord).where(StoredRecord.project_id == project_id).order_by(StoredRecord.row)
    for record in session.scalars(found.execution_options(yield_per=_AT_ONCE)):
        yield Document(record.name, record.text, (), record.fields)


def insert_records(session: Session, project_id: str, records: Sequence[Document], first: int = 0) -> None:
    """Store records; ``first`` is the row of the first of them."""
    for start in range(0, len(records), _AT_ONCE):
        session.execute(
            insert(StoredRecord),
            [
                {
                    "project_id": project_id,
                    "row": first + start + k,
                    "name": record.id,
                    "text": record.text,
                    "fields": dict(record.fields),
                }
                for k, record in enumerate(records[start : start + _AT_ONCE])
            ],
        )
