"""Lists of records, some at a time."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from textbayes.app.database import Record
from textbayes.app.desk import CONFLICT, Desk, Place
from textbayes.app.live import LiveReview
from textbayes.app.showing import Said
from textbayes.core.validation import check_choice

AT_ONCE = 50
FILTERS = ("all", "unread", "relevant", "irrelevant", "unsure", "conflict", "aside", "noted")


class ListedRecord(NamedTuple):
    """A record in a list: id, title, what stands of it or one's own answer, one's note, and those of others."""

    id: str
    title: str
    answer: str
    note: str
    notes: dict[int, str]


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


def list_records(review: LiveReview, place: Place, show: str, find: str = "", start: int = 0) -> Listing:
    """Records by what a person may see of what was said of them, or whose text has some words.

    Parameters
    ----------
    review : LiveReview
    place : Place
    show : str
        One of ``FILTERS``.
    find : str
        Text that is looked for, in any letter case.
    start : int
    """
    check_choice("show", show, FILTERS)
    own = Record.project_id == review.id
    with review.looking() as desk, review.store.read() as session:
        wanted = _wanted(review, desk, place, show)
        if find.strip():
            pattern = find.strip().replace("\x00", "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            matching = select(Record.row).where(own, Record.text.ilike(f"%{pattern}%", escape="\\"))
            met = set(session.scalars(matching))
            wanted = [row for row in wanted if row in met]
        start = max(0, min(start, len(wanted)) // AT_ONCE * AT_ONCE)
        some = wanted[start : start + AT_ONCE]
        found = session.execute(select(Record.row, Record.name, Record.text).where(own, Record.row.in_(some))).all()
        by_row = {row: (name, text.split("\n", 1)[0]) for row, name, text in found}
        said = {row: Said.of(desk, place, by_row[row][0]) for row in some}
        records = [ListedRecord(*by_row[row], said[row].answer or "", said[row].note, said[row].notes) for row in some]
    return Listing(records, start, len(wanted))


def _wanted(review: LiveReview, desk: Desk, place: Place, show: str) -> list[int]:
    row_of, topic = review.collection.row_of, place.topic
    if show == "all":
        return list(range(len(row_of)))
    if show == "unread":
        return [row for id, row in row_of.items() if desk.answer_for(*place, id) is None]
    if show == "noted":
        ids = [id for id in desk.notes if desk.notes_for(place.user, id)]
    elif show == "aside":
        seen = [one for one in desk.later if one == place or (one.topic == topic and not desk.double)]
        ids = [id for one in seen for id in desk.later[one]]
    else:
        sought = CONFLICT if show == "conflict" else show
        ids = [id for id in desk.opinions[topic] if desk.answer_for(*place, id) == sought]
    return [row_of[id] for id in ids]
