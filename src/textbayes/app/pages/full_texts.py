"""The pages of the second stage: which records are included, and their PDFs."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse

from textbayes.app.access import Access, Reader, Reviewer
from textbayes.app.full_texts import LARGEST_PDF, add_full_text, find_full_text, list_full_texts, remove_full_text
from textbayes.app.pages.render import page
from textbayes.app.stages import full_text_of

router = APIRouter(prefix="/projects/{project_id}")


@router.get("/full-texts")
def full_texts(request: Request, who: Reader, topic: str | None = None, scanned: str = "") -> HTMLResponse:
    """The records that are included on title and abstract, and their files; ``scanned`` is one without text."""
    reviewer = who.queue_of(full_text_of(topic or who.first_topic))
    listed = list_full_texts(who.review, reviewer)
    return page(
        request, "full_texts.html.jinja", who, topic=reviewer.topic, listed=listed, megabytes=LARGEST_PDF >> 20,
        scanned=scanned,
    )  # fmt: skip


@router.get("/full-text.pdf")
def full_text(who: Reader, id: str) -> Response:
    """The PDF of a record."""
    return find_full_text(who.review, id).answer()


@router.post("/full-texts")
def add(
    who: Reviewer,
    id: Annotated[str, Form()],
    file: Annotated[UploadFile, File()],
    topic: Annotated[str | None, Form()] = None,
    back: Annotated[str, Form()] = "full-texts",
) -> Response:
    """Keep the PDF of a record."""
    has_text = add_full_text(who.review, who.user.id, id, file.filename or "", file.file.read())
    return _back(who, topic, back, "" if has_text else id)


@router.post("/full-texts/remove")
def remove(who: Reviewer, id: Annotated[str, Form()], topic: Annotated[str | None, Form()] = None) -> Response:
    """Remove the PDF of a record."""
    remove_full_text(who.review, who.user.id, id)
    return _back(who, topic, "full-texts", "")


def _back(who: Access, topic: str | None, back: str, scanned: str) -> Response:
    stage = who.queue_of(full_text_of(topic or who.first_topic)).topic
    asked = {"topic": stage, **({"scanned": scanned} if scanned else {})}
    after = "judge" if back == "judge" and not scanned else "full-texts"
    return RedirectResponse(f"/projects/{who.review.id}/{after}?{urlencode(asked)}", 303)
