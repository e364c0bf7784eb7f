"""A review room with a small project, on both databases."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
pytest.importorskip("fastapi", reason="needs the extra app")

from anyio.from_thread import BlockingPortal, start_blocking_portal
from argon2 import PasswordHasher
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD, empty_postgresql, postgresql_programs, postgresql_server

from textbayes.app import AppSettings, accounts, create_app
from textbayes.app.accounts import create_user, local_user
from textbayes.app.projects import NewProject, create_project
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings


@pytest.fixture(scope="session", autouse=True)
def portal() -> Iterator[BlockingPortal]:
    """One event loop for all clients: to start one for each request takes longer than most requests."""
    with start_blocking_portal() as started:
        TestClient.portal = started
        yield started
        TestClient.portal = None


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    if postgresql_programs() is None:
        pytest.skip("needs PostgreSQL (Debian's package postgresql)")
    pytest.importorskip("psycopg", reason="needs the extra app")
    with postgresql_server() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path) -> str:
    """The address of an empty database; TEXTBAYES_DATABASES=sqlite leaves the other out."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'room.sqlite3'}"
    if request.param not in os.environ.get("TEXTBAYES_DATABASES", request.param):
        pytest.skip("TEXTBAYES_DATABASES leaves it out")
    return empty_postgresql(request.getfixturevalue("postgresql"))


@pytest.fixture(autouse=True)
def quick_passwords(monkeypatch):
    """argon2id as ever, with little memory: tests check many passwords."""
    quick = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(accounts, "_hasher", quick)
    monkeypatch.setattr(accounts, "_NOBODY", quick.hash("nobody"))


@pytest.fixture
def records() -> list[Document]:
    """Sixty records, every fourth about tea."""
    texts = [
        f"Green tea for healthy adults {i}\nLeaves were brewed, part {i % 7}." if i % 4 == 0
        else f"Iron ore of the north {i}\nShafts were dug, part {i % 7}." for i in range(60)
    ]  # fmt: skip
    return [Document(f"r{i}", text, (), {"year": str(1990 + i)}) for i, text in enumerate(texts)]


@pytest.fixture
def team(database, tmp_path) -> Iterator[Callable[..., TestClient]]:
    """A room with a log-in: makes a client for a person, who gets an account if there is none."""
    app = create_app(AppSettings(database=database, team=True, origin=ORIGIN, cache=tmp_path / "cache"))
    known: dict[str, TestClient] = {}

    def client(name: str, admin: bool = False) -> TestClient:
        if name not in known:
            create_user(app.state.registry.store, name, PASSWORD, admin)
            known[name] = TestClient(app, base_url=ORIGIN)
            known[name].post("/login", data={"name": name, "password": PASSWORD})
        return known[name]

    client.app = app  # type: ignore[attr-defined]
    yield client
    app.state.registry.close()


@pytest.fixture
def room(database, tmp_path):
    """A room on one's own machine, and its person."""
    app = create_app(AppSettings(database=database, origin=ORIGIN, cache=tmp_path / "cache"), "secret")
    yield app.state.registry
    app.state.registry.close()


@pytest.fixture
def me(room):
    return local_user(room.store)


@pytest.fixture
def project(room, me, records) -> str:
    settings = ScreenSettings(questions={"relevant": "green tea"})
    return create_project(room, me, NewProject("Tea", settings, prior="none"), records)
