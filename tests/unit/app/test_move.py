"""Rooms that move to another database, in both directions: everything arrives as it was, or nothing does."""

from __future__ import annotations

import sqlite3

import pytest
from room_setup import ORIGIN, PASSWORD, empty_postgresql
from sqlalchemy import delete, inspect, select
from sqlalchemy.exc import DatabaseError
from test_backup import everything

from textbayes.app import AppSettings, create_app, judging
from textbayes.app import move as moving
from textbayes.app.accounts import create_token, create_user, find_token, log_in
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.database import Event, Store, User, open_database
from textbayes.app.full_texts import add_full_text
from textbayes.app.move import move_room
from textbayes.app.throttle import Throttle
from textbayes.core.errors import InputError


def quiet(what, done, total):
    pass


@pytest.fixture
def target(database, request, tmp_path) -> str:
    """An empty database of the other kind."""
    if database.startswith("sqlite"):
        return empty_postgresql(request.getfixturevalue("postgresql"))
    return f"sqlite:///{tmp_path / 'new.sqlite3'}"


@pytest.fixture
def full(room, me, project, monkeypatch):
    """A room with people, tokens, answers, notes and a PDF; some rows were deleted."""
    monkeypatch.setattr("textbayes.app.full_texts.pdf_text", lambda content: "a paper – on tea\u2028\U0001f375")
    ann = create_user(room.store, "ann", PASSWORD, admin=True)
    create_token(room.store, ann, "first")
    room.secret = create_token(room.store, ann, "second")
    review, place = room.review(project), ReviewerQueue(me.id, "relevant")
    for said in ("relevant", "irrelevant", "unsure"):
        judging.judge(review, place, judging.queue(review, place)[0].id, said)
    judging.write_note(review, me.id, "r1", "a note with “quotes”,\n\ttabs and \\u0000")
    add_full_text(review, me.id, "r1", "paper.pdf", b"%PDF-" + bytes(range(256)) * 2_000)
    return room


def test_a_room_is_what_it_was(full, me, project, database, target, tmp_path):
    said = []
    before = everything(full.store)
    done = move_room(database, target, lambda *what: said.append(what))
    assert (done["users"], done["records"], done["tokens"], done["full_texts"]) == (2, 60, 2, 1)
    assert ("records", 60, 60) in said
    assert everything(full.store) == before
    app = create_app(AppSettings(database=target, team=True, origin=ORIGIN, cache=tmp_path / "other"))
    store = app.state.registry.store
    assert everything(store) == before
    assert find_token(store, full.secret).user.name == "ann"
    log_in(store, Throttle(store), "ann", PASSWORD, "10.0.0.1")
    bob = create_user(store, "bob", PASSWORD)
    with store.read() as session:
        assert bob.id == max(session.scalars(select(User.id))) == 3, "numbers go on where they were"
    create_token(store, bob, "third")
    review, place = app.state.registry.review(project), ReviewerQueue(me.id, "relevant")
    judging.judge(review, place, judging.queue(review, place)[0].id, "relevant")
    with pytest.raises(DatabaseError, match="events are never changed"), store.write() as session:
        session.execute(delete(Event))
    app.state.registry.close()


def test_there_and_back_again(full, database, target, request, tmp_path):
    before = everything(full.store)
    back = f"sqlite:///{tmp_path / 'back.sqlite3'}"
    if database.startswith("postgresql"):
        back = empty_postgresql(request.getfixturevalue("postgresql"))
    move_room(database, target, quiet)
    move_room(target, back, quiet)
    store = Store(back)
    assert everything(store) == before
    store.close()


@pytest.mark.parametrize("at", ["users", "records", "full_texts", "counting"])
def test_an_interrupt_leaves_the_target_empty(full, database, target, tmp_path, monkeypatch, at):
    def interrupt(what, done, total):
        if what == at and done:
            raise KeyboardInterrupt

    if at == "counting":
        count = moving._copy
        monkeypatch.setattr(moving, "_copy", lambda *given: count(*given) - 1)
        with pytest.raises(InputError, match=r"of \d+ rows of \w+ \d+ arrived in .* is left empty"):
            move_room(database, target, quiet)
    else:
        with pytest.raises(KeyboardInterrupt):
            move_room(database, target, interrupt)
    if target.startswith("sqlite"):
        assert not list(tmp_path.glob("new.sqlite3*"))
    else:
        engine = open_database(target)
        assert inspect(engine).get_table_names() == []
        engine.dispose()
    monkeypatch.undo()
    move_room(database, target, quiet)


def test_a_target_that_is_not_empty_is_refused(full, database, target, tmp_path):
    Store(target).close()
    for place in (target, database):
        with pytest.raises(InputError, match=r"is not empty \(its tables: alembic_version, audit.*name one without"):
            move_room(database, place, quiet)
    other = tmp_path / "other.sqlite3"
    with sqlite3.connect(other) as made:
        made.execute("CREATE TABLE theirs (x)")
    before = other.read_bytes()
    with pytest.raises(InputError, match=r"is not empty \(its tables: theirs\)"):
        move_room(database, f"sqlite:///{other}", quiet)
    assert other.read_bytes() == before


def test_a_source_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(InputError, match=r"there is no database .*typo\.sqlite3; name the one"):
        move_room(f"sqlite:///{tmp_path / 'typo.sqlite3'}", f"sqlite:///{tmp_path / 'new.sqlite3'}", quiet)
    Store(f"sqlite:///{tmp_path / 'room.sqlite3'}").close()
    with pytest.raises(InputError, match=r"postgresql://room:\*\*\*@127\.0\.0\.1:1/x does not answer"):
        move_room(f"sqlite:///{tmp_path / 'room.sqlite3'}", "postgresql://room:s3cret@127.0.0.1:1/x", quiet)
    assert {path.name for path in tmp_path.iterdir()} <= {"room.sqlite3", "room.sqlite3-wal", "room.sqlite3-shm"}
