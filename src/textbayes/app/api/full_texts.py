"""Full texts: the records of the second stage and their PDFs. They are judged with the topic of the stage."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Path, Query, Response, UploadFile

from textbayes.app.access import Reader, Reviewer
from textbayes.app.api import schemas
from textbayes.app.full_texts import add_full_text, find_full_text, list_full_texts, remove_full_text
from textbayes.app.stages import full_text_of

router = APIRouter(prefix="/projects/{project_id}", tags=["full texts"])
RecordId = Annotated[str, Path(max_length=500)]
Topic = Annotated[str | None, Query(max_length=4_000, description="Needed where a project has several.")]


@router.get("/full-texts")
def full_texts(who: Reader, topic: Topic = None) -> schemas.FullTexts:
    """List the records that are included on title and abstract, and the topic under which full texts are judged."""
    reviewer = who.queue_of(topic)
    reviewer = reviewer._replace(topic=full_text_of(reviewer.topic))
    rows = [schemas.FullTextListed(**one._asdict()) for one in list_full_texts(who.review, reviewer)]
    return schemas.FullTexts(topic=reviewer.topic, records=rows)


@router.put("/records/{record_id}/full-text")
def add(who: Reviewer, record_id: RecordId, file: Annotated[UploadFile, File()]) -> schemas.FullTextAdded:
    """Keep the PDF of a record, in place of the one there was."""
    has_text = add_full_text(who.review, who.user.id, record_id, file.filename or "", file.file.read())
    return schemas.FullTextAdded(has_text=has_text)


@router.get("/records/{record_id}/full-text", response_class=Response)
def full_text(who: Reader, record_id: RecordId) -> Response:
    """Take along the PDF of a record."""
    return find_full_text(who.review, record_id).answer()


@router.delete("/records/{record_id}/full-text", status_code=204)
def remove(who: Reviewer, record_id: RecordId) -> None:
    """Remove the PDF of a record."""
    remove_full_text(who.review, who.user.id, record_id)
