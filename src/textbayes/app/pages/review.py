"""The pages of a review: answering, words, lists of records, the dashboard, conflicts, and full texts."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, BackgroundTasks, File, Form, Query, Request, Response, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from textbayes.app import judging
from textbayes.app.access import Access, Owner, Reader, Reviewer
from textbayes.app.accounts import by_name, names_of
from textbayes.app.assignments import AHEAD, ReviewerQueue
from textbayes.app.categories import measure, standing
from textbayes.app.dashboard import (
    DRAWINGS,
    TopicView,
    costs_of_certainty,
    disagreements,
    page_svg,
    picture,
    project_status,
)
from textbayes.app.entries import Key
from textbayes.app.full_texts import LARGEST_PDF, add_full_text, find_full_text, list_full_texts, remove_full_text
from textbayes.app.live import CATEGORIES
from textbayes.app.pages.render import page, share_in_words
from textbayes.app.prisma import prisma_numbers, prisma_picture, prisma_steps, prisma_svg
from textbayes.app.records import SORTS, Shown, filters_of, list_records, show
from textbayes.app.records import show as show_record
from textbayes.app.simulation import Answers, Simulated, simulation_svg
from textbayes.app.stages import full_text_of, is_full_text, stages_of, topic_of
from textbayes.app.words import said_words, say, strong_words, words_of_protocol

router = APIRouter(prefix="/projects/{project_id}")
Ahead = Annotated[int, Query(ge=AHEAD, le=judging.MOST_AHEAD, description="Records that are to be in the queue.")]
FormKey = Annotated[Key | None, Form(description="What is sent again with its key is kept once.")]
_FIRST = 20  # records that are listed beside the words
_PART = "x-part"  # header of a request by script, which wants the records and not the whole page


@router.get("")
def project(who: Reader) -> Response:
    """Go on where people are most of the time."""
    return RedirectResponse(f"/projects/{who.review.id}/{'judge' if _reads(who) else 'dashboard'}", 303)


@router.get("/judge")
def judge_page(request: Request, who: Reader, topic: str | None = None, ahead: Ahead = AHEAD) -> Response:
    """The record to read now, and the next; further ones for a script whose line is slow."""
    reviewer = who.queue_of(topic or who.first_topic)
    shown = judging.queue(who.review, reviewer, ahead) if _reads(who) else []
    return _answer(request, who, reviewer, shown)


@router.post("/judge")
def judge(
    request: Request,
    who: Reviewer,
    later: BackgroundTasks,
    id: Annotated[str, Form()],
    answer: Annotated[str, Form()],
    label: Annotated[list[str] | None, Form(description="Numbers of labels, for the answer “labels”.")] = None,
    topic: Annotated[str | None, Form()] = None,
    key: FormKey = None,
    replace: Annotated[bool, Form()] = False,
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Keep an answer, or put a record aside; what comes next is in the queue already."""
    reviewer = who.queue_of(topic or who.first_topic)
    if answer == "labels":
        answer = " ".join(label or []) or "none"
    if answer == "skip":
        judging.skip(who.review, reviewer, id, key)
    else:
        judging.judge(who.review, reviewer, id, answer, key, replace, reason)
    later.add_task(judging.top_up, who.review, reviewer)
    if who.review.kind == CATEGORIES:
        later.add_task(measure, who.review)
    return _answer(request, who, reviewer, judging.assigned_records(who.review, reviewer))


@router.post("/undo")
def undo(request: Request, who: Reviewer, topic: Annotated[str | None, Form()] = None, key: FormKey = None) -> Response:
    """Take back the last answer."""
    reviewer = who.queue_of(topic or who.first_topic)
    judging.undo(who.review, reviewer, key)
    return _answer(request, who, reviewer, judging.assigned_records(who.review, reviewer))


@router.post("/release")
def release(who: Reviewer, topic: Annotated[str | None, Form()] = None) -> Response:
    """Let others have what was fetched ahead: the page is left."""
    judging.release(who.review, who.queue_of(topic or who.first_topic))
    return Response(status_code=204)


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
    reviewer = who.queue_of(topic or who.first_topic)
    return _answer(request, who, reviewer, judging.assigned_records(who.review, reviewer))


@router.post("/tags")
def tags(
    request: Request,
    who: Reviewer,
    id: Annotated[str, Form()],
    tag: Annotated[list[str] | None, Form()] = None,
    topic: Annotated[str | None, Form()] = None,
    key: FormKey = None,
) -> Response:
    """Keep one's tags of a record."""
    judging.write_tags(who.review, who.user.id, id, [one for one in tag or [] if one], key)
    reviewer = who.queue_of(topic or who.first_topic)
    return _answer(request, who, reviewer, judging.assigned_records(who.review, reviewer))


def _reads(who: Access) -> bool:
    with who.review.looking() as assignments:
        return who.may("reviewer") and not assignments.sees_all(who.user.id)


def _answer(request: Request, who: Access, reviewer: ReviewerQueue, shown: list[Shown]) -> Response:
    """The records for a script, the page for a person, or the way to the page after a form was sent."""
    with who.review.looking() as assignments:
        n_read, marks, labels = len(assignments.history[reviewer]), assignments.marks, assignments.labels
        n_records = who.review.collection.n_records
        full_text = is_full_text(reviewer.topic)
        if full_text:
            n_records = len(assignments.to_assess(topic_of(reviewer.topic)))
    share = who.review.as_it_is.last_share if labels is not None else None
    content: dict[str, Any] = {"shown": shown, "n_read": n_read, "topic": reviewer.topic, "full_text": full_text}
    content |= {"reasons": marks.choices(full_text), "all_tags": marks.tags}
    content |= {"labels": labels, "share": share_in_words(share)}
    if _PART in request.headers:
        return page(request, "records_part.html.jinja", who, **content)
    if request.method == "POST":
        return RedirectResponse(f"/projects/{who.review.id}/judge?{urlencode({'topic': reviewer.topic})}", 303)
    template = "judge.html.jinja" if labels is None else "label.html.jinja"
    return page(request, template, who, n_records=n_records, **content)


@router.get("/words")
def words_page(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """What was said of words, and the strongest words of the model."""
    return _words(request, who, topic)


@router.post("/words")
def say_word(
    who: Reviewer,
    direction: Annotated[str, Form()],
    word: Annotated[list[str], Form()],
    strength: Annotated[str, Form()] = "medium",
    topic: Annotated[str | None, Form()] = None,
    back: Annotated[str, Form()] = "words",
) -> Response:
    """Favour, disfavour or forget words; commas stand between several. ``back`` is the page that follows."""
    asked = who.queue_of(topic or who.first_topic)
    reviewer = asked._replace(topic=topic_of(asked.topic))
    for one in [part.strip() for given in word for part in given.split(",")]:
        if one:
            say(who.review, reviewer, one, direction, strength)
    after = "judge" if back == "judge" else "words"
    return RedirectResponse(f"/projects/{who.review.id}/{after}?{urlencode({'topic': asked.topic})}", 303)


@router.post("/protocol")
def read_protocol(
    request: Request, who: Reviewer, text: Annotated[str, Form()] = "", topic: Annotated[str | None, Form()] = None
) -> HTMLResponse:
    """Find the words of a protocol that records have, for a person to choose among."""
    return _words(request, who, topic, found=words_of_protocol(who.review, text), pasted=text)


def _words(
    request: Request, who: Access, topic: str | None, found: list[str] | None = None, pasted: str = ""
) -> HTMLResponse:
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    with who.review.model_for(who.user.id) as screening:
        said, strong = said_words(screening, name), strong_words(screening, name)
    known = {one.word for one in said}
    strong = [one for one in strong if one.word not in known]
    first = list_records(who.review, who.queue_of(name), "unread", sort="probability").records[:_FIRST]
    return page(
        request, "words.html.jinja", who, topic=name, said=said, strong=strong, found=found, pasted=pasted, first=first
    )


@router.get("/records")
def records_page(
    request: Request,
    who: Reader,
    topic: str | None = None,
    show: str = "all",
    find: str = "",
    start: int = 0,
    sort: str = "file",
) -> HTMLResponse:
    """Records with what stands of each, some at a time."""
    return _records(request, who, who.queue_of(topic or who.first_topic), show, find, start, sort)


@router.post("/answers")
def judge_many(
    request: Request,
    who: Reviewer,
    later: BackgroundTasks,
    answer: Annotated[str, Form()],
    id: Annotated[list[str] | None, Form()] = None,
    reason: Annotated[str, Form()] = "",
    topic: Annotated[str | None, Form()] = None,
    show: Annotated[str, Form()] = "all",
    find: Annotated[str, Form()] = "",
    start: Annotated[int, Form(ge=0, lt=1 << 31)] = 0,
    sort: Annotated[str, Form()] = "file",
) -> HTMLResponse:
    """Give the records that are ticked one answer, or take that back."""
    reviewer = who.queue_of(topic or who.first_topic)
    given = reason if answer == "irrelevant" else ""
    done = judging.judge_many(who.review, reviewer, id or [], answer, given)
    later.add_task(judging.top_up, who.review, reviewer)
    return _records(request, who, reviewer, show, find, start, sort, done, answer)


def _records(
    request: Request,
    who: Access,
    reviewer: ReviewerQueue,
    show: str,
    find: str,
    start: int,
    sort: str,
    done: list[str] | None = None,
    answer: str = "",
) -> HTMLResponse:
    listed = list_records(who.review, reviewer, show, find, start, sort)
    with who.review.looking() as assignments:
        filters, reasons = filters_of(assignments), assignments.marks.choices(is_full_text(reviewer.topic))
        of_labels = assignments.labels is not None
    return page(
        request, "records.html.jinja", who, topic=reviewer.topic, listed=listed, filters=filters, show=show, find=find,
        sort=sort, sorts=SORTS[:1] if of_labels else SORTS, people=names_of(who.review.store), reasons=reasons,
        done=done, answer=answer, reads=_reads(who) and not of_labels,
    )  # fmt: skip


@router.get("/record")
def record_page(request: Request, who: Reader, id: str, topic: str | None = None) -> HTMLResponse:
    """One record, to look at or to answer anew."""
    reviewer = who.queue_of(topic or who.first_topic)
    shown = show_record(who.review, reviewer, id)
    notes = by_name(who.review.store, shown.notes)
    with who.review.looking() as assignments:
        labels, marks = assignments.labels, assignments.marks
        gold = assignments.gold.get(id) if assignments.knows_gold(who.user.id, id) else None
    reasons = marks.choices(is_full_text(reviewer.topic))
    return page(
        request, "record.html.jinja", who, topic=reviewer.topic, record=shown, notes=notes, reasons=reasons,
        all_tags=marks.tags, labels=labels, gold=gold,
    )  # fmt: skip


_MOST_CONFLICTS = 50  # of a page


@router.get("/dashboard")
def dashboard(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """Estimate, curve, forecast, probabilities and words; of a project of categories labels and accuracy."""
    if who.review.kind == CATEGORIES:
        stands = standing(who.review, who.user.id)
        share = share_in_words(stands.share)
        agreements = disagreements(who.review, who.first_topic).agreement
        return page(request, "categories.html.jinja", who, stands=stands, share=share, agreements=agreements)
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    status = project_status(who.review, name)
    with who.review.model() as screening:
        seen = TopicView.of(screening, name, who.review.goal.target)
    costs = costs_of_certainty(seen.state, seen.target, status["seconds_each"])
    drawings = {kind: Markup(page_svg(kind, seen)) for kind in DRAWINGS}
    return page(
        request, "dashboard.html.jinja", who, topic=name, status=status, costs=costs, drawings=drawings,
        agreements=disagreements(who.review, name).agreement,
    )  # fmt: skip


@router.get("/figures/{kind}.{format}")
def figure(who: Reader, kind: str, format: str, topic: str | None = None) -> Response:
    """A drawing as a file."""
    return picture(who.review, topic_of(who.queue_of(topic or who.first_topic).topic), kind, format).answer()


@router.get("/simulation")
def simulation_page(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """How the engine would have screened what is answered."""
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    answers = Answers.of(who.review, name)
    found, progress = request.app.state.simulations.look(who.review, name, answers)
    seen = found if isinstance(found, Simulated) else None
    drawn = None if seen is None else Markup(simulation_svg(seen))
    return page(
        request, "simulation.html.jinja", who, topic=name, answers=answers, seen=seen, drawn=drawn, progress=progress,
        problem=found if isinstance(found, str) else answers.problem, n_records=who.review.collection.n_records,
    )  # fmt: skip


@router.post("/simulation")
def begin_simulation(request: Request, who: Reviewer, topic: Annotated[str | None, Form()] = None) -> Response:
    """Simulate it in the background."""
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    request.app.state.simulations.begin(who.review, name)
    return RedirectResponse(f"/projects/{who.review.id}/simulation?{urlencode({'topic': name})}", 303)


@router.get("/prisma")
def prisma_page(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """The PRISMA 2020 flow diagram."""
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    numbers = prisma_numbers(who.review, name)
    drawn = Markup(prisma_svg(numbers))  # escaped where it is made
    return page(
        request, "prisma.html.jinja", who, topic=name, numbers=numbers, drawn=drawn, steps=prisma_steps(numbers)
    )


@router.get("/prisma.svg")
def prisma_file(who: Reader, topic: str | None = None) -> Response:
    """The flow diagram as a file."""
    return prisma_picture(who.review, topic_of(who.queue_of(topic or who.first_topic).topic)).answer()


@router.get("/conflicts")
def conflicts(request: Request, who: Reader, topic: str | None = None) -> HTMLResponse:
    """Records that people answered differently, by title and abstract, and by full text."""
    name = topic_of(who.queue_of(topic or who.first_topic).topic)
    with who.review.looking() as assignments:
        labels = assignments.labels
    stages = [name] if labels is not None else stages_of([name])
    return page(
        request, "conflicts.html.jinja", who, topic=name, labels=labels,
        stages=[_conflicts_of(who, who.queue_of(stage)) for stage in stages],
    )  # fmt: skip


def _conflicts_of(who: Access, reviewer: ReviewerQueue) -> dict[str, Any]:
    """What the page of conflicts shows of one stage: the first records with what was said of each, and agreement."""
    found, people = disagreements(who.review, reviewer.topic), names_of(who.review.store)
    rows = []
    for one in found.conflicts[:_MOST_CONFLICTS]:
        shown = show(who.review, reviewer, one.id)
        notes = {who.user.name: shown.note} if shown.note else {}
        rows.append((shown, one, notes | {people.get(user, "?"): text for user, text in shown.notes.items()}))
    with who.review.looking() as assignments:
        reasons = assignments.marks.choices(is_full_text(reviewer.topic))
    return {
        "stage": reviewer.topic, "full_text": is_full_text(reviewer.topic), "rows": rows, "reasons": reasons,
        "n": len(found.conflicts), "agreements": found.agreement,
    }  # fmt: skip


@router.post("/conflicts")
def settle(
    who: Owner,
    id: Annotated[str, Form()],
    answer: Annotated[str, Form()],
    label: Annotated[list[str] | None, Form(description="Numbers of labels, for the answer “labels”.")] = None,
    topic: Annotated[str | None, Form()] = None,
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Settle a conflict."""
    reviewer = who.queue_of(topic or who.first_topic)
    if answer == "labels":
        answer = " ".join(label or []) or "none"
    judging.settle(who.review, reviewer, id, answer, reason if answer == "irrelevant" else "")
    after = urlencode({"topic": topic_of(reviewer.topic)})
    return RedirectResponse(f"/projects/{who.review.id}/conflicts?{after}", 303)


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
