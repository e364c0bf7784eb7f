"""Lists of records, some at a time."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import select

from textbayes.app.database import Record
from textbayes.app.desk import CONFLICT, Desk
from textbayes.app.live import LiveReview
from textbayes.core.validation import check_choice

AT_ONCE = 50
FILTERS = ("all", "unread", "relevant", "irrelevant", "unsure", "conflict", "aside", "noted")


class ListedRecord(NamedTuple):
    """A record in a list: id, title, what stands of it, and its note."""

    id: str
    title: str
    answer: str
    note: str


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


def list_records(review: LiveReview, topic: str, show: str, find: str = "", start: int = 0) -> Listing:
    """Records by what stands of them, or whose text has some words.

    Parameters
    ----------
    review : LiveReview
    topic : str
    show : str
        One of ``FILTERS``.
    find : str
        Text that is looked for, in any letter case.
    start : int
    """
    check_choice("show", show, FILTERS)
    own = Record.project_id == review.id
    with review.looking() as desk, review.store.read() as session:
        wanted = _wanted(review, desk, topic, show)
        if find.strip():
            pattern = find.strip().replace("\x00", "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            matching = select(Record.row).where(own, Record.text.ilike(f"%{pattern}%", escape="\\"))
            met = set(session.scalars(matching))
            wanted = [row for row in wanted if row in met]
        start = max(0, min(start, len(wanted)) // AT_ONCE * AT_ONCE)
        some = wanted[start : start + AT_ONCE]
        found = session.execute(select(Record.row, Record.name, Record.text).where(own, Record.row.in_(some))).all()
        by_row = {row: (name, text.split("\n", 1)[0]) for row, name, text in found}
        records = [
            ListedRecord(*by_row[row], desk.answer(topic, by_row[row][0]) or "", desk.notes.get(by_row[row][0], ""))
            for row in some
        ]
    return Listing(records, start, len(wanted))


def _wanted(review: LiveReview, desk: Desk, topic: str, show: str) -> list[int]:
    row_of = review.collection.row_of
    if show == "all":
        return list(range(len(row_of)))
    if show == "unread":
        return [row for id, row in row_of.items() if id not in desk.opinions[topic]]
    if show == "noted":
        ids = list(desk.notes)
    elif show == "aside":
        ids = [id for place, queue in desk.later.items() if place.topic == topic for id in queue]
    else:
        sought = CONFLICT if show == "conflict" else show
        ids = [id for id in desk.opinions[topic] if desk.answer(topic, id) == sought]
    return [row_of[id] for id in ids]
