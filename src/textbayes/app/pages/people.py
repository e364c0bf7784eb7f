"""The page of accounts and of the audit log, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import accounts, people
from textbayes.app.access import Admin, AdminLooks, RoomOf
from textbayes.app.pages.render import page

router = APIRouter(prefix="/people")


@router.get("")
def people_page(request: Request, room: RoomOf, who: AdminLooks) -> HTMLResponse:
    """All accounts, and what was done lately."""
    found, logged = people.list_people(room.store), people.audit_log(room.store)
    return page(request, "people.html.jinja", who, people=found, logged=logged)


@router.post("")
def make_account(
    room: RoomOf,
    who: Admin,
    name: Annotated[str, Form()],
    password: Annotated[str, Form()],
    administrator: Annotated[bool, Form()] = False,
) -> Response:
    """Make an account."""
    accounts.create_user(room.store, name, password, administrator, by=who.user.name)
    return RedirectResponse("/people", 303)


@router.post("/{user_id}/password")
def reset_password(room: RoomOf, who: Admin, user_id: int, password: Annotated[str, Form()]) -> Response:
    """Give somebody a new password."""
    person = people.find_person(room.store, user_id)
    accounts.set_password(room.store, person.id, password, by=who.user.name)
    return RedirectResponse("/people", 303)


@router.post("/{user_id}/active")
def set_active(room: RoomOf, who: Admin, user_id: int, active: Annotated[bool, Form()] = False) -> Response:
    """Lock an account, or open it again."""
    people.set_active(room.store, who.user, user_id, active)
    return RedirectResponse("/people", 303)
