"""Reading and answering: what a person is shown next, and what becomes of an answer."""

from __future__ import annotations

from textbayes.app.desk import Desk, Place
from textbayes.app.live import LiveReview
from textbayes.app.showing import Shown, make_ready, show
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.screen.screening import check_record
from textbayes.store.log import Entry

AHEAD = 2  # records on a desk: the one that is read, and the next, which is there before it is asked for
LONGEST_NOTE = 4_000
_TRIES = 3  # near the end another may take what lay here, between two looks


def queue(review: LiveReview, place: Place) -> list[Shown]:
    """The record to read now, and the one after it; records are handed out where too few are on the desk.

    Parameters
    ----------
    review : LiveReview
    place : Place
    """
    for _ in range(_TRIES):
        top_up(review, place)
        shown = on_desk(review, place)
        if shown:
            return shown
    return []


def on_desk(review: LiveReview, place: Place) -> list[Shown]:
    """What lies on a desk already, without handing out more: the quick way to the next record."""
    with review.looking() as desk:
        ids = list(desk.held[place])[:AHEAD]
    return [show(review, place.topic, id) for id in ids]


def top_up(review: LiveReview, place: Place) -> None:
    """Hand out records until there are enough on a desk.

    Whoever has the model serves all desks of the topic that wait: many who answer at once cost one ranking.
    """
    if not _n_wanted(review, place):
        return
    review.waiting.add(place)
    with review.model() as screening:
        asking = {place, *list(review.waiting)}
        hungry = [one for one in asking if one.topic == place.topic and _n_wanted(review, one)]
        review.waiting.difference_update(hungry, {place})
        if place not in hungry:  # somebody else has served this desk meanwhile
            return
        found = screening.next_records(AHEAD * len(hungry), place.topic)
        picks = [(screening.collection.ids[pick.row], pick.reason) for pick in found]
        review.write(lambda desk: _handed_out(desk, hungry, picks))
        make_ready(review, screening, place.topic)
    review.snapshot()


def judge(review: LiveReview, place: Place, id: str, answer: str) -> None:
    """Keep an answer: in the database when this returns, learnt by the next who asks the model.

    Parameters
    ----------
    review : LiveReview
    place : Place
    id : str
    answer : {"relevant", "irrelevant", "unsure", "withdrawn"}
    """
    entry = review.screening.judgement(id, answer, place.topic)
    review.step(place.user, lambda desk: [entry])
    review.shown.pop((place.topic, id), None)


def undo(review: LiveReview, place: Place) -> str | None:
    """Take back one's last answer; the record is on the desk again. Returns its id, or None if there is none."""
    found: list[str] = []

    def take_back(desk: Desk) -> list[Entry]:
        said = desk.opinions[place.topic]
        found.extend(id for id in reversed(desk.history[place]) if place.user in said.get(id, {}))
        return [review.screening.judgement(id, "withdrawn", place.topic) for id in found[:1]]

    review.step(place.user, take_back)
    return found[0] if found else None


def skip(review: LiveReview, place: Place, id: str) -> None:
    """Put a record aside; it comes again when nothing else is left."""
    _check_on_desk(review, place, id)
    review.step(place.user, lambda desk: [{"kind": "skip", "topic": place.topic, "id": id}])


def write_note(review: LiveReview, user: int, id: str, text: str) -> None:
    """Keep a note to a record, in place of the one there was; an empty one removes it."""
    check_record(id, review.collection.row_of)
    if len(text) > LONGEST_NOTE:
        raise InputError(f"the note has {len(text):,} characters; {LONGEST_NOTE:,} is the most")
    review.step(user, lambda desk: [{"kind": "note", "id": id, "text": text.strip()}])
    for key in [key for key in review.shown if key[1] == id]:
        review.shown.pop(key, None)


def settle(review: LiveReview, place: Place, id: str, answer: str) -> None:
    """Settle a conflict: this answer stands, whatever the reviewers said."""
    check_record(id, review.collection.row_of)
    check_choice("answer", answer, ("relevant", "irrelevant", "unsure"))

    def entry(desk: Desk) -> list[Entry]:
        if id not in {conflict.id for conflict in desk.conflicts(place.topic)}:
            raise InputError(f"the answers to record {id!r} are not in conflict; there is nothing to settle")
        return [{"kind": "settle", "topic": place.topic, "id": id, "answer": answer}]

    review.step(place.user, entry)
    review.shown.pop((place.topic, id), None)


def _handed_out(desk: Desk, hungry: list[Place], picks: list[tuple[str, str]]) -> list[tuple[int, Entry]]:
    """What goes to whom: second readings first, then what was picked and is still free, then what is left elsewhere."""
    taken = set().union(*(desk.on_desks(topic) | desk.opinions[topic].keys() for topic in {p.topic for p in hungry}))
    new = [(id, reason) for id, reason in picks if id not in taken]
    found: list[tuple[int, Entry]] = []
    given_again: set[str] = set()
    for place in hungry:
        wanted = AHEAD - len(desk.held[place])
        again = [id for id in desk.to_read_again(place.user, place.topic) if id not in given_again][:wanted]
        given_again |= set(again)
        given = dict.fromkeys(again, "second reading")
        while new and len(given) < wanted:
            id, reason = new.pop(0)
            given[id] = reason
        if not given and not desk.held[place]:  # nothing is free: what was put aside, then what others have
            rest = [*desk.later[place], *desk.left_by_others(place.user, place.topic)]
            given = dict.fromkeys(rest[:1], "the last")
        if given:
            found.append((place.user, {"kind": "handed_out", "topic": place.topic, "records": given}))
    return found


def _n_wanted(review: LiveReview, place: Place) -> int:
    with review.looking() as desk:
        return max(AHEAD - len(desk.held[place]), 0)


def _check_on_desk(review: LiveReview, place: Place, id: str) -> None:
    check_record(id, review.collection.row_of)
    with review.looking() as desk:
        there = id in desk.held[place]
    if not there:
        raise InputError(f"record {id!r} is not on your desk; it may have been answered, or given to somebody else")
