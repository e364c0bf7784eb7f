"""Databases that cannot be used are refused in a sentence and stay as they were; files are their owner's alone."""

from __future__ import annotations

import os
import sqlite3
import stat

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN
from sqlalchemy import create_engine

from textbayes.app import AppSettings, create_app, settings
from textbayes.app import database as databases
from textbayes.app.database import Store, back_up, open_database
from textbayes.app.live import ReviewCache
from textbayes.core.errors import InputError


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def change(address: str, *statements: str) -> None:
    engine = create_engine(address.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_a_newer_database_is_refused_with_both_versions(database):
    Store(database).close()
    change(database, "UPDATE alembic_version SET version_num = '0999'")
    with pytest.raises(InputError, match=r"tables of version 0999, .* knows versions up to 0\d+.* install a newer"):
        Store(database)


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE cows (name TEXT)"],
        ["CREATE TABLE users (name TEXT)"],
        ["CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('ae1027a6acf1')"],
    ],
)
def test_a_database_of_another_program_is_refused_and_stays_as_it_was(database, statements, tmp_path):
    change(database, *statements)
    before = {path.name: (mode(path), path.read_bytes()) for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(InputError, match=r"is a database of another program \(its tables: \w+\); name another"):
        Store(database)
    assert {path.name: (mode(path), path.read_bytes()) for path in tmp_path.iterdir() if path.is_file()} == before
    engine = open_database(database)
    with engine.connect() as connection:
        assert len(databases.Base.metadata.tables) > len(engine.dialect.get_table_names(connection))
    engine.dispose()


def test_a_file_that_is_no_database_is_refused_and_stays_as_it_was(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Call Anna about the records.\n" * 100, encoding="utf-8")
    before = mode(path), path.read_bytes()
    for use in (Store, lambda address: back_up(address, tmp_path / "copy")):
        with pytest.raises(InputError, match=r"notes\.txt is not a database; name one that"):
            use(f"sqlite:///{path}")
    assert (mode(path), path.read_bytes()) == before
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_and_a_place_that_is_not_there_are_refused(tmp_path):
    before = mode(tmp_path)
    for place in (tmp_path, tmp_path / "nowhere" / "room.sqlite3"):
        with pytest.raises(InputError, match=r"cannot be opened.*check that its folder exists"):
            Store(f"sqlite:///{place}")
    assert mode(tmp_path) == before


@pytest.mark.parametrize(
    "address", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_a_database_in_memory_is_refused(address, tmp_path):
    """People "could log in" and a room was "moved", and all was gone at the end."""
    with pytest.raises(InputError, match="names no file, so that nothing would be kept; give sqlite:///path"):
        open_database(address)


def test_a_database_that_others_hold_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "LOCK_SECONDS", 0.05)
    path = tmp_path / "room.sqlite3"
    app = create_app(AppSettings(database=f"sqlite:///{path}", origin=ORIGIN), "secret")
    client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
    holding = sqlite3.connect(path, isolation_level=None)
    holding.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="is locked by another program; end that one"):
        Store(f"sqlite:///{path}")
    answer = client.get("/enter?token=secret")  # a session begins: something is written
    assert answer.status_code == 503
    assert "database is not responding" in answer.text
    holding.close()
    app.state.registry.close()


def test_a_database_that_is_read_only_is_told_at_the_start(tmp_path):
    path = tmp_path / "room.sqlite3"
    Store(f"sqlite:///{path}").close()
    with pytest.raises(InputError, match="cannot be written; allow it"):
        Store(f"sqlite:///file:{path}?mode=ro&uri=true")  # as for one who may not write; tests may run as root


def test_a_server_that_does_not_answer_is_told_without_the_password():
    with pytest.raises(InputError, match=r"postgresql://room:\*\*\*@127\.0\.0\.1:1/x does not answer") as told:
        Store("postgresql://room:s3cret@127.0.0.1:1/x")
    assert "s3cret" not in str(told.value)


@pytest.fixture
def open_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_files_of_the_room_are_their_owners_alone(open_umask, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "data_folder", lambda: tmp_path / "data")
    address = settings.default_database()
    store = Store(address)
    assert mode(tmp_path / "data") == 0o700
    files = list((tmp_path / "data").iterdir())
    assert {file.name for file in files} >= {"room.sqlite3", "room.sqlite3-wal", "room.sqlite3-shm"}
    assert {mode(file) for file in files} == {0o600}
    back_up(address, tmp_path / "copy")
    assert mode(tmp_path / "copy") == 0o600
    ReviewCache(tmp_path / "cache" / "room")
    assert mode(tmp_path / "cache" / "room") == 0o700
    store.close()


def test_files_that_all_could_read_are_closed_to_others(open_umask, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setattr(settings, "data_folder", lambda: folder)
    first = Store(settings.default_database())
    for file in folder.iterdir():
        file.chmod(0o644)
    folder.chmod(0o755)
    (tmp_path / "cache").mkdir(mode=0o755)
    ReviewCache(tmp_path / "cache")
    second = Store(settings.default_database())
    assert {mode(file) for file in folder.iterdir()} == {0o600}
    assert len(list(folder.iterdir())) == 3
    assert mode(folder) == mode(tmp_path / "cache") == 0o700
    (tmp_path / "copy").touch(mode=0o644)
    back_up(settings.default_database(), tmp_path / "copy")
    assert mode(tmp_path / "copy") == 0o600
    for store in (first, second):
        store.close()


def test_a_named_database_is_closed_to_others_and_its_folder_stays(open_umask, tmp_path):
    tmp_path.chmod(0o755)
    store = Store(f"sqlite:///{tmp_path / 'room.sqlite3'}")
    assert {mode(file) for file in tmp_path.iterdir()} == {0o600}
    assert mode(tmp_path) == 0o755  # it may hold anything
    store.close()
