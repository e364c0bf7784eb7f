"""Whose turn it is: several servers on one database, people who leave, answers that come twice or too late."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import defaultdict

import pytest
from sqlalchemy import select

from textbayes.app import assignments as assignments_module
from textbayes.app import judging
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import Event, Store
from textbayes.app.exports import read_project, write_project
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.app.projects import NewProject, create_project
from textbayes.app.records import show
from textbayes.core.errors import InputError
from textbayes.screen import ScreenSettings

TOPIC = "relevant"
ANN, BOB = ReviewerQueue(101, TOPIC), ReviewerQueue(102, TOPIC)
SERVER = """
import sys
from textbayes.app import judging
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.live import ReviewCache
from textbayes.app.live import ReviewRegistry
from textbayes.app.database import Store
import threading

database, project, *users = sys.argv[1:]
room = ReviewRegistry(Store(database), ReviewCache(None))
room.review(project)
print("ready", flush=True)
sys.stdin.readline()

def read(user):
    place = ReviewerQueue(int(user), "relevant")
    while shown := judging.queue(room.review(project), place):
        judging.judge(room.review(project), place, shown[0].id, "irrelevant")

threads = [threading.Thread(target=read, args=(user,)) for user in users]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
room.close()
"""


def bodies(store, project):
    with store.read() as session:
        found = select(Event.user_id, Event.body).where(Event.project_id == project).order_by(Event.sequence)
        return [tuple(row) for row in session.execute(found)]


def had_by(store, project):
    """Record → the people who ever had or answered it."""
    found = defaultdict(set)
    for user, body in bodies(store, project):
        for id in [*body.get("records", {}), *([body["id"]] if body["kind"] == "judgement" else [])]:
            found[id].add(user)
    return found


def test_two_servers_hand_no_record_to_two_people(room, project, database):
    """Two processes, three people at each, until nothing is left: every record has one reader, and one answer."""
    command = [sys.executable, "-c", SERVER, database, project]
    servers = [
        subprocess.Popen([*command, *users], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
        for users in (("201", "202", "203"), ("204", "205", "206"))
    ]
    assert [server.stdout.readline() for server in servers] == ["ready\n"] * 2
    for server in servers:
        server.stdin.write("go\n")
        server.stdin.flush()
    for server in servers:
        server.communicate(timeout=120)
        assert server.returncode == 0
    found = had_by(room.store, project)
    assert len(found) == 60
    assert {id: users for id, users in found.items() if len(users) > 1} == {}
    judged = [body["id"] for _, body in bodies(room.store, project) if body["kind"] == "judgement"]
    assert len(judged) == len(set(judged)) == 60


def test_what_another_server_took_meanwhile_is_not_handed_out(room, project, database, monkeypatch):
    """Between the pick of records and their handing out another server hands them out: free ones are given instead."""
    other, review = ReviewRegistry(Store(database), ReviewCache(None)), room.review(project)
    theirs, write, tried = [], review.write, []

    def late(make, store=None):
        if len(tried) < 2:  # twice, with all spare ones
            tried.append(1)
            readers = (ReviewerQueue(300 + 10 * len(tried) + k, TOPIC) for k in range(10))
            theirs.extend(shown.id for reader in readers for shown in judging.queue(other.review(project), reader))
        write(make, store)

    monkeypatch.setattr(review, "write", late)
    mine = [shown.id for shown in judging.queue(review, ANN)]
    assert len(tried) == 2
    assert len(theirs) == 40
    assert mine
    assert not set(mine) & set(theirs)
    other.close()


def test_the_last_records_stay_with_those_who_read_them(room, project):
    review = room.review(project)
    held = {shown.id for shown in judging.queue(review, ANN)}
    while shown := judging.queue(review, BOB):
        judging.judge(review, BOB, shown[0].id, "irrelevant")
    with review.looking() as assignments:
        assert set(assignments.held[ANN]) == held
        assert len(assignments.opinions[TOPIC]) == 60 - len(held)
    with pytest.raises(InputError, match="is being read by somebody else; your answer was not kept"):
        judging.judge(review, BOB, min(held), "relevant")


def test_what_lies_with_one_who_left_goes_to_another_and_not_to_both(room, project, monkeypatch):
    review = room.review(project)
    held = [shown.id for shown in judging.queue(review, ANN)]
    while shown := judging.queue(review, BOB):
        judging.judge(review, BOB, shown[0].id, "irrelevant")
    monkeypatch.setattr(assignments_module, "LEFT_AFTER", -1.0)
    (taken, *_) = [shown.id for shown in judging.queue(review, BOB)]
    assert taken in held
    with pytest.raises(InputError, match="is being read by somebody else"):
        judging.judge(review, ANN, taken, "relevant")
    judging.judge(review, BOB, taken, "irrelevant")
    with pytest.raises(InputError, match="has an answer of somebody else"):
        judging.judge(review, ANN, taken, "relevant")
    judging.judge(review, ANN, taken, "relevant", replace=True)
    with review.looking() as assignments:
        assert assignments.opinions[TOPIC][taken] == {ANN.user: "relevant"}


def test_no_third_person_reads_what_two_have_read(room, me, records):
    plan = NewProject("Tea", ScreenSettings(questions={TOPIC: "green tea"}), double=True, prior="none")
    review = room.review(create_project(room, me, plan, records))
    judging.judge(review, ANN, "r1", "relevant")
    judging.judge(review, BOB, "r1", "irrelevant")
    for replace in (False, True):
        with pytest.raises(InputError, match="has the answers of two others"):
            judging.judge(review, ReviewerQueue(103, TOPIC), "r1", "relevant", replace=replace)
    judging.judge(review, BOB, "r1", "relevant")
    with review.looking() as assignments:
        assert assignments.answer(TOPIC, "r1") == "relevant"


def test_what_is_sent_again_with_its_key_counts_once(room, project, database):
    """Also where it comes late, after something else was said, and to another server."""
    review, other = room.review(project), ReviewRegistry(Store(database), ReviewCache(None))
    first, second = (shown.id for shown in judging.queue(review, ANN))
    judging.judge(review, ANN, first, "relevant", "key-0001")
    judging.judge(review, ANN, second, "irrelevant", "key-0002")
    judging.undo(review, ANN, "key-0003")
    judging.skip(review, ANN, second, "key-0004")
    judging.write_note(review, ANN.user, first, "good", "key-0005")
    judging.write_note(review, ANN.user, first, "better", "key-0006")
    before = bodies(room.store, project)
    for one in (review, other.review(project)):
        judging.judge(one, ANN, first, "relevant", "key-0001")
        judging.judge(one, ANN, second, "irrelevant", "key-0002")
        assert judging.undo(one, ANN, "key-0003") is None
        judging.skip(one, ANN, second, "key-0004")
        judging.write_note(one, ANN.user, first, "good", "key-0005")
    assert bodies(room.store, project) == before
    other.close()


def test_a_note_that_another_server_kept_is_shown(room, project, database):
    review, other = room.review(project), ReviewRegistry(Store(database), ReviewCache(None))
    (first, *_) = judging.queue(review, ANN)
    judging.write_note(other.review(project), ANN.user, first.id, "good")
    assert judging.queue(room.review(project), ANN)[0].note == "good"
    assert show(room.review(project), BOB, first.id).notes == {ANN.user: "good"}
    other.close()


def test_the_same_answer_is_stored_once_without_a_key_too(room, project):
    review = room.review(project)
    (shown, *_) = judging.queue(review, ANN)
    for answer in ("withdrawn", "relevant", "relevant", "withdrawn", "withdrawn"):
        judging.judge(review, ANN, shown.id, answer)
    said = [body["answer"] for _, body in bodies(room.store, project) if body["kind"] == "judgement"]
    assert said == ["relevant", "withdrawn"]
    with review.looking() as assignments:
        assert shown.id in assignments.held[ANN]


def test_one_answer_sent_by_many_at_once_is_stored_once(room, project):
    review = room.review(project)
    (shown, *_) = judging.queue(review, ANN)
    threads = [
        threading.Thread(target=judging.judge, args=(review, ANN, shown.id, "relevant", "the-same-key"))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(body["kind"] == "judgement" for _, body in bodies(room.store, project)) == 1


def test_ten_ahead_are_one_persons_until_they_are_released(room, me, project):
    """No record goes to two; what is fetched ahead, a tenth of the rest at most, is free again when it is released."""
    review, others = room.review(project), ReviewerQueue(102, TOPIC)
    mine = ReviewerQueue(me.id, TOPIC)
    assert len(judging.queue(review, mine)) == judging.AHEAD == 2
    first = [one.id for one in judging.queue(review, mine, 10)]
    assert len(first) == 5  # 58 are free: a tenth of them
    theirs = [one.id for one in judging.queue(review, others, 10)]
    assert len(theirs) == 5
    assert not set(first) & set(theirs)
    with pytest.raises(InputError, match="is being read by somebody else"):
        judging.judge(review, others, first[4], "relevant")
    judging.judge(review, mine, first[4], "relevant")  # in any order, as an outbox may send them
    judging.judge(review, mine, first[0], "irrelevant")
    assert [one.id for one in judging.queue(review, mine)] == first[
        1:3
    ]  # asked for less, it is shown less, and keeps all
    judging.release(review, mine)
    with review.looking() as assignments:
        assert list(assignments.held[mine]) == first[1:3]
    judging.release(review, mine)  # nothing more is to be released, and no event is written
    assert sum(body["kind"] == "release" for _, body in bodies(room.store, project)) == 1
    with review.model() as screening:
        assert len(screening.topic().handed_out) == 2 + 5
    judging.judge(review, others, first[3], "irrelevant")  # it was free
    with pytest.raises(InputError, match="has an answer of somebody else"):
        judging.judge(review, mine, first[3], "relevant")
    room.forget(project)  # the events say the same
    with room.review(project).looking() as assignments:
        assert list(assignments.held[mine]) == first[1:3]


def test_a_project_with_a_release_moves(room, me, project):
    review, mine = room.review(project), ReviewerQueue(me.id, TOPIC)
    judging.queue(review, mine, 10)
    judging.release(review, mine)
    copy = read_project(room, me, write_project(room, review, me.id))
    assert "release" in [body["kind"] for _, body in bodies(room.store, copy)]
