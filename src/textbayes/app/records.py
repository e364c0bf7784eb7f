"""Records as they are shown: with telling words marked, made ready before anyone asks; and lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self
from urllib.parse import quote

from sqlalchemy import select

from textbayes.app.assignments import Assignments, ReviewerQueue
from textbayes.app.database import FullText, StoredRecord
from textbayes.app.labelling import CONFLICT, NO_GUESS, Labelling
from textbayes.app.live import CATEGORIES, Engine, LiveReview
from textbayes.app.stages import is_full_text, topic_of
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.report.records import Fragment
from textbayes.report.texts import highlight
from textbayes.screen.duplicates import doi_of, pubmed_number
from textbayes.screen.screening import check_record
from textbayes.screen.status import probabilities

_MOST_SHOWN = 20_000  # characters of a text
_MARKED, _SHARE = 8, 0.8  # words of a record that are marked at most; and what they make up of all that words add


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A record as anybody sees it.

    Parameters
    ----------
    id, title : str
    text : list of Fragment
        What follows the title, with words marked by what each adds to the log-odds.
    heading : list of Fragment
        The title, marked likewise.
    fields : dict
        Everything else that is known of it.
    probability : float
        That it is relevant, or has the likeliest label.
    words : dict
        Words that move it most, and by how much.
    links : dict
        Where it can be found: name of the place → address.
    file : str
        The name of its PDF; empty where there is none.
    guesses : list
        Of a project of categories the likeliest labels, with probabilities; empty before anything is known of labels.
    """

    id: str
    title: str
    text: list[Fragment]
    heading: list[Fragment]
    fields: dict[str, str]
    probability: float
    words: dict[str, float]
    links: dict[str, str]
    file: str = ""
    guesses: list[tuple[str, float]] = field(default_factory=list)


class Said(NamedTuple):
    """What a person may see of what was said of a record.

    Parameters
    ----------
    reason : str
        The strategy that put it in the person's queue.
    note : str
        The person's own.
    notes : dict
        Those of others, by who wrote them.
    answer : str or None
        What stands of it, or else the person's own answer.
    excluded_for : str
        The reason, where that answer is "irrelevant" and one was given.
    tags, own_tags : tuple of str
        All that may be seen, and the person's own.
    """

    reason: str
    note: str
    notes: dict[int, str]
    answer: str | None
    excluded_for: str
    tags: tuple[str, ...]
    own_tags: tuple[str, ...]

    @classmethod
    def of(cls, assignments: Assignments, reviewer: ReviewerQueue, id: str) -> Self:
        """What a reviewer may see."""
        notes = assignments.notes_for(reviewer.user, id)
        others = {who: text for who, text in notes.items() if assignments.person(who) != reviewer.user}
        reason = assignments.held[reviewer].get(id, "")
        marks = assignments.marks
        return cls(
            reason,
            assignments.own(reviewer.user, notes) or "",
            others,
            assignments.answer_for(*reviewer, id),
            marks.reason_for(assignments, *reviewer, id),
            marks.tags_for(assignments, reviewer.user, id),
            marks.own_tags(assignments, reviewer.user, id),
        )


@dataclass(frozen=True, kw_only=True)
class Shown(Ready):
    """A record as a person sees it: what all see, and what was said of it; see :class:`Said`."""

    reason: str
    note: str
    notes: dict[int, str]
    answer: str | None
    excluded_for: str
    tags: tuple[str, ...]
    own_tags: tuple[str, ...]


def show(review: LiveReview, reviewer: ReviewerQueue, id: str) -> Shown:
    """A record as a reviewer may see it; one that is in a queue is ready.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    id : str
    """
    ready = review.shown.get((_whose(review, reviewer), reviewer.topic, id))
    if ready is None:
        check_record(id, review.collection.row_of)
        with review.engine_for(reviewer.user) as engine:
            (ready,) = _made(review, engine, reviewer.topic, [id])
    with review.looking() as assignments:
        said = Said.of(assignments, reviewer, id)
    return Shown(**vars(ready), **said._asdict())


def _whose(review: LiveReview, reviewer: ReviewerQueue) -> int:
    """Whom a record is made ready for: all, or one where each has a model of their own."""
    return reviewer.user if review.alone else 0


def make_ready(review: LiveReview, engine: Engine, reviewer: ReviewerQueue) -> None:
    """Make all records of a topic that are in queues ready to be shown, and forget those that do not any more.

    Parameters
    ----------
    review : LiveReview
    engine : Screening or Labelling
        Of the project, or of the person, which has learnt everything.
    reviewer : ReviewerQueue
        Whose queue was filled; with one model for all those of the others are made ready as well.
    """
    whose, topic = _whose(review, reviewer), reviewer.topic
    with review.looking() as assignments:
        queues = {one: queue for one, queue in assignments.held.items() if one.topic == topic}
        there = [id for one, queue in queues.items() if not review.alone or one == reviewer for id in queue]
    lying = {(whose, topic, id) for id in there}
    for key in [key for key in list(review.shown) if key[:2] == (whose, topic) and key not in lying]:
        review.shown.pop(key, None)
    missing = [id for id in there if (whose, topic, id) not in review.shown]
    for one in _made(review, engine, topic, missing):
        review.shown[whose, topic, one.id] = one


def _made(review: LiveReview, engine: Engine, topic: str, ids: Sequence[str]) -> list[Ready]:
    if not ids:
        return []
    rows = [engine.collection.row_of[id] for id in ids]
    with review.store.read() as session:
        found = session.execute(
            select(StoredRecord.name, StoredRecord.text, StoredRecord.fields).where(
                StoredRecord.project_id == review.id, StoredRecord.name.in_(ids)
            )
        ).all()
        of_stage = FullText.project_id == review.id, FullText.name.in_(ids)
        read = session.execute(select(FullText.name, FullText.file, FullText.text).where(*of_stage)).all()
    stored = {name: (text, fields) for name, text, fields in found}
    for id in ids:
        if id not in stored:  # merged while we looked
            raise InputError(f"record {id!r} is not there any more; reload the page")
    files, full_texts = {one.name: one.file for one in read}, {one.name: one.text for one in read}
    if isinstance(engine, Labelling):
        hidden = not review.settings["show_guess"]
        found_by = [(id, row, NO_GUESS if hidden else engine.guess(row)) for id, row in zip(ids, rows, strict=True)]
        return [
            replace(_ready(id, *stored[id], engine.vectorizer, guess.terms, guess.probability),
                    words=guess.words, guesses=guess.labels)
            for id, row, guess in found_by
        ]  # fmt: skip
    if is_full_text(topic):
        for id, more in full_texts.items():
            text, fields = stored[id]
            stored[id] = (f"{text}\n\n{more}", fields)
    known, vectorizer = engine.topic(topic_of(topic)), engine.collection.vectorizer
    behind, p = known.words_behind_each(rows, _MARKED, _SHARE), probabilities(known, rows).tolist()
    return [
        _ready(id, *stored[id], vectorizer, words, probability, files.get(id, ""))
        for id, words, probability in zip(ids, behind, p, strict=True)
    ]


def _ready(
    id: str,
    text: str,
    fields: dict[str, str],
    vectorizer: Any,
    words: dict[str, float],
    probability: float,
    file: str = "",
) -> Ready:
    title, _, body = text.partition("\n")
    heading, marked = _split(highlight(text, vectorizer, words, _MOST_SHOWN))
    return Ready(
        id=id,
        title=title,
        text=marked,
        heading=heading,
        fields={name: value for name, value in fields.items() if value and value not in (title, body)},
        probability=probability,
        words=words,
        links=_links(fields),
        file=file,
    )


def _links(fields: dict[str, str]) -> dict[str, str]:
    """Where the paper of a record is: its DOI, and its page at PubMed."""
    given = {name.lower(): value for name, value in fields.items()}
    doi, number = doi_of(given), pubmed_number(given)
    found = {"DOI": f"https://doi.org/{quote(doi, safe='/:;()')}"} if doi else {}
    return {**found, "PubMed": f"https://pubmed.ncbi.nlm.nih.gov/{number}/"} if number else found


def _split(fragments: list[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """A marked text as its first line and the rest."""
    for place, fragment in enumerate(fragments):
        first, end, rest = fragment.text.partition("\n")
        if end:
            return [*fragments[:place], Fragment(first)], [Fragment(rest.lstrip("\n")), *fragments[place + 1 :]]
    return fragments, []


AT_ONCE = 50
FILTERS = ("all", "unread", "relevant", "irrelevant", "unsure", "conflict", "aside", "noted")
SORTS = ("file", "probability")
_TAG = "tag: "  # begins a filter by a tag
_AROUND = 90  # characters before and after what was found
# And numbers of labels; "gold" lists the gold questions whose answers one may know.
LABEL_FILTERS = ("all", "unread", "none", "unsure", "conflict", "aside", "noted", "gold")


class ListedRecord(NamedTuple):
    """A record in a list: id, title, what stands of it or one's own answer, one's note, and those of others.

    ``excluded_for`` and ``tags`` are as in :class:`Said`, ``extract`` is the text around what was looked for;
    ``probability`` is missing in a project of categories.
    """

    id: str
    title: str
    answer: str
    note: str
    notes: dict[int, str]
    excluded_for: str
    tags: tuple[str, ...]
    probability: float | None
    extract: str


class Listing(NamedTuple):
    """Some records of a list.

    Parameters
    ----------
    records : list of ListedRecord
    start, n_found : int
        The place of the first of them, and how many there are in all.
    """

    records: list[ListedRecord]
    start: int
    n_found: int


def filters_of(assignments: Assignments) -> dict[str, str]:
    """What lists can be made of, answers and tags or labels, and how it is called."""
    if assignments.labels is None:
        names = (*FILTERS, *(_TAG + tag for tag in assignments.marks.tags))
        return dict(zip(names, names, strict=True))
    named = {str(label.number): label.name for label in assignments.labels.in_use}
    return dict(zip(LABEL_FILTERS, LABEL_FILTERS, strict=True)) | named


def list_records(
    review: LiveReview, reviewer: ReviewerQueue, show: str, find: str = "", start: int = 0, sort: str = "file"
) -> Listing:
    """Records by what a person may see of what was said of them, or whose text has some words.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    show : str
        One of :func:`filters_of`.
    find : str
        Text that is looked for, in any letter case.
    start : int
    sort : {"file", "probability"}
        The order of the file, or, of a review, the most probably relevant first.
    """
    check_choice("sort", sort, SORTS[:1] if review.kind == CATEGORIES else SORTS)
    own = StoredRecord.project_id == review.id
    topic = topic_of(reviewer.topic)
    p: list[float] | None = None
    if review.kind != CATEGORIES:
        with review.model_for(reviewer.user) as screening:
            p = probabilities(screening.topic(topic), range(review.collection.n_records)).tolist()
    with review.looking() as assignments, review.store.read() as session:
        check_choice("show", show, tuple(filters_of(assignments)))
        ids = review.collection.ids
        wanted = _wanted(review, assignments, reviewer, show)
        if find.strip():
            pattern = find.strip().replace("\x00", "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            matching = select(StoredRecord.name).where(own, StoredRecord.text.ilike(f"%{pattern}%", escape="\\"))
            met = set(session.scalars(matching))
            wanted = [row for row in wanted if ids[row] in met]
        if p is not None and sort == "probability":
            wanted.sort(key=lambda row: -p[row])
        start = max(0, min(start, len(wanted)) // AT_ONCE * AT_ONCE)
        some = wanted[start : start + AT_ONCE]
        found = session.execute(
            select(StoredRecord.name, StoredRecord.text).where(own, StoredRecord.name.in_([ids[row] for row in some]))
        ).all()
        texts = {one.name: one.text for one in found}
        some = [row for row in some if ids[row] in texts]
        said = {row: Said.of(assignments, reviewer, ids[row]) for row in some}
        shown = (lambda answer: answer or "") if assignments.labels is None else assignments.labels.shown
        answers = {row: shown(said[row].answer) for row in some}
    records = []
    for row in some:
        name, one = ids[row], said[row]
        title, _, body = texts[name].partition("\n")
        records.append(
            ListedRecord(
                name,
                title,
                answers[row],
                one.note,
                one.notes,
                one.excluded_for,
                one.tags,
                None if p is None else p[row],
                _extract(body, find.strip()),
            )
        )
    return Listing(records, start, len(wanted))


def _extract(text: str, find: str) -> str:
    """The text around the first place where something was found; empty where nothing is looked for, or found."""
    place = text.lower().find(find.lower()) if find else -1
    if place < 0:
        return ""
    start, end = max(0, place - _AROUND), place + len(find) + _AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _wanted(review: LiveReview, assignments: Assignments, reviewer: ReviewerQueue, show: str) -> list[int]:
    row_of, topic = review.collection.row_of, reviewer.topic
    here = assignments.to_assess(topic_of(topic)) if is_full_text(topic) else list(row_of)
    if show == "all":
        return sorted(row_of[id] for id in here)
    if show == "unread":
        return sorted(row_of[id] for id in here if assignments.answer_for(*reviewer, id) is None)
    if show.startswith(_TAG):
        tag, marks = show.removeprefix(_TAG), assignments.marks
        return [row_of[id] for id in here if tag in marks.tags_for(assignments, reviewer.user, id)]
    if show == "noted":
        ids = [id for id in assignments.notes if assignments.notes_for(reviewer.user, id)]
    elif show == "gold":
        ids = [id for id in assignments.gold if assignments.knows_gold(reviewer.user, id)]
    elif show == "aside":
        seen = [one for one in assignments.later if one == reviewer or (one.topic == topic and not assignments.double)]
        ids = [id for one in seen for id in assignments.later[one]
               if one == reviewer or assignments.knows_gold(reviewer.user, id)]  # fmt: skip
    elif assignments.labels is not None and show.isdecimal():
        numbers = assignments.labels.numbers
        answered = assignments.opinions[topic].keys() | assignments.gold.keys()
        said = {id: numbers(assignments.answer_for(*reviewer, id)) for id in sorted(answered, key=row_of.__getitem__)}
        ids = [id for id, given in said.items() if given and int(show) in given]
    else:
        sought = CONFLICT if show == "conflict" else show
        ids = [id for id in assignments.opinions[topic] if assignments.answer_for(*reviewer, id) == sought]
    return [row_of[id] for id in ids]
