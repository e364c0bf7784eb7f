"""The page that says how a project stands, its drawings as files, and the one that settles conflicts."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from textbayes.app import judging
from textbayes.app.access import Access, Owner, Reader
from textbayes.app.dashboard import agreements, costs_of_certainty, project_status
from textbayes.app.figures import DRAWINGS, Seen, page_svg, picture
from textbayes.app.pages.render import page
from textbayes.app.people import names_of
from textbayes.app.showing import show

router = APIRouter(prefix="/projects/{project_id}")
_MOST_CONFLICTS = 50  # of a page


@router.get("/dashboard")
def dashboard(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """Gauge, curve, forecast, probabilities and words."""
    name = who.place(topic or who.first_topic).topic
    status = project_status(who.review, name)
    with who.review.model() as screening:
        seen = Seen.of(screening, name)
    costs = costs_of_certainty(seen.state, seen.target, status["seconds_each"])
    drawings = {kind: Markup(page_svg(kind, seen)) for kind in DRAWINGS}
    return page(
        request, "dashboard.html.jinja", who, topic=name, status=status, costs=costs, drawings=drawings,
        agreements=_named(who, name),
    )  # fmt: skip


@router.get("/figures/{kind}.{format}")
def figure(who: Reader, kind: str, format: str, topic: str | None = None) -> Response:
    """A drawing as a file."""
    return picture(who.review, who.place(topic or who.first_topic).topic, kind, format).answer()


@router.get("/conflicts")
def conflicts(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """Records that people answered differently."""
    place = who.place(topic or who.first_topic)
    name = place.topic
    with who.review.looking() as desk:
        found = desk.conflicts(name)
    people = names_of(who.review.store)
    rows = [
        (show(who.review, place, one.id), {people.get(user, "?"): said for user, said in one.answers.items()})
        for one in found[:_MOST_CONFLICTS]
    ]
    return page(
        request, "conflicts.html.jinja", who, topic=name, rows=rows, n_conflicts=len(found),
        agreements=_named(who, name),
    )  # fmt: skip


@router.post("/conflicts")
def settle(
    who: Owner, id: Annotated[str, Form()], answer: Annotated[str, Form()], topic: Annotated[str | None, Form()] = None
) -> Response:
    """Settle a conflict."""
    place = who.place(topic or who.first_topic)
    judging.settle(who.review, place, id, answer)
    return RedirectResponse(f"/projects/{who.review.id}/conflicts?{urlencode({'topic': place.topic})}", 303)


def _named(who: Access, topic: str) -> list[tuple[str, str, int, int, float | None]]:
    with who.review.looking() as desk:
        found = agreements(desk, topic)
    people = names_of(who.review.store)
    return [
        (people.get(one.users[0], "?"), people.get(one.users[1], "?"), one.n_records, one.n_same, one.kappa)
        for one in found
    ]
