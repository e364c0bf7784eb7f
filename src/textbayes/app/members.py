"""Who may do what in a project."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from textbayes.app.database import ROLES, Member, User
from textbayes.app.live import LiveReview
from textbayes.app.store import Store, note_audit
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice


class ListedMember(NamedTuple):
    """A member of a project: name and role."""

    name: str
    role: str


def list_members(store: Store, project_id: str) -> list[ListedMember]:
    """The members of a project, by name."""
    found = select(User.name, Member.role).join(Member, Member.user_id == User.id)
    with store.read() as session:
        rows = session.execute(found.where(Member.project_id == project_id).order_by(User.name)).all()
    return [ListedMember(name, role) for name, role in rows]


def set_role(store: Store, by: User, review: LiveReview, name: str, role: str) -> None:
    """Give somebody a role in a project, or take it (``"none"``); one owner must stay.

    Parameters
    ----------
    store : Store
    by : User
        Who does it.
    review : LiveReview
    name : str
    role : {"reader", "reviewer", "owner", "none"}
    """
    check_choice("role", role, (*ROLES, "none"))
    with store.write() as session:
        review.lock_project(session)
        user = session.scalar(select(User).where(User.name == name.strip(), User.active.is_(True)))
        if user is None:
            raise InputError(f"there is nobody called {name.strip()!r}; make an account first")
        members = session.scalars(select(Member).where(Member.project_id == review.id)).all()
        owners = [one.user_id for one in members if one.role == "owner"]
        if owners == [user.id] and role != "owner":
            raise InputError(f"{user.name} is the only owner of the project; make somebody else owner first")
        own = next((one for one in members if one.user_id == user.id), None)
        if own is not None and role == "none":
            session.delete(own)
        elif own is not None:
            own.role = role
        elif role != "none":
            session.add(Member(project_id=review.id, user_id=user.id, role=role))
        note_audit(session, by.name, f"role {role}", f"{user.name} in {review.name}")
