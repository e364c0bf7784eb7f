"""Projects: make, look at, change, export, delete."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Response, UploadFile

from textbayes.app.access import Access, Owner, Reader, RoomOf, SignedIn, Writer
from textbayes.app.api.schemas import (
    MergedRecord,
    ProjectListed,
    ProjectMade,
    ProjectTold,
    RecordsAdded,
    StrategyChange,
)
from textbayes.app.exports import export
from textbayes.app.figures import picture
from textbayes.app.importing import Mapping, read_records
from textbayes.app.project_file import read_project
from textbayes.app.projects import Plan, add_records, create_project, delete_project, list_projects
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings
from textbayes.screen.duplicates import Merged
from textbayes.screen.settings import TOPIC

router = APIRouter(prefix="/projects", tags=["projects"])
Topic = Annotated[str | None, Query(max_length=4_000, description="Needed where a project has several.")]


@router.get("")
def projects(room: RoomOf, who: SignedIn) -> list[ProjectListed]:
    """List the projects that are shared with you."""
    return [ProjectListed(**one._asdict()) for one in list_projects(room, who.user)]


@router.post("", status_code=201)
def make_project(
    room: RoomOf,
    who: Writer,
    file: Annotated[UploadFile, File(description="RIS, PubMed, EndNote XML, BibTeX, CSV, TSV, XLSX or JSON lines.")],
    name: Annotated[str, Form(max_length=200)],
    questions: Annotated[str, Form(description="JSON: topic → question; or one question.")] = "",
    text_fields: Annotated[str, Form(description="Fields of title and text, with commas; guessed if empty.")] = "",
    id_field: Annotated[str, Form()] = "",
    strategy: Annotated[str, Form()] = "likely",
    prior: Annotated[str, Form(description="reviews or none.")] = "reviews",
    double: Annotated[bool, Form(description="Two people read every record.")] = False,
) -> ProjectMade:
    """Make a project of a file."""
    mapping = Mapping(tuple(field.strip() for field in text_fields.split(",") if field.strip()), id_field)
    records, merged = read_records(file.filename or "records", file.file.read(), mapping)
    asked = _questions(questions)
    settings = ScreenSettings(
        topics=tuple(asked), questions={topic: text for topic, text in asked.items() if text}, strategy=strategy
    )
    id = create_project(room, who.user, Plan(name, settings, double, prior), records)
    return ProjectMade(id=id, n_records=len(records), merged=_merged(merged))


@router.post("/import", status_code=201)
def import_project(room: RoomOf, who: Writer, file: Annotated[UploadFile, File()]) -> ProjectTold:
    """Read a project again that was exported as zip."""
    id = read_project(room, who.user, file.file.read())
    return _told(Access(who.user, room.review(id), "owner", ""))


@router.get("/{project_id}")
def project(who: Reader) -> ProjectTold:
    """Look at a project and its settings."""
    return _told(who)


@router.patch("/{project_id}")
def change_strategy(who: Owner, change: StrategyChange) -> ProjectTold:
    """Hand records out by another strategy from now on."""
    entry = who.review.screening.change_of_strategy(change.strategy.strip())
    who.review.step(who.user.id, lambda desk: [entry])
    with who.review.model():
        return _told(who)


@router.delete("/{project_id}", status_code=204)
def remove_project(room: RoomOf, who: Owner) -> None:
    """Delete a project with everything in it."""
    delete_project(room, who.review, who.user)


@router.post("/{project_id}/records", status_code=201)
def more_records(who: Owner, file: Annotated[UploadFile, File()]) -> RecordsAdded:
    """Add records while work goes on; those that are there already are merged."""
    records, merged = read_records(file.filename or "records", file.file.read())
    added = add_records(who.review, who.user, records)
    return RecordsAdded(n_added=added.n_added, merged=_merged([*merged, *added.merged]))


@router.get("/{project_id}/export.{kind}", response_class=Response)
def export_file(room: RoomOf, who: Reader, kind: str, topic: Topic = None) -> Response:
    """Take along decisions (csv, xlsx, jsonl, ris, bib, nbib, xml), the model (tb), or everything (zip)."""
    return export(room, who.review, who.place(topic), kind).answer()


@router.get("/{project_id}/figures/{figure}.{format}", response_class=Response)
def figure(who: Reader, figure: str, format: str, topic: Topic = None) -> Response:
    """Draw recall, left, probabilities or words, as svg or png."""
    return picture(who.review, who.place(topic).topic, figure, format).answer()


def _told(who: Access) -> ProjectTold:
    settings = who.review.screening.settings
    return ProjectTold(
        id=who.review.id, name=who.review.name, role=who.role, n_records=who.review.collection.n_records,
        topics=list(settings.topics), questions=dict(settings.questions), strategy=settings.strategy,
        double=bool(who.review.settings.get("double")), target=settings.target, confidence=settings.confidence,
    )  # fmt: skip


def _questions(given: str) -> dict[str, str]:
    if not given.lstrip().startswith("{"):
        return {TOPIC: given.strip()}
    try:
        told = json.loads(given)
    except (ValueError, RecursionError):
        raise InputError("questions is not JSON; give topics and questions as an object, or one question") from None
    if not told or not all(isinstance(value, str) and 0 < len(name) <= 200 for name, value in told.items()):
        raise InputError("questions must be an object of topics and questions, such as {'harms': 'adverse events'}")
    return {str(name): value for name, value in told.items()}


def _merged(merged: list[Merged]) -> list[MergedRecord]:
    return [MergedRecord(**one._asdict()) for one in merged]
