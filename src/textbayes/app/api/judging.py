"""Reading, answering, words, and how things stand."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Path, Query

from textbayes.app import judging
from textbayes.app.access import Access, Reader, Reviewer
from textbayes.app.api import schemas
from textbayes.app.api.projects import Topic
from textbayes.app.dashboard import project_status
from textbayes.app.listing import FILTERS, list_records
from textbayes.app.people import by_name
from textbayes.app.showing import Shown
from textbayes.app.showing import show as show_record
from textbayes.app.words import said_words, say, strong_words

router = APIRouter(prefix="/projects/{project_id}", tags=["judging"])
RecordId = Annotated[str, Path(max_length=500)]


@router.get("/queue")
def queue(who: Reviewer, topic: Topic = None) -> list[schemas.RecordShown]:
    """Ask for the record to read now and the one after it; they are yours until they are answered."""
    return [_shown(who, one) for one in judging.queue(who.review, who.place(topic))]


@router.post("/judgements", status_code=201)
def judge(who: Reviewer, later: BackgroundTasks, given: schemas.Judgement) -> list[schemas.RecordShown]:
    """Keep an answer, which is in the database when this returns; the records that lie ready next are sent back."""
    place = who.place(given.topic)
    judging.judge(who.review, place, given.id, given.answer, given.key, given.replace)
    later.add_task(judging.top_up, who.review, place)
    return [_shown(who, one) for one in judging.on_desk(who.review, place)]


@router.post("/undo")
def undo(who: Reviewer, given: schemas.Undo) -> schemas.Undone:
    """Take back your last answer."""
    return schemas.Undone(id=judging.undo(who.review, who.place(given.topic), given.key))


@router.post("/skips", status_code=204)
def skip(who: Reviewer, given: schemas.Skip) -> None:
    """Put a record aside; it comes again when nothing else is left."""
    judging.skip(who.review, who.place(given.topic), given.id, given.key)


@router.get("/records")
def records(
    who: Reader,
    topic: Topic = None,
    show: Annotated[str, Query(description=", ".join(FILTERS))] = "all",
    find: Annotated[str, Query(max_length=200)] = "",
    start: Annotated[int, Query(ge=0, lt=1 << 31)] = 0,
) -> schemas.RecordList:
    """List records, fifty at a time."""
    found = list_records(who.review, who.place(topic), show, find, start)
    rows = [
        schemas.RecordListed(**{**one._asdict(), "notes": by_name(who.review.store, one.notes)})
        for one in found.records
    ]
    return schemas.RecordList(records=rows, start=found.start, n_found=found.n_found)


@router.get("/records/{record_id}")
def record(who: Reader, record_id: RecordId, topic: Topic = None) -> schemas.RecordShown:
    """Look at one record."""
    return _shown(who, show_record(who.review, who.place(topic), record_id))


@router.put("/records/{record_id}/note", status_code=204)
def note(who: Reviewer, record_id: RecordId, given: schemas.Note) -> None:
    """Keep your note to a record, in place of the one there was."""
    judging.write_note(who.review, who.user.id, record_id, given.text, given.key)


@router.get("/words")
def words(who: Reader, topic: Topic = None) -> schemas.Words:
    """See what was said of words, what became of it, and the strongest words of the model."""
    name = who.place(topic).topic
    with who.review.model() as screening:
        said, strong = said_words(screening, name), strong_words(screening, name)
    return schemas.Words(
        said=[schemas.WordSaid(**one._asdict()) for one in said],
        strongest=[schemas.WordLearnt(**one._asdict()) for one in strong],
    )


@router.post("/words", status_code=204)
def say_word(who: Reviewer, given: schemas.Word) -> None:
    """Favour or disfavour a word, or forget it; the queue is ranked anew at once."""
    say(who.review, who.place(given.topic), given.word, given.direction)


@router.get("/status")
def status(who: Reader, topic: Topic = None) -> schemas.Status:
    """See what was found, what is left, and whether enough was read."""
    return schemas.Status(**project_status(who.review, who.place(topic).topic))


def _shown(who: Access, one: Shown) -> schemas.RecordShown:
    told = one._asdict()
    told.pop("heading")
    text, notes = "".join(part.text for part in one.text), by_name(who.review.store, one.notes)
    return schemas.RecordShown(**{**told, "text": text, "notes": notes})
