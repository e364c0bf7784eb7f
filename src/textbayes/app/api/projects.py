"""Projects: make, look at, change, export, delete; answering and words; members; full texts."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, File, Form, Path, Query, Request, Response, UploadFile

from textbayes.app import judging
from textbayes.app.access import Access, Owner, OwnerLooks, Reader, Registry, Reviewer, SignedIn, Writer, check_team
from textbayes.app.accounts import (
    ListedMember,
    Stranger,
    by_name,
    list_members,
    list_strangers,
    match_person,
    set_role,
)
from textbayes.app.api import schemas
from textbayes.app.api.schemas import (
    MergedRecord,
    ProjectDescription,
    ProjectMade,
    RecordsAdded,
    StrategyChange,
)
from textbayes.app.assignments import AHEAD
from textbayes.app.categories import NewCategories, create_categories, measure
from textbayes.app.dashboard import Disagreements, disagreements, picture, project_status
from textbayes.app.duplicates import list_duplicates, merge, unmerge
from textbayes.app.exports import export, read_project
from textbayes.app.full_texts import add_full_text, find_full_text, list_full_texts, remove_full_text
from textbayes.app.importing import Mapping, read_records
from textbayes.app.invites import ListedInvite, list_invites, make_invite, withdraw
from textbayes.app.labelling import read_labels
from textbayes.app.live import CATEGORIES, SCREENING
from textbayes.app.prisma import PrismaNumbers, prisma_numbers, prisma_picture
from textbayes.app.projects import (
    NewProject,
    ProjectListed,
    add_records,
    delete_project,
    list_projects,
    project_of_file,
)
from textbayes.app.records import FILTERS, SORTS, Shown, list_records
from textbayes.app.records import show as show_record
from textbayes.app.stages import full_text_of, topic_of
from textbayes.app.words import said_words, say, strong_words
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.screen import ScreenSettings
from textbayes.screen.duplicates import Merged
from textbayes.screen.settings import TOPIC

router = APIRouter(prefix="/projects", tags=["projects"])
Topic = Annotated[str | None, Query(max_length=4_000, description="Needed where a project has several.")]
Ahead = Annotated[int, Query(ge=AHEAD, le=judging.MOST_AHEAD, description="Records that are to be in your queue.")]


@router.get("")
def projects(registry: Registry, who: SignedIn) -> list[ProjectListed]:
    """List the projects that are shared with you."""
    return list_projects(registry, who.user)


@router.post("", status_code=201)
def make_project(
    registry: Registry,
    who: Writer,
    file: Annotated[UploadFile, File(description="RIS, PubMed, EndNote XML, BibTeX, CSV, TSV, XLSX or JSON lines.")],
    name: Annotated[str, Form(max_length=200)],
    questions: Annotated[str, Form(description="JSON: topic → question; or one question.")] = "",
    text_fields: Annotated[str, Form(description="Fields of title and text, with commas; guessed if empty.")] = "",
    id_field: Annotated[str, Form()] = "",
    strategy: Annotated[str, Form()] = "likely",
    prior: Annotated[str, Form(description="reviews or none.")] = "reviews",
    double: Annotated[bool, Form(description="Two people read every record.")] = False,
    take_answers: Annotated[bool, Form(description="Keep the decisions of the file as your answers.")] = False,
    learns: Annotated[
        str,
        Form(description="Where two people read: settled, from their records, or own, each from their own answers."),
    ] = "settled",
    kind: Annotated[str, Form(description="screening or categories.")] = SCREENING,
    labels: Annotated[str, Form(description="Of categories: one on each line, as name or name: description.")] = "",
    several: Annotated[bool, Form(description="Of categories: a text may have several labels, or none.")] = False,
    show_guess: Annotated[bool, Form(description="Of categories: people see what the model guesses.")] = True,
) -> ProjectMade:
    """Make a project of a file, to screen its records or to sort them into categories."""
    check_choice("kind", kind, (SCREENING, CATEGORIES))
    mapping = Mapping(tuple(field.strip() for field in text_fields.split(",") if field.strip()), id_field)
    read = read_records(file.filename or "records", file.file.read(), mapping)
    if kind == CATEGORIES:
        plan = NewCategories(name, read_labels(labels), several, show_guess, double)
        id = create_categories(registry, who.user, plan, read.records)
        return ProjectMade(id=id, n_records=len(read.records), merged=_merged(read.merged))
    asked = _questions(questions)
    settings = ScreenSettings(
        topics=tuple(asked), questions={topic: text for topic, text in asked.items() if text}, strategy=strategy
    )
    id = project_of_file(registry, who.user, NewProject(name, settings, double, prior, learns), read, take_answers)
    return ProjectMade(id=id, n_records=len(read.records), merged=_merged(read.merged))


@router.post("/import", status_code=201)
def import_project(registry: Registry, who: Writer, file: Annotated[UploadFile, File()]) -> ProjectDescription:
    """Read a project again that was exported as zip."""
    id = read_project(registry, who.user, file.file.read())
    return _described(Access(who.user, registry.review(id), "owner", ""))


@router.get("/{project_id}")
def project(who: Reader) -> ProjectDescription:
    """Look at a project and its settings."""
    return _described(who)


@router.patch("/{project_id}")
def change_strategy(who: Owner, change: StrategyChange) -> ProjectDescription:
    """Hand records out by another strategy from now on."""
    entry = who.review.as_it_is.change_of_strategy(change.strategy.strip())
    who.review.step(who.user.id, lambda assignments: [entry])
    with who.review.engine():
        return _described(who)


@router.put("/{project_id}/goal", status_code=204)
def change_goal(who: Owner, given: schemas.GoalChange) -> None:
    """Choose anew how much of what is relevant is to be found, and how surely."""
    judging.change_goal(who.review, who.user.id, given.target, given.confidence)


@router.delete("/{project_id}", status_code=204)
def remove_project(registry: Registry, who: Owner) -> None:
    """Delete a project with everything in it."""
    delete_project(registry, who.review, who.user)


@router.post("/{project_id}/records", status_code=201)
def more_records(
    who: Owner, file: Annotated[UploadFile, File()], take_answers: Annotated[bool, Form()] = False
) -> RecordsAdded:
    """Add records while work goes on; those that are there already are merged."""
    read = read_records(file.filename or "records", file.file.read())
    added = add_records(who.review, who.user, read, take_answers)
    return RecordsAdded(n_added=added.n_added, merged=_merged(added.merged))


@router.get("/{project_id}/duplicates")
def duplicates(who: Reader, start: Annotated[int, Query(ge=0, lt=1 << 31)] = 0) -> schemas.Duplicates:
    """List the records that were merged into others, some at a time."""
    found = list_duplicates(who.review, start)
    rows = [schemas.DuplicateListed(number=one.number, id=one.duplicate.id, into=one.record.id, reason=one.reason)
            for one in found.pairs]  # fmt: skip
    return schemas.Duplicates(duplicates=rows, start=found.start, n_found=found.n_found)


@router.post("/{project_id}/duplicates", status_code=204)
def merge_records(who: Owner, given: schemas.DuplicateFound) -> None:
    """Take a record for the same paper as another one, which gets its answers where it has none; see also separate."""
    merge(who.review, who.user, given.id, given.into)


@router.post("/{project_id}/duplicates/{number}/separate", status_code=201)
def separate(who: Owner, number: Annotated[int, Path(ge=0, lt=1 << 31)]) -> schemas.Separated:
    """Make a duplicate a record of its own, which is screened like the others."""
    return schemas.Separated(id=unmerge(who.review, who.user, number))


@router.get("/{project_id}/export.{kind}", response_class=Response)
def export_file(
    registry: Registry,
    who: Reader,
    kind: str,
    topic: Topic = None,
    only: Annotated[str, Query(description="all, or included: those that are in the review.")] = "all",
) -> Response:
    """Take along decisions (csv, xlsx, jsonl, ris, bib, nbib, xml), the model (tb), or everything (zip)."""
    return export(registry, who.review, who.queue_of(topic), kind, only).answer()


@router.get("/{project_id}/prisma")
def prisma(who: Reader, topic: Topic = None) -> PrismaNumbers:
    """Count the records at each step of the review, as a PRISMA 2020 flow diagram has them."""
    return prisma_numbers(who.review, topic_of(who.queue_of(topic).topic))


@router.get("/{project_id}/prisma.svg", response_class=Response)
def prisma_diagram(who: Reader, topic: Topic = None) -> Response:
    """Draw the PRISMA 2020 flow diagram."""
    return prisma_picture(who.review, topic_of(who.queue_of(topic).topic)).answer()


@router.get("/{project_id}/lists")
def lists(who: Reader) -> schemas.Lists:
    """See the reasons for exclusion and the tags of a project."""
    with who.review.looking() as assignments:
        return schemas.Lists(reasons=list(assignments.marks.reasons), tags=list(assignments.marks.tags))


@router.put("/{project_id}/lists", status_code=204)
def change_lists(who: Owner, given: schemas.Lists) -> None:
    """Give the project other reasons for exclusion and tags."""
    judging.change_lists(who.review, who.user.id, given.reasons, given.tags)


@router.get("/{project_id}/figures/{figure}.{format}", response_class=Response)
def figure(who: Reader, figure: str, format: str, topic: Topic = None) -> Response:
    """Draw recall, left, probabilities or words, as svg or png."""
    return picture(who.review, topic_of(who.queue_of(topic).topic), figure, format).answer()


def _described(who: Access) -> ProjectDescription:
    review = who.review
    settings = review.screening.settings if review.kind == SCREENING else None
    return ProjectDescription(
        id=review.id, name=review.name, role=who.role, n_records=review.collection.n_records, kind=review.kind,
        topics=list(review.topics), questions={} if settings is None else dict(settings.questions),
        strategy=review.strategy, double=bool(review.settings.get("double")),
        learns="own" if review.alone else "settled",
        target=None if settings is None else review.goal.target,
        confidence=None if settings is None else review.goal.confidence,
    )  # fmt: skip


def _questions(given: str) -> dict[str, str]:
    if not given.lstrip().startswith("{"):
        return {TOPIC: given.strip()}
    try:
        values = json.loads(given)
    except (ValueError, RecursionError):
        raise InputError("questions is not JSON; give topics and questions as an object, or one question") from None
    if not values or not all(isinstance(value, str) and 0 < len(name) <= 200 for name, value in values.items()):
        raise InputError("questions must be an object of topics and questions, such as {'harms': 'adverse events'}")
    return {str(name): value for name, value in values.items()}


def _merged(merged: list[Merged]) -> list[MergedRecord]:
    return [MergedRecord(**one._asdict()) for one in merged]


judging_router = APIRouter(prefix="/projects/{project_id}", tags=["judging"])
RecordId = Annotated[str, Path(max_length=500)]


@judging_router.get("/queue")
def queue(who: Reviewer, topic: Topic = None, ahead: Ahead = AHEAD) -> list[schemas.RecordShown]:
    """Ask for the record to read now and those after it; they are yours until they are answered or released."""
    return [_shown(who, one) for one in judging.queue(who.review, who.queue_of(topic), ahead)]


@judging_router.post("/queue/release", status_code=204)
def release(who: Reviewer, given: schemas.Release) -> None:
    """Let others have the records of your queue from the third on, which you have asked for ahead."""
    judging.release(who.review, who.queue_of(given.topic))


@judging_router.post("/judgements", status_code=201)
def judge(who: Reviewer, later: BackgroundTasks, given: schemas.RecordAnswer) -> list[schemas.RecordShown]:
    """Keep an answer, which is in the database when this returns; the records that lie ready next are sent back."""
    reviewer = who.queue_of(given.topic)
    judging.judge(who.review, reviewer, given.id, given.answer, given.key, given.replace, given.reason)
    later.add_task(judging.top_up, who.review, reviewer)
    if who.review.kind == CATEGORIES:
        later.add_task(measure, who.review)
    return [_shown(who, one) for one in judging.assigned_records(who.review, reviewer)]


@judging_router.post("/judgements/many", status_code=201)
def judge_many(who: Reviewer, later: BackgroundTasks, given: schemas.ManyAnswers) -> schemas.ManyAnswered:
    """Give several records one answer; those that you have answered before stay as they are."""
    reviewer = who.queue_of(given.topic)
    done = judging.judge_many(who.review, reviewer, given.ids, given.answer, given.reason)
    later.add_task(judging.top_up, who.review, reviewer)
    return schemas.ManyAnswered(ids=done)


@judging_router.post("/undo")
def undo(who: Reviewer, given: schemas.Undo) -> schemas.Undone:
    """Take back your last answer."""
    return schemas.Undone(id=judging.undo(who.review, who.queue_of(given.topic), given.key))


@judging_router.post("/skips", status_code=204)
def skip(who: Reviewer, given: schemas.Skip) -> None:
    """Put a record aside; it comes again when nothing else is left."""
    judging.skip(who.review, who.queue_of(given.topic), given.id, given.key)


@judging_router.get("/records")
def records(
    who: Reader,
    topic: Topic = None,
    show: Annotated[str, Query(description=", ".join(FILTERS) + ", or tag: NAME")] = "all",
    find: Annotated[str, Query(max_length=200)] = "",
    start: Annotated[int, Query(ge=0, lt=1 << 31)] = 0,
    sort: Annotated[str, Query(description=", ".join(SORTS))] = "file",
) -> schemas.RecordList:
    """List records, fifty at a time."""
    found = list_records(who.review, who.queue_of(topic), show, find, start, sort)
    rows = [
        schemas.RecordListed(**{**one._asdict(), "notes": by_name(who.review.store, one.notes)})
        for one in found.records
    ]
    return schemas.RecordList(records=rows, start=found.start, n_found=found.n_found)


@judging_router.get("/records/{record_id}")
def record(who: Reader, record_id: RecordId, topic: Topic = None) -> schemas.RecordShown:
    """Look at one record."""
    return _shown(who, show_record(who.review, who.queue_of(topic), record_id))


@judging_router.put("/records/{record_id}/note", status_code=204)
def note(who: Reviewer, record_id: RecordId, given: schemas.Note) -> None:
    """Keep your note to a record, in place of the one there was."""
    judging.write_note(who.review, who.user.id, record_id, given.text, given.key)


@judging_router.put("/records/{record_id}/tags", status_code=204)
def tags(who: Reviewer, record_id: RecordId, given: schemas.RecordTags) -> None:
    """Keep your tags of a record, in place of those there were."""
    judging.write_tags(who.review, who.user.id, record_id, given.tags, given.key)


@judging_router.get("/words")
def words(who: Reader, topic: Topic = None) -> schemas.Words:
    """See what was said of words, what became of it, and the strongest words of the model."""
    name = topic_of(who.queue_of(topic).topic)
    with who.review.model_for(who.user.id) as screening:
        said, strong = said_words(screening, name), strong_words(screening, name)
    return schemas.Words(said=said, strongest=strong)


@judging_router.post("/words", status_code=204)
def say_word(who: Reviewer, given: schemas.WordDirection) -> None:
    """Favour or disfavour a word, or forget it; the queue is ranked anew at once."""
    asked = who.queue_of(given.topic)
    say(who.review, asked._replace(topic=topic_of(asked.topic)), given.word, given.direction, given.strength)


@judging_router.get("/status")
def status(who: Reader, topic: Topic = None) -> schemas.ProjectStatus:
    """See what was found, what is left, and whether enough was read."""
    return schemas.ProjectStatus(**project_status(who.review, topic_of(who.queue_of(topic).topic)))


def _shown(who: Access, one: Shown) -> schemas.RecordShown:
    values = {name: value for name, value in vars(one).items() if name not in ("heading", "own_tags")}
    text, notes = "".join(part.text for part in one.text), by_name(who.review.store, one.notes)
    return schemas.RecordShown(**{**values, "text": text, "notes": notes})


team_router = APIRouter(prefix="/projects/{project_id}", tags=["team"])


@team_router.get("/members")
def members(registry: Registry, who: Reader) -> list[ListedMember]:
    """List the members of a project."""
    return list_members(registry.store, who.review.id)


@team_router.put("/members", status_code=204)
def change_member(registry: Registry, who: Owner, given: schemas.MemberChange) -> None:
    """Give somebody a role, or take it."""
    set_role(registry.store, who.user, who.review, given.name, given.role)


@team_router.get("/invites")
def invites(registry: Registry, who: OwnerLooks) -> list[ListedInvite]:
    """List the invitations that can be used, without their secrets."""
    return list_invites(registry.store, who.review.id)


@team_router.post("/invites", status_code=201)
def invite(request: Request, registry: Registry, who: Owner, given: schemas.NewInvite) -> schemas.InviteMade:
    """Make a link by which people without an account make one and join."""
    check_team(request)
    made = make_invite(registry.store, who.user, who.review.id, given.role, given.days, given.uses)
    return schemas.InviteMade(link=request.app.state.settings.origin + made)


@team_router.delete("/invites/{invite_id}", status_code=204)
def withdraw_invite(registry: Registry, who: Owner, invite_id: Annotated[str, Path(max_length=64)]) -> None:
    """Let a link open nothing any more."""
    withdraw(registry.store, who.user, who.review.id, invite_id)


@team_router.get("/people")
def strangers(registry: Registry, who: Reader) -> list[Stranger]:
    """List the people whom the file of the project named, and who they are."""
    return list_strangers(registry.store, who.review)


@team_router.put("/people", status_code=204)
def match(registry: Registry, who: Owner, given: schemas.PersonMatch) -> None:
    """Say who a person of the file is."""
    match_person(registry.store, who.user, who.review, given.name, given.account)


@team_router.post("/unblind", status_code=204)
def unblind(who: Owner) -> None:
    """See all answers from now on, where two people read every record; you read no more of them yourself."""
    judging.unblind(who.review, who.user.id)


@team_router.get("/conflicts")
def conflicts(who: Reader, topic: Topic = None) -> Disagreements:
    """See the records that people answered differently, and how far they agree."""
    return disagreements(who.review, who.queue_of(topic).topic)


@team_router.post("/conflicts", status_code=204)
def settle(who: Owner, given: schemas.Settlement) -> None:
    """Settle a conflict."""
    judging.settle(who.review, who.queue_of(given.topic), given.id, given.answer, given.reason)


@team_router.post("/gold", status_code=204)
def set_gold(who: Owner, given: schemas.GoldQuestion) -> None:
    """Make a text of a project of categories a gold question, by which people's answers are checked."""
    judging.set_gold(who.review, who.queue_of(None), given.id, given.answer)


full_texts_router = APIRouter(prefix="/projects/{project_id}", tags=["full texts"])


@full_texts_router.get("/full-texts")
def full_texts(who: Reader, topic: Topic = None) -> schemas.FullTexts:
    """List the records that are included on title and abstract, and the topic under which full texts are judged."""
    reviewer = who.queue_of(topic)
    reviewer = reviewer._replace(topic=full_text_of(reviewer.topic))
    rows = [schemas.FullTextListed(**one._asdict()) for one in list_full_texts(who.review, reviewer)]
    return schemas.FullTexts(topic=reviewer.topic, records=rows)


@full_texts_router.put("/records/{record_id}/full-text")
def add(who: Reviewer, record_id: RecordId, file: Annotated[UploadFile, File()]) -> schemas.FullTextAdded:
    """Keep the PDF of a record, in place of the one there was."""
    has_text = add_full_text(who.review, who.user.id, record_id, file.filename or "", file.file.read())
    return schemas.FullTextAdded(has_text=has_text)


@full_texts_router.get("/records/{record_id}/full-text", response_class=Response)
def full_text(who: Reader, record_id: RecordId) -> Response:
    """Take along the PDF of a record."""
    return find_full_text(who.review, record_id).answer()


@full_texts_router.delete("/records/{record_id}/full-text", status_code=204)
def remove(who: Reviewer, record_id: RecordId) -> None:
    """Remove the PDF of a record."""
    remove_full_text(who.review, who.user.id, record_id)
