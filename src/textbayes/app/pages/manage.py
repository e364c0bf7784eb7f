"""The page of a project's settings: strategy, more records, export, members, deletion."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import judging
from textbayes.app.access import Access, Owner, Reader, RoomOf
from textbayes.app.exports import KINDS, export
from textbayes.app.importing import read_records
from textbayes.app.members import list_members, list_strangers, match_person, set_role
from textbayes.app.pages.render import page
from textbayes.app.projects import add_records, delete_project
from textbayes.core.errors import InputError
from textbayes.screen.duplicates import Merged

router = APIRouter(prefix="/projects/{project_id}")


@router.get("/settings")
def settings_page(request: Request, room: RoomOf, who: Reader, topic: str | None = None) -> HTMLResponse:
    """All settings."""
    return _settings(request, room, who, topic)


@router.post("/strategy")
def change_strategy(who: Owner, strategy: Annotated[str, Form()]) -> Response:
    """Hand records out by another strategy from now on."""
    entry = who.review.screening.change_of_strategy(strategy.strip())
    who.review.step(who.user.id, lambda desk: [entry])
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@router.post("/records")
def more_records(request: Request, room: RoomOf, who: Owner, file: Annotated[UploadFile, File()]) -> HTMLResponse:
    """Add records while work goes on."""
    records, merged = read_records(file.filename or "records", file.file.read())
    added = add_records(who.review, who.user, records)
    return _settings(request, room, who, None, added.n_added, [*merged, *added.merged])


@router.get("/export.{kind}")
def export_file(room: RoomOf, who: Reader, kind: str, topic: str | None = None) -> Response:
    """A table of decisions, the model, or the whole project as a file."""
    return export(room, who.review, who.place(topic or who.first_topic), kind).answer()


@router.post("/members")
def change_member(room: RoomOf, who: Owner, name: Annotated[str, Form()], role: Annotated[str, Form()]) -> Response:
    """Share the project with somebody, or no longer."""
    set_role(room.store, who.user, who.review, name, role)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@router.post("/people")
def match(room: RoomOf, who: Owner, name: Annotated[str, Form()], account: Annotated[str, Form()] = "") -> Response:
    """Say who a person is whom the file of the project named."""
    match_person(room.store, who.user, who.review, name, account)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@router.post("/unblind")
def unblind(who: Owner) -> Response:
    """See all answers, and read no more."""
    judging.unblind(who.review, who.user.id)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@router.post("/delete")
def delete(room: RoomOf, who: Owner, name: Annotated[str, Form()] = "") -> Response:
    """Delete the project, if its name is given as it is."""
    if name.strip() != who.review.name:
        raise InputError(f"write the name of the project, “{who.review.name}”, to delete it")
    delete_project(room, who.review, who.user)
    return RedirectResponse("/", 303)


def _settings(
    request: Request,
    room: RoomOf,
    who: Access,
    topic: str | None,
    n_added: int | None = None,
    merged: list[Merged] | None = None,
) -> HTMLResponse:
    members, place = list_members(room.store, who.review.id), who.place(topic or who.first_topic)
    strangers = list_strangers(room.store, who.review)
    with who.review.looking() as desk:
        unblinded = desk.sees_all(who.user.id)
    return page(
        request, "settings.html.jinja", who, topic=place.topic, members=members, kinds=KINDS, strangers=strangers,
        unblinded=unblinded,
        n_added=n_added, merged=merged or [],
    )  # fmt: skip
