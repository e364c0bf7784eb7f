"""Projects: made, given more records, listed and deleted."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from textbayes.app.database import Membership, Project, StoredRecord, User, note_audit
from textbayes.app.live import LiveReview, ReviewRegistry, count_records
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings
from textbayes.screen.duplicates import Merged, merge_duplicates, with_own_ids

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
    """

    name: str
    screen: ScreenSettings
    double: bool = False
    prior: str = "reviews"

    @property
    def settings(self) -> dict[str, Any]:
        """As they are stored."""
        if self.prior not in ("reviews", "none"):
            raise InputError(f"prior={self.prior!r} is not known; choose reviews or none")
        return {"screen": self.screen.to_json(), "double": self.double, "prior": self.prior}


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


class Added(NamedTuple):
    """How many records were added, and which were there already."""

    n_added: int
    merged: list[Merged]


def add_records(review: LiveReview, user: User, records: Sequence[Document]) -> Added:
    """Add records to a project that people are working on; those that it has already are merged into them.

    Parameters
    ----------
    review : LiveReview
    user : User
    records : sequence of Document
    """
    merged: list[Merged] = []
    n_records = n_added = 0

    def store(session: Session) -> None:
        nonlocal n_records, n_added
        there = list(stored_documents(session, review.id))
        all_of, found = merge_duplicates(with_own_ids(records, [document.id for document in there]), there)
        new = all_of[len(there) :]
        insert_records(session, review.id, new, len(there))
        merged.extend(found)
        n_records, n_added = len(there) + len(new), len(new)
        note_audit(session, user.name, "add records", f"{len(new)} to {review.name}")

    review.step(user.id, lambda assignments: [{"kind": "records", "n_records": n_records}], store)
    review.reload()
    return Added(n_added, merged)


def delete_project(registry: ReviewRegistry, review: LiveReview, user: User) -> None:
    """Delete a project with all its records and events; only the audit log remembers it."""
    with registry.store.write() as session:
        session.execute(delete(Project).where(Project.id == review.id))
        note_audit(session, user.name, "delete project", review.name)
    registry.forget(review.id)


@dataclass(frozen=True)
class ProjectListed:
    """A project in a list: its id, its name, one's role in it, how many records it has, and when it was made."""

    id: str
    name: str
    role: str
    n_records: int
    created: float


def list_projects(registry: ReviewRegistry, user: User) -> list[ProjectListed]:
    """The projects that a person may see, newest first."""
    found = (
        select(Project, Membership.role)
        .join(Membership, Membership.project_id == Project.id)
        .where(Membership.user_id == user.id)
        .order_by(Project.created.desc())
    )
    with registry.store.read() as session:
        return [
            ProjectListed(project.id, project.name, role, count_records(session, project.id), project.created)
            for project, role in session.execute(found).all()
        ]


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
