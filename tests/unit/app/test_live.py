"""Projects in use: events first, state from events, several processes, snapshots, records that come later."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.exc import DatabaseError

from textbayes.app import judging
from textbayes.app.accounts import local_user
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.dashboard import costs_of_certainty
from textbayes.app.database import Event, Project, Store
from textbayes.app.decisions import EarlierDecisions
from textbayes.app.exports import read_project, write_project
from textbayes.app.importing import ReadFile
from textbayes.app.live import MissingProjectError, ReviewCache, ReviewRegistry
from textbayes.app.projects import add_records, delete_project
from textbayes.app.run import make_sample
from textbayes.app.words import said_words, say, words_of_protocol
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen import Screening
from textbayes.screen.folder import SCREEN_FILE
from textbayes.screen.remaining import State
from textbayes.screen.stopping import make_rule, reads_left
from textbayes.store.container import read_container, write_container


def read_on(review, place, n):
    """Read and answer truly; the ids in order."""
    seen = []
    for _ in range(n):
        first = judging.queue(review, place)[0]
        judging.judge(review, place, first.id, "relevant" if "tea" in first.title else "irrelevant")
        seen.append(first.id)
    return seen


def state(review):
    with review.model() as screening:
        meta, arrays = screening.to_state()
        return meta, {name: array.tobytes() for name, array in arrays.items()}


def test_reading_finds_what_the_question_asks_for(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    seen = read_on(review, place, 18)
    assert len(set(seen)) == 18
    assert {int(id[1:]) % 4 for id in seen[:15]} == {0}
    assert len(judging.queue(review, place)) == judging.AHEAD


def test_few_words_of_a_record_are_marked(room, me, project):
    """After twenty answers nearly every word has some weight; at most eight are marked, and named."""
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 20)
    for one in judging.queue(review, place):
        marked = {part.text.lower() for part in [*one.heading, *one.text] if part.level}
        assert 1 <= len(one.words) <= 8
        assert 1 <= len(marked) <= len({word for term in one.words for word in term.split()})


def test_a_word_may_be_weak_or_strong(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    priors = {}
    for strength in ("weak", "medium", "strong"):
        say(review, place, "ore", "against", strength)
        with review.model() as screening:
            (said,) = said_words(screening, "relevant")
        assert (said.strength, said.direction) == (strength, "against")
        priors[strength] = said.prior
    assert priors["weak"] == pytest.approx(priors["medium"] / 2)
    assert priors["strong"] == pytest.approx(priors["medium"] * 2)
    with pytest.raises(InputError, match="strength='huge'"):
        say(review, place, "ore", "for", "huge")
    room.forget(project)
    with room.review(project).model() as screening:  # from the events
        assert said_words(screening, "relevant") == [said]


def test_short_words_of_a_protocol_count(room, project):
    found = words_of_protocol(room.review(project), "Is tea of use for adults? The ore, and HIV, are not. Tea!")
    assert set(found) == {"tea", "ore", "adults"}  # no record has HIV; function words are nobody's wish


def test_another_process_has_the_same_state_to_the_bit(room, me, project, database, tmp_path):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 7)
    say(review, place, "leaves", "for")
    judging.undo(review, place)
    judging.skip(review, place, judging.queue(review, place)[0].id)
    judging.write_note(review, me.id, "r8", "read again")
    for kept in (ReviewCache(None), ReviewCache(tmp_path / "other"), room.kept):
        other = ReviewRegistry(Store(database), kept)
        assert state(other.review(project)) == state(review)
        with other.review(project).looking() as theirs, review.looking() as ours:
            assert theirs.held == ours.held
            assert theirs.notes == {"r8": {me.id: "read again"}}
        other.close()  # leaves a snapshot, with which the next begins


def test_what_is_kept_is_not_believed(room, me, project, database, tmp_path):
    review = room.review(project)
    read_on(review, ReviewerQueue(me.id, "relevant"), 7)
    kept = ReviewCache(tmp_path / "other")
    other = ReviewRegistry(Store(database), kept)
    assert state(other.review(project)) == state(review)
    other.close()
    (place,) = (tmp_path / "other").glob("*.state.tbw")
    meta, arrays = read_container(place, SCREEN_FILE)
    write_container(place, SCREEN_FILE, meta, {**arrays, "0.answers": arrays["0.answers"] + 7})
    again = ReviewRegistry(Store(database), kept)
    assert state(again.review(project)) == state(review)
    again.close()


def test_two_processes_hand_nothing_out_twice(room, me, project, database):
    other = ReviewRegistry(Store(database), ReviewCache(None))
    places = [ReviewerQueue(me.id, "relevant"), ReviewerQueue(me.id + 1, "relevant")]
    seen = {0: [], 1: []}
    for _ in range(10):
        for k, (one, place) in enumerate(zip((room, other), places, strict=True)):
            seen[k] += read_on(one.review(project), place, 1)
    assert not set(seen[0]) & set(seen[1])
    other.close()


def test_people_who_answer_at_once_lose_nothing(room, me, project):
    review, seen = room.review(project), {}

    def work(user):
        seen[user] = read_on(review, ReviewerQueue(user, "relevant"), 10)

    threads = [threading.Thread(target=work, args=(user,)) for user in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [id for ids in seen.values() for id in ids]
    assert len(everything) == len(set(everything)) == 50
    with room.store.read() as session:
        bodies = session.scalars(select(Event.body).where(Event.project_id == project).order_by(Event.sequence)).all()
    judged = [body["id"] for body in bodies if body["kind"] == "judgement"]
    assert sorted(judged) == sorted(everything)


def test_state_is_that_of_the_screening_that_learns_the_same(room, me, project, records):
    """The room adds nothing to the engine's state machine: the same entries lead to the same weights."""
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 9)
    alone = Screening(review.collection, review.screening.settings)
    with room.store.read() as session:
        for body in session.scalars(select(Event.body).where(Event.project_id == project).order_by(Event.sequence)):
            alone.apply(body)
    with review.model() as screening:
        assert np.array_equal(screening.topic().predictors, alone.topic().predictors)


def test_events_are_never_changed(room, me, project):
    read_on(room.review(project), ReviewerQueue(me.id, "relevant"), 2)
    for statement in (update(Event).values(user_id=7), delete(Event)):
        with pytest.raises(DatabaseError, match="events are never changed"), room.store.write() as session:
            session.execute(statement)
    delete_project(room, room.review(project), me)
    with room.store.read() as session:
        assert session.scalars(select(Event)).all() == []
        assert session.scalars(select(Project)).all() == []
    with pytest.raises(MissingProjectError):
        room.review(project)


def test_records_come_while_work_goes_on(room, me, project, database):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 20)
    other = ReviewRegistry(Store(database), ReviewCache(None))
    other.review(project)
    texts = {"r1": "Tea ceremonies of the east\nKettles.", "x": "Green tea for healthy adults 4\nMore."}
    new = [Document(id, text) for id, text in texts.items()]
    added = add_records(review, me, ReadFile("new.csv", new, [], [], EarlierDecisions()))
    assert added.n_added == 1
    assert [(one.id, one.into) for one in added.merged] == [("x", "r4")]
    assert review.collection.n_records == 61
    assert review.collection.ids[60] == "r1-2"
    with review.model() as screening:
        assert int((screening.topic().answers != 0).sum()) == 20
    assert judging.queue(review, place)[-1].id in review.collection.row_of
    judging.top_up(other.review(project), ReviewerQueue(99, "relevant"))
    assert state(other.review(project)) == state(room.review(project))
    other.close()


def test_a_project_leaves_and_comes_back(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 6)
    say(review, place, "kettle", "against")
    again = room.review(read_project(room, me, write_project(room, review, me.id)))
    assert again.name == "Tea"
    assert state(again) == state(review)


def test_a_project_that_was_altered_is_refused(room, me, project):
    content = write_project(room, room.review(project), me.id)
    other_name = content.replace(b"events.jsonl", b"evenfs.jsonl")
    for spoilt in (content[:-40], b"PK\x05\x06" + bytes(18), other_name, b""):
        with pytest.raises(InputError, match="not a project that textbayes wrote"):
            read_project(room, me, spoilt)


def test_a_word_that_answers_contradict_is_flagged(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    say(review, place, "shafts", "for")
    say(review, place, "nowhere", "for")
    for i in range(40):
        judging.judge(review, place, f"r{i}", "relevant" if i % 4 == 0 else "irrelevant")
    with review.model() as screening:
        shafts, nowhere = said_words(screening, "relevant")
    assert shafts.conflict
    assert shafts.n_relevant == 0
    assert shafts.weight < shafts.prior, "the answers have moved it"
    assert shafts.low < shafts.weight < shafts.high
    assert nowhere.weight is None
    say(review, place, "shafts", "forget")
    with review.model() as screening:
        assert [one.word for one in said_words(screening, "relevant")] == ["nowhere"]


def test_certainty_costs_what_each_rule_would_have_read(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    read_on(review, place, 25)
    with review.model() as screening:
        seen = State.of(screening.topic())
    for cost in costs_of_certainty(seen, 0.95, 30.0):
        assert cost.reads == reads_left(seen, make_rule("estimate", 0.95, cost.confidence))
        assert cost.hours == cost.reads / 120.0


def test_words_rank_the_queue_anew_at_once(room, me, project):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    first = judging.queue(review, place)
    assert "tea" in first[1].title
    say(review, place, "ore", "for")
    say(review, place, "iron", "for")
    after = judging.queue(review, place)
    assert after[0].id == first[0].id, "what is being read stays"
    assert "ore" in after[1].title


@pytest.mark.slow
def test_the_sample_asks_for_takeovers(room):
    """The embedded news, none of it answered; there is one sample, and none beside projects of one's own."""
    id = make_sample(room)
    if id is None:
        pytest.skip("needs the embedded news (extra demo)")
    review, place = room.review(id), ReviewerQueue(local_user(room.store).id, "relevant")
    assert review.collection.n_records == 2225
    assert dict(review.screening.settings.questions) == {"relevant": "find all stories on takeovers"}
    first = judging.queue(review, place)[0]
    assert "takeover" in "".join(part.text for part in [*first.heading, *first.text])
    with review.looking() as assignments:
        assert not assignments.opinions["relevant"]
    assert make_sample(room) is None
