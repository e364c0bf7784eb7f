"""``textbayes app`` and ``textbayes serve`` as people start them: links, accounts, copies, refusals."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import stat
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")
import _forked
from sqlalchemy import select

from textbayes.app.database import Invite, Project, Store

PASSWORD = "correct horse battery"


@pytest.fixture
def port() -> int:
    """A port that nobody has: the same test may run beside this one."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def start_soon(start):
    """Start a command without the seconds of its imports, and end it with the test."""
    running = []

    def call(*arguments):
        running.append(start(*arguments, program=_forked.command()))
        return running[-1]

    yield call
    for process in running:
        process.terminate()
        process.wait(60)


def first_line(process) -> dict:
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return json.loads(line)


@pytest.mark.slow
def test_the_room_opens_by_its_link_and_by_no_other(start, port, tmp_path):
    process = start("app", "--no-browser", "--port", port, "--database", f"sqlite:///{tmp_path / 'room.sqlite3'}")
    told = first_line(process)
    assert told["link"].startswith(f"http://127.0.0.1:{port}/enter?token=")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert "You are logged in" in opener.open(told["link"]).read().decode()
    assert "New project" in opener.open(f"http://127.0.0.1:{port}/").read().decode()
    assert "Open the link" in urllib.request.urlopen(f"http://127.0.0.1:{port}/").read().decode()
    assert "works once" in urllib.request.urlopen(told["link"]).read().decode()
    process.terminate()
    assert process.wait(30) in (0, 143, -15)


@pytest.mark.slow
def test_the_arguments_of_the_browser_let_nobody_in(start_soon, port, tmp_path, monkeypatch):
    """Every user of the machine sees them; the file that they name is its owner's alone, and gone at the end."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/partly\nmv {tmp_path}/partly {tmp_path}/arguments\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    process = start_soon("app", "--port", port, "--database", f"sqlite:///{tmp_path / 'room.sqlite3'}")
    told = first_line(process)
    for _ in range(600):
        if (tmp_path / "arguments").exists():
            break
        time.sleep(0.05)
    arguments = (tmp_path / "arguments").read_text(encoding="utf-8").strip()
    assert arguments.startswith("file:///")
    file = Path(urllib.request.url2pathname(arguments.removeprefix("file://")))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    link = re.search(r'href="([^"]+)"', file.read_text(encoding="utf-8"))[1]
    assert link != told["link"]
    for secret in (link, told["link"]):
        assert secret.partition("token=")[2] not in arguments
    assert "You are logged in" in urllib.request.urlopen(link).read().decode()
    assert "Open the link" in urllib.request.urlopen(link).read().decode()
    process.terminate()
    process.wait(30)
    assert not file.exists()


@pytest.mark.parametrize(("proxy", "noted"), [([], "127.0.0.1"), (["--proxy", "127.0.0.1"], "203.0.113.9")])
def test_only_a_proxy_that_is_named_says_for_whom_it_asks(start_soon, port, run, tmp_path, proxy, noted):
    path = tmp_path / "room.sqlite3"
    first_line(start_soon("app", "--team", "--port", port, "--database", f"sqlite:///{path}", *proxy))
    headers = {"X-Forwarded-For": "203.0.113.9", "Content-Type": "application/x-www-form-urlencoded"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/login", b"name=eve&password=x", headers)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request)
    database = sqlite3.connect(path)
    assert database.execute("SELECT what FROM audit WHERE action = 'failed login'").fetchall() == [(noted,)]
    database.close()


def test_a_proxy_that_is_no_address_is_refused(run, tmp_path):
    for given in ("*", "gateway", "10.0.0.300", ""):
        failed = run("app", "--team", "--proxy", given, "--database", f"sqlite:///{tmp_path}/x", code=1)
        assert "is no address; give that of the gateway" in failed.stderr
    assert "are for --team" in run("app", "--proxy", "127.0.0.1", code=2).stderr


def test_the_only_administrator_gets_a_new_password(run, tmp_path):
    path = tmp_path / "room.sqlite3"
    database = ("--password-stdin", "--database", f"sqlite:///{path}")
    run("app", "user", "anna", "--administrator", *database, stdin=PASSWORD)
    told = run("app", "reset-password", "anna", *database, stdin="another long password")
    assert "anna can log in with the new password" in told.stderr
    missing = run("app", "reset-password", "zoe", *database, stdin="another long password", code=1)
    assert "there is no account called 'zoe' with a password; there are: anna" in missing.stderr
    assert "at least 10" in run("app", "reset-password", "anna", *database, stdin="short", code=1).stderr
    log = sqlite3.connect(path)
    found = log.execute("SELECT user, what FROM audit WHERE action = 'change password'").fetchall()
    assert found == [("command line", "anna")]
    log.close()


def test_a_link_to_join_is_made_and_withdrawn(run, tmp_path):
    address = f"sqlite:///{tmp_path / 'room.sqlite3'}"
    database = ("--database", address)
    missing = run("app", "invite", "Tea", *database, code=1)
    assert "no project is called 'Tea'; give the id of one: none" in missing.stderr
    store = Store(address)
    with store.write() as session:
        session.add(Project(id="p1", name="Tea", settings={}))
    link = run(
        "app", "invite", "Tea", *database, "--role", "reader", "--origin", "https://review.example.org", "--table"
    ).stdout
    assert re.fullmatch(r"https://review\.example\.org/join\?invite=[\w.-]{50,}\n", link)
    assert "invite=" in json.loads(run("app", "invite", "p1", *database, "--uses", "3", "--json").stdout)["link"]
    assert "2 links withdrawn" in run("app", "invite", "Tea", "--withdraw", *database).stderr
    with store.read() as session:
        assert session.scalars(select(Invite)).all() == []
    store.close()


def test_a_room_is_moved_to_another_database(run, tmp_path):
    old, new = (f"sqlite:///{tmp_path / name}.sqlite3" for name in ("old", "new"))
    run("app", "user", "anna", "--password-stdin", "--database", old, stdin=PASSWORD)
    told = run("app", "move", new, "--database", old, "--table")
    assert "Copied and counted, rows of each table: audit 1, users 1." in told.stdout
    assert "is not empty" in run("app", "move", new, "--database", old, code=1).stderr


def test_accounts_and_copies(run, tmp_path):
    database = f"sqlite:///{tmp_path / 'room.sqlite3'}"
    told = run("app", "user", "anna", "--administrator", "--password-stdin", "--database", database, stdin=PASSWORD)
    assert "anna can log in" in told.stderr
    again = run("app", "user", "anna", "--password-stdin", "--database", database, stdin=PASSWORD, code=1)
    assert "there is already an account called 'anna'" in again.stderr
    short = run("app", "user", "bob", "--password-stdin", "--database", database, stdin="short", code=1)
    assert "at least 10" in short.stderr
    run("app", "backup", tmp_path / "copy.sqlite3", "--database", database)
    copy = sqlite3.connect(tmp_path / "copy.sqlite3")
    assert copy.execute("SELECT name, admin FROM users").fetchall() == [("anna", 1)]
    copy.close()
    missing = run("app", "backup", tmp_path / "x", "--database", f"sqlite:///{tmp_path / 'none.sqlite3'}", code=1)
    assert "there is no database" in missing.stderr


def test_a_copy_is_whole_while_others_write(run, tmp_path):
    """A transaction that is under way is not in the copy; what was there before is."""
    path = tmp_path / "room.sqlite3"
    run("app", "user", "anna", "--password-stdin", "--database", f"sqlite:///{path}", stdin=PASSWORD)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO users (name, admin, active, created) VALUES ('half', 0, 1, 0)")
    run("app", "backup", tmp_path / "copy.sqlite3", "--database", f"sqlite:///{path}")
    writer.close()
    copy = sqlite3.connect(tmp_path / "copy.sqlite3")
    assert copy.execute("SELECT name FROM users").fetchall() == [("anna",)]
    assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    copy.close()


def test_a_model_is_served(start, port, models):
    process = start("serve", models["multiclass"], "--port", port)
    told = first_line(process)
    body = json.dumps({"texts": ["corn harvest", "the striker scored"]}).encode()
    headers = {"Authorization": f"Bearer {told['token']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{told['url']}/classify", body, headers)
    found = json.load(urllib.request.urlopen(request))
    assert [one["labels"] for one in found] == [["grain"], ["sport"]]


@pytest.mark.parametrize(("given", "shown"), [("", True), ("  ", True), ("the-token\n", False)])
def test_a_token_is_shown_unless_one_was_given(start_soon, port, models, monkeypatch, given, shown):
    monkeypatch.setenv("TEXTBAYES_TOKEN", given)
    told = first_line(start_soon("serve", models["multiclass"], "--port", port))
    assert (told["token"] is not None) == shown
    headers = {"Authorization": f"Bearer {told['token'] or 'the-token'}"}
    request = urllib.request.Request(f"{told['url']}/model", headers=headers)
    assert json.load(urllib.request.urlopen(request))["labels"]


def test_a_token_that_no_request_can_carry_is_refused(run, models, monkeypatch):
    monkeypatch.setenv("TEXTBAYES_TOKEN", "sécret")
    assert "TEXTBAYES_TOKEN has spaces or letters with accents" in run("serve", models["multiclass"], code=1).stderr


@pytest.mark.parametrize("variable", ["TEXTBAYES_DATABASE", "TEXTBAYES_HOST", "TEXTBAYES_ORIGIN", "TEXTBAYES_PROXY"])
def test_a_variable_that_is_empty_counts_as_not_set(run, tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    asked = []
    monkeypatch.setattr("textbayes.app.run.serve_room", lambda *given: asked.append(given))
    run("app", "--no-browser")
    database, _, host, _, origin, *_, proxies = asked[0]
    assert (database, host, origin, proxies) == (None, "127.0.0.1", None, ())


def test_databases_that_cannot_be_used_are_told_in_a_sentence(run, tmp_path):
    (tmp_path / "notes.txt").write_text("no database at all\n" * 100, encoding="utf-8")
    for command in (("app", "--no-browser"), ("app", "user", "anna", "--password-stdin"), ("app", "backup", "copy")):
        failed = run(*command, "--database", f"sqlite:///{tmp_path / 'notes.txt'}", stdin=PASSWORD, code=1)
        assert "is not a database" in failed.stderr
        assert "internal error" not in failed.stderr


def test_what_cannot_be_is_refused(run, tmp_path):
    assert "--team" in run("app", "--host", "0.0.0.0", code=2).stderr
    assert "mysql" in run("app", "--no-browser", "--database", "mysql://x/y", code=1).stderr
    assert (
        "not usable"
        in run("app", "--team", "--origin", "nonsense", "--database", f"sqlite:///{tmp_path}/x", code=1).stderr
    )
    assert "does not exist" in run("serve", tmp_path / "nothing.tb", code=1).stderr


def test_without_the_extra_one_sentence_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "argon2", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, _=None: None if name == "argon2" else object())
    for command in (("app", "--no-browser"), ("serve", "model.tb")):
        failed = run(*command, code=1)
        assert "needs argon2, which is not installed: pip install 'textbayes[app]'" in failed.stderr


def test_the_container_file_names_what_is_there():
    root = Path(__file__).parents[2]
    lines = (root / "Containerfile").read_text(encoding="utf-8").splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert copied
    assert all((root / name).exists() for name in copied)
