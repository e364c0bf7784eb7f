"""The list of projects, the way from a file to a new one, and the page of a project's settings."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app import judging
from textbayes.app.access import Access, Owner, Reader, Registry, SignedIn, Writer, check_team
from textbayes.app.accounts import list_members, list_strangers, match_person, set_role
from textbayes.app.categories import NewCategories, create_categories
from textbayes.app.duplicates import list_duplicates, merge, unmerge
from textbayes.app.exports import CATEGORY_KINDS, KINDS, OF_RECORDS, export, read_project
from textbayes.app.importing import Mapping, drop_upload, find_upload, keep_upload, preview, read_records
from textbayes.app.invites import DAYS, list_invites, make_invite, withdraw
from textbayes.app.labelling import read_labels
from textbayes.app.live import CATEGORIES, SCREENING
from textbayes.app.pages.render import page
from textbayes.app.projects import Added, NewProject, add_records, delete_project, list_projects, project_of_file
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.screen import ScreenSettings
from textbayes.screen.settings import TOPIC

router = APIRouter()
Given = dict[str, str | bool]  # what the form of a new project has
_NOTHING: Given = {
    "name": "",
    "questions": "",
    "double": False,
    "learns": "settled",
    "take_answers": False,
    "kind": SCREENING,
    "labels": "",
    "several": False,
    "hide_guess": False,
}


@router.get("/")
def home(request: Request, registry: Registry, who: SignedIn) -> HTMLResponse:
    """All projects of a person."""
    return page(request, "home.html.jinja", who, projects=list_projects(registry, who.user))


@router.post("/uploads")
def upload(registry: Registry, who: Writer, file: Annotated[UploadFile, File()]) -> Response:
    """Take a file; a project that was exported is read at once, any other is looked at first."""
    content, name = file.file.read(), file.filename or "records"
    if name.lower().endswith(".zip"):
        id = read_project(registry, who.user, content)
        after = "settings" if list_strangers(registry.store, registry.review(id)) else "judge"
        return RedirectResponse(f"/projects/{id}/{after}", 303)
    return RedirectResponse(f"/uploads/{keep_upload(registry.store, who.user, name, content)}", 303)


@router.get("/uploads/{upload_id}")
def look(request: Request, registry: Registry, who: SignedIn, upload_id: str) -> HTMLResponse:
    """Show what a file holds, and ask what it is for."""
    return _look(request, registry, who, upload_id, Mapping(), _NOTHING)


@router.post("/uploads/{upload_id}")
def take(
    request: Request,
    registry: Registry,
    who: Writer,
    upload_id: str,
    name: Annotated[str, Form()] = "",
    questions: Annotated[str, Form()] = "",
    title_field: Annotated[str, Form()] = "",
    text_field: Annotated[str, Form()] = "",
    id_field: Annotated[str, Form()] = "",
    prior: Annotated[str, Form()] = "none",
    double: Annotated[bool, Form()] = False,
    learns: Annotated[str, Form()] = "settled",
    take_answers: Annotated[bool, Form()] = False,
    kind: Annotated[str, Form()] = SCREENING,
    labels: Annotated[str, Form()] = "",
    several: Annotated[bool, Form()] = False,
    hide_guess: Annotated[bool, Form()] = False,
    action: Annotated[str, Form()] = "create",
) -> Response:
    """Make a project of a file, or look at it again with other fields."""
    columns = (title_field, text_field) if text_field not in ("", title_field) else (title_field,)
    mapping = Mapping(columns if any(columns) else (), id_field)
    if action == "look":
        given: Given = {
            "name": name, "questions": questions, "double": double, "learns": learns, "take_answers": take_answers,
            "kind": kind, "labels": labels, "several": several, "hide_guess": hide_guess,
        }  # fmt: skip
        return _look(request, registry, who, upload_id, mapping, given)
    sent = find_upload(registry.store, who.user, upload_id)
    read = read_records(sent.name, sent.content, mapping)
    check_choice("kind", kind, (SCREENING, CATEGORIES))
    if kind == CATEGORIES:
        plan = NewCategories(name or sent.name, read_labels(labels), several, show_guess=not hide_guess, double=double)
        id = create_categories(registry, who.user, plan, read.records)
    else:
        topics = topics_of(questions)
        settings = ScreenSettings(topics=tuple(topics), questions={k: v for k, v in topics.items() if v})
        screening = NewProject(name or sent.name, settings, double, prior, learns if double else "settled")
        id = project_of_file(registry, who.user, screening, read, take_answers)
    registry.review(id)  # reads all records, here rather than at the first look
    drop_upload(registry.store, upload_id)
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
    request: Request, registry: Registry, who: SignedIn, upload_id: str, mapping: Mapping, given: Given
) -> HTMLResponse:
    sent = find_upload(registry.store, who.user, upload_id)
    seen = preview(sent.name, sent.content, mapping)
    return page(request, "preview.html.jinja", who, upload_id=upload_id, seen=seen, given=given)


settings_router = APIRouter(prefix="/projects/{project_id}")


@settings_router.get("/settings")
def settings_page(request: Request, registry: Registry, who: Reader, topic: str | None = None) -> HTMLResponse:
    """All settings."""
    return _settings(request, registry, who, topic)


@settings_router.post("/strategy")
def change_strategy(who: Owner, strategy: Annotated[str, Form()]) -> Response:
    """Hand records out by another strategy from now on."""
    entry = who.review.as_it_is.change_of_strategy(strategy.strip())
    who.review.step(who.user.id, lambda assignments: [entry])
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@settings_router.post("/records")
def more_records(
    request: Request,
    registry: Registry,
    who: Owner,
    file: Annotated[UploadFile, File()],
    take_answers: Annotated[bool, Form()] = False,
) -> HTMLResponse:
    """Add records while work goes on."""
    read = read_records(file.filename or "records", file.file.read())
    added = add_records(who.review, who.user, read, take_answers)
    return _settings(request, registry, who, None, added)


@settings_router.post("/goal")
def change_goal(
    who: Owner, target: Annotated[float, Form(ge=1, le=100)], confidence: Annotated[float, Form(ge=1, le=99.9)]
) -> Response:
    """Choose anew when to stop; both in percent."""
    judging.change_goal(who.review, who.user.id, target / 100.0, confidence / 100.0)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@settings_router.get("/duplicates")
def duplicates(request: Request, who: Reader, start: int = 0) -> HTMLResponse:
    """Records that were merged, beside those that they were merged into."""
    return page(request, "duplicates.html.jinja", who, found=list_duplicates(who.review, start))


@settings_router.post("/duplicates")
def separate(who: Owner, number: Annotated[int, Form(ge=0, lt=1 << 31)]) -> Response:
    """Make a duplicate a record of its own."""
    unmerge(who.review, who.user, number)
    return RedirectResponse(f"/projects/{who.review.id}/duplicates", 303)


@settings_router.post("/duplicates/merge")
def merge_records(who: Owner, id: Annotated[str, Form()], into: Annotated[str, Form()]) -> Response:
    """Take a record for the same paper as another one."""
    merge(who.review, who.user, id.strip(), into.strip())
    return RedirectResponse(f"/projects/{who.review.id}/duplicates", 303)


@settings_router.post("/lists")
def change_lists(who: Owner, reasons: Annotated[str, Form()] = "", tags: Annotated[str, Form()] = "") -> Response:
    """Give the project other reasons for exclusion and tags, one on each line."""
    judging.change_lists(who.review, who.user.id, reasons.splitlines(), tags.splitlines())
    return RedirectResponse(f"/projects/{who.review.id}/settings#lists", 303)


@settings_router.get("/export.{kind}")
def export_file(registry: Registry, who: Reader, kind: str, topic: str | None = None, only: str = "all") -> Response:
    """A table of decisions, the model, or the whole project as a file."""
    return export(registry, who.review, who.queue_of(topic or who.first_topic), kind, only).answer()


@settings_router.post("/members")
def change_member(
    registry: Registry, who: Owner, name: Annotated[str, Form()], role: Annotated[str, Form()]
) -> Response:
    """Share the project with somebody, or no longer."""
    set_role(registry.store, who.user, who.review, name, role)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@settings_router.post("/invites")
def invite(
    request: Request,
    registry: Registry,
    who: Owner,
    role: Annotated[str, Form()] = "reviewer",
    days: Annotated[float, Form()] = DAYS,
    uses: Annotated[int, Form()] = 1,
) -> HTMLResponse:
    """Make a link by which people join, and show it, once."""
    check_team(request)
    made = make_invite(registry.store, who.user, who.review.id, role, days, uses)
    return _settings(request, registry, who, None, link=request.app.state.settings.origin + made)


@settings_router.post("/invites/{invite_id}/withdraw")
def withdraw_invite(registry: Registry, who: Owner, invite_id: str) -> Response:
    """Let a link open nothing any more."""
    withdraw(registry.store, who.user, who.review.id, invite_id)
    return RedirectResponse(f"/projects/{who.review.id}/settings#invites", 303)


@settings_router.post("/people")
def match(
    registry: Registry, who: Owner, name: Annotated[str, Form()], account: Annotated[str, Form()] = ""
) -> Response:
    """Say who a person is whom the file of the project named."""
    match_person(registry.store, who.user, who.review, name, account)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@settings_router.post("/unblind")
def unblind(who: Owner) -> Response:
    """See all answers, and read no more."""
    judging.unblind(who.review, who.user.id)
    return RedirectResponse(f"/projects/{who.review.id}/settings", 303)


@settings_router.post("/delete")
def delete(registry: Registry, who: Owner, name: Annotated[str, Form()] = "") -> Response:
    """Delete the project, if its name is given as it is."""
    if name.strip() != who.review.name:
        raise InputError(f"write the name of the project, “{who.review.name}”, to delete it")
    delete_project(registry, who.review, who.user)
    return RedirectResponse("/", 303)


def _settings(
    request: Request,
    registry: Registry,
    who: Access,
    topic: str | None,
    added: Added | None = None,
    link: str = "",
) -> HTMLResponse:
    members, reviewer = list_members(registry.store, who.review.id), who.queue_of(topic or who.first_topic)
    strangers = list_strangers(registry.store, who.review)
    invites = list_invites(registry.store, who.review.id) if who.may("owner") else []
    with who.review.looking() as assignments:
        unblinded, marks = assignments.sees_all(who.user.id), assignments.marks
    kinds = CATEGORY_KINDS if who.review.kind == CATEGORIES else KINDS
    return page(
        request, "settings.html.jinja", who, topic=reviewer.topic, members=members, kinds=kinds, of_records=OF_RECORDS,
        strangers=strangers, unblinded=unblinded, marks=marks, added=added, invites=invites, link=link,
    )  # fmt: skip
