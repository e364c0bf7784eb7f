"""Reading and answering: what a person is shown next, and what becomes of an answer."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Sequence

import numpy as np

from textbayes.app.assignments import AHEAD, GOLD_EVERY, Assignments, ReviewerQueue
from textbayes.app.labelling import CONFLICT, WITHDRAWN
from textbayes.app.live import CATEGORIES, LiveReview
from textbayes.app.marks import checked_list
from textbayes.app.own_models import is_among_two
from textbayes.app.records import Shown, make_ready, show
from textbayes.app.stages import is_full_text, topic_of
from textbayes.core.errors import InputError
from textbayes.core.validation import check_choice
from textbayes.screen.screening import check_record
from textbayes.store.event_folder import Entry

MOST_AHEAD = 10  # of a person whose line is slow
_LEFT = 10  # times as many records are free for others as anybody holds ahead
LONGEST_NOTE = 4_000
_TRIES = 20  # another process may take what was picked here before it is handed out; each try means that one did


def queue(review: LiveReview, reviewer: ReviewerQueue, ahead: int = AHEAD) -> list[Shown]:
    """The record to read now, and those after it; records are handed out where too few are in the queue.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    ahead : int
        How many are to be there, 10 at most. The order of those that come later does not know the answers before them.
    """
    with review.looking() as assignments:
        _check_blind(assignments, reviewer.user)
    top_up(review, reviewer, ahead)
    return assigned_records(review, reviewer, ahead)


def assigned_records(review: LiveReview, reviewer: ReviewerQueue, most: int = AHEAD) -> list[Shown]:
    """What is in a queue already, without handing out more: the quick way to the next record."""
    with review.looking() as assignments:
        ids = list(assignments.held[reviewer])[:most]
    return [show(review, reviewer, id) for id in ids]


def release(review: LiveReview, reviewer: ReviewerQueue) -> None:
    """Let others have what was fetched ahead and is not read; whoever comes back gets what is most probable then."""

    def entries(assignments: Assignments) -> list[Entry]:
        more = len(assignments.held[reviewer]) > AHEAD
        return [{"kind": "release", "topic": reviewer.topic}] if more else []

    review.step(reviewer.user, entries)


def top_up(review: LiveReview, reviewer: ReviewerQueue, ahead: int = AHEAD) -> None:
    """Hand out records until there are enough in a queue.

    Whoever has the model serves all queues of the topic that wait: many who answer at once cost one ranking.
    """
    if not _hungry(review, {reviewer: ahead}):
        return
    review.waiting[reviewer] = ahead
    with review.engine():
        for tried in range(_TRIES):
            review.refresh()  # the lock may have been long in coming, and others have been handed records meanwhile
            if _serve(review, reviewer, ahead, spare=tried * MOST_AHEAD):
                break
    review.snapshot()


def _serve(review: LiveReview, reviewer: ReviewerQueue, ahead: int, spare: int) -> bool:
    """Hand out what the model picks; whether that was all there is to do. Another process may take ``spare`` of it."""
    if review.alone and not is_full_text(reviewer.topic):
        return _serve_alone(review, reviewer, ahead)
    with review.engine() as engine:  # which learns what other processes have written
        asking = {**review.waiting, reviewer: ahead}
        hungry = _hungry(review, {one: n for one, n in asking.items() if one.topic == reviewer.topic})
        for one in [*hungry, reviewer]:
            review.waiting.pop(one, None)
        if reviewer not in hungry:  # somebody else has served this queue meanwhile
            return True
        if is_full_text(reviewer.topic):
            with review.looking() as assignments:
                out = assignments.assigned(reviewer.topic) | assignments.opinions[reviewer.topic].keys()
                included = assignments.to_assess(topic_of(reviewer.topic))
            picks = [(id, "included") for id in included if id not in out]
        else:
            found = engine.next_records(sum(hungry.values()) + spare, reviewer.topic)
            picks = [(engine.collection.ids[pick.row], pick.reason) for pick in found]
        review.write(lambda assignments: _handed_out(assignments, hungry, picks))
        with review.engine_for(reviewer.user) as shown_by:
            make_ready(review, shown_by, reviewer)
        with review.looking() as assignments:
            return bool(assignments.held[reviewer]) or not picks


def _serve_alone(review: LiveReview, reviewer: ReviewerQueue, ahead: int) -> bool:
    """Hand out what a model of the person's own answers picks, whatever others have.

    Of more than two who read at present, each record goes to two, by chance and whatever anybody answers.
    """
    review.waiting.pop(reviewer, None)
    with review.model_for(reviewer.user) as screening:
        row_of, known = screening.collection.row_of, screening.topic(reviewer.topic)
        with review.looking() as assignments:
            if assignments.sees_all(reviewer.user):
                return True  # who reads no more
            out = {row_of[id] for id in assignments.not_for(reviewer)}
            active = assignments.active(reviewer, time.time())
        out.update(np.flatnonzero(~is_among_two(screening.collection.ids, active, reviewer.user)).tolist())
        known.handed_out = {row: "" for row in sorted(out) if not known.answers[row]}
        picks = [
            (screening.collection.ids[pick.row], pick.reason) for pick in screening.next_records(ahead, known.name)
        ]

        def entries(assignments: Assignments) -> list[Entry]:
            n_wanted, out = ahead - len(assignments.held[reviewer]), assignments.not_for(reviewer)
            given = dict([one for one in picks if one[0] not in out][: max(n_wanted, 0)])
            if not picks and not assignments.held[reviewer]:  # nothing is free: what was put aside
                given = dict.fromkeys(list(assignments.later[reviewer])[:1], "the last")
            return [{"kind": "handed_out", "topic": reviewer.topic, "records": given}] if given else []

        review.step(reviewer.user, entries)
        make_ready(review, screening, reviewer)
        with review.looking() as assignments:
            return bool(assignments.held[reviewer]) or not picks


def judge(
    review: LiveReview,
    reviewer: ReviewerQueue,
    id: str,
    answer: str,
    key: str | None = None,
    replace: bool = False,
    reason: str = "",
) -> None:
    """Keep an answer: in the database when this returns, learnt by the next who asks the model.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    id : str
    answer : {"relevant", "irrelevant", "unsure", "withdrawn"}
        In a project of categories the numbers of the labels, or "none", in place of the first two.
    key : str, optional
        Of this answer: one that comes again with the same key is kept once.
    replace : bool
        Whether another's answer may be changed, where one person reads a record.
    reason : str
        Why a record is excluded; needed of a full text.
    """
    entry = _keyed(_judgement(review, reviewer, id, answer), key)
    if reason:
        entry["reason"] = reason

    def entries(assignments: Assignments) -> list[Entry]:
        if key in assignments.keys:
            return []  # it is here already
        kept = answer if assignments.labels is None else assignments.labels.checked(answer)
        said = assignments.opinions[reviewer.topic].get(id, {}).get(reviewer.user, "withdrawn")
        if said == kept and assignments.marks.own_reason(reviewer.user, reviewer.topic, id) == reason:
            return []  # so is this, or there is nothing to take back
        if assignments.labels is None:
            assignments.marks.check_reason(is_full_text(reviewer.topic), answer, reason)
        _check_blind(assignments, reviewer.user)
        if kept != "withdrawn":
            _check_turn(assignments, reviewer, id, replace)
        return [{**entry, "answer": kept}]

    review.step(reviewer.user, entries)


MOST_AT_ONCE = 500  # records answered together
_chance = random.SystemRandom()


def judge_many(
    review: LiveReview, reviewer: ReviewerQueue, ids: Sequence[str], answer: str, reason: str = ""
) -> list[str]:
    """Give several records one answer, or take one's answers to them back; returns those that it was done to.

    Records that the person has answered before, or is not to read, stay as they are.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
    ids : sequence of str
    answer : {"relevant", "irrelevant", "unsure", "withdrawn"}
    reason : str
    """
    if len(ids) > MOST_AT_ONCE:
        raise InputError(f"{len(ids)} records were named; {MOST_AT_ONCE} is the most at once")
    made = {id: _judgement(review, reviewer, id, answer) for id in dict.fromkeys(ids)}
    done: list[str] = []

    def wanted(assignments: Assignments, id: str) -> bool:
        own = reviewer.user in assignments.opinions[reviewer.topic].get(id, {})
        if answer == "withdrawn" or own:
            return own and answer == "withdrawn"
        with contextlib.suppress(InputError):
            _check_turn(assignments, reviewer, id, replace=False)
            return True
        return False

    def entries(assignments: Assignments) -> list[Entry]:
        kept = answer if assignments.labels is None else assignments.labels.checked(answer)
        assignments.marks.check_reason(is_full_text(reviewer.topic), answer, reason)
        _check_blind(assignments, reviewer.user)
        done.extend(id for id in made if wanted(assignments, id))
        return [{**made[id], "answer": kept, **({"reason": reason} if reason else {})} for id in done]

    review.step(reviewer.user, entries)
    return done


def undo(review: LiveReview, reviewer: ReviewerQueue, key: str | None = None) -> str | None:
    """Take back one's last answer; the record is in the queue again. Returns its id, or None if there is none."""
    found: list[str] = []

    def take_back(assignments: Assignments) -> list[Entry]:
        if key in assignments.keys:
            return []
        _check_blind(assignments, reviewer.user)
        said = assignments.opinions[reviewer.topic]
        found.extend(id for id in reversed(assignments.history[reviewer]) if reviewer.user in said.get(id, {}))
        return [_keyed(_judgement(review, reviewer, id, "withdrawn"), key) for id in found[:1]]

    review.step(reviewer.user, take_back)
    return found[0] if found else None


def skip(review: LiveReview, reviewer: ReviewerQueue, id: str, key: str | None = None) -> None:
    """Put a record aside; it comes again when nothing else is left."""
    check_record(id, review.collection.row_of)

    def entries(assignments: Assignments) -> list[Entry]:
        if key in assignments.keys:
            return []
        if id not in assignments.held[reviewer]:
            raise InputError(
                f"record {id!r} is not assigned to you; it may have been answered, or assigned to somebody else"
            )
        return [_keyed({"kind": "skip", "topic": reviewer.topic, "id": id}, key)]

    review.step(reviewer.user, entries)


def write_note(review: LiveReview, user: int, id: str, text: str, key: str | None = None) -> None:
    """Keep a person's note to a record, in place of the one there was; an empty one removes it."""
    check_record(id, review.collection.row_of)
    if len(text) > LONGEST_NOTE:
        raise InputError(f"the note has {len(text):,} characters; {LONGEST_NOTE:,} is the most")
    entry = _keyed({"kind": "note", "id": id, "text": text.strip()}, key)

    def entries(assignments: Assignments) -> list[Entry]:
        same = assignments.notes.get(id, {}).get(user, "") == entry["text"]
        return [] if same or key in assignments.keys else [entry]

    review.step(user, entries)


def write_tags(review: LiveReview, user: int, id: str, tags: Sequence[str], key: str | None = None) -> None:
    """Keep a person's tags of a record, in place of those there were."""
    check_record(id, review.collection.row_of)
    entry = _keyed({"kind": "tags", "id": id, "tags": list(dict.fromkeys(tags))}, key)

    def entries(assignments: Assignments) -> list[Entry]:
        same = set(assignments.marks.own_tags(assignments, user, id)) == set(tags)
        if same or key in assignments.keys:
            return []
        assignments.marks.check_tags(tags)
        return [entry]

    review.step(user, entries)


def change_lists(review: LiveReview, user: int, reasons: Sequence[str], tags: Sequence[str]) -> None:
    """Give the project other lists of reasons and tags; what was said stays."""
    entry: Entry = {"kind": "lists", "reasons": checked_list(reasons, "reasons"), "tags": checked_list(tags, "tags")}
    review.step(user, lambda assignments: [entry])


def change_goal(review: LiveReview, user: int, target: float, confidence: float) -> None:
    """Choose anew how much of what is relevant is to be found, and how surely."""
    if not (0.0 < target <= 1.0 and 0.0 < confidence < 1.0):
        raise InputError(
            f"target={target:g} and confidence={confidence:g} are not usable; give shares, such as 0.95 and 0.9"
        )
    entry: Entry = {"kind": "goal", "target": float(target), "confidence": float(confidence)}
    review.step(user, lambda assignments: [] if review.goal == (target, confidence) else [entry])


def settle(review: LiveReview, reviewer: ReviewerQueue, id: str, answer: str, reason: str = "") -> None:
    """Settle a conflict: this answer stands, whatever the reviewers said."""
    check_record(id, review.collection.row_of)

    def entry(assignments: Assignments) -> list[Entry]:
        if assignments.answer(reviewer.topic, id) != CONFLICT:
            raise InputError(f"the answers to record {id!r} are not in conflict; there is nothing to settle")
        if assignments.labels is None:
            assignments.marks.check_reason(is_full_text(reviewer.topic), answer, reason)
        settled: Entry = {
            "kind": "settle",
            "topic": reviewer.topic,
            "id": id,
            "answer": _that_stands(assignments, answer),
        }
        return [{**settled, "reason": reason} if reason else settled]

    review.step(reviewer.user, entry)


def set_gold(review: LiveReview, reviewer: ReviewerQueue, id: str, answer: str) -> None:
    """Make a text a gold question: people are asked about it, and their answers are compared with this one.

    Parameters
    ----------
    review : LiveReview
    reviewer : ReviewerQueue
        Who knows the answer, and is not asked.
    id : str
    answer : str
        Numbers of labels, "none" or "unsure"; "withdrawn" makes it a text like others again.
    """
    check_record(id, review.collection.row_of)
    if review.kind != CATEGORIES:
        raise InputError("gold questions belong to projects that sort texts into categories")

    def entry(assignments: Assignments) -> list[Entry]:
        if not assignments.knows_gold(reviewer.user, id):
            raise InputError(f"text {id!r} is a gold question of somebody else; choose another text")
        kept = answer if answer == WITHDRAWN else _that_stands(assignments, answer)
        there = assignments.gold.get(id)
        if (WITHDRAWN if there is None else there.answer) == kept:
            return []
        return [{"kind": "gold", "topic": reviewer.topic, "id": id, "answer": kept}]

    review.step(reviewer.user, entry)
    review.shown.clear()  # guesses no longer know it


def _that_stands(assignments: Assignments, answer: str) -> str:
    """An answer that an owner gives for all, refused where the project has none of that kind."""
    if assignments.labels is None:
        check_choice("answer", answer, ("relevant", "irrelevant", "unsure"))
        return answer
    if answer == WITHDRAWN:
        raise InputError("the answer 'withdrawn' settles nothing; give a label")
    return assignments.labels.checked(answer)


def unblind(review: LiveReview, user: int) -> None:
    """Let a person see all answers from now on; who does reads no more records of this project."""
    if not review.settings.get("double"):
        raise InputError("one person reads each record here: all answers can be seen")
    review.step(user, lambda assignments: [] if assignments.sees_all(user) else [{"kind": "unblind"}])


def _handed_out(
    assignments: Assignments, hungry: dict[ReviewerQueue, int], picks: list[tuple[str, str]]
) -> list[tuple[int, Entry]]:
    """What goes to whom: second readings first, then what was picked and is still free, then what is left elsewhere."""
    taken = set().union(
        *(assignments.assigned(topic) | assignments.opinions[topic].keys() for topic in {p.topic for p in hungry})
    )
    new = [(id, reason) for id, reason in picks if id not in taken]
    found: list[tuple[int, Entry]] = []
    given_again: set[str] = set()
    for reviewer, ahead in hungry.items():
        wanted = max(ahead - len(assignments.held[reviewer]), 0)
        again = [id for id in assignments.to_read_again(reviewer.user, reviewer.topic) if id not in given_again]
        gold = assignments.gold_for(reviewer)
        given: dict[str, str] = {}
        while len(given) < wanted and (again or new):
            # A gold question comes at random in place of another text, and looks like it: nobody is to know.
            asked = gold.pop(_chance.randrange(len(gold))) if gold and _chance.random() * GOLD_EVERY < 1.0 else None
            if again:
                given[asked or again[0]] = "second reading"
                given_again |= set() if asked else {again.pop(0)}
            else:
                given[asked or new[0][0]] = new[0][1]
                del new[: asked is None]
        if (
            not given and not assignments.held[reviewer] and not picks
        ):  # nothing is free: what was put aside, or left behind
            rest = [
                *assignments.later[reviewer],
                *assignments.left_by_others(reviewer.user, reviewer.topic, time.time()),
            ]
            given = dict.fromkeys(rest[:1], "the last")
        if given:
            found.append((reviewer.user, {"kind": "handed_out", "topic": reviewer.topic, "records": given}))
    return found


def _hungry(review: LiveReview, asking: dict[ReviewerQueue, int]) -> dict[ReviewerQueue, int]:
    """The queues that hold fewer records than they ask for, and how many they are to hold.

    Near the end nobody holds many, so that others have something to do.
    """
    with review.looking() as assignments:
        found = {}
        for reviewer, ahead in asking.items():
            held, topic = len(assignments.held[reviewer]), reviewer.topic
            if held < ahead and ahead > AHEAD:
                to_read = assignments.to_assess(topic_of(topic)) if is_full_text(topic) else review.collection.row_of
                n_free = len(to_read) - len(assignments.assigned(topic) | assignments.opinions[topic].keys())
                ahead = max(AHEAD, min(ahead, MOST_AHEAD, n_free // _LEFT))
            if held < ahead:
                found[reviewer] = ahead
    return found


def _judgement(review: LiveReview, reviewer: ReviewerQueue, id: str, answer: str) -> Entry:
    return {**review.as_it_is.judgement(id, answer, topic_of(reviewer.topic)), "topic": reviewer.topic}


def _check_turn(assignments: Assignments, reviewer: ReviewerQueue, id: str, replace: bool) -> None:
    """Refuse an answer of one who is not to read a record: each is read by one person, or by two."""
    if is_full_text(reviewer.topic) and assignments.answer(topic_of(reviewer.topic), id) != "relevant":
        raise InputError(f"record {id!r} is not included on title and abstract; its full text is not read")
    said = assignments.opinions[reviewer.topic].get(id, {})
    if (
        reviewer.user in said
        or id in assignments.gold
        or id in assignments.held[reviewer]
        or id in assignments.later[reviewer]
    ):
        return
    if assignments.double and (assignments.own(reviewer.user, said) is not None or assignments.unmatched & said.keys()):
        raise InputError(
            f"record {id!r} was answered by somebody of the file that this project came from; you may be the same "
            "person: an owner says on the page Settings who it is, and another than they reads it"
        )
    others = assignments.readers(reviewer.topic, id) - {reviewer.user}
    if len(others) < (2 if assignments.double else 1) or (
        replace and not assignments.double and len(said) == len(others)
    ):
        return
    if len(others) > len(said):
        raise InputError(f"record {id!r} is being read by somebody else; your answer was not kept")
    raise InputError(
        f"record {id!r} has the answers of two others; your answer was not kept" if assignments.double else
        f"record {id!r} has an answer of somebody else; your answer was not kept: change theirs on the record's page"
    )  # fmt: skip


def _check_blind(assignments: Assignments, user: int) -> None:
    if assignments.sees_all(user):
        raise InputError("you chose to see all answers of this project; those who read records must not know them")


def _keyed(entry: Entry, key: str | None) -> Entry:
    return entry if key is None else {**entry, "key": key}
