"""Who has which records and who said what: the part of a project's state that a screening knows nothing of.

A pure state machine beside ``Screening``: it is told every event in order, and says which entries the screening is to
learn from it. It is cheap, so that an answer never waits for a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from textbayes.store.log import Entry

CONFLICT = "conflict"


class Place(NamedTuple):
    """A person's queue of a topic."""

    user: int
    topic: str


class Conflict(NamedTuple):
    """A record that two people answered differently.

    Parameters
    ----------
    id : str
    answers : dict
        Person → answer.
    """

    id: str
    answers: dict[int, str]


class Desk:
    """What lies on the desks of the reviewers of one project.

    Parameters
    ----------
    double : bool
        Whether every record is read by two people; else each is read by one.

    Attributes
    ----------
    held : dict
        Place → records that were handed out there and have no answer, in order, with the strategy that chose each.
    later : dict
        Place → records that were put aside there.
    opinions : dict
        Topic → record → person → answer.
    settled : dict
        Topic → record → the answer that settled a conflict.
    notes : dict
        Record → note.
    times : dict
        Topic → when answers were given.
    history : dict
        Place → records answered there, in order.
    """

    def __init__(self, double: bool = False) -> None:
        self.double = double
        self.held: dict[Place, dict[str, str]] = defaultdict(dict)
        self.later: dict[Place, dict[str, str]] = defaultdict(dict)
        self.opinions: dict[str, dict[str, dict[int, str]]] = defaultdict(dict)
        self.settled: dict[str, dict[str, str]] = defaultdict(dict)
        self.notes: dict[str, str] = {}
        self.times: dict[str, list[float]] = defaultdict(list)
        self.history: dict[Place, list[str]] = defaultdict(list)
        self._reasons: dict[tuple[str, str], str] = {}

    # -- what happens ------------------------------------------------------------------------------------------------
    def apply(self, user: int, time: float, entry: Entry) -> list[Entry]:
        """Bring the state up to an event; returns what the screening is to learn of it.

        Parameters
        ----------
        user : int
        time : float
            Seconds since 1970.
        entry : dict
            Of a kind of :class:`~textbayes.screen.Screening`, or ``skip``, ``note``, ``settle`` or ``records``.
        """
        kind = entry["kind"]
        if kind == "judgement":
            return list(self._judge(Place(user, entry["topic"]), time, entry["id"], entry["answer"]))
        if kind == "handed_out":
            return list(self._hand_out(Place(user, entry["topic"]), entry["records"]))
        if kind == "settle":
            self.settled[entry["topic"]][entry["id"]] = entry["answer"]
            return [_judgement(entry["topic"], entry["id"], entry["answer"])]
        if kind == "skip":
            place = Place(user, entry["topic"])
            self.later[place][entry["id"]] = self.held[place].pop(entry["id"], "")
        elif kind == "note":
            self.notes.pop(entry["id"], None)
            if entry["text"]:
                self.notes[entry["id"]] = entry["text"]
        elif kind in ("word", "strategy"):
            topics = [entry["topic"]] if kind == "word" else [place.topic for place in list(self.held)]
            return [entry, *(told for topic in dict.fromkeys(topics) for told in self._release(Place(user, topic)))]
        return [entry] if kind == "advice" else []

    def _judge(self, place: Place, time: float, id: str, answer: str) -> Iterator[Entry]:
        before = self.answer(place.topic, id)
        said = self.opinions[place.topic].setdefault(id, {})
        for queue in (self.held, self.later):
            if queue[place].pop(id, None) is not None and answer == "withdrawn":
                return  # it was not answered yet: nothing to take back
        if answer == "withdrawn":
            if said.pop(place.user, None) is None:
                return
            self.history[place].remove(id)
            self.held[place] = {id: self._reasons.get((place.topic, id), ""), **self.held[place]}
        else:
            if place.user not in said:
                self.times[place.topic].append(time)
                self.history[place].append(id)
            if not self.double:
                said.clear()  # of two answers the later counts, whoever gave it
            said[place.user] = answer
        if not said:
            del self.opinions[place.topic][id]
        now = self.answer(place.topic, id)
        if now != before:
            yield _judgement(place.topic, id, {None: "withdrawn", CONFLICT: "unsure"}.get(now, str(now)))
        if now is None:
            yield {"kind": "handed_out", "topic": place.topic, "records": dict([next(iter(self.held[place].items()))])}

    def _hand_out(self, place: Place, records: dict[str, str]) -> Iterator[Entry]:
        for queue in (self.held, self.later):
            for other, theirs in queue.items():
                if other.topic == place.topic:
                    for id in records.keys() & theirs.keys():
                        del theirs[id]
        self.held[place] |= records
        self._reasons |= {(place.topic, id): reason for id, reason in records.items()}
        new = {id: reason for id, reason in records.items() if id not in self.opinions[place.topic]}
        if new:
            yield {"kind": "handed_out", "topic": place.topic, "records": new}

    def _release(self, place: Place) -> Iterator[Entry]:
        """Take back what was handed out ahead of the record that is being read, since the order has changed."""
        for id in list(self.held[place])[1:]:
            del self.held[place][id]
            if id not in self.opinions[place.topic]:
                yield _judgement(place.topic, id, "withdrawn")

    # -- a look at it ------------------------------------------------------------------------------------------------
    def answer(self, topic: str, id: str) -> str | None:
        """What stands of a record: an answer, ``"conflict"``, or None where nobody has said anything."""
        said = set(self.opinions[topic].get(id, {}).values())
        if not said:
            return None
        if len(said) > 1:
            return self.settled[topic].get(id, CONFLICT)
        return said.pop()

    def conflicts(self, topic: str) -> list[Conflict]:
        """Records that people answered differently, and nobody has settled."""
        found = self.opinions[topic].items()
        return [Conflict(id, dict(said)) for id, said in found if self.answer(topic, id) == CONFLICT]

    def to_read_again(self, user: int, topic: str) -> list[str]:
        """Records that one other person has answered, and that are on nobody's desk: the second reading of each."""
        if not self.double:
            return []
        taken = self.on_desks(topic)
        found = self.opinions[topic].items()
        return [id for id, said in found if len(said) == 1 and user not in said and id not in taken]

    def on_desks(self, topic: str) -> set[str]:
        """Records of a topic that somebody has, to read now or later."""
        queues = (queue for all_of in (self.held, self.later) for queue in all_of.items())
        return {id for place, queue in queues if place.topic == topic for id in queue}

    def left_by_others(self, user: int, topic: str) -> list[str]:
        """Records that lie unread on the desks of others: what is left to do when all else is done."""
        said = self.opinions[topic]
        queues = (queue for all_of in (self.held, self.later) for queue in all_of.items())
        others = (queue for place, queue in queues if place.topic == topic and place.user != user)
        return [id for queue in others for id in queue if user not in said.get(id, {})]

    def pairs(self, topic: str, users: tuple[int, int]) -> list[tuple[str, str]]:
        """The answers of two people to the records that both have answered."""
        first, second = users
        said: Iterable[dict[int, str]] = self.opinions[topic].values()
        return [(one[first], one[second]) for one in said if first in one and second in one]


def _judgement(topic: str, id: str, answer: str) -> Entry:
    return {"kind": "judgement", "topic": topic, "id": id, "answer": answer}
