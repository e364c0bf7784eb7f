"""The page where records are read and answered."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, BackgroundTasks, Form, Request, Response
from fastapi.responses import RedirectResponse

from textbayes.app import judging
from textbayes.app.access import Access, Reader, Reviewer
from textbayes.app.desk import Place
from textbayes.app.entries import Key
from textbayes.app.pages.render import page
from textbayes.app.showing import Shown

router = APIRouter(prefix="/projects/{project_id}")
FormKey = Annotated[Key | None, Form(description="What is sent again with its key is kept once.")]
_PART = "x-part"  # header of a request by script, which wants the records and not the whole page


@router.get("")
def project(who: Reader) -> Response:
    """Go on where people are most of the time."""
    return RedirectResponse(f"/projects/{who.review.id}/{'judge' if _reads(who) else 'dashboard'}", 303)


@router.get("/judge")
def judge_page(request: Request, who: Reader, topic: str | None = None) -> Response:
    """The record to read now, and the next."""
    place = who.place(topic or who.first_topic)
    shown = judging.queue(who.review, place) if _reads(who) else []
    return _answer(request, who, place, shown)


@router.post("/judge")
def judge(
    request: Request,
    who: Reviewer,
    later: BackgroundTasks,
    id: Annotated[str, Form()],
    answer: Annotated[str, Form()],
    topic: Annotated[str | None, Form()] = None,
    key: FormKey = None,
    replace: Annotated[bool, Form()] = False,
) -> Response:
    """Keep an answer, or put a record aside; what comes next lies on the desk already."""
    place = who.place(topic or who.first_topic)
    if answer == "skip":
        judging.skip(who.review, place, id, key)
    else:
        judging.judge(who.review, place, id, answer, key, replace)
    later.add_task(judging.top_up, who.review, place)
    return _answer(request, who, place, judging.on_desk(who.review, place))


@router.post("/undo")
def undo(request: Request, who: Reviewer, topic: Annotated[str | None, Form()] = None, key: FormKey = None) -> Response:
    """Take back the last answer."""
    place = who.place(topic or who.first_topic)
    judging.undo(who.review, place, key)
    return _answer(request, who, place, judging.on_desk(who.review, place))


@router.post("/note")
def note(
    request: Request,
    who: Reviewer,
    id: Annotated[str, Form()],
    text: Annotated[str, Form()] = "",
    topic: Annotated[str | None, Form()] = None,
    key: FormKey = None,
) -> Response:
    """Keep one's note to a record."""
    judging.write_note(who.review, who.user.id, id, text, key)
    place = who.place(topic or who.first_topic)
    return _answer(request, who, place, judging.on_desk(who.review, place))


def _reads(who: Access) -> bool:
    with who.review.looking() as desk:
        return who.may("reviewer") and not desk.sees_all(who.user.id)


def _answer(request: Request, who: Access, place: Place, shown: list[Shown]) -> Response:
    """The records for a script, the page for a person, or the way to the page after a form was sent."""
    with who.review.looking() as desk:
        n_read = len(desk.history[place])
    content: dict[str, Any] = {"shown": shown, "n_read": n_read, "topic": place.topic}
    if _PART in request.headers:
        return page(request, "records_part.html.jinja", who, **content)
    if request.method == "POST":
        return RedirectResponse(f"/projects/{who.review.id}/judge?{urlencode({'topic': place.topic})}", 303)
    return page(request, "judge.html.jinja", who, n_records=who.review.collection.n_records, **content)
