"""Accounts, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from textbayes.app import accounts, people
from textbayes.app.access import Admin, AdminLooks, RoomOf
from textbayes.app.api.schemas import AuditTold, NewPerson, PersonChange, PersonTold
from textbayes.app.database import User

router = APIRouter(prefix="/people", tags=["people"])
UserId = Annotated[int, Path(ge=1, lt=1 << 31)]


@router.get("")
def list_people(room: RoomOf, who: AdminLooks) -> list[PersonTold]:
    """List all accounts."""
    return [_told(one) for one in people.list_people(room.store)]


@router.post("", status_code=201)
def make_account(room: RoomOf, who: Admin, given: NewPerson) -> PersonTold:
    """Make an account."""
    made = accounts.create_user(room.store, given.name, given.password, given.administrator, by=who.user.name)
    return _told(made)


@router.patch("/{user_id}", status_code=204)
def change(room: RoomOf, who: Admin, user_id: UserId, given: PersonChange) -> None:
    """Lock or open an account, or give it a new password."""
    person = people.find_person(room.store, user_id)
    if given.password is not None:
        accounts.set_password(room.store, person.id, given.password, by=who.user.name)
    if given.active is not None:
        people.set_active(room.store, who.user, person.id, given.active)


@router.get("/audit")
def audit(room: RoomOf, who: AdminLooks) -> list[AuditTold]:
    """See what was done lately to accounts, tokens and projects."""
    found = people.audit_log(room.store)
    return [AuditTold(time=one.time, user=one.user, action=one.action, what=one.what) for one in found]


def _told(user: User) -> PersonTold:
    return PersonTold(id=user.id, name=user.name, administrator=user.admin, active=user.active)
