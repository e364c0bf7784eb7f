"""The list of all records, and each by itself."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from textbayes.app.access import Reader
from textbayes.app.listing import FILTERS, list_records
from textbayes.app.pages.render import page
from textbayes.app.people import by_name, names_of
from textbayes.app.showing import show as show_record

router = APIRouter(prefix="/projects/{project_id}")


@router.get("/records")
def records_page(
    request: Request, who: Reader, topic: str | None = None, show: str = "all", find: str = "", start: int = 0
) -> HTMLResponse:
    """Records with what stands of each, some at a time."""
    place = who.place(topic or who.first_topic)
    listed = list_records(who.review, place, show, find, start)
    return page(
        request, "records.html.jinja", who, topic=place.topic, listed=listed, filters=FILTERS, show=show, find=find,
        people=names_of(who.review.store),
    )  # fmt: skip


@router.get("/record")
def record_page(request: Request, who: Reader, id: str, topic: str | None = None) -> HTMLResponse:
    """One record, to look at or to answer anew."""
    place = who.place(topic or who.first_topic)
    shown = show_record(who.review, place, id)
    notes = by_name(who.review.store, shown.notes)
    return page(request, "record.html.jinja", who, topic=place.topic, record=shown, notes=notes)
