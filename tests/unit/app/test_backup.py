"""Copies of a database: what is made of one is the room as it was, on both databases."""

from __future__ import annotations

import shutil
import subprocess
import threading

import pytest
from room_setup import empty_postgresql
from sqlalchemy import delete, select
from sqlalchemy.exc import DatabaseError

from textbayes.app import judging
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import Base, Event, Store, back_up
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.core.errors import InputError


def everything(store):
    """All rows of all tables."""
    with store.read() as session:
        return {
            table.name: sorted(map(repr, session.execute(select(table)).all())) for table in Base.metadata.sorted_tables
        }


@pytest.fixture
def restore(database, request, tmp_path):
    """Makes a database of a copy, as the guide says."""

    def make(copy):
        if database.startswith("sqlite"):
            shutil.copy(copy, tmp_path / "again.sqlite3")
            return f"sqlite:///{tmp_path / 'again.sqlite3'}"
        address = empty_postgresql(request.getfixturevalue("postgresql"))
        subprocess.run(["pg_restore", "--exit-on-error", f"--dbname={address}", copy], check=True)
        return address

    return make


def test_a_room_is_what_it_was(room, me, project, database, restore, tmp_path):
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    for _ in range(5):
        judging.judge(review, place, judging.queue(review, place)[0].id, "relevant")
    back_up(database, tmp_path / "copy")
    before = everything(room.store)
    judging.judge(review, place, judging.queue(review, place)[0].id, "irrelevant")  # after the copy
    again = ReviewRegistry(Store(restore(tmp_path / "copy")), ReviewCache(None))
    assert everything(again.store) == before
    with again.review(project).model() as screening:
        assert int((screening.topic().answers == 1).sum()) == 5
    with pytest.raises(DatabaseError, match="events are never changed"), again.store.write() as session:
        session.execute(delete(Event))
    judging.judge(again.review(project), place, judging.queue(again.review(project), place)[0].id, "unsure")
    again.close()


def test_a_copy_is_of_one_moment_while_people_answer(room, me, project, database, restore, tmp_path):
    review, place, done = room.review(project), ReviewerQueue(me.id, "relevant"), threading.Event()

    def work():
        while not done.is_set() and (shown := judging.queue(review, place)):
            judging.judge(review, place, shown[0].id, "irrelevant")

    thread = threading.Thread(target=work)
    thread.start()
    back_up(database, tmp_path / "copy")
    done.set()
    thread.join()
    store = Store(restore(tmp_path / "copy"))
    with store.read() as session:
        numbers = session.scalars(select(Event.sequence).order_by(Event.sequence)).all()
    assert numbers == list(range(1, len(numbers) + 1))
    store.close()


def test_a_password_is_not_seen_among_the_arguments(monkeypatch, tmp_path):
    program = tmp_path / "pg_dump"
    program.write_text('#!/bin/sh\necho "$@"\necho "$PGPASSWORD"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    back_up("postgresql+psycopg://room:s3cret@db.example/room", tmp_path / "copy")
    arguments, password = (tmp_path / "copy").read_text(encoding="utf-8").splitlines()
    assert "--dbname=postgresql://room@db.example/room" in arguments.split()
    assert "s3cret" not in arguments
    assert password == "s3cret"


def test_a_copy_that_fails_leaves_the_one_before(monkeypatch, tmp_path):
    (tmp_path / "copy").write_text("the one before", encoding="utf-8")
    with pytest.raises(InputError, match="pg_dump could not copy the database"):
        back_up(f"postgresql://room@/nothing?host={tmp_path}", tmp_path / "copy")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="install postgresql-client"):
        back_up("postgresql://room@/nothing", tmp_path / "copy")
    with pytest.raises(InputError, match="there is no database"):
        back_up(f"sqlite:///{tmp_path / 'nothing'}", tmp_path / "copy")
    assert (tmp_path / "copy").read_text(encoding="utf-8") == "the one before"
    assert len(list(tmp_path.iterdir())) == 1
