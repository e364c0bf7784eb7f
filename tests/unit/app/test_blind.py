"""Double screening is blind: before both have answered, no reply to anybody else depends on what the first one said.

Two rooms are the same but for the answers and notes of one person, which are the opposite: every route is asked in
both, and every reply must be the same.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import types
import zipfile

import pytest
from fastapi.testclient import TestClient
from room_setup import ORIGIN, PASSWORD

from textbayes.app import AppSettings, create_app, judging
from textbayes.app.accounts import create_user, set_role
from textbayes.app.assignments import ReviewerQueue
from textbayes.app.dashboard import DRAWINGS
from textbayes.app.exports import KINDS, ONLY
from textbayes.app.full_texts import add_full_text
from textbayes.app.projects import NewProject, create_project
from textbayes.app.records import FILTERS, SORTS
from textbayes.app.stages import full_text_of
from textbayes.screen import ScreenSettings

pytest.importorskip("openpyxl", reason="needs the extra xlsx")
TOPIC = "relevant"
FIRST = ("r0", "r1", "r2", "r3", "r4", "r5")  # answered by Ann alone
# Answered by Ann as one that belongs and as one that does not, by both, and by nobody.
RECORDS = ("r0", "r1", "r20", "r40")
OPPOSITE = {"relevant": "irrelevant", "irrelevant": "relevant"}
NOTES = ("surely one of them", "never one of them")
TAGS, REASONS = ("doubtful", "clear"), ("too old", "no trial")


class Twin:
    """A room where Ann has answered, and others have not; the other one where she answered the opposite."""

    def __init__(self, folder, records, opposite, clocks):
        folder.mkdir()
        self.clock, self.clocks = itertools.count(1.0e9, 10.0), clocks
        clocks.append(self.clock)
        settings = AppSettings(database=f"sqlite:///{folder / 'room.sqlite3'}", team=True, origin=ORIGIN)
        self.app, self.clients = create_app(settings), {}
        room = self.app.state.registry
        people = {name: create_user(room.store, name, PASSWORD) for name in ("ann", "bob", "cid", "dan")}
        plan = NewProject("Tea", ScreenSettings(questions={TOPIC: "green tea"}), double=True, prior="none")
        self.project = create_project(room, people["ann"], plan, records)
        review = room.review(self.project)
        for name, role in (("bob", "reviewer"), ("cid", "reader"), ("dan", "owner")):
            set_role(room.store, people["ann"], review, name, role)
        self.review, self.ids = review, {name: user.id for name, user in people.items()}
        judging.change_lists(review, self.ids["ann"], REASONS, TAGS)
        for id in ("r20", "r21", "r24", "r25"):  # both have answered these: there is something to see and to learn
            for name in ("ann", "bob"):
                said = "relevant" if id in ("r20", "r24") else "irrelevant"
                judging.judge(review, ReviewerQueue(self.ids[name], TOPIC), id, said)
        judging.queue(review, ReviewerQueue(self.ids["ann"], TOPIC))
        for k, id in enumerate(FIRST):
            said = "relevant" if k % 4 == 0 else "irrelevant"
            said = OPPOSITE[said] if opposite else said
            reason = REASONS[opposite] if said == "irrelevant" else ""
            judging.write_note(review, self.ids["ann"], id, NOTES[opposite])
            judging.write_tags(review, self.ids["ann"], id, [TAGS[opposite]])
            judging.judge(review, ReviewerQueue(self.ids["ann"], TOPIC), id, said, reason=reason)
        for id in RECORDS:
            add_full_text(review, self.ids["ann"], id, f"{id}.pdf", b"%PDF-")
        full = full_text_of(TOPIC)
        judging.queue(review, ReviewerQueue(self.ids["ann"], full))
        judging.judge(
            review,
            ReviewerQueue(self.ids["ann"], full),
            "r20",
            "relevant" if opposite else "irrelevant",
            reason="" if opposite else REASONS[0],
        )

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = TestClient(self.app, base_url=ORIGIN)
            self.clients[name].post("/login", data={"name": name, "password": PASSWORD})
            page = self.clients[name].get("/account").text
            self.clients[name].headers["x-csrf-token"] = re.search(r'data-csrf="([^"]+)"', page)[1]
        return self.clients[name]

    def ask(self, name, method, path, **more):
        """A reply, without what differs between any two rooms: the number of the project, secrets and times."""
        client = self.client(name)
        self.clocks.append(self.clock)
        reply = client.request(method, path.replace("{project_id}", self.project), **more)
        told = reply.content
        if told[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(told)) as archive:
                told = b"\n".join(name.encode() + archive.read(name) for name in sorted(archive.namelist()))
        told = told.replace(self.project.encode(), b"PROJECT")
        told = told.replace(client.headers["x-csrf-token"].encode(), b"SECRET")
        told = re.sub(rb'"(created|time)": ?[0-9.]+', rb'"\1":TIME', told)
        told = re.sub(rb"(<dc(terms)?:(created|modified|date)[^>]*>)[^<]*", rb"\1TIME", told)
        return reply.status_code, told


@pytest.fixture
def twins(tmp_path, records, monkeypatch):
    clocks = []  # the last is that of the twin that is asked: the same is done at the same time in both
    for module in ("live", "judging", "exports"):
        monkeypatch.setattr(f"textbayes.app.{module}.time", types.SimpleNamespace(time=lambda: next(clocks[-1])))
    monkeypatch.setattr("textbayes.app.full_texts.pdf_text", lambda content: "the text of a paper on tea")
    made = [Twin(tmp_path / f"room{opposite}", records, opposite, clocks) for opposite in (False, True)]
    yield made
    for twin in made:
        twin.app.state.training.close()
        twin.app.state.registry.close()


# What parts of paths and questions may be; a route with another part must be added here.
PARTS = {
    "project_id": ("{project_id}",), "record_id": RECORDS, "id": RECORDS, "kind": KINDS, "figure": tuple(DRAWINGS),
    "format": ("svg", "png"), "show": (*FILTERS, f"tag: {TAGS[0]}", f"tag: {TAGS[1]}"),
    "topic": (TOPIC, full_text_of(TOPIC)), "find": ("", "tea"), "start": (0,), "sort": SORTS, "only": ONLY,
    "scanned": ("",),
}  # fmt: skip
ELSEWHERE = (
    "/models",
    "/account",
    "/tokens",
    "/people",
    "/uploads",
    "/login",
    "/logout",
    "/enter",
    "/favicon.ico",
    "/me",
)
CHANGES = {
    # What Bob may do before he answers what Ann has answered; in this order.
    ("POST", "/api/v1/projects/{project_id}/judgements"): {"json": {"id": "r41", "answer": "irrelevant"}},
    ("POST", "/projects/{project_id}/judge"): {"data": {"id": "r44", "answer": "relevant"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/note"): {"json": {"text": "Bob's own"}},
    ("POST", "/projects/{project_id}/note"): {"data": {"id": "r2", "text": "Bob's own too"}},
    ("POST", "/api/v1/projects/{project_id}/undo"): {"json": {}},
    ("POST", "/projects/{project_id}/undo"): {"data": {}},
    ("POST", "/api/v1/projects/{project_id}/words"): {"json": {"word": "leaves", "direction": "for"}},
    ("POST", "/projects/{project_id}/words"): {"data": {"word": "ore", "direction": "against"}},
    ("POST", "/projects/{project_id}/protocol"): {"data": {"text": "green tea leaves"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/tags"): {"json": {"tags": ["clear"]}},
    ("POST", "/projects/{project_id}/tags"): {"data": {"id": "r2", "tag": "doubtful"}},
    ("PUT", "/api/v1/projects/{project_id}/lists"): {"json": {"reasons": ["too new"], "tags": list(TAGS)}},
    ("POST", "/projects/{project_id}/lists"): {"data": {"reasons": "too new\ntoo old", "tags": "doubtful\nclear"}},
    ("PUT", "/api/v1/projects/{project_id}/records/r1/full-text"): {"files": {"file": ("r1.pdf", b"%PDF-")}},
    ("DELETE", "/api/v1/projects/{project_id}/records/r1/full-text"): {},
    ("POST", "/projects/{project_id}/full-texts"): {"data": {"id": "r1"}, "files": {"file": ("r1.pdf", b"%PDF-")}},
    ("POST", "/projects/{project_id}/full-texts/remove"): {"data": {"id": "r1"}},
    ("POST", "/api/v1/projects/{project_id}/skips"): {"json": {"id": "r0"}},
    ("POST", "/api/v1/projects/{project_id}/conflicts"): {"json": {"id": "r0", "answer": "relevant"}},
    ("POST", "/projects/{project_id}/conflicts"): {"data": {"id": "r0", "answer": "relevant"}},
    ("PATCH", "/api/v1/projects/{project_id}"): {"json": {"strategy": "likely=0.5,random=0.5"}},
    ("POST", "/projects/{project_id}/strategy"): {"data": {"strategy": "likely"}},
    ("POST", "/api/v1/projects/{project_id}/records"): {"files": {"file": ("x.csv", "id,text\nx1,Green tea pots\n")}},
    ("POST", "/projects/{project_id}/records"): {"files": {"file": ("x.csv", "id,text\nx2,Iron shafts and ore\n")}},
    ("PUT", "/api/v1/projects/{project_id}/goal"): {"json": {"target": 0.8, "confidence": 0.7}},
    ("POST", "/projects/{project_id}/goal"): {"data": {"target": "90", "confidence": "80"}},
    ("POST", "/projects/{project_id}/duplicates"): {"data": {"number": "1"}},
    ("POST", "/api/v1/projects/{project_id}/duplicates/1/separate"): {},
    ("PUT", "/api/v1/projects/{project_id}/members"): {"json": {"name": "cid", "role": "reader"}},
    ("POST", "/projects/{project_id}/members"): {"data": {"name": "cid", "role": "reader"}},
    ("PUT", "/api/v1/projects/{project_id}/people"): {"json": {"name": "ann"}},
    ("POST", "/projects/{project_id}/people"): {"data": {"name": "ann"}},
}  # fmt: skip
NOT_ASKED = {
    ("POST", "/api/v1/projects/{project_id}/unblind"), ("POST", "/projects/{project_id}/unblind"),  # tested below
    ("DELETE", "/api/v1/projects/{project_id}"), ("POST", "/projects/{project_id}/delete"),
    ("POST", "/api/v1/projects"), ("POST", "/api/v1/projects/import"),
}  # fmt: skip
AT = ("/api/v1/projects/{project_id}", "/projects/{project_id}")
OF_CATEGORIES = {  # projects of another kind, which refuse reviews
    *((method, f"{at}/labels") for at in AT for method in ("GET", "POST")),
    *(("POST", f"{at}/{path}") for at in AT for path in ("labels/{label}/merge", "train")),
    ("PUT", f"{AT[0]}/labels/{{label}}"), ("DELETE", f"{AT[0]}/labels/{{label}}"),
    ("POST", f"{AT[1]}/labels/{{label}}/remove"),
}  # fmt: skip
LABEL = {"name": "n", "description": "", "into": 2}


def routes(app):
    """Methods and paths of all routes, and of each what it asks for."""
    for included in app.routes:
        for route in getattr(included, "effective_route_contexts", lambda one=included: [one])():  # FastAPI >= 0.130
            if hasattr(route, "dependant"):
                for method in route.methods:
                    yield method, route.path, [one.alias for one in route.dependant.query_params]


def looks(app):
    """Every page and every reply that can be looked at, with all that its parts may be."""
    for method, path, asks in routes(app):
        if method != "GET" or path.removeprefix("/api/v1").startswith(ELSEWHERE) or (method, path) in OF_CATEGORIES:
            continue
        names = re.findall(r"{(\w+)}", path)
        if "figures" in path:
            names = ["project_id", "figure", "format"]
            path = re.sub(r"{(kind|figure)}", "{figure}", path)
        for chosen in itertools.product(*(PARTS[name] for name in names)):
            address = path
            for name, part in zip(names, chosen, strict=True):
                address = address.replace(f"{{{name}}}", part)
            for values in itertools.product(*(PARTS[name] for name in asks)):
                yield address, dict(zip(asks, values, strict=True))


def assert_same(twins, name, method, path, **more):
    (code, one), (other_code, other) = (twin.ask(name, method, path, **more) for twin in twins)
    assert code == other_code < 500, (name, method, path)
    assert one == other, (name, method, path, more)
    assert not any(note.encode() in one for note in NOTES), (name, method, path)
    return code, one


@pytest.mark.parametrize("name", ["bob", "dan", "cid"])
def test_no_reply_tells_what_the_first_one_said(twins, name):
    """Bob reviews, Dan is an owner who reviews too, Cid looks on."""
    app = twins[0].app
    n_asked = 0
    for path, asked in looks(app):
        if "figures" in path and name != "bob":
            continue  # they take long, and are the same for all
        code, _ = assert_same(twins, name, "GET", path, params=asked, follow_redirects=False)
        assert code in (200, 303) or (name == "cid" and path.endswith("/queue")), (path, code)
        n_asked += 1
    assert n_asked > 50
    for (method, path), sent in CHANGES.items():
        assert_same(twins, name, method, path, follow_redirects=False, **sent)
        for look in ("/api/v1/projects/{project_id}/queue", "/api/v1/projects/{project_id}/status",
                     "/api/v1/projects/{project_id}/words", "/api/v1/projects/{project_id}/export.jsonl"):  # fmt: skip
            assert_same(twins, name, "GET", look)
    for method, path in OF_CATEGORIES:
        sent = {"json" if path.startswith("/api") else "data": LABEL} if method != "GET" else {}
        code, _ = assert_same(twins, name, method, path.replace("{label}", "1"), **sent)
        assert code in (400, 403, 422), path
    known = {"{record_id}": "r1", "{number}": "1"}
    changing = {
        (method, re.sub(r"{(record_id|number)}", lambda one: known[one[0]], path))
        for method, path, _ in routes(app)
        if method != "GET"
    }
    elsewhere = {one for one in changing if one[1].removeprefix("/api/v1").startswith(ELSEWHERE)}
    assert changing - elsewhere - OF_CATEGORIES == CHANGES.keys() | NOT_ASKED, "a route is not asked here"


def test_the_description_names_no_route_that_is_not_asked(twins):
    described = json.loads(twins[0].ask("bob", "GET", "/api/v1/openapi.json")[1])["paths"]
    assert set(described) <= {path for _, path, _ in routes(twins[0].app)}


def test_all_is_seen_when_both_have_answered(twins):
    """The twins would be told apart by any of these: the comparison above can fail."""
    at = "/api/v1/projects/{project_id}"
    paths = (f"{at}/records/r0", f"{at}/records", f"{at}/status", f"{at}/words", f"{at}/export.csv", f"{at}/export.zip",
             f"{at}/export.tb", "/projects/{project_id}/record?id=r0", "/projects/{project_id}/dashboard")  # fmt: skip
    for twin in twins:
        for id in FIRST:
            judging.judge(twin.review, ReviewerQueue(twin.ids["bob"], TOPIC), id, "relevant")
    for path in paths:
        (_, one), (_, other) = (twin.ask("bob", "GET", path) for twin in twins)
        assert one != other, path
    for twin, note in zip(twins, NOTES, strict=True):
        assert note.encode() in twin.ask("bob", "GET", f"{at}/records/r0")[1]


def test_one_sees_what_one_said_oneself(twins):
    at = "/api/v1/projects/{project_id}"
    seen = json.loads(twins[0].ask("ann", "GET", f"{at}/records/r0")[1])
    assert (seen["answer"], seen["note"], seen["notes"], seen["tags"]) == ("relevant", NOTES[0], {}, ["doubtful"])
    rows = [json.loads(line) for line in twins[0].ask("ann", "GET", f"{at}/export.jsonl")[1].splitlines()]
    (row,) = [row for row in rows if row["id"] == "r0"]
    assert (row["decision"], row["answer of ann"], row["note"]) == ("", "relevant", NOTES[0])
    status = json.loads(twins[0].ask("ann", "GET", f"{at}/status")[1])
    assert (status["read"], status["relevant"], status["waiting"]) == (4, 2, len(FIRST))


def test_an_owner_who_asks_sees_all_and_reads_no_more(twins):
    at, twin = "/api/v1/projects/{project_id}", twins[0]
    assert twin.ask("bob", "POST", f"{at}/unblind")[0] == 403
    assert json.loads(twin.ask("dan", "GET", f"{at}/records/r0")[1])["answer"] is None
    assert twin.ask("dan", "POST", f"{at}/judgements", json={"id": "r41", "answer": "unsure"})[0] == 201
    assert twin.ask("dan", "POST", f"{at}/unblind")[0] == 204
    assert json.loads(twin.ask("dan", "GET", f"{at}/records/r0")[1])["answer"] == "relevant"
    assert NOTES[0].encode() in twin.ask("dan", "GET", f"{at}/export.zip")[1]
    for method, path, sent in (
        ("GET", "queue", {}),
        ("POST", "judgements", {"json": {"id": "r0", "answer": "unsure"}}),
        ("POST", "undo", {"json": {}}),
    ):
        code, told = twin.ask("dan", method, f"{at}/{path}", **sent)
        assert code == 400
        assert b"you chose to see all answers" in told
    assert twin.ask("dan", "GET", "/projects/{project_id}")[0] == 200
    assert json.loads(twin.ask("bob", "GET", f"{at}/records/r0")[1])["answer"] is None
