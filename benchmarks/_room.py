"""Review rooms to measure: served by processes of their own, with projects of made-up records."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from textbayes.app.accounts import create_token, create_user
from textbayes.app.database import Membership, Store, User
from textbayes.app.live import ReviewCache, ReviewRegistry
from textbayes.app.projects import NewProject, create_project
from textbayes.core.atomic import cache_folder
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings

PORT = 18765  # of the first server; others have the ports after it


class Person:
    """Somebody who asks a room by its REST interface.

    Parameters
    ----------
    token : str
    project : str
    server : int
        Which of several is asked.
    """

    def __init__(self, token: str, project: str, server: int = 0) -> None:
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._at = f"{_origin(server)}/api/v1/projects/{project}"

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Ask; the answer as JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._at}{path}", data, self._headers)
        with urllib.request.urlopen(request, timeout=600) as answer:
            told = answer.read()
        return json.loads(told) if told else None


def make_room(database: str, records: Sequence[Document], n_people: int, question: str) -> tuple[str, list[str]]:
    """A project and the tokens of people who review it."""
    store = Store(database)
    room = ReviewRegistry(store, ReviewCache(None))
    people = [create_user(store, f"person {k}", None) for k in range(n_people)]
    settings = ScreenSettings(questions={"relevant": question})
    project = create_project(room, people[0], NewProject("Measured", settings, prior="none"), records)
    with store.write() as session:
        session.add_all(Membership(project_id=project, user_id=one.id, role="reviewer") for one in people[1:])
    tokens = [create_token(store, _again(store, one), "bench") for one in people]
    store.close()
    return project, tokens


def start(database: str, cache: Path, server: int = 0) -> subprocess.Popen[bytes]:
    """Serve a database, by one of several servers; returns when it answers."""
    with socket.socket() as taken:
        if taken.connect_ex(("127.0.0.1", PORT + server)) == 0:
            raise RuntimeError(f"something listens at port {PORT + server} already; end it first")
    command = [sys.executable, "-m", "textbayes.cli.main", "app", "--team", "--database", database]
    command += ["--port", str(PORT + server)]
    own = {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": str(cache_folder())}  # but what is compiled is found
    process = subprocess.Popen(command, env={**os.environ, **own}, stdout=subprocess.DEVNULL)
    while True:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            urllib.request.urlopen(f"{_origin(server)}/login", timeout=5).close()
            return process
        if process.poll() is not None:
            raise RuntimeError("the room did not start")
        time.sleep(0.05)


@contextlib.contextmanager
def serving(database: str, cache: Path, server: int = 0) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a database for as long as the block runs."""
    process = start(database, cache, server)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _origin(server: int) -> str:
    return f"http://127.0.0.1:{PORT + server}"


def _again(store: Store, user: User) -> User:
    with store.read() as session:
        return session.get_one(User, user.id)
