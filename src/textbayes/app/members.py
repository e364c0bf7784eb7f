"""Who may do what in a project."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from textbayes.app.database import FROM_FILE, ROLES, Member, User
from textbayes.app.live import LiveReview
from textbayes.app.people import names_of
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


class Stranger(NamedTuple):
    """A person whom the file of a project named.

    Parameters
    ----------
    name : str
    account : str
        Who it is; empty where it is nobody of this room, or nobody has said yet.
    decided : bool
        Whether somebody has said who it is.
    offered : str
        An account of the same name, if there is one.
    """

    name: str
    account: str
    decided: bool
    offered: str


def list_strangers(store: Store, review: LiveReview) -> list[Stranger]:
    """The people whom the file of a project named, and who they are."""
    with review.looking() as desk:
        found = {user: desk.matched.get(user) for user in sorted({*desk.unmatched, *desk.matched})}
        unmatched = set(desk.unmatched)
    if not found:
        return []
    with store.read() as session:
        people = list(session.scalars(select(User)))
    names = {one.id: one.name for one in people}
    accounts = {one.name.casefold(): one.name for one in people if one.active}
    return [
        Stranger(
            name=names.get(user, "?"),
            account=names.get(account or 0, ""),
            decided=user not in unmatched,
            offered=accounts.get(names.get(user, "").removesuffix(FROM_FILE).casefold(), ""),
        )
        for user, account in found.items()
    ]


def match_person(store: Store, by: User, review: LiveReview, name: str, account: str) -> None:
    """Say who a person is whom the file of a project named; nobody is then the second reader of what they read.

    Parameters
    ----------
    store : Store
    by : User
        Who says it.
    review : LiveReview
    name : str
        As :func:`list_strangers` has it.
    account : str
        Name of an account; empty for somebody who has none here.
    """
    numbers = {known: number for number, known in names_of(store).items()}
    stranger, found = numbers.get(name), numbers.get(account.strip())
    with review.looking() as desk:
        known = stranger in desk.unmatched or stranger in desk.matched
        is_account = found is not None and found not in desk.unmatched and found not in desk.matched
    if stranger is None or not known:
        raise InputError(f"the file of this project named nobody called {name!r}")
    if account.strip() and not is_account:
        raise InputError(f"there is no account {account.strip()!r}; make it first, or leave it empty")
    entry = {"kind": "person", "user": stranger, "account": found if account.strip() else None}
    what = f"{name} is {account.strip() or 'nobody here'} in {review.name}"
    review.step(by.id, lambda desk: [entry], lambda session: note_audit(session, by.name, "match person", what))


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
