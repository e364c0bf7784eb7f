"""Who gets in and who does not: hosts, origins, sessions, roles, tokens, tables of every version."""

from __future__ import annotations

import asyncio
import html
import re

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD
from sqlalchemy import select

from textbayes.app import AppSettings, create_app
from textbayes.app.accounts import create_user
from textbayes.app.database import AccessToken, Base, Session, User, open_database, upgrade
from textbayes.app.projects import NewProject, create_project
from textbayes.app.stages import full_text_of
from textbayes.core.errors import InputError
from textbayes.core.types import Document
from textbayes.screen import ScreenSettings


def csrf_of(client) -> str:
    return re.search(r'data-csrf="([^"]+)"', client.get("/account").text)[1]


@pytest.fixture
def local(tmp_path):
    app = create_app(AppSettings(database=f"sqlite:///{tmp_path / 'r.sqlite3'}", origin=ORIGIN), "secret")
    yield TestClient(app, base_url=ORIGIN)
    app.state.registry.close()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:9999", "127.0.0.1.evil.example:8765", ""])
def test_another_host_is_not_answered(local, host):
    assert local.get("/enter?token=secret", headers={"host": host}).status_code == 421


def test_two_hosts_and_websockets_are_not_answered(local):
    said = []

    async def send(message):
        said.append(message)

    scope = {"type": "http", "method": "GET", "path": "/login", "query_string": b"", "raw_path": b"/login"}
    headers = [(b"host", ORIGIN[7:].encode()), (b"host", b"evil.example")]
    for hosts in (headers, headers[::-1], []):
        asyncio.run(local.app({**scope, "headers": hosts}, None, send))
        assert said[-2]["status"] == 421
    asyncio.run(local.app({"type": "websocket", "path": "/", "headers": headers[:1]}, None, send))
    assert said[-1]["type"] == "websocket.close"


def test_names_that_no_database_can_hold_are_refused(team):
    client = team("ann", admin=True)
    form = {"csrf": csrf_of(client)}
    huge = 10**20
    for path, more in (
        ("/login", {"name": "a\x00b", "password": PASSWORD}),
        ("/account/tokens", {"name": "a\x00b"}),
        (f"/account/tokens/{huge}/remove", {}),
        (f"/people/{huge}/active", {}),
        ("/people", {"name": "a\x00b", "password": PASSWORD}),
        ("/projects/a%00b/judge", {"id": "x", "answer": "relevant"}),
        ("/models/a%00b/delete", {}),
        ("/uploads/a%00b", {"name": "x"}),
    ):
        assert client.post(path, data={**form, **more}).status_code < 500, path
    for path in ("/projects/a%00b/judge", "/models/a%00b", "/uploads/a%00b", "/api/v1/models/a%00b"):
        assert client.get(path).status_code in (400, 404), path
    for path in ("/login", "/enter?token=%00", f"/projects/x/records?start={huge}"):
        assert client.get(path).status_code < 500, path


def test_both_names_of_this_machine_are(local):
    for host in ("127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765"):
        assert local.get("/login", headers={"host": host}).status_code == 200


def test_a_page_of_another_site_changes_nothing(local):
    local.get("/enter?token=secret")
    csrf = csrf_of(local)
    for headers in ({"origin": "http://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
                    {"origin": "https://127.0.0.1:8765"}):  # fmt: skip
        answer = local.post("/account/tokens", data={"name": "x", "csrf": csrf}, headers=headers)
        assert answer.status_code == 403
        assert "other sites" in answer.text
    for form in ({"name": "x"}, {"name": "x", "csrf": "wrong"}, {"name": "x", "csrf": csrf + "é"}):
        assert local.post("/account/tokens", data=form).status_code == 403
    own = local.post("/account/tokens", data={"name": "x", "csrf": csrf}, headers={"origin": ORIGIN})
    assert own.status_code == 200
    assert "tb_" in own.text


def test_only_the_link_lets_one_in(local):
    for token in ("", "wrong", "sécret"):
        assert local.get("/enter", params={"token": token}, follow_redirects=False).headers["location"] == "/login"
    assert local.get("/", follow_redirects=False).headers["location"] == "/login"
    answer = local.get("/enter?token=secret", follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert local.get("/").status_code == 200


def test_the_link_works_once(local):
    assert "set-cookie" in local.get("/enter?token=secret").headers
    stranger = TestClient(local.app, base_url=ORIGIN)
    assert stranger.get("/enter?token=secret", follow_redirects=False).headers["location"] == "/login"
    assert "works once" in stranger.get("/login").text
    again = local.get("/enter?token=secret", follow_redirects=False)
    assert again.headers["location"] == "/", "who is in stays in"


def test_answers_tell_browsers_what_not_to_do(local):
    headers = local.get("/login").headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "script-src" not in headers["content-security-policy"], "scripts are as default: our own files alone"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


def test_a_request_that_is_too_large_is_refused(tmp_path):
    settings = AppSettings(database=f"sqlite:///{tmp_path / 'r.sqlite3'}", origin=ORIGIN, largest_upload=1 << 20)
    app = create_app(settings, "secret")
    client = TestClient(app, base_url=ORIGIN)
    client.get("/enter?token=secret")
    form = {"csrf": csrf_of(client)}
    large = b"a" * (1 << 20)
    assert client.post("/uploads", data=form, files={"file": ("x.csv", large)}).status_code == 413

    def pieces():
        for _ in range(20):
            yield b"a" * (1 << 17)

    assert client.post("/uploads", content=pieces(), headers={"content-type": "text/plain"}).status_code in (403, 413)
    stranger = TestClient(app, base_url=ORIGIN)
    assert stranger.post("/login", data={"name": "a" * 100_000}).status_code == 413, "nobody knows who it is"
    app.state.registry.close()


@pytest.mark.parametrize("path", ["/uploads", "/models", "/api/v1/projects", "/nowhere"])
def test_nothing_that_a_stranger_sends_is_read(local, path):
    said = []

    async def receive():
        raise AssertionError("it was read")

    async def send(message):
        said.append(message)

    headers = [(b"host", ORIGIN[7:].encode()), (b"content-type", b"multipart/form-data; boundary=x"),
               (b"cookie", b"textbayes_session=guessed")]  # fmt: skip
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": ""}  # fmt: skip
    asyncio.run(local.app(scope, receive, send))
    assert said[0]["status"] == 401
    assert b"not logged in" in said[1]["body"]


def test_passwords_are_kept_as_argon2_and_secrets_as_hashes(team):
    client = team("ann")
    token = re.search(r"tb_[\w-]+", client.post("/account/tokens", data={"name": "x", "csrf": csrf_of(client)}).text)[0]
    with team.app.state.registry.store.read() as session:
        ann = session.scalar(select(User).where(User.name == "ann"))
        assert ann.password.startswith("$argon2id$")
        keys = [*session.scalars(select(Session.key)), *session.scalars(select(AccessToken.key))]
    assert token not in keys
    assert client.cookies["textbayes_session"] not in keys
    fresh = TestClient(team.app, base_url=ORIGIN)
    assert fresh.get("/api/v1/me", headers={"authorization": f"Bearer {token}"}).json()["name"] == "ann"
    for wrong in (f"Bearer {token}x", "Bearer ", "Basic YTpi", token):
        assert fresh.get("/api/v1/me", headers={"authorization": wrong}).status_code == 401


def test_a_short_password_and_a_name_that_is_taken_are_refused(team):
    store = team.app.state.registry.store
    with pytest.raises(InputError, match="at least 10"):
        create_user(store, "bob", "short")
    create_user(store, "bob", PASSWORD)
    with pytest.raises(InputError, match="already"):
        create_user(store, " bob ", PASSWORD)


@pytest.fixture
def shared(team, records):
    """A project of Ann's, with Bob who reviews and Cid who reads."""
    clients = {name: team(name) for name in ("ann", "bob", "cid", "dan")}
    room = team.app.state.registry
    with room.store.read() as session:
        ann = session.scalar(select(User).where(User.name == "ann"))
    settings = ScreenSettings(questions={"relevant": "green tea"})
    project = create_project(room, ann, NewProject("Tea", settings, double=True, prior="none"), records)
    for name, role in (("bob", "reviewer"), ("cid", "reader")):
        form = {"name": name, "role": role, "csrf": csrf_of(clients["ann"])}
        assert clients["ann"].post(f"/projects/{project}/members", data=form).status_code == 200
    return project, clients


def test_roles_hold(shared):
    project, clients = shared
    at = f"/projects/{project}"
    may = {"ann": (200, 200, 200), "bob": (200, 200, 403), "cid": (200, 403, 403), "dan": (404, 404, 404)}
    for name, (look, judge, change) in may.items():
        client, form = clients[name], {"csrf": csrf_of(clients[name])}
        assert client.get(f"{at}/dashboard").status_code == look, name
        note = {**form, "id": "r1", "text": "x"}
        assert client.post(f"{at}/note", data=note).status_code == judge, name
        assert client.post(f"{at}/strategy", data={**form, "strategy": "random"}).status_code == change, name
    form = {"csrf": csrf_of(clients["ann"]), "name": "ann", "role": "reader"}
    answer = clients["ann"].post(f"{at}/members", data=form)
    assert answer.status_code == 400
    assert "only owner" in answer.text


def test_two_people_read_every_record_and_conflicts_are_settled(shared):
    project, clients = shared
    at = f"/projects/{project}"
    for name, answers in (("ann", "rrrriiii"), ("bob", "rriiiirr")):
        for letter in answers:
            page = clients[name].get(f"{at}/judge").text
            id = re.search(r'data-id="([^"]+)"', page)[1]
            said = {"r": "relevant", "i": "irrelevant"}[letter]
            clients[name].post(f"{at}/judge", data={"csrf": csrf_of(clients[name]), "id": id, "answer": said})
    page = clients["ann"].get(f"{at}/conflicts").text
    assert "4 records have different answers" in page
    # Of 8 both said the same of 4; each said relevant of half: κ = (1/2 − 1/2)/(1 − 1/2) = 0.
    assert re.search(r"<td[^>]*>8</td><td[^>]*>4</td><td[^>]*>0.00 ", page)
    id = re.search(r'name="id" value="([^"]+)"', page)[1]
    bob = clients["bob"].post(f"{at}/conflicts", data={"csrf": csrf_of(clients["bob"]), "id": id, "answer": "unsure"})
    assert bob.status_code == 403
    form = {"csrf": csrf_of(clients["ann"]), "id": id, "answer": "relevant"}
    assert "3 records have different answers" in clients["ann"].post(f"{at}/conflicts", data=form).text
    assert clients["ann"].post(f"{at}/conflicts", data=form).status_code == 400, "it is settled"


def test_the_page_of_conflicts_has_reasons_notes_and_both_stages(shared):
    project, clients = shared
    at, full = f"/projects/{project}", full_text_of("relevant")

    def send(name, path, **form):
        reply = clients[name].post(f"{at}/{path}", data={"csrf": csrf_of(clients[name]), **form})
        assert reply.status_code == 200, reply.text
        return reply.text

    send("ann", "lists", reasons="no trial\ntoo old")
    send("ann", "note", id="r1", text="of 1991")
    send("ann", "judge", id="r1", answer="irrelevant", reason="too old")
    assert "No conflicts" in clients["bob"].get(f"{at}/conflicts").text
    send("bob", "judge", id="r1", answer="relevant")
    page = clients["bob"].get(f"{at}/conflicts").text
    assert "ann: <strong>not relevant</strong>, too old" in page
    assert "of 1991" in page
    assert "Full texts</h2>" not in page
    assert "<option selected>too old</option>" in clients["ann"].get(f"{at}/conflicts").text
    for name in ("ann", "bob"):
        send(name, "judge", id="r2", answer="relevant")
    send("ann", "judge", id="r2", answer="irrelevant", reason="no trial", topic=full)
    send("bob", "judge", id="r2", answer="relevant", topic=full)
    assert "2 in conflict" in clients["ann"].get("/").text
    assert "in conflict</a>" in clients["ann"].get(f"{at}/full-texts").text
    page = clients["ann"].get(f"{at}/conflicts").text
    of_full_texts = page.partition("Full texts</h2>")[2]
    assert "1 full text has different answers" in of_full_texts
    assert 'name="id" value="r2"' in of_full_texts
    assert 'name="id" value="r1"' in page.removesuffix(of_full_texts)
    page = send("ann", "conflicts", id="r2", answer="irrelevant", reason="no trial", topic=full)
    assert "different answers" not in page.partition("Full texts</h2>")[2]
    assert "1 record has different answers" in page


def test_an_account_that_is_locked_opens_nothing(team):
    admin, bob = team("ann", admin=True), team("bob")
    with team.app.state.registry.store.read() as session:
        id = session.scalar(select(User.id).where(User.name == "bob"))
    assert bob.get("/people").status_code == 403
    assert bob.post(f"/people/{id}/active", data={"csrf": csrf_of(bob)}).status_code == 403
    assert bob.get("/").status_code == 200
    admin.post(f"/people/{id}/active", data={"csrf": csrf_of(admin)})
    assert bob.get("/", follow_redirects=False).status_code == 303
    assert bob.post("/login", data={"name": "bob", "password": PASSWORD}).status_code == 401


def test_a_password_that_is_changed_ends_all_sessions(team):
    client = team("ann")
    other = TestClient(team.app, base_url=ORIGIN)
    other.post("/login", data={"name": "ann", "password": PASSWORD})
    wrong = {"csrf": csrf_of(client), "old": "wrong", "new": "a new long password"}
    assert client.post("/account/password", data=wrong).status_code == 401
    client.post("/account/password", data={**wrong, "old": PASSWORD})
    assert client.get("/", follow_redirects=False).status_code == 200
    assert other.get("/", follow_redirects=False).status_code == 303


def test_tables_of_the_first_version_become_those_of_today(database):
    engine = open_database(database)
    upgrade(engine, "0001")
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO users (name, admin, active, created) VALUES ('ann', true, true, 1.5)")
    upgrade(engine)
    upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(select(User.name, User.created)).all() == [("ann", 1.5)]
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), Base.metadata)
    assert found == []
    engine.dispose()


def test_a_database_of_another_kind_is_refused():
    with pytest.raises(InputError, match="mysql databases are not known"):
        open_database("mysql://host/name")
    with pytest.raises(InputError, match="names no database"):
        open_database("nothing")


def test_a_topic_of_any_name_can_be_judged(team):
    """Names of topics go into addresses: signs that mean something there do not break them."""
    client, room = team("ann"), team.app.state.registry
    with room.store.read() as session:
        ann = session.scalar(select(User).where(User.name == "ann"))
    settings = ScreenSettings(topics=("a&b=c #1/ü", "other"))
    project = create_project(
        room, ann, NewProject("Odd", settings, prior="none"), [Document("r/1 ?", "Tea"), Document("2", "Ore")]
    )
    page = client.get(f"/projects/{project}/judge", params={"topic": "a&b=c #1/ü"}).text
    id = html.unescape(re.search(r'data-id="([^"]+)"', page)[1])
    form = {"csrf": csrf_of(client), "id": id, "answer": "relevant", "topic": "a&b=c #1/ü"}
    after = client.post(f"/projects/{project}/judge", data=form)
    assert after.status_code == 200
    assert 'id="n-read">1<' in after.text
    word = {**form, "word": "tea", "direction": "for", "back": "judge"}
    assert 'id="n-read">1<' in client.post(f"/projects/{project}/words", data=word).text
    assert client.get(f"/projects/{project}/record", params={"id": id, "topic": "other"}).status_code == 200
    for part in ("", "/judge", "/words", "/dashboard", "/records", "/settings"):  # as after a project was made
        assert 'aria-current="true">a&amp;b=c #1/ü<' in client.get(f"/projects/{project}{part}").text, part
