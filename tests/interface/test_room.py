"""``textbayes app`` and ``textbayes serve`` as people start them: links, accounts, copies, refusals."""

from __future__ import annotations

import json
import sqlite3
import sys
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra app")
PASSWORD = "correct horse battery"


def first_line(process) -> dict:
    line = process.stdout.readline()
    assert line, process.stderr.read()
    return json.loads(line)


def test_the_room_opens_by_its_link_and_by_no_other(start, tmp_path):
    process = start("app", "--no-browser", "--port", 18777, "--database", f"sqlite:///{tmp_path / 'room.sqlite3'}")
    told = first_line(process)
    assert told["link"].startswith("http://127.0.0.1:18777/enter?token=")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert "New project" in opener.open(told["link"]).read().decode()
    assert "Open the link" in urllib.request.urlopen("http://127.0.0.1:18777/").read().decode()
    process.terminate()
    assert process.wait(30) in (0, 143, -15)


def test_accounts_and_copies(run, tmp_path):
    database = f"sqlite:///{tmp_path / 'room.sqlite3'}"
    told = run("app", "user", "anna", "--administrator", "--password-stdin", "--database", database, stdin=PASSWORD)
    assert "anna can log in" in told.stderr
    again = run("app", "user", "anna", "--password-stdin", "--database", database, stdin=PASSWORD, code=1)
    assert "there is a person called 'anna' already" in again.stderr
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


def test_a_model_is_served(start, models):
    process = start("serve", models["multiclass"], "--port", 18778)
    told = first_line(process)
    body = json.dumps({"texts": ["corn harvest", "the striker scored"]}).encode()
    headers = {"Authorization": f"Bearer {told['token']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{told['url']}/classify", body, headers)
    found = json.load(urllib.request.urlopen(request))
    assert [one["labels"] for one in found] == [["grain"], ["sport"]]


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
