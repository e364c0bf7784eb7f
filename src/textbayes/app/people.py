"""Accounts and the audit log, for administrators."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, select

from textbayes.app.database import Audit, Session, User
from textbayes.app.store import Store, note_audit
from textbayes.core.errors import InputError

_MOST_LOGGED = 200  # lines of the audit log at a time


def list_people(store: Store) -> list[User]:
    """All accounts, by name."""
    with store.read() as session:
        return list(session.scalars(select(User).order_by(User.name)))


def names_of(store: Store) -> dict[int, str]:
    """The names of all people, also of those who cannot log in, by their numbers."""
    with store.read() as session:
        return {row.id: row.name for row in session.execute(select(User.id, User.name))}


def by_name(store: Store, told: Mapping[int, str]) -> dict[str, str]:
    """What people said, by their names."""
    people = names_of(store) if told else {}
    return {people.get(user, "?"): text for user, text in told.items()}


def audit_log(store: Store) -> list[Audit]:
    """What was done lately, newest first."""
    with store.read() as session:
        return list(session.scalars(select(Audit).order_by(Audit.id.desc()).limit(_MOST_LOGGED)))


def find_person(store: Store, user_id: int) -> User:
    """An account with a password."""
    with store.read() as session:
        found = session.get(User, user_id) if user_id < 1 << 31 else None
    if found is None or found.password is None:
        raise InputError("there is no such account")
    return found


def set_active(store: Store, by: User, user_id: int, active: bool) -> None:
    """Lock an account, or open it again; what the person did stays.

    Parameters
    ----------
    store : Store
    by : User
        Who does it.
    user_id : int
    active : bool
    """
    find_person(store, user_id)
    if user_id == by.id:
        raise InputError("you cannot lock your own account; ask another administrator")
    with store.write() as session:
        user = session.get_one(User, user_id)
        user.active = active
        session.execute(delete(Session).where(Session.user_id == user_id))
        note_audit(session, by.name, "open account" if active else "lock account", user.name)
