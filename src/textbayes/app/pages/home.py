"""The list of projects, and the way from a file to a new one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app.access import RoomOf, SignedIn, Writer
from textbayes.app.importing import Mapping, preview, read_records
from textbayes.app.members import list_strangers
from textbayes.app.pages.render import page
from textbayes.app.project_file import read_project
from textbayes.app.projects import Plan, create_project, list_projects
from textbayes.app.uploads import drop_upload, find_upload, keep_upload
from textbayes.screen import ScreenSettings
from textbayes.screen.settings import TOPIC

router = APIRouter()


@router.get("/")
def home(request: Request, room: RoomOf, who: SignedIn) -> HTMLResponse:
    """All projects of a person."""
    return page(request, "home.html.jinja", who, projects=list_projects(room, who.user))


@router.post("/uploads")
def upload(room: RoomOf, who: Writer, file: Annotated[UploadFile, File()]) -> Response:
    """Take a file; a project that was exported is read at once, any other is looked at first."""
    content, name = file.file.read(), file.filename or "records"
    if name.lower().endswith(".zip"):
        id = read_project(room, who.user, content)
        after = "settings" if list_strangers(room.store, room.review(id)) else "judge"
        return RedirectResponse(f"/projects/{id}/{after}", 303)
    return RedirectResponse(f"/uploads/{keep_upload(room.store, who.user, name, content)}", 303)


@router.get("/uploads/{upload_id}")
def look(request: Request, room: RoomOf, who: SignedIn, upload_id: str) -> HTMLResponse:
    """Show what a file holds, and ask what it is for."""
    return _look(request, room, who, upload_id, Mapping(), {"name": "", "questions": "", "double": False})


@router.post("/uploads/{upload_id}")
def take(
    request: Request,
    room: RoomOf,
    who: Writer,
    upload_id: str,
    name: Annotated[str, Form()] = "",
    questions: Annotated[str, Form()] = "",
    title_field: Annotated[str, Form()] = "",
    text_field: Annotated[str, Form()] = "",
    id_field: Annotated[str, Form()] = "",
    prior: Annotated[str, Form()] = "none",
    double: Annotated[bool, Form()] = False,
    action: Annotated[str, Form()] = "create",
) -> Response:
    """Make a project of a file, or look at it again with other fields."""
    mapping = Mapping(tuple(dict.fromkeys(field for field in (title_field, text_field) if field)), id_field)
    if action == "look":
        given: dict[str, str | bool] = {"name": name, "questions": questions, "double": double}
        return _look(request, room, who, upload_id, mapping, given)
    sent = find_upload(room.store, who.user, upload_id)
    records, _ = read_records(sent.name, sent.content, mapping)
    topics = topics_of(questions)
    settings = ScreenSettings(topics=tuple(topics), questions={k: v for k, v in topics.items() if v})
    id = create_project(room, who.user, Plan(name or sent.name, settings, double, prior), records)
    room.review(id)  # reads all records, here rather than at the first look
    drop_upload(room.store, upload_id)
    return RedirectResponse(f"/projects/{id}/judge", 303)


def topics_of(questions: str) -> dict[str, str]:
    """Topics and their questions: one question, or lines such as ``harms: adverse events of …``.

    >>> topics_of("green tea and blood pressure")
    {'relevant': 'green tea and blood pressure'}
    >>> topics_of("tea: green tea\\nharms: adverse events")
    {'tea': 'green tea', 'harms': 'adverse events'}
    """
    lines = [line.strip() for line in questions.splitlines() if line.strip()]
    named = [line.partition(":") for line in lines]
    if len(lines) > 1 and all(mark and name.strip() and len(name) <= 40 for name, mark, _ in named):
        return {name.strip(): question.strip() for name, _, question in named}
    return {TOPIC: " ".join(lines)}


def _look(
    request: Request, room: RoomOf, who: SignedIn, upload_id: str, mapping: Mapping, given: dict[str, str | bool]
) -> HTMLResponse:
    sent = find_upload(room.store, who.user, upload_id)
    seen = preview(sent.name, sent.content, mapping)
    return page(request, "preview.html.jinja", who, upload_id=upload_id, seen=seen, given=given)
