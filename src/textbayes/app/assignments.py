"""Who has which records and who said what: the part of a project's state that a screening knows nothing of.

A pure state machine beside ``Screening``: it is given every event in order, and says which entries the screening is to
learn from it. It is cheap, so that an answer never waits for a model.

Where two people read every record they are blind: before both have answered, nobody is shown what the other said, and
the screening learns nothing of it. Whoever looks asks for what this person may see.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeVar

from textbayes.app.labelling import CONFLICT, LABEL_KINDS, WITHDRAWN, Labels
from textbayes.app.marks import Marks
from textbayes.app.stages import full_text_of, is_full_text, topic_of
from textbayes.core.errors import InputError
from textbayes.store.event_folder import Entry

Words = TypeVar("Words", str, tuple[str, ...])
AHEAD = 2  # records in a queue: the one that is read, and the next, which is there before it is asked for
GOLD_EVERY = 10  # questions to a person for one gold question, on average
LEFT_AFTER = 3_600.0  # seconds without a sign of a person, after which others may have what is in the queue


class ReviewerQueue(NamedTuple):
    """A person's queue of a topic."""

    user: int
    topic: str


class Goal(NamedTuple):
    """The share of the relevant records that is to be found, and the probability with which it is to be reached."""

    target: float
    confidence: float


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


class Gold(NamedTuple):
    """The known answer to a text that people are asked about to see how reliable they are, and who gave it."""

    user: int
    topic: str
    answer: str


class Assignments:
    """Which records the reviewers of one project have, and who answered what.

    Parameters
    ----------
    double : bool
        Whether every record is read by two people; else each is read by one.
    labels : Labels, optional
        Those of a project of categories, whose answers name them.
    merged : collection of str
        Records that were merged into others by hand: what is said of them does not count, until they are separated.
    alone : bool
        Whether a person's queue comes from a model of their own answers: it is then not known to others, and theirs do
        not depend on it.

    Attributes
    ----------
    held : dict
        Queue → records that were handed out there and have no answer, in order, with the strategy that chose each.
    later : dict
        Queue → records that were put aside there.
    opinions : dict
        Topic → record → person → answer.
    settled : dict
        Topic → record → the answer that settled a conflict.
    gold : dict
        Text → its known answer, in a project of categories.
    notes : dict
        Record → person → note.
    times : dict
        Topic → when answers were given.
    history : dict
        Queue → records answered there, in order.
    seen : dict
        Person → when there was the last sign of them.
    keys : set
        Keys of what browsers have sent: what comes twice counts once.
    unblinded : set
        People who chose to see all answers, and read no more.
    matched : dict
        Person whom a file named → the account that is the same person; None where it is nobody of this room.
    unmatched : set
        People whom a file named, and of whom nobody has said yet who they are.
    goal : Goal or None
        What was chosen since the project was made.
    has_full_texts : bool
        Whether the full text of any record was added.
    marks : Marks
        Reasons for exclusion and tags.
    """

    def __init__(
        self, double: bool = False, labels: Labels | None = None, merged: Collection[str] = (), alone: bool = False
    ) -> None:
        self.double, self.labels, self.merged, self.alone = double, labels, set(merged), alone
        self.held: dict[ReviewerQueue, dict[str, str]] = defaultdict(dict)
        self.later: dict[ReviewerQueue, dict[str, str]] = defaultdict(dict)
        self.opinions: dict[str, dict[str, dict[int, str]]] = defaultdict(dict)
        self.settled: dict[str, dict[str, str]] = defaultdict(dict)
        self.gold: dict[str, Gold] = {}
        self.notes: dict[str, dict[int, str]] = {}
        self.times: dict[str, list[float]] = defaultdict(list)
        self.history: dict[ReviewerQueue, dict[str, None]] = defaultdict(dict)
        self.seen: dict[int, float] = {}
        self.keys: set[str] = set()
        self.unblinded: set[int] = set()
        self.matched: dict[int, int | None] = {}
        self.unmatched: set[int] = set()
        self.has_full_texts = False
        self.goal: Goal | None = None
        self.marks = Marks()
        self._reasons: dict[tuple[str, str], str] = {}
        self._gold_reasons: dict[tuple[ReviewerQueue, str], str] = {}  # why each person was given one, as they see it
        self._waiting: dict[str, dict[str, None]] = defaultdict(dict)  # answered by one person, to be read by another

    # -- what happens ------------------------------------------------------------------------------------------------
    def apply(self, user: int, time: float, entry: Entry) -> list[Entry]:
        """Bring the state up to an event; returns what the screening is to learn of it.

        Parameters
        ----------
        user : int
        time : float
            Seconds since 1970.
        entry : dict
            Of a kind of :class:`~textbayes.screen.Screening`, or of ``app/entries.py``.
        """
        kind = entry["kind"]
        self.seen[user] = time
        if "key" in entry:
            self.keys.add(entry["key"])
        if entry.get("id") in self.merged:
            return []
        if kind == "handed_out" and not self.merged.isdisjoint(entry["records"]):
            entry = {**entry, "records": {id: why for id, why in entry["records"].items() if id not in self.merged}}
        self.marks.apply(user, entry)
        if kind == "judgement":
            return list(self._judge(ReviewerQueue(user, entry["topic"]), time, entry["id"], entry["answer"]))
        if kind == "handed_out":
            return list(self._hand_out(ReviewerQueue(user, entry["topic"]), entry["records"]))
        if kind == "settle":
            self.settled[entry["topic"]][entry["id"]] = entry["answer"]
            return [_judgement(entry["topic"], entry["id"], entry["answer"])]
        if kind == "skip":
            reviewer = ReviewerQueue(user, entry["topic"])
            self.later[reviewer][entry["id"]] = self.held[reviewer].pop(entry["id"], "")
        elif kind == "note":
            of_record = self.notes.setdefault(entry["id"], {})
            of_record.pop(user, None)
            if entry["text"]:
                of_record[user] = entry["text"]
        elif kind in ("word", "strategy"):
            topics = [entry["topic"]] if kind == "word" else [reviewer.topic for reviewer in list(self.held)]
            return [
                entry,
                *(
                    withdrawn
                    for topic in dict.fromkeys(topics)
                    for withdrawn in self._release(ReviewerQueue(user, topic), 1)
                ),
            ]
        elif kind == "release":
            return list(self._release(ReviewerQueue(user, entry["topic"]), AHEAD))
        elif kind == "unblind":
            self.unblinded.add(user)
            topics = [reviewer.topic for reviewer in [*self.held, *self.later] if reviewer.user == user]
            return [
                withdrawn for topic in dict.fromkeys(topics) for withdrawn in self._release(ReviewerQueue(user, topic))
            ]
        elif kind == "goal":
            self.goal = Goal(entry["target"], entry["confidence"])
        elif kind == "full_text":
            self.has_full_texts |= bool(entry["file"])
        elif kind == "stranger":
            self.unmatched.add(entry["user"])
        elif kind == "person":
            return list(self._match(entry["user"], entry["account"]))
        elif kind == "gold":
            return list(self._set_gold(user, entry["topic"], entry["id"], entry["answer"]))
        elif kind in LABEL_KINDS and self.labels is not None:
            return list(self._change_labels(self.labels, entry))
        return [entry] if kind == "advice" else []

    def check_there(self, entry: Entry) -> None:
        """Refuse what is said of a record that is no longer one of its own."""
        if entry["kind"] != "unmerged" and entry.get("id") in self.merged:
            raise InputError(f"record {entry['id']!r} was merged into another one meanwhile; reload the page")

    def _judge(self, reviewer: ReviewerQueue, time: float, id: str, answer: str) -> Iterator[Entry]:
        topic, said = reviewer.topic, self.opinions[reviewer.topic].get(id, {})
        before = self.answer(topic, id)
        if answer == "withdrawn":
            if reviewer.user not in said:
                return  # it was not answered yet: nothing to take back
            del said[reviewer.user]
            self.history[reviewer].pop(id, None)
            if self._is_read(topic, id):
                self.held[reviewer] = {id: self._reasons.get((topic, id), ""), **self.held[reviewer]}
        else:
            for queue in (self.held, self.later):
                queue[reviewer].pop(id, None)
            if reviewer.user not in said:
                self.times[topic].append(time)
                self.history[reviewer].pop(id, None)  # where another's answer came between
                self.history[reviewer][id] = None
            if not self.double and id not in self.gold:
                said.clear()  # of two answers the later counts, whoever gave it
            said[reviewer.user] = answer
            n_readers = len({self.person(user) for user in said})
            if n_readers >= (2 if self.double else 1) and id not in self.gold and not self.is_alone(topic):
                self._forget(topic, id)  # another may have it, to whom answers came by a merge of two records
        self.opinions[topic][id] = said
        if not said:
            del self.opinions[topic][id]
        yield from self._news(topic, id, before)

    def _news(self, topic: str, id: str, before: str | None) -> Iterator[Entry]:
        """What the screening is to learn where the answer that stands may have changed; what is out is not picked."""
        now = self.answer(topic, id)
        self._waiting[topic].pop(id, None)
        if id in self.gold:
            return  # the model does not learn it: a guess would tell the answer
        if now is None and id in self.opinions[topic]:
            self._waiting[topic][id] = None
        if now != before:
            if now != "relevant":  # no longer one of those whose full text is read
                self._forget(full_text_of(topic), id)
            yield _learnt(topic, id, now)
        if now is None:
            yield self._out(topic, id)

    def _set_gold(self, user: int, topic: str, id: str, answer: str) -> Iterator[Entry]:
        """Make a text a gold question, or a text like others again."""
        if answer != WITHDRAWN:
            self.gold[id] = Gold(user, topic, answer)
            self._waiting[topic].pop(id, None)
            for queue in (self.held, self.later):
                queue[ReviewerQueue(user, topic)].pop(id, None)  # who knows the answer is not asked
            yield _judgement(topic, id, WITHDRAWN)
            yield self._out(topic, id)
        elif self.gold.pop(id, None) is not None:
            said = self.opinions[topic].get(id, {})
            if not self.double:
                for earlier in list(said)[:-1]:
                    del said[earlier]
            now = self.answer(topic, id)
            yield _learnt(topic, id, now)
            if now is None and self._is_out(topic, id):
                if said:
                    self._waiting[topic][id] = None
                yield self._out(topic, id)

    def _change_labels(self, labels: Labels, entry: Entry) -> Iterator[Entry]:
        """Take another name, a merged or a removed label; answers may mean the same now that did not before."""
        several = [(topic, id) for topic, of_all in self.opinions.items() for id, said in of_all.items()
                   if len(said) > 1 and id not in self.gold]  # fmt: skip
        before = {one: self.answer(*one) for one in several}
        labels.apply(entry)
        yield entry
        for id, gold in list(self.gold.items()):
            if labels.is_void(gold.answer):
                yield from self._set_gold(gold.user, gold.topic, id, WITHDRAWN)
        for one, stood in before.items():
            now = self.answer(*one)
            if now != stood:
                yield _learnt(*one, now)

    def _out(self, topic: str, id: str) -> Entry:
        """That a record is not to be picked."""
        return {"kind": "handed_out", "topic": topic, "records": {id: self._reasons.get((topic, id), "")}}

    def _forget(self, topic: str, id: str) -> None:
        """Take a record out of all queues of a topic."""
        for queue in (self.held, self.later):
            for reviewer in [one for one in queue if one.topic == topic]:
                queue[reviewer].pop(id, None)

    def _hand_out(self, reviewer: ReviewerQueue, records: dict[str, str]) -> Iterator[Entry]:
        new = {id: reason for id, reason in records.items() if not self._is_out(reviewer.topic, id)}
        for queue in () if self.is_alone(reviewer.topic) else (self.held, self.later):
            for other, theirs in queue.items():
                if other.topic == reviewer.topic:
                    for id in records.keys() & theirs.keys() - self.gold.keys():
                        del theirs[id]
        self.held[reviewer] |= records
        self._reasons |= {(reviewer.topic, id): reason for id, reason in new.items()}
        self._gold_reasons |= {(reviewer, id): reason for id, reason in records.items() if id in self.gold}
        if new:
            yield {"kind": "handed_out", "topic": reviewer.topic, "records": new}

    def _release(self, reviewer: ReviewerQueue, keep: int = 0) -> Iterator[Entry]:
        """Take back what was handed out: all, or what is ahead of the record that is being read."""
        released = list(self.held[reviewer])[keep:]
        for id in released:
            del self.held[reviewer][id]
        if not keep:
            released += self.later.pop(reviewer, {})
        for id in released:
            if not self._is_out(reviewer.topic, id):
                yield _judgement(reviewer.topic, id, "withdrawn")

    def _match(self, stranger: int, account: int | None) -> Iterator[Entry]:
        """Let a person of a file be somebody of this room: two answers of one person are one reading."""
        theirs = [(topic, id) for topic, all_of in self.opinions.items() for id in all_of if stranger in all_of[id]]
        before = {one: self.answer(*one) for one in theirs}
        self.unmatched.discard(stranger)
        self.matched[stranger] = account
        for (topic, id), stood in before.items():
            if self.answer(topic, id) != stood:
                yield from self._news(topic, id, stood)

    def _is_out(self, topic: str, id: str) -> bool:
        """Whether somebody has a record in the queue, or has answered it."""
        return id in self.gold or bool(self._holders(topic, id)) or id in self.opinions[topic]

    def _holders(self, topic: str, id: str) -> set[int]:
        queues = (queue for all_of in (self.held, self.later) for queue in all_of.items())
        return {reviewer.user for reviewer, queue in queues if reviewer.topic == topic and id in queue}

    # -- who is who --------------------------------------------------------------------------------------------------
    def person(self, user: int) -> int:
        """The account of a person whom a file named, if there is one; else the person."""
        return self.matched.get(user) or user

    def sees_all(self, user: int) -> bool:
        """Whether a person chose to see all answers, under whatever account."""
        return user in {self.person(one) for one in self.unblinded}

    def own(self, user: int, said: Mapping[int, Words]) -> Words | None:
        """What a person said, under whatever account; None where nothing."""
        theirs = [text for one, text in said.items() if self.person(one) == user and one != user]
        return said.get(user, theirs[-1] if theirs else None)

    def readers(self, topic: str, id: str) -> set[int]:
        """The people who have answered a record, or have it in their queues where others may know that."""
        said = self.opinions[topic].get(id, {})
        holders = set() if self.is_alone(topic) else self._holders(topic, id)
        return {self.person(user) for user in holders | said.keys()}

    def is_alone(self, topic: str) -> bool:
        """Whether people's queues of a topic are nothing to each other; those of full texts are one."""
        return self.alone and not is_full_text(topic)

    def active(self, reviewer: ReviewerQueue, now: float) -> set[int]:
        """The people who read a topic at present, with the one who asks."""
        found = {one for one in self.history if self.history[one]} | {one for one in self.held if self.held[one]}
        there = {self.person(one.user) for one in found if one.topic == reviewer.topic}
        return {one for one in there if self.seen.get(one, 0.0) >= now - LEFT_AFTER} | {reviewer.user}

    def not_for(self, reviewer: ReviewerQueue) -> set[str]:
        """Records that a person who reads alone is not to be given: those in the queue, and those that others settle.

        What only one other has answered counts as if nobody had: that somebody was given it says what they answered.
        """
        topic = reviewer.topic
        found = {*self.held[reviewer], *self.later[reviewer]}
        for id, said in self.opinions[topic].items():
            if self.answer(topic, id) is not None or not self.unmatched.isdisjoint(said):
                found.add(id)
        return found

    # -- a look at it ------------------------------------------------------------------------------------------------
    def answer(self, topic: str, id: str) -> str | None:
        """What stands of a record: an answer, ``"conflict"``, or None before all have answered who are to read it."""
        if id in self.gold:
            return self.gold[id].answer
        said = self.opinions[topic].get(id, {})
        if not said or (self.double and len({self.person(user) for user in said}) < 2):
            return None
        given = set(said.values())
        if len(given if self.labels is None else set(map(self.labels.meaning, given))) > 1:
            settled = self.settled[topic].get(id, CONFLICT)
            return CONFLICT if self.labels is not None and self.labels.is_void(settled) else settled
        return next(iter(said.values()))

    def stands_for(self, user: int, topic: str, id: str) -> str | None:
        """What stands of a record as far as a person may know: of a gold question as if nobody else had been asked."""
        if self.knows_gold(user, id):
            return self.answer(topic, id)
        return None if self.double else self.own(user, self.opinions[topic].get(id, {}))

    def answer_for(self, user: int, topic: str, id: str) -> str | None:
        """What a person may see of the answer to a record: what stands, or else their own."""
        stands = self.stands_for(user, topic, id)
        if stands is not None:
            return stands
        said = self.opinions[topic].get(id, {})
        if self.sees_all(user):
            return next(iter(said.values()), None)
        return self.own(user, said)

    def answers_for(self, user: int, topic: str, id: str) -> dict[int, str]:
        """The answers to a record that a person may see, by who gave them: others' only when all have answered."""
        said = self.opinions[topic].get(id, {})
        seen = self.knows_gold(user, id) and (self.sees_all(user) or self.answer(topic, id) is not None)
        return {self.person(who): text for who, text in said.items() if seen or self.person(who) == user}

    def notes_for(self, user: int, id: str) -> dict[int, str]:
        """The notes to a record that a person may see, by who wrote them: others' only where that tells nothing."""
        notes = self.notes.get(id, {})
        if self.all_seen(user, id):
            return dict(notes)
        return {who: text for who, text in notes.items() if self.person(who) == user}

    def may_see(self, user: int, who: int, entry: Entry) -> bool:
        """Whether a person may see an event of another, as things stand now."""
        if self.sees_all(user) or self.person(who) == user:
            return True
        if not self.knows_gold(user, entry.get("id", "")):
            return False
        if not self.double:
            return True
        if self.alone and entry["kind"] in ("handed_out", "skip"):
            return False  # a model of what that person said has chosen these records
        if entry["kind"] == "judgement":
            return self.answer(entry["topic"], entry["id"]) is not None
        return entry["kind"] not in ("note", "tags") or self._all_read(entry["id"])

    def shown_to(self, user: int, who: int, entry: Entry) -> Entry | None:
        """What a person may see of an event of another; that gold questions were handed out is left out."""
        if not self.may_see(user, who, entry):
            return None
        if entry["kind"] != "handed_out" or self.person(who) == user:
            return entry
        records = {id: reason for id, reason in entry["records"].items() if self.knows_gold(user, id)}
        return {**entry, "records": records} if records else None

    def all_seen(self, user: int, id: str) -> bool:
        """Whether a person may see everything that others said of a record."""
        return self.sees_all(user) or (self.knows_gold(user, id) and (not self.double or self._all_read(id)))

    def knows_gold(self, user: int, id: str) -> bool:
        """Whether a text is no gold question, or one whose answer this person may know."""
        return id not in self.gold or self.person(self.gold[id].user) == user or self.sees_all(user)

    def gold_for(self, reviewer: ReviewerQueue) -> list[str]:
        """The gold questions that a person was not asked yet and may be."""
        asked = {*self.history[reviewer], *self.held[reviewer], *self.later[reviewer]}
        said = self.opinions[reviewer.topic]
        free = (id for id in self.gold if id not in asked and not self.knows_gold(reviewer.user, id))
        return [id for id in free if self.own(reviewer.user, said.get(id, {})) is None]

    def own_gold(self, user: int, topic: str) -> list[str]:
        """The gold questions that a person has answered and must not know as such."""
        unknown = (id for id in self.gold if not self.knows_gold(user, id))
        return [id for id in unknown if self.own(user, self.opinions[topic].get(id, {})) is not None]

    def gold_answers(self, topic: str) -> dict[int, list[bool]]:
        """Whether each answer of a person to a gold question is right."""
        found: dict[int, list[bool]] = defaultdict(list)
        for id, gold in self.gold.items():
            for user, answer in self.opinions[topic].get(id, {}).items():
                if self.person(user) != self.person(gold.user) and self.labels is not None:
                    right = self.labels.meaning(answer) == self.labels.meaning(gold.answer)
                    found[self.person(user)].append(right)
        return dict(found)

    def _all_read(self, id: str) -> bool:
        """Whether a record has answers, and nobody's answer to any topic waits for another's."""
        begun = [topic for topic, said in list(self.opinions.items()) if id in said]
        return bool(begun) and all(self.answer(topic, id) is not None for topic in begun)

    def to_assess(self, topic: str) -> list[str]:
        """Records that are included on title and abstract, in the order of their answers: their full text is read."""
        return [id for id in self.opinions[topic] if self.answer(topic, id) == "relevant"]

    def reasons(self, reviewer: ReviewerQueue) -> dict[str, str]:
        """The strategy that first handed out each record, as far as a person may know."""
        gold = {id: reason for (one, id), reason in self._gold_reasons.items() if one == reviewer}
        return gold | {id: reason for (one, id), reason in self._reasons.items() if one == reviewer.topic}

    def n_waiting(self, topic: str) -> int:
        """Records that one person has answered, and another is to."""
        return sum(self._is_read(topic, id) for id in self._waiting[topic])

    def conflicts(self, topic: str) -> list[Conflict]:
        """Records that people answered differently, and nobody has settled."""
        found = self.opinions[topic].items()
        return [
            Conflict(id, dict(said))
            for id, said in found
            if self.answer(topic, id) == CONFLICT and self._is_read(topic, id)
        ]

    def _is_read(self, topic: str, id: str) -> bool:
        """Whether a record is one of the stage: full texts are those of records that are still included."""
        return not is_full_text(topic) or self.answer(topic_of(topic), id) == "relevant"

    def to_read_again(self, user: int, topic: str) -> list[str]:
        """Records that one other person has answered, and that are in nobody's queue: the second reading of each."""
        taken = self.assigned(topic)
        return [id for id in self._waiting[topic] if id not in taken and self._may_read_again(user, topic, id)]

    def _may_read_again(self, user: int, topic: str, id: str) -> bool:
        """Whether a record is to be read, and this is certainly another person than the one who has answered it."""
        said = self.opinions[topic].get(id, {})
        known = self.own(user, said) is not None or self.unmatched & said.keys()
        return not known and id not in self.gold and self._is_read(topic, id)

    def assigned(self, topic: str) -> set[str]:
        """Records of a topic that somebody has, to read now or later."""
        queues = (queue for all_of in (self.held, self.later) for queue in all_of.items())
        return {id for reviewer, queue in queues if reviewer.topic == topic for id in queue}

    def left_by_others(self, user: int, topic: str, now: float) -> list[str]:
        """Records that wait unread in the queues of people who have left: what is to do when all else is done."""
        queues = (queue for all_of in (self.held, self.later) for queue in all_of.items())
        left = (
            queue for reviewer, queue in queues if reviewer.topic == topic and self._has_left(reviewer.user, user, now)
        )
        return [id for queue in left for id in queue if self._may_read_again(user, topic, id)]

    def _has_left(self, other: int, user: int, now: float) -> bool:
        return other != user and self.seen.get(other, 0.0) < now - LEFT_AFTER

    def pairs(self, topic: str, users: tuple[int, int]) -> list[tuple[str, str]]:
        """The answers of two people to the records that both have answered."""
        first, second = users
        both = ((self.own(first, said), self.own(second, said)) for said in self.opinions[topic].values())
        return [(one, other) for one, other in both if one is not None and other is not None]


def _learnt(topic: str, id: str, stands: str | None) -> Entry:
    """What a model is to learn of a record, by what stands of it."""
    return _judgement(topic, id, {None: WITHDRAWN, CONFLICT: "unsure"}.get(stands, str(stands)))


def _judgement(topic: str, id: str, answer: str) -> Entry:
    return {"kind": "judgement", "topic": topic, "id": id, "answer": answer}
