"""Records as they are shown: with telling words marked, and made ready before anyone asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from sqlalchemy import select

from textbayes.app.database import Record
from textbayes.app.desk import Desk, Place
from textbayes.app.live import LiveReview
from textbayes.report.records import Fragment
from textbayes.report.texts import highlight
from textbayes.screen import Collection, Screening
from textbayes.screen.ranking import probabilities
from textbayes.screen.screening import check_record
from textbayes.screen.topic import Topic

_MOST_SHOWN = 20_000  # characters of a text
_MARKED, _TOLD = 40, 8  # words of a record that may be marked, and that are told by name


class Ready(NamedTuple):
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
    words : dict
        Words that move it most, and by how much.
    """

    id: str
    title: str
    text: list[Fragment]
    heading: list[Fragment]
    fields: dict[str, str]
    probability: float
    words: dict[str, float]


class Said(NamedTuple):
    """What a person may see of what was said of a record.

    Parameters
    ----------
    reason : str
        The strategy that put it on the person's desk.
    note : str
        The person's own.
    notes : dict
        Those of others, by who wrote them.
    answer : str or None
        What stands of it, or else the person's own answer.
    """

    reason: str
    note: str
    notes: dict[int, str]
    answer: str | None

    @classmethod
    def of(cls, desk: Desk, place: Place, id: str) -> Self:
        """What the person at a place may see."""
        notes = desk.notes_for(place.user, id)
        others = {who: text for who, text in notes.items() if desk.person(who) != place.user}
        reason = desk.held[place].get(id, "")
        return cls(reason, desk.own(place.user, notes) or "", others, desk.answer_for(*place, id))


class Shown(NamedTuple):
    """A record as a person sees it: what all see, and what was said of it; see :class:`Ready` and :class:`Said`."""

    id: str
    title: str
    text: list[Fragment]
    heading: list[Fragment]
    fields: dict[str, str]
    probability: float
    words: dict[str, float]
    reason: str
    note: str
    notes: dict[int, str]
    answer: str | None


def show(review: LiveReview, place: Place, id: str) -> Shown:
    """A record as the person at a place may see it; one that lies on a desk is ready.

    Parameters
    ----------
    review : LiveReview
    place : Place
    id : str
    """
    ready = review.shown.get((place.topic, id))
    if ready is None:
        check_record(id, review.collection.row_of)
        with review.model() as screening:
            (ready,) = _made(review, screening, place.topic, [id])
    with review.looking() as desk:
        said = Said.of(desk, place, id)
    return Shown(**ready._asdict(), **said._asdict())


def make_ready(review: LiveReview, screening: Screening, topic: str) -> None:
    """Make all records of a topic that lie on desks ready to be shown, and forget those that do not any more.

    Parameters
    ----------
    review : LiveReview
    screening : Screening
        Of the review, which has learnt everything.
    topic : str
    """
    with review.looking() as desk:
        there = [id for place, queue in desk.held.items() if place.topic == topic for id in queue]
    lying = {(topic, id) for id in there}
    for key in [key for key in review.shown if key[0] == topic and key not in lying]:
        review.shown.pop(key, None)
    missing = [id for id in there if (topic, id) not in review.shown]
    for one in _made(review, screening, topic, missing):
        review.shown[topic, one.id] = one


def _made(review: LiveReview, screening: Screening, topic: str, ids: Sequence[str]) -> list[Ready]:
    if not ids:
        return []
    rows = [screening.collection.row_of[id] for id in ids]
    with review.store.read() as session:
        found = session.execute(
            select(Record.row, Record.text, Record.fields).where(Record.project_id == review.id, Record.row.in_(rows))
        ).all()
    stored = {row: (text, fields) for row, text, fields in found}
    known = screening.topic(topic)
    p = probabilities(known, known.predictors[np.asarray(rows, dtype=np.int64)]).tolist()
    return [
        _ready(known, screening.collection, row, *stored[row], probability)
        for row, probability in zip(rows, p, strict=True)
    ]


def _ready(
    known: Topic, collection: Collection, row: int, text: str, fields: dict[str, str], probability: float
) -> Ready:
    words = known.words_behind(row, _MARKED)
    title, _, body = text.partition("\n")
    heading, marked = _split(highlight(text, collection.vectorizer, words, _MOST_SHOWN))
    return Ready(
        id=collection.ids[row],
        title=title,
        text=marked,
        heading=heading,
        fields={name: value for name, value in fields.items() if value and value not in (title, body)},
        probability=probability,
        words=dict(list(words.items())[:_TOLD]),
    )


def _split(fragments: list[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """A marked text as its first line and the rest."""
    for place, fragment in enumerate(fragments):
        first, end, rest = fragment.text.partition("\n")
        if end:
            return [*fragments[:place], Fragment(first)], [Fragment(rest), *fragments[place + 1 :]]
    return fragments, []
